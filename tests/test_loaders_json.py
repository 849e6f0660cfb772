"""JSON and JSON Lines, by jq, pandas and people."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.ingest.loaded import Loaded, Unreadable
from agent.ingest.loaders.json_files import JsonLoader
from agent.ingest.reading import Reading
from schemas.errors import IngestError
from tests.loading import Plain, document, documents, messages, plain, read, sample


def test_elements_of_an_array_are_documents() -> None:
    first, second = documents("jq.json", sample("jq.json"))
    assert (first.key, first.text) == ("1", "Thirty days a year.")
    assert plain(first) == {
        "id": "1",
        "title": "Leave",
        "author.name": "Ann",
        "author.team": "HR",
        "version": "1.10",
    }
    assert second.text == "每月最后一天发放。"


def test_lines_are_documents() -> None:
    first, second = documents("pandas.jsonl", sample("pandas.jsonl"))
    assert plain(first) == {
        "id": "a1",
        "title": "Leave",
        "year": "2024",
        "tags": ["hr", "leave"],
        "score": "1.5",
    }
    assert "score" not in second.fields
    assert second.text == "On the last day."


def test_an_object_is_one_document_without_a_key() -> None:
    loaded = document("a.json", b'{"title": "A", "content": "text"}')
    assert (loaded.key, loaded.text) == (None, "text")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (
            '"v": 1.10, "n": 1e3, "big": 12345678901234567890',
            {"v": "1.10", "n": "1e3", "big": "12345678901234567890"},
        ),
        ('"a": null, "b": "", "c": [], "d": {}, "e": [null, ""]', {}),
        ('"a": true, "b": [false, 1, "x"]', {"a": "true", "b": ["false", "1", "x"]}),
        ('"a": {"b": {"c": 1}, "d": [2]}', {"a.b.c": "1", "a.d": ["2"]}),
        ('"by": [{"n": "A", "m": 1}, {"n": "B"}]', {"by.n": ["A", "B"], "by.m": ["1"]}),
        ('"a": [[1, 2], [3]]', {"a": ["1", "2", "3"]}),
        ('"code": "0123", "no": "NO"', {"code": "0123", "no": "NO"}),
        ('"部门": "人力资源部"', {"部门": "人力资源部"}),
        ('"a": "x\\u0000y"', {"a": "x y"}),
    ],
)
def test_values_are_what_the_author_wrote(raw: str, expected: Plain) -> None:
    loaded = document("a.json", f'{{{raw}, "text": "t"}}'.encode())
    assert plain(loaded) == expected
    assert loaded.notes == ()


def test_not_a_number_is_missing_and_noted() -> None:
    loaded = document("a.json", b'{"text": "t", "a": NaN, "b": -Infinity}')
    assert loaded.fields == {}
    assert [note.field for note in loaded.notes] == ["a", "b"]


def test_a_key_given_twice_is_doubtful_in_any_spelling() -> None:
    loaded = document("a.json", b'{"text": "t", "Role": "public", "role": "hr-only"}')
    assert plain(loaded) == {"Role": "hr-only"}
    assert loaded.doubtful == {"role"}
    assert "given twice" in messages(loaded)


def test_quotes_are_remembered() -> None:
    loaded = document("a.json", b'{"text": "t", "a": "1", "b": 1}')
    quoted = {name: getattr(value, "quoted", None) for name, value in loaded.fields.items()}
    assert quoted == {"a": True, "b": False}


RECORDS = b"""{"ref": "A", "meta": {"title": "Leave", "dept": "HR"}, "body": "Thirty days.", "x": 1}
{"ref": "B", "meta": {"title": "Pay"}, "body": "On the last day.", "x": 2}
"""


def test_dotted_keys_have_the_roles_of_the_type_map() -> None:
    reading = Reading(
        id="ref", title="meta.title", text=("body", "meta.title"), metadata=("Meta.Dept", "later")
    )
    first, second = documents("a.jsonl", RECORDS, reading)
    assert (first.key, first.text) == ("A", "body: Thirty days.\nmeta.title: Leave")
    assert plain(first) == {"title": "Leave", "meta.dept": "HR"}
    assert plain(second) == {"title": "Pay"}


def test_without_a_text_all_values_are_text_and_short_ones_fields() -> None:
    loaded = document("a.json", json.dumps({"a": "x" * 300, "b": "y", "c": [1, 2]}).encode())
    assert loaded.text == f"a: {'x' * 300}\nb: y\nc: 1, 2"
    assert plain(loaded) == {"b": "y", "c": ["1", "2"]}


def test_a_missing_text_key_lists_the_keys() -> None:
    with pytest.raises(
        IngestError, match=r"'nope'; there are: ref, meta.title, meta.dept, body, x"
    ):
        read("a.jsonl", RECORDS, Reading(text=("nope",)))


def test_broken_lines_are_unreadable_alone() -> None:
    raw = b'{"a": 1}\n{broken\n\n{"a": 2} x\n"just text"\n5\nnull\n' + b"[" * 5000 + b'\n{"a": 3}'
    read_ = read("a.jsonl", raw)
    bad = [one for one in read_ if isinstance(one, Unreadable)]
    assert [(one.key, one.line) for one in bad] == [("2", 2), ("4", 4), ("8", 8)]
    good = [one for one in read_ if isinstance(one, Loaded)]
    assert [(one.key, one.text) for one in good] == [
        ("1", "a: 1"),
        ("5", "just text"),
        ("6", "5"),
        ("9", "a: 3"),
    ]


def test_where_ids_are_told_a_broken_line_has_no_key() -> None:
    read_ = read("a.jsonl", b'{"id": "A", "t": "x"}\n{broken\n', Reading(id="id"))
    assert [one.key for one in read_] == ["A", None]


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b'[{"a": 1},\n{"a": oops}]', 2),
        (b'[{"a": 1}\n{"a": 2}]', 2),
        (b'[{"a": 1}', 1),
        (b'{"a": 1}\n{"a": 2}', 2),
        (b'[{"a": 1}]\n\nmore', 3),
        (b"oops", 1),
        (b"[" * 100_000, 1),
    ],
)
def test_a_broken_file_names_its_line(raw: bytes, line: int) -> None:
    with pytest.raises(IngestError, match=f"line {line}:"):
        read("a.json", raw)


@pytest.mark.parametrize("raw", [b"", b" \n", b"5", b'"text"', b"null"])
def test_a_file_without_object_or_array_is_refused(raw: bytes) -> None:
    with pytest.raises(IngestError, match=r"empty|one value"):
        read("a.json", raw)


@pytest.mark.parametrize(
    "record", ['{"a": ' * 60 + "1" + "}" * 60, json.dumps({"a": list(range(10_001))})]
)
def test_a_record_that_holds_too_much_is_unreadable_alone(record: str) -> None:
    first, second = read("a.json", f'[{record}, {{"a": 1}}]'.encode())
    assert isinstance(first, Unreadable)
    assert isinstance(second, Loaded)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_the_file_as_one_document(name: str) -> None:
    raw = b'[{"a": 1}, {"a": 2}]' if name == "a.json" else b'{"a": 1}\n{"a": 2}\n{broken'
    loaded = document(name, raw, Reading(documents="file"))
    assert (loaded.key, loaded.text) == (None, "a: 1\n\na: 2")
    assert ("left out" in messages(loaded)) is (name == "a.jsonl")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "gb18030"])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_encodings(encoding: str, name: str) -> None:
    text = '{"部门": "人力资源部", "正文": "员工可以每周远程办公两天，需要经理批准。"}'
    loaded = document(name, text.encode(encoding))
    assert plain(loaded) == {"部门": "人力资源部"}
    assert loaded.text.startswith("员工可以")
    assert bool(loaded.notes) is (encoding == "gb18030")


def test_elements_come_before_the_file_is_read_to_its_end() -> None:
    class Ending(io.BytesIO):
        def read1(self, size: int | None = -1) -> bytes:
            assert self.tell() < 4_000_000
            return super().read1(size)

    raw = b"[" + b'{"text": "some text"},' * 400_000
    rows = JsonLoader().load(Ending(raw), Reading())
    assert next(rows).key == "1"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=20,
)


@settings(deadline=None)
@given(st.lists(JSON, max_size=5), st.sampled_from([None, 2]))
def test_any_array_is_read(values: list[object], indent: int | None) -> None:
    read_ = read("a.json", json.dumps(values, indent=indent).encode())
    assert len(read_) <= len(values)
