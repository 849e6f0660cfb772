"""Abstracts and keywords that stand in the text, and what may not be read from it."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from agent.ingest.chunk_fields import evidence, wanted_of, with_chunk_fields
from agent.ingest.fixed_places import with_found
from agent.ingest.inference import Inference
from agent.ingest.loaded import Loaded, Markup
from agent.ingest.metadata import Describer, index_words
from agent.ingest.options import IngestOptions
from agent.ingest.schema import plan_fields
from agent.ingest.splitting import Splitter, outline
from agent.ingest.tag_rules import TABLE
from agent.ingest.written import Written, display
from schemas.collection import Field, FieldType
from schemas.errors import IngestError

ZH = """升级手册

摘  要：本文介绍网关的升级
步骤与回滚办法。

关键词：升级；回滚；API, 网关。

一、概述
"""
EN = """A Study of Gateways

Abstract—We study gateways
in production.
Index Terms: gateways, application programming interfaces, load
balancing, roll-back,
canaries.

1 Introduction
"""


def found(text: str, markup: Markup = Markup.PLAIN, **options: tuple[str, ...]) -> dict[str, str]:
    loaded = with_found(Loaded(text, markup=markup), IngestOptions(**options))  # type: ignore[arg-type]  # only tuples are given
    return {name: display(value) for name, value in loaded.fields.items()}


@pytest.mark.parametrize(
    ("text", "abstract", "keywords"),
    [
        (ZH, "本文介绍网关的升级步骤与回滚办法。", "升级, 回滚, API, 网关"),
        (
            EN,
            "We study gateways in production.",
            "gateways, application programming interfaces, load balancing, roll-back, canaries",
        ),
        ("# T\n\n## Abstract\n\nShort.\n\n## 1\nx", "Short.", None),
        ("**关键词**：a、b\n\n正文", None, "a, b"),
        ("【摘要】内容。\n【关键词】 一；二", "内容。", "一, 二"),
        ("Keywords:\n\nalpha; beta", None, "alpha, beta"),
        ("Abstract factories are a pattern.\n摘要如下所示", None, None),
        ("Keywords:", None, None),
        ("关键词：" + "很长的一句话" * 20, None, None),
        ("x\n" * 5000 + "关键词：a；b", None, None),
    ],
)
def test_the_places_are_read(text: str, abstract: str | None, keywords: str | None) -> None:
    read = found(text)
    assert read.get("abstract") == abstract
    assert read.get("keywords") == keywords


def test_what_the_author_gave_stays() -> None:
    fields = {"摘要": Written("mine"), "Keywords": Written("own")}
    for markup in Markup:
        loaded = Loaded(ZH, fields=fields, markup=markup)
        assert with_found(loaded, IngestOptions()).fields == fields
    front_matter = Loaded(ZH, fields={"title": Written("t")})
    assert with_found(front_matter, IngestOptions()) == front_matter
    row = Loaded(ZH, key="1", markup=Markup.PLAIN)
    assert with_found(row, IngestOptions()) == row


def test_a_text_never_fills_an_access_field() -> None:
    assert found(ZH, access_fields=("Keywords",)).keys() == {"abstract"}
    options = IngestOptions(access_fields=("tags",), aliases={"tags": ("keywords", "关键词")})
    loaded = with_found(Loaded(ZH, markup=Markup.PLAIN), options)
    assert set(loaded.fields) == {"abstract"}
    tags = Field(name="tags", type=FieldType.STRING_LIST, aliases=("keywords", "关键词"))
    metadata = Describer([tags], options).describe(loaded, "a.pdf", ())
    assert "tags" not in metadata.values


def test_neither_title_nor_passages_fill_an_access_field() -> None:
    options = IngestOptions(
        access_fields=("Title", "topic"),
        aliases={"topic": ("keywords", "标签")},
        chunk_fields=("page", "keywords"),
    )
    title = Field(name="title", type=FieldType.STRING)
    metadata = Describer([title], options).describe(Loaded("# Public\ntext"), "a.md", ["Public"])
    assert metadata.title == "Public"
    assert "title" not in metadata.values
    assert wanted_of(options) == ("page",)


def test_a_closed_schema_has_to_have_the_field() -> None:
    types = {"Keywords": FieldType.STRING_LIST}
    options = IngestOptions(closed=True, types=types, aliases={"title": ("x",)})
    assert set(with_found(Loaded(ZH, markup=Markup.PLAIN), options).fields) == {"keywords"}
    aliased = IngestOptions(closed=True, aliases={"summary": ("Abstract",)})
    assert set(with_found(Loaded(ZH, markup=Markup.PLAIN), aliased).fields) == {"abstract"}


DEPARTMENT = Field(name="department", type=FieldType.STRING, aliases=("dept", "部门"))


def described(
    fields: dict[str, str], options: IngestOptions, *more: Field, title: str = ""
) -> dict[str, object]:
    loaded = Loaded("text", fields={name: Written(text) for name, text in fields.items()})
    describer = Describer([DEPARTMENT, *more], options)
    return dict(describer.describe(loaded, "a.md", (title,) if title else ()).values)


def test_an_alias_is_its_field() -> None:
    assert described({"Dept": "HR"}, IngestOptions())["department"] == "HR"
    assert described({"部门": "HR"}, IngestOptions(required_fields=("department",)))
    both = {"dept": "Sales", "Department": "HR"}
    assert described(both, IngestOptions())["department"] == "HR"
    same = {"dept": "HR", "department": "HR"}
    assert described(same, IngestOptions(access_fields=("department",)))["department"] == "HR"
    inference = Inference([DEPARTMENT], {})
    inference.see({"dept": Written("x")})
    assert inference.fields() == ()


@pytest.mark.parametrize("name", ["department", "dept"])
def test_an_access_field_given_twice_under_two_names_is_refused(name: str) -> None:
    options = IngestOptions(access_fields=(name,))
    with pytest.raises(IngestError, match="'department' is given twice"):
        described({"department": "HR", "dept": "Sales"}, options)
    loaded = Loaded("text", fields={}, doubtful=frozenset({"dept"}))
    with pytest.raises(IngestError, match="access field"):
        Describer([DEPARTMENT], options).describe(loaded, "a.md", ())


@pytest.mark.parametrize("given", [{}, {"dept": " "}])
def test_a_required_field_may_not_be_blank(given: dict[str, str]) -> None:
    with pytest.raises(IngestError, match="required field 'department' is missing"):
        described(given, IngestOptions(required_fields=("department",)))


def test_a_closed_schema_takes_no_other_field() -> None:
    inference = Inference([DEPARTMENT], {})
    inference.see({"colour": Written("red"), "tenant": Written("x"), "page": Written("1")})
    options = IngestOptions(closed=True, access_fields=("tenant",))
    fields = plan_fields([DEPARTMENT], inference, options, tagged=False)
    assert [field.name for field in fields] == ["department", "title", "tenant", "page"]
    loaded = Loaded("text", fields={"colour": Written("red")})
    metadata = Describer(fields, options).describe(loaded, "a.md", ())
    assert metadata.values["colour"] == "red"
    assert "the schema is closed" in metadata.notes[0].message


def test_the_table_of_tags() -> None:
    tags = Field(name="tags", type=FieldType.STRING_LIST)
    rules = IngestOptions(tag_rules=TABLE)
    assert described({}, rules, tags, title="网关安装与升级")["tags"] == ["安装指南", "版本升级"]
    assert described({}, rules, tags, title="Troubleshooting")["tags"] == ["故障处理"]
    assert "tags" not in described({}, rules, tags, title="年假规定")
    assert "tags" not in described({}, IngestOptions(), tags, title="网关安装与升级")


def test_dates_are_normalised_and_missing_stays_missing() -> None:
    day = Field(name="published", type=FieldType.DATE)
    options = IngestOptions(zone=dt.UTC)
    assert described({"published": "2024年1月5日"}, options, day)["published"] == "2024-01-05"
    values = described({"published": "soon"}, options, day)
    assert "published" not in values
    assert values["_unread"] == {"published": "soon"}
    assert described({}, options, day).keys() == {"title"}


def test_words_of_the_author_are_indexed() -> None:
    values: dict[str, Any] = {
        "keywords": ["a", "b "],
        "questions": "How?",
        "tags": ["t"],
        "pages": 3,
    }
    assert index_words(values) == ("a", "b", "How?")
    text = "# One\n" + "alpha beta. " * 200
    chunks = Splitter(300, 50).split(text, outline(text), "T", words=("HowTo", "x"))
    assert len(chunks) > 3
    assert all("HowTo; x" in chunk.embed_text for chunk in chunks)
    assert all("HowTo" not in chunk.text for chunk in chunks)


CHUNK_FIELDS = ("page", "section", "keywords", "entities")


def test_passages_get_fields_of_their_own() -> None:
    text = (
        "# Guide\n## Caches\nThe Open Gateway Project caches. Caches of caches; see 《缓存规范》.\n"
        "## Queues\nQueues and queues in Oslo. 队列长度，队列长度。\n"
    )
    plain = Splitter(90, 10).split(text, outline(text), pages=(0, text.index("## Queues")))
    document: dict[str, Any] = {"city": "Oslo", "keywords": ["own"]}
    chunks = with_chunk_fields(plain, CHUNK_FIELDS, (), document)
    first, second = (dict(chunk.metadata) for chunk in chunks)
    assert (first["page"], second["page"]) == (1, 2)
    assert (first["section"], second["section"]) == ("Caches", "Queues")
    assert first["entities"] == ["Open Gateway Project", "缓存规范"]
    assert second["entities"] == ["Oslo"]
    assert first["keywords"] == ["own", "caches"]
    assert second["keywords"] == ["own", "queues", "队列长度"]
    assert chunks[0].metadata is not chunks[1].metadata
    assert all(not chunk.metadata for chunk in with_chunk_fields(plain, (), (), document))


def test_entities_are_whole_names_and_end_with_their_script() -> None:
    text = "Nordlicht Systems于2025年 met Åke Öberg. The tenant of HR has 16 GB内存 in Chrome：管理"
    plain = Splitter().split(text, outline(text))
    document: dict[str, Any] = {
        "language": "en",
        "department": "HR",
        "browser": "Chrom",
        "tags": ["met", "管理"],
        "version": "16",
    }
    (chunk,) = with_chunk_fields(plain, ("entities",), (), document)
    assert chunk.metadata["entities"] == ["Nordlicht Systems", "Åke Öberg", "HR", "管理"]


def test_a_field_of_another_type_keeps_its_values() -> None:
    text = "# A\nsome text"
    plain = Splitter().split(text, outline(text), pages=(0,))
    page = Field(name="page", type=FieldType.STRING)
    (chunk,) = with_chunk_fields(plain, ("page", "section"), [page], {})
    assert chunk.metadata == {"section": "A"}


def test_fields_of_passages_are_inferred() -> None:
    inference = Inference((), {})
    inference.see(evidence(Loaded("x", pages=(0,)), CHUNK_FIELDS))
    types = {field.name: field.type for field in inference.fields()}
    assert types == {
        "page": FieldType.INT,
        "section": FieldType.STRING,
        "keywords": FieldType.STRING_LIST,
        "entities": FieldType.STRING_LIST,
    }
    assert evidence(Loaded("x"), ("page",)) == {}
