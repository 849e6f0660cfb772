"""CSV and TSV, as programs and people write them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.ingest.loaded import Loaded, Markup, Unreadable
from agent.ingest.loaders.tables import TableLoader, sniff
from agent.ingest.reading import Reading
from agent.ingest.written import name_key
from schemas.errors import IngestError
from tests.loading import Plain, document, documents, messages, plain, read, sample


def table(raw: bytes, **reading: object) -> list[Loaded]:
    return documents("a.csv", raw, Reading.model_validate(reading))


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("dept,city\nhr,Malmö\n", "latin-1"),
        ("부서,도시\n인사부,서울특별시\n영업부,부산광역시\n", "cp949"),
        ("部门,城市\n人力资源部,上海市浦东新区\n研发中心,北京市海淀区\n", "gb18030"),
    ],
)
def test_other_encodings_are_guessed_and_noted_once(text: str, encoding: str) -> None:
    read_ = table(text.encode(encoding))
    header, *rows = text.split()
    assert [list(plain(one).values()) for one in read_] == [row.split(",") for row in rows]
    assert [list(plain(one)) for one in read_] == [header.split(",")] * len(rows)
    assert "not UTF-8" in messages(read_[0])
    assert not any(one.notes for one in read_[1:])


def test_the_told_encoding_counts_and_is_no_guess() -> None:
    (one,) = table("dept,city\nhr,Malmö\n".encode("latin-1"), encoding="latin-1")
    assert plain(one) == {"dept": "hr", "city": "Malmö"}
    assert one.notes == ()


def test_ragged_rows_duplicate_headers_and_a_very_long_cell() -> None:
    long = "x" * 200_000
    first, second, third = table(f'id,id,name\n1,2,a,extra\n3\n4,5,"{long}"\n'.encode())
    assert plain(first) == {"id": "1", "id_2": "2", "_extra": ["extra"]}
    assert plain(second) == {"id": "3"}
    assert plain(third) == {"id": "4", "id_2": "5"}
    assert long in third.text
    (note,) = first.notes
    assert (note.line, "row 1" in note.message) == (2, True)


def test_a_row_with_too_many_cells_makes_its_columns_doubtful() -> None:
    crooked, straight = table(b"title,role,x\nPay, hr and all,hr-only,1\nLeave,public,2\n")
    assert name_key("role") in crooked.doubtful
    assert straight.doubtful == frozenset()


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"a,b\r\n1,2\r\n", [{"a": "1", "b": "2"}]),
        (b"a,b\r1,2\r", [{"a": "1", "b": "2"}]),
        (b"a,b\n\n1,2\n,\n  , \n3,4\n", [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]),
        (b"\n\na,b\n1,2", [{"a": "1", "b": "2"}]),
        (b"a;b\n1,5;2", [{"a": "1,5", "b": "2"}]),
        (b"a\tb\n1\t2", [{"a": "1", "b": "2"}]),
        (b"a|b\n1|2", [{"a": "1", "b": "2"}]),
        (b"sep=|\r\na|b,c\r\n1|2", [{"a": "1", "b,c": "2"}]),
        (b"a\n1\n2", [{"a": "1"}, {"a": "2"}]),
        (b"a,,a,A\n1,2,3,4", [{"a": "1", "column_2": "2", "a_2": "3", "A_3": "4"}]),
        (b'a,"b\nc"\n1,2', [{"a": "1", "b c": "2"}]),
        (b"a,b,,\n1,2,,\n", [{"a": "1", "b": "2"}]),
        (b"code,v,day\n0123,1.10,2024-1-5", [{"code": "0123", "v": "1.10", "day": "2024-1-5"}]),
        (b"a,b\n1,NO", [{"a": "1", "b": "NO"}]),
        (b"a,b\n1,#N/A", [{"a": "1"}]),
        (b'a,b\n1,"x ""y"" z"', [{"a": "1", "b": 'x "y" z'}]),
        (b"a,b\n1,x\x07y", [{"a": "1", "b": "x y"}]),
    ],
)
def test_cells_are_what_the_author_wrote(raw: bytes, expected: list[Plain]) -> None:
    assert [plain(one) for one in table(raw)] == expected


def test_the_manner_of_excel() -> None:
    first, second = documents("excel.csv", sample("excel.csv"))
    assert plain(first) == {
        "Code": "0123",
        "标题": "请假",
        "Betrag": "1,5",
        "Text": 'Eine "Notiz"; mit Semikolon',
    }
    assert plain(second)["Text"] == "zwei\nZeilen"


def test_chinese_in_gb18030() -> None:
    first, _ = documents("gb18030.csv", sample("gb18030.csv"))
    assert plain(first)["部门"] == "人力资源部"
    assert plain(first)["发布日期"] == "2024年1月5日"


def test_tabs_are_expected_under_the_name_tsv() -> None:
    (one,) = documents("a.tsv", b"a,b\tc\n1,2\t3")
    assert plain(one) == {"a,b": "1,2", "c": "3"}


ROWS = b"Ref,Headline,Body,Dept,Note\nR1,Leave,Thirty days.,HR,x\nR2,Pay,On the last day.,Fin,y\n"


def test_columns_have_the_roles_of_the_type_map_in_any_case() -> None:
    first, second = table(
        ROWS, id="ref", title="HEADLINE", text=["body"], metadata=["dept"], ignore=["note"]
    )
    assert (first.key, first.text) == ("R1", "Thirty days.")
    assert plain(second) == {"title": "Pay", "Dept": "Fin"}


def test_all_but_text_and_ignored_columns_are_fields() -> None:
    first, _ = table(ROWS, text=["Body", "Headline"], ignore=["note"])
    assert first.text == "Body: Thirty days.\nHeadline: Leave"
    assert plain(first) == {"Ref": "R1", "Dept": "HR"}


def test_without_roles_all_columns_are_text_and_short_ones_fields() -> None:
    long = "long " * 50
    first, second = table(f"Name,Essay,n\nA,{long},1\nB,short,2\n".encode())
    assert first.text == f"Name: A\nEssay: {long.strip()}\nn: 1"
    assert plain(first) == {"title": "A", "Name": "A", "n": "1"}
    assert "Essay" not in second.fields
    assert first.markup is Markup.PLAIN


@pytest.mark.parametrize("role", ["id", "title"])
def test_a_role_for_a_missing_column_lists_the_columns(role: str) -> None:
    with pytest.raises(IngestError, match="'nope'; there are: Ref, Headline, Body, Dept, Note"):
        table(ROWS, **{role: "nope"})


@pytest.mark.parametrize("role", ["text", "metadata", "ignore"])
def test_a_role_for_missing_columns_lists_the_columns(role: str) -> None:
    with pytest.raises(IngestError, match="'nope'; there are: Ref"):
        table(ROWS, **{role: ["Dept", "nope"]})


def test_rows_are_keyed_by_number_without_an_id() -> None:
    assert [one.key for one in table(b"a\n1\n\n2\n")] == ["1", "2"]


def test_a_row_without_id_or_with_one_given_before_is_unreadable() -> None:
    read_ = read("a.csv", b"id,t\nA,x\n,y\nA,z\nB,w\n", Reading(id="id"))
    assert [one.key for one in read_] == ["A", None, "A", "B"]
    bad = [one for one in read_ if isinstance(one, Unreadable)]
    assert [(one.line, "row" in one.reason) for one in bad] == [(3, True), (4, True)]


def test_a_row_without_text_is_its_title_or_unreadable() -> None:
    reading = Reading(text=("body",))
    first, second = read("a.csv", b"title,body,n\nLeave,,1\n,,2\n", reading)
    assert isinstance(first, Loaded)
    assert first.text == "Leave"
    assert second == Unreadable("row 2 has no text", "2", 3)


def test_the_file_as_one_document_is_a_table() -> None:
    one = document("a.csv", b"a,b\n1,x|y\n,2,3\n", Reading(documents="file"))
    assert one.text == "| a | b |\n| --- | --- |\n| 1 | x\\|y |\n|  | 2 | 3 |"
    assert (one.key, one.markup, one.fields) == (None, Markup.MARKDOWN, {})


def test_division_follows_the_type_map() -> None:
    loader, path = TableLoader(), PurePosixPath("a.csv")
    assert loader.divides(path, Reading())
    assert not loader.divides(path, Reading(documents="file"))


@pytest.mark.parametrize("raw", [b"", b"\n\n", b",,\n"])
def test_an_empty_table_is_refused(raw: bytes) -> None:
    with pytest.raises(IngestError, match="empty"):
        table(raw)


def test_a_header_alone_has_no_documents() -> None:
    assert table(b"a,b\n") == []


def test_a_quote_that_is_never_closed_is_noted() -> None:
    raw = b'a,b\n1,"oops\n' + b"2,x\n" * 500
    (one,) = table(raw)
    assert "quote not closed" in messages(one)


class Counting(io.BytesIO):
    """Tells how far it has been read since it was last at its start."""

    seen = 0

    def seek(self, offset: int, whence: int = 0) -> int:
        self.seen = 0
        return super().seek(offset, whence)

    def read(self, size: int | None = -1) -> bytes:
        assert size is not None
        assert size >= 0
        block = super().read(size)
        self.seen += len(block)
        return block

    read1 = read


def test_rows_come_before_the_file_is_read_to_its_end() -> None:
    file = Counting(b"a,b\n" + b"1,some text\n" * 200_000)
    rows: Iterator[Loaded | Unreadable] = TableLoader().load(file, Reading())
    next(rows)
    assert file.seen < 100_000


@pytest.mark.parametrize(
    ("lines", "delimiter"),
    [
        (["a,b;c\n", "1,2;3\n"], ","),
        (["a;b\n", "1,2;3\n", "1,2,3;3\n"], ";"),
        (["one column\n", "with, commas\n"], ","),
        ([], ","),
    ],
)
def test_the_delimiter_that_divides_lines_alike(lines: list[str], delimiter: str) -> None:
    assert sniff(lines) == delimiter


CELLS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=20
)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=10))
def test_what_the_csv_writer_writes_comes_back(rows: list[list[str]]) -> None:
    quoted = [",".join(f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row) for row in rows]
    raw = "\r\n".join(["a,b,c", *quoted]).encode()
    expected = [
        {name: cell.strip() for name, cell in zip("abc", row, strict=True) if cell.strip()}
        for row in rows
        if any(cell.strip() for cell in row)
    ]
    read_ = table(raw, metadata=["a", "b", "c"], delimiter=",")
    found = [{k: v for k, v in plain(one).items() if k != "title"} for one in read_]
    errors = {"#N/A", "#REF!"}
    assert errors.isdisjoint(cell for row in rows for cell in row)
    assert found == expected


def test_a_column_named_twice_or_showing_an_error_is_doubtful() -> None:
    (row,) = table(b"access,Access,dept,text\npublic,secret,#N/A,hello\n")
    assert row.doubtful == {"access", "dept"}
