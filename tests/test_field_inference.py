"""Types of fields from written values, and written values brought to types."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from agent.ingest import dates
from agent.ingest.coercion import Misfit, coerce
from agent.ingest.front_matter import split_front_matter
from agent.ingest.inference import Inference
from agent.ingest.loaded import Loaded
from agent.ingest.metadata import UNREAD, Describer
from agent.ingest.options import IngestOptions
from agent.ingest.pipeline import Ingest
from agent.ingest.schema import check_types, plan_fields
from agent.ingest.written import Value, Written
from schemas.collection import Field, FieldType
from schemas.errors import IngestError, UsageError
from tests.fakes_ingest import CountingEmbedder, MemoryLibrary


def value(yaml: str) -> Value:
    front, _ = split_front_matter(f"---\nx: {yaml}\n---\n")
    return front.fields["x"]


def inferred(name: str, *texts: str) -> FieldType:
    inference = Inference((), {})
    for text in texts:
        inference.see({name: value(text)})
    return inference.fields()[0].type


@pytest.mark.parametrize(
    ("name", "texts", "expected"),
    [
        ("pep", ["8", "3000"], "int"),
        ("pages", ["12"], "int"),
        ("balance", ["-5", "0"], "int"),
        ("employee", ["007", "12"], "string"),
        ("serial", ["99999999999999999999"], "string"),
        ("x", ["'12'"], "string"),
        ("x", ['"3.12"'], "string"),
        ("rating", ["4.5", "3"], "number"),
        ("price", ["1.50", "12.00", "3"], "number"),
        ("edition", ["1.9", "1.10"], "string"),
        ("version", ["1.10"], "string"),
        ("version", ["3"], "string"),
        ("版本", ["2.3"], "string"),
        ("python_version", ["[3.5, 3.6]"], "string_list"),
        ("official", ["true", "False"], "bool"),
        ("draft", ["yes", "no"], "bool"),
        ("是否公开", ["是", "否"], "bool"),
        ("country", ["NO"], "string"),
        ("market", ["NO"], "string"),
        ("language", ["no"], "string"),
        ("draft", ["'true'"], "string"),
        ("draft", ["true", "maybe"], "string"),
        ("publish_date", ["2024-1-5", "2024/01/05", "2024年1月5日", "'2024-02-01'"], "date"),
        ("发布日期", ["2024年1月5日"], "date"),
        ("anything", ["2024-01-05"], "date"),
        ("date", ["20240105"], "date"),
        ("ticket", ["20240105"], "int"),
        ("date", ["2024-01-05", "2024-13-45"], "date"),
        ("date", ["2024-13-45"], "string"),
        ("date", ["2024-01-05", "spring"], "string"),
        ("date", ["2024-05"], "string"),
        ("date", ["2024"], "int"),
        ("start", ["12:30:45"], "string"),
        ("seen", ["2024-01-05T10:00:00Z", "2024-01-05 10:00"], "datetime"),
        ("seen", ["2024-01-05", "2024-01-05T10:00:00+08:00"], "datetime"),
        ("更新时间", ["2024年1月5日 10:30"], "datetime"),
        ("replaces", ["[1, 2]", "3"], "int_list"),
        ("x", ["[1, a]"], "string_list"),
        ("x", ["a", "[b]"], "string_list"),
        ("x", ["['1']"], "string_list"),
        ("x", ["[1.5]"], "string_list"),
        ("tags", ["billing, vpn"], "string_list"),
        ("tags", ["[1, 2]"], "string_list"),
        ("标签", ["故障处理"], "string_list"),
        ("title", ["2024"], "string"),
        ("标题", ["2024-01-05"], "string"),
        ("x", ["1", "a"], "string"),
        ("x", ["1", "true"], "string"),
        ("ip", ["10.0.0.1"], "string"),
    ],
)
def test_type_of_a_field(name: str, texts: list[str], expected: str) -> None:
    assert inferred(name, *texts) == expected


@pytest.mark.parametrize(
    ("yaml", "type_", "expected"),
    [
        ("2024-1-5", "date", "2024-01-05"),
        ("2024/01/05", "date", "2024-01-05"),
        ("2024.1.5", "date", "2024-01-05"),
        ("2024年1月5日", "date", "2024-01-05"),
        ("２０２４年１月５日", "date", "2024-01-05"),
        ("20240105", "date", "2024-01-05"),
        ("2024-02-30", "date", None),
        ("03/04/2025", "date", None),
        ("2024-05", "date", None),
        ("2024-01-05T10:00:00Z", "datetime", "2024-01-05T10:00:00Z"),
        ("2024-01-05 10:00", "datetime", "2024-01-05T10:00:00+08:00"),
        ("2024-01-05T10:00:00-0330", "datetime", "2024-01-05T10:00:00-03:30"),
        ("2024年1月5日 9点30分", "datetime", "2024-01-05T09:30:00+08:00"),
        ("2024-01-05", "datetime", "2024-01-05T00:00:00+08:00"),
        ("2024-01-05 25:00", "datetime", None),
        ("007", "string", "007"),
        ("1.10", "string", "1.10"),
        ("NO", "string", "NO"),
        ("[only]", "string", "only"),
        ("[a, b]", "string", None),
        ('"a\\x1fb"', "string", None),
        ("12", "int", 12),
        ("'12'", "int", 12),
        ("1.5", "int", None),
        ("9223372036854775808", "int", None),
        ("-9223372036854775808", "int", -(2**63)),
        ("1.50", "number", 1.5),
        ("1e999", "number", None),
        ("Yes", "bool", True),
        ("否", "bool", False),
        ("1", "bool", None),
        ("a, b", "string_list", ["a, b"]),
        ("[a, a, b]", "string_list", ["a", "b"]),
        ("[1, 2]", "int_list", [1, 2]),
        ("3", "int_list", [3]),
        ("[1, x]", "int_list", None),
    ],
)
def test_values_are_brought_to_the_type(yaml: str, type_: str, expected: JsonValue) -> None:
    field = Field(name="x", type=FieldType(type_))
    read = coerce(value(yaml), field, ZoneInfo("Asia/Shanghai"))
    if expected is None:
        assert isinstance(read, Misfit)
        assert "x: " in str(read)
        assert type_ in str(read)
    else:
        assert read == expected
        assert type(read) is type(expected)


@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        ("billing, vpn, on-call", ["billing", "vpn", "on-call"]),
        ("billing", ["billing"]),
        ("故障处理，稳定版；公开", ["故障处理", "稳定版", "公开"]),
        ("['a, b', c]", ["a, b", "c"]),
    ],
)
def test_commas_separate_tags_of_one_text_only(yaml: str, expected: list[str]) -> None:
    field = Field(name="Tags", type=FieldType.STRING_LIST)
    assert coerce(value(yaml), field, dt.UTC) == expected


@settings(deadline=None)
@given(st.integers(-(2**63), 2**63 - 1))
def test_whole_numbers_are_ints_and_come_back(number: int) -> None:
    assert inferred("amount", str(number)) is FieldType.INT
    read = coerce(Written(str(number)), Field(name="x", type=FieldType.INT), dt.UTC)
    assert read == number


@settings(deadline=None)
@given(
    st.dates(dt.date(1000, 1, 1)),
    st.sampled_from(["{0}-{1}-{2}", "{0}/{1:02}/{2:02}", "{0}年{1}月{2}日"]),
)
def test_days_come_back_as_iso(day: dt.date, form: str) -> None:
    text = form.format(day.year, day.month, day.day)
    assert inferred("issued", text) is FieldType.DATE
    read = coerce(Written(text), Field(name="x", type=FieldType.DATE), dt.UTC)
    assert read == day.isoformat()


@settings(deadline=None)
@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=5))
def test_every_inferred_type_holds_its_values_or_only_impossible_days(texts: list[str]) -> None:
    inference = Inference((), {})
    values = [Written(text) for text in texts if text.strip() and text.isprintable()]
    for written in values:
        inference.see({"x": written})
    for field in inference.fields():
        for written in values:
            read = coerce(written, field, dt.UTC)
            days = field.type in (FieldType.DATE, FieldType.DATETIME)
            assert days or not isinstance(read, Misfit)


def test_spellings_of_one_name_are_one_field() -> None:
    inference = Inference((), {})
    inference.see({"Department": Written("HR")})
    inference.see({"department": Written("IT")})
    assert [field.name for field in inference.fields()] == ["Department"]


def test_known_fields_are_not_inferred_again() -> None:
    inference = Inference([Field(name="year", type=FieldType.INT)], {})
    inference.see({"Year": Written("unknown"), "new": Written("1")})
    assert [field.name for field in inference.fields()] == ["new"]


def test_rare_fields_give_way_but_never_title_access_and_tags() -> None:
    inference = Inference((), {})
    for _ in range(3):
        inference.see({"often": Written("1")})
    inference.see({"rare": Written("1"), "role": Written("1")})
    options = IngestOptions(max_fields=4, access_fields=("role",))
    fields = plan_fields((), inference, options, tagged=True)
    assert {field.name for field in fields} == {"title", "role", "tags", "often"}


def test_a_type_asked_for_wins_over_the_values() -> None:
    inference = Inference((), {"Code": FieldType.STRING})
    inference.see({"code": Written("12")})
    assert inference.fields()[0].type is FieldType.STRING


def test_a_type_asked_for_cannot_change_a_field() -> None:
    known = [Field(name="code", type=FieldType.INT)]
    with pytest.raises(UsageError, match="'code' is int"):
        check_types(known, {"Code": FieldType.STRING})
    check_types(known, {"code": FieldType.INT})


def describer(*fields: tuple[str, str], **options: object) -> Describer:
    declared = [Field(name=name, type=FieldType(type_)) for name, type_ in fields]
    return Describer(declared, IngestOptions(**options))  # type: ignore[arg-type]  # by keyword


def loaded(yaml: str) -> Loaded:
    front, body = split_front_matter(f"---\n{yaml}\n---\nBody")
    return Loaded(body, front.fields, front.notes, front.doubtful)


@pytest.mark.parametrize(
    ("yaml", "headings", "title"),
    [
        ("title: Given", ["Heading"], "Given"),
        ("标题: 请假制度", ["Heading"], "请假制度"),
        ("x: 1", ["Heading"], "Heading"),
        ("x: 1", [], "remote-work"),
        ("title: ''", [], "remote-work"),
    ],
)
def test_title(yaml: str, headings: list[str], title: str) -> None:
    made = describer(("title", "string"), ("标题", "string"), ("x", "int"))
    metadata = made.describe(loaded(yaml), "hr/remote-work.md", headings)
    assert metadata.title == title
    assert title in metadata.values.values()


def test_missing_values_stay_missing() -> None:
    made = describer(("title", "string"), ("department", "string"))
    metadata = made.describe(loaded("title: A\ndepartment: ''"), "a.md", [])
    assert metadata.values == {"title": "A"}


def test_a_value_that_does_not_fit_is_kept_and_noted() -> None:
    made = describer(("title", "string"), ("date", "date"))
    metadata = made.describe(loaded("title: Budget\ndate: 2024-13-45"), "a.md", [])
    assert metadata.values == {"title": "Budget", UNREAD: {"date": "2024-13-45"}}
    (note,) = metadata.notes
    assert (note.field, note.line) == ("date", 3)
    assert "2024-13-45" in note.message


def test_an_impossible_day_in_a_text_field_is_noted() -> None:
    made = describer(("title", "string"), ("date", "string"))
    metadata = made.describe(loaded("title: Budget\ndate: 2024-13-45"), "a.md", [])
    assert metadata.values["date"] == "2024-13-45"
    assert "no day of the calendar" in metadata.notes[0].message


def test_a_field_beyond_the_limit_stays_with_its_document() -> None:
    metadata = describer(("title", "string")).describe(loaded("title: A\nx: [1, 2]"), "a.md", [])
    assert metadata.values == {"title": "A", "x": ["1", "2"]}
    assert metadata.notes[0].field == "x"


@pytest.mark.parametrize(
    ("yaml", "message"),
    [
        ("level: 1\nLevel: 2", "given twice"),
        ("level: @1\nx: 1", "cannot be read for certain"),
        ("level: {is: 1}", "is a mapping with 'level.is'"),
        ("level: [1, {is: 2}]", "is a mapping with 'level.is'"),
        ("level: secret", "line 2: access field level: 'secret' is not a whole number"),
        ("level: [1, 2]", "access field level: '1, 2'"),
    ],
)
def test_an_unclear_access_field_rejects_the_document(yaml: str, message: str) -> None:
    made = describer(("title", "string"), ("level", "int"), access_fields=("level",))
    with pytest.raises(IngestError, match=message.replace("[", r"\[")):
        made.describe(loaded(yaml), "a.md", [])


@pytest.mark.parametrize("yaml", ["title: A", "title: A\nlevel: ''", "title: A\nlevel: null"])
def test_a_missing_field_rejects_only_where_it_is_required(yaml: str) -> None:
    fields = (("title", "string"), ("level", "int"))
    kept = describer(*fields, access_fields=("level",)).describe(loaded(yaml), "a.md", [])
    assert "level" not in kept.values
    with pytest.raises(IngestError, match="required field 'level' is missing"):
        describer(*fields, required_fields=("level",)).describe(loaded(yaml), "a.md", [])


def test_a_mapping_with_an_access_field_of_its_own_is_read() -> None:
    made = describer(("level.is", "int"), access_fields=("level", "level.is"))
    assert made.describe(loaded("level: {is: 1, by: x}"), "a.md", []).values["level.is"] == 1


def test_tags_come_from_front_matter_the_run_and_rules() -> None:
    fields = [Field(name="tags", type=FieldType.STRING_LIST)]
    options = IngestOptions(tag_rules={"安装指南": ("安装",), "升级": ("upgrade",)})
    made = Describer(fields, options, ["run", "own"])
    metadata = made.describe(loaded("tags: [own]"), "a.md", ["安装步骤"])
    assert metadata.values["tags"] == ["own", "run", "安装指南"]


async def test_a_field_of_several_types_takes_the_one_that_loses_nothing(tmp_path: Path) -> None:
    """SC-03: whole numbers however written are numbers; a value that is none is kept and told."""
    for number, year in enumerate(("2020", '"2020"', "2020.0", "FY2020")):
        (tmp_path / f"{number}.md").write_text(f"---\nyear: {year}\n---\n\nText {number}.\n")
    library = MemoryLibrary()
    report = await Ingest(library, CountingEmbedder()).run("kb", [tmp_path])
    year_field = next(f for f in library.shelves["kb"].fields if f.name == "year")
    assert year_field.type is FieldType.INT
    drafts = {id_: draft for id_, (draft, _) in library.documents("kb").items()}
    years = {id_: draft.metadata.get("year") for id_, draft in drafts.items()}
    assert years == {"0.md": 2020, "1.md": 2020, "2.md": 2020, "3.md": None}
    assert drafts["3.md"].metadata[UNREAD] == {"year": "FY2020"}
    assert [(note.file, note.field) for note in report.notes] == [("3.md", "year")]


async def test_a_value_beyond_any_column_is_kept_in_part_and_told(tmp_path: Path) -> None:
    """MV-17: the rest of the document can be filtered, and other documents go in."""
    huge = "x" * 190_000
    (tmp_path / "a.md").write_text(f"---\nraw_html: {huge}\ndepartment: HR\n---\n\nText a.\n")
    (tmp_path / "b.md").write_text("---\nraw_html: short\ndepartment: IT\n---\n\nText b.\n")
    library = MemoryLibrary()
    report = await Ingest(library, CountingEmbedder()).run("kb", [tmp_path])
    drafts = {id_: draft.metadata for id_, (draft, _) in library.documents("kb").items()}
    assert (drafts["a.md"]["department"], drafts["b.md"]["raw_html"]) == ("HR", "short")
    assert "raw_html" not in drafts["a.md"]
    assert len(str(drafts["a.md"])) < 2_000
    assert [(note.file, note.field) for note in report.notes] == [("a.md", "raw_html")]
    assert "190000 bytes" in report.notes[0].message


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("5 January 2024", "2024-01-05"),
        ("January 5, 2024", "2024-01-05"),
        ("Jan. 5 2024", "2024-01-05"),
        ("05-Jan-2024", "2024-01-05"),
        ("1st Sept 2023", "2023-09-01"),
        ("may 31st, 2024", "2024-05-31"),
        ("2024.1.5", "2024-01-05"),
        ("２０２４年１月５日", "2024-01-05"),
        ("31 February 2024", None),
        ("5 Janvier 2024", None),
        ("version 5 2024", None),
        ("05/01/2024", None),
        ("2024-01", None),
    ],
)
def test_days_as_people_write_them(text: str, day: str | None) -> None:
    read = dates.to_day(text)
    assert (read.isoformat() if read else None) == day
    assert dates.is_day_shaped(text) == (day is not None or text == "31 February 2024")
