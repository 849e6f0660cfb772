"""Excel workbooks written by XlsxWriter."""

from __future__ import annotations

import io
import zipfile

import openpyxl
import pytest

from agent.ingest.loaded import Loaded
from agent.ingest.loaders.workbooks import WorkbookLoader
from agent.ingest.reading import Reading
from schemas.errors import IngestError
from tests.loading import document, documents, messages, plain, read, sample

STAFF = sample("staff.xlsx")


def test_rows_of_every_sheet_are_documents() -> None:
    first, second, room = documents("staff.xlsx", STAFF)
    assert plain(first) == {
        "Code": "0123",
        "Title": "Leave",
        "Valid from": "2024-01-31",
        "Version": "1.10",
        "Pages": "12",
        "Ratio": "0.25",
        "Open": "true",
        "Sum": "2",
        "Text": "Thirty days a year.",
    }
    assert plain(second)["Valid from"] == "2024-03-01T09:30:00"
    assert plain(room) == {"Room": "Oslo", "Seats": "8", "Opens": "09:30"}
    assert [one.key for one in (first, second, room)] == ["Policies!2", "Policies!4", "Rooms!2"]


def test_a_cell_with_an_error_is_missing_and_noted() -> None:
    _, second, _ = documents("staff.xlsx", STAFF)
    assert "Sum" not in second.fields
    (note,) = second.notes
    assert (note.field, note.line, "Policies!4: #DIV/0!" in note.message) == ("Sum", 4, True)


def test_roles_and_sheets_of_the_type_map() -> None:
    reading = Reading(sheets=("policies",), id="code", text=("text",), metadata=("version",))
    first, second = documents("staff.xlsx", STAFF, reading)
    assert (first.key, first.text) == ("0123", "Thirty days a year.")
    assert plain(second) == {"Title": "加班", "Version": "2.0"}


def test_unknown_sheets_and_columns_are_named_with_those_there_are() -> None:
    with pytest.raises(IngestError, match="'Plan'; there are: Policies, Rooms, Empty"):
        read("staff.xlsx", STAFF, Reading(sheets=("Plan",)))
    with pytest.raises(IngestError, match="'Plan'; there are: Code, Title"):
        read("staff.xlsx", STAFF, Reading(id="Plan"))


def test_the_workbook_as_one_document() -> None:
    one = document("staff.xlsx", STAFF, Reading(documents="file"))
    assert one.text.startswith("## Policies\n\n| Code | Title |")
    assert (
        "## Rooms\n\n| Room | Seats | Opens |\n| --- | --- | --- |\n| Oslo | 8 | 09:30 |"
        in one.text
    )
    assert "#DIV/0!" in messages(one)


def test_a_cell_in_the_last_row_and_column_takes_no_memory() -> None:
    (one,) = documents("sparse.xlsx", sample("sparse.xlsx"))
    assert one.key == "Sheet1!1048576"
    assert plain(one) == {"_extra": ["far"]}


def test_an_old_or_encrypted_workbook_is_refused_with_the_way_out() -> None:
    with pytest.raises(IngestError, match="encrypted, or a workbook of Excel 97") as raised:
        read("a.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    assert "xlsx" in raised.value.remedy


def test_a_workbook_that_unpacks_to_too_much_is_refused() -> None:
    loader = WorkbookLoader(most_unpacked_bytes=10_000)
    with pytest.raises(IngestError, match="unpacks to"):
        next(loader.load(io.BytesIO(STAFF), Reading()))


@pytest.mark.parametrize("part", ["xl/worksheets/sheet1.xml", "xl/styles.xml", "xl/workbook.xml"])
def test_a_workbook_with_a_broken_part_is_refused(part: str) -> None:
    broken = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(STAFF)) as old, zipfile.ZipFile(broken, "w") as new:
        for name in old.namelist():
            new.writestr(name, b"<broken" if name == part else old.read(name))
    with pytest.raises(IngestError, match="damaged"):
        read("a.xlsx", broken.getvalue())


def test_a_row_number_beyond_the_format_ends_the_sheet() -> None:
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(STAFF)) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            raw = old.read(name)
            if name == "xl/worksheets/sheet2.xml":
                raw = raw.replace(b'r="2"', b'r="4000000000"').replace(b'2"', b'4000000000"')
            new.writestr(name, raw)
    read_ = read("a.xlsx", changed.getvalue(), Reading(sheets=("Rooms",)))
    assert not [one for one in read_ if isinstance(one, Loaded)]


def hidden_sheet(state: str) -> bytes:
    workbook = openpyxl.Workbook()
    shown, aside = workbook.active, workbook.create_sheet("Salaries")
    shown.title = "Rooms"
    for sheet, text in ((shown, "Oslo"), (aside, "Ann earns much")):
        sheet.append(["Text"])
        sheet.append([text])
    aside.sheet_state = state
    file = io.BytesIO()
    workbook.save(file)
    return file.getvalue()


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_a_hidden_sheet_is_left_out_and_told(state: str) -> None:
    raw = hidden_sheet(state)
    (room,) = documents("a.xlsx", raw)
    assert room.key == "Rooms!2"
    assert "Salaries" in messages(room)
    whole = document("a.xlsx", raw, Reading(documents="file"))
    assert "earns" not in whole.text
    assert "Salaries" in messages(whole)


def test_a_hidden_sheet_that_is_named_is_read() -> None:
    (one,) = documents("a.xlsx", hidden_sheet("hidden"), Reading(sheets=("Salaries",)))
    assert (one.key, one.notes) == ("Salaries!2", ())
