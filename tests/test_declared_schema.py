"""The schema file of a knowledge base: read, refused, written, stored."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.ingest.declared_schema import (
    DeclaredField,
    DeclaredSchema,
    load_schema,
    parse_schema,
    to_yaml,
)
from agent.ingest.options import IngestOptions
from agent.ingest.tag_rules import TABLE
from agent.store.declared import declared_fields, merged_fields
from agent.store.layout import Catalogue, read_catalogue
from schemas.collection import Field, FieldType
from schemas.errors import UsageError

FILE = """
description: Documents of the company
closed: true
fields:
  department:
    type: string
    description: Department that owns the document
    aliases: [dept, 部门]
    synonyms:
      HR: [people team]
      NO: nobody
    default: 未指定部门
    required: true
    access: yes
  published: {type: date, default: undated}
tag_rules:
  故障处理: [故障, troubleshoot]
"""


def test_a_file_is_read_as_it_is_written() -> None:
    read = parse_schema(FILE)
    department = read.fields["department"]
    assert department.synonyms == {"HR": ("people team",), "NO": ("nobody",)}
    assert (department.aliases, department.required, department.access) == (
        ("dept", "部门"),
        True,
        True,
    )
    assert read.closed
    assert read.tag_rules == {"故障处理": ("故障", "troubleshoot")}
    assert read.rules() == {
        "required": ["department"],
        "access": ["department"],
        "closed": True,
        "tag_rules": {"故障处理": ["故障", "troubleshoot"]},
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("fields: {a: {type: text}}", "fields.a.type: 'text' is not allowed; allowed: string, int"),
        ("fields: {a: {typ: int}}", "fields.a.typ: unknown key; allowed: type, description"),
        ("colour: red", "colour: unknown key; allowed: description, closed, fields"),
        ("closed: perhaps", "closed: 'perhaps' is not allowed"),
        ("fields: [a]", "fields: a list is not allowed"),
        ("- a", "the file: a list is not allowed"),
        ("fields: {a: {type: int, default: '0'}}", "fields.a.default: '0' is a value of type int"),
        ("fields: {a: {aliases: [b]}, b: {}}", "'b' names 'a' too"),
        ("fields: {a: {}, A: {}}", "'A' names 'a' too"),
        ("fields: {_unread: {}}", "a name has letters"),
        ("fields: {title: {type: int}}", "fields.title.type: int is not allowed"),
        ("tag_rules: more", "tag_rules: 'more' is not allowed; allowed: builtin"),
        ("fields: {tags: {type: string_list, access: true}}\ntag_rules: builtin", "access field"),
        ("fields: {a: {}}\nfields: {}", "line 2: key 'fields' is there twice"),
        ("a: [", "line 1: this is not YAML"),
        ("a: &x [*x]", "nested deeper"),
        ("{[a]: b}", "a key is one text"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_schema(text)
    assert told in str(caught.value)


def test_the_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "kb.yaml"
    path.write_bytes(b"fields: {a: {type: text}}")
    with pytest.raises(UsageError, match=r"kb\.yaml: fields\.a\.type"):
        load_schema(path)
    path.write_bytes(b"\xff")
    with pytest.raises(UsageError, match="cannot be read"):
        load_schema(path)
    with pytest.raises(UsageError, match="does not exist"):
        load_schema(tmp_path / "none.yaml")


NAMES = st.text("abc部门 :#-0", min_size=1, max_size=6).map(str.strip).filter(bool)
WORDS = st.text(max_size=12).filter(lambda word: word.isprintable())
FIELDS = st.builds(
    DeclaredField,
    type=st.sampled_from(FieldType),
    description=WORDS,
    synonyms=st.dictionaries(NAMES, st.lists(NAMES, min_size=1, max_size=2).map(tuple), max_size=2),
    required=st.booleans(),
    access=st.booleans(),
)


@settings(max_examples=100)
@given(
    st.builds(
        DeclaredSchema,
        description=WORDS,
        closed=st.booleans(),
        fields=st.dictionaries(NAMES.map(str.lower), FIELDS, max_size=3),
        tag_rules=st.one_of(
            st.just("builtin"),
            st.dictionaries(NAMES, st.lists(NAMES, min_size=1, max_size=2).map(tuple), max_size=2),
        ),
    )
)
def test_what_is_printed_is_read_back(declared: DeclaredSchema) -> None:
    assert DeclaredSchema.model_validate(declared.model_dump()) == declared
    assert parse_schema(to_yaml(declared)) == declared
    stored = DeclaredSchema.of(declared.as_fields(), declared.description, declared.rules())
    assert stored == declared


def test_a_schema_makes_a_run_stricter() -> None:
    options = IngestOptions(access_fields=("tenant",), required_fields=("title",))
    run = parse_schema(FILE).over(options)
    assert run.access_fields == ("department", "tenant")
    assert run.required_fields == ("department", "title")
    assert run.closed
    assert run.aliases == {"department": ("dept", "部门")}
    assert DeclaredSchema().over(options) == options
    assert parse_schema("tag_rules: builtin").over(options).tag_rules == TABLE


@pytest.mark.parametrize(
    ("known", "told"),
    [
        (Field(name="department", type=FieldType.INT), "but the knowledge base holds int"),
        (Field(name="Department", type=FieldType.STRING), "spells it 'Department'"),
        (Field(name="dept", type=FieldType.STRING), "is a field of its own"),
    ],
)
def test_what_does_not_fit_the_stored_fields_is_refused(known: Field, told: str) -> None:
    declared = parse_schema("fields: {department: {type: string, aliases: dept}}")
    with pytest.raises(UsageError, match=told):
        declared.check_against([known])
    declared.check_against([Field(name="department", type=FieldType.STRING)])


def test_declared_attributes_replace_and_merged_ones_stay() -> None:
    old = (
        Field(name="a", type=FieldType.STRING, aliases=("x",), default="none", description="d"),
        Field(name="b", type=FieldType.INT, aliases=("y",)),
    )
    bare = Field(name="a", type=FieldType.STRING)
    assert merged_fields(old, [bare], "kb") == old
    assert declared_fields(old, [bare]) == (bare, old[1])
    newer = Field(name="a", type=FieldType.STRING, aliases=("z",), default="-")
    (first, _) = merged_fields(old, [newer], "kb")
    assert (first.aliases, first.default, first.description) == (("z",), "-", "d")


def test_a_catalogue_of_before_is_read() -> None:
    text = (
        '{"name":"kb","generation":1,"fields":[{"name":"a","type":"string"}],"dimension":3,'
        '"embedding_model":"m","analyzer":"x","unicode":"15"}'
    )
    read = read_catalogue(text, "c")
    assert read.rules == {}
    assert read.fields[0].aliases == ()
    again = Catalogue.model_validate_json(read.model_dump_json())
    assert again == read


def test_the_documented_schema_and_table_are_those_of_the_code() -> None:
    text = (Path(__file__).parent.parent / "docs" / "metadata.md").read_text(encoding="utf-8")
    example = text.split("```yaml\n")[1].split("```")[0]
    assert parse_schema(example).fields["department"].default == "未指定部门"
    for tag, words in TABLE.items():
        assert f"| {tag} | {', '.join(words)} |" in text


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"", "declares nothing"),
        (b"# later\n", "declares nothing"),
        (b"\x89PNG\0\xff", "UTF-8"),
        (b"a\0b", "UTF-8"),
        (None, "irectory"),
    ],
)
def test_a_file_that_declares_nothing(tmp_path: Path, raw: bytes | None, told: str) -> None:
    path = tmp_path / "schema.yaml"
    path.mkdir() if raw is None else path.write_bytes(raw)
    with pytest.raises(UsageError, match=told) as caught:
        load_schema(path)
    assert str(caught.value).startswith(str(path))
    assert "schema --yaml" in caught.value.remedy
