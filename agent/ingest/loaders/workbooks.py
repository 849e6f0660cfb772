"""Excel workbooks, sheet by sheet and row by row."""

from __future__ import annotations

import datetime as dt
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO

from agent.ingest.loaded import Loaded, Unreadable
from agent.ingest.loaders import cells
from agent.ingest.loaders.gathering import with_note
from agent.ingest.loaders.rows import Row, documents
from agent.ingest.reading import Reading
from agent.ingest.written import Note
from schemas.errors import IngestError

if TYPE_CHECKING:
    from openpyxl import Workbook

_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_VISIBLE = "visible"
_MOST_COLUMNS = 2_000
_MOST_ROWS = 1_048_576  # of the format; a damaged file may claim more
# openpyxl lets through whatever a damaged part of the file makes its readers raise
_BROKEN = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    SyntaxError,  # of XML, in both parsers that it uses
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    EOFError,
    OSError,
    OverflowError,
    NotImplementedError,
    RecursionError,
)


@dataclass(frozen=True, slots=True)
class WorkbookLoader:
    """A document a row, keyed `Sheet!row` with the row's number in Excel, or the workbook as
    one document: a table in Markdown below a heading for each sheet.

    In every sheet the first row that is not empty names the columns. Formulas have the value
    that Excel stored. Days are ISO.
    """

    name: str = "excel"
    suffixes: frozenset[str] = frozenset({".xlsx", ".xlsm"})
    most_unpacked_bytes: int = 1 << 30

    def claims(self, head: bytes) -> bool:
        return head.startswith(_ZIP) and b"xl/" in head

    def divides(self, path: PurePosixPath, reading: Reading) -> bool:
        return reading.documents == "row"

    def load(self, file: BinaryIO, reading: Reading) -> Iterator[Loaded | Unreadable]:
        workbook = _open(file, self.most_unpacked_bytes)
        try:
            sheets = _chosen(workbook, reading.sheets)
            note = None if reading.sheets else _hidden_note(workbook)
            if reading.documents == "file":
                yield from with_note(iter([_whole(sheets)]), note)
                return
            yield from with_note(_divided(sheets, reading), note)
        finally:
            workbook.close()


class _Sheet:
    def __init__(self, title: str, rows: Iterable[Sequence[Any]]) -> None:
        self.title = title
        self._rows = _filled(rows)
        _, first = next(self._rows, (0, []))
        if len(first) > _MOST_COLUMNS:
            raise IngestError(f"sheet {title!r} has more than {_MOST_COLUMNS} columns")
        self.columns = cells.header(first)
        self._repeated = cells.repeated(first)

    def rows(self) -> Iterator[Row]:
        for number, texts in self._rows:
            yield cells.row(f"{self.title}!{number}", self.columns, texts, number, self._repeated)


def _open(file: BinaryIO, most: int) -> Workbook:
    start = file.read(len(_OLE))
    file.seek(0)
    if start == _OLE:
        raise IngestError(
            "it is encrypted, or a workbook of Excel 97 to 2003",
            remedy="save it as .xlsx without a password",
        )
    import openpyxl  # noqa: PLC0415 - slow to import

    try:
        with zipfile.ZipFile(file) as parts:
            unpacked = sum(part.file_size for part in parts.infolist())
        if unpacked > most:
            raise IngestError(f"it unpacks to {unpacked} bytes, at most {most} are read")
        # it warns of styles and forms, which are not read here
        warnings.filterwarnings("ignore", category=UserWarning, module="openpyxl")
        return openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
    except _BROKEN as error:
        raise _broken(error) from error


def _chosen(workbook: Workbook, wanted: Sequence[str]) -> Iterator[_Sheet]:
    """All sheets that Excel shows and that hold something, or those that the type map names."""
    by_name = {sheet.title.casefold(): sheet for sheet in workbook.worksheets}
    for name in wanted:
        if name.casefold() not in by_name:
            there = ", ".join(sheet.title for sheet in workbook.worksheets)
            raise IngestError(
                f"there is no sheet {name!r}; there are: {there}",
                remedy="correct `sheets` in the type map",
            )
    names = [name.casefold() for name in wanted] or [
        name for name, sheet in by_name.items() if sheet.sheet_state == _VISIBLE
    ]
    for name in names:
        sheet = by_name[name]
        sheet.reset_dimensions()  # what the file says of its size is often wrong
        one = _Sheet(sheet.title, sheet.iter_rows(values_only=True))
        if one.columns:
            yield one


def _hidden_note(workbook: Workbook) -> str | None:
    hidden = [sheet.title for sheet in workbook.worksheets if sheet.sheet_state != _VISIBLE]
    if not hidden:
        return None
    return f"left out, because Excel does not show them: sheets {', '.join(hidden)}"


def _divided(sheets: Iterable[_Sheet], reading: Reading) -> Iterator[Loaded | Unreadable]:
    seen: set[str] = set()
    for sheet in sheets:
        yield from documents(sheet.rows(), reading, sheet.columns, seen)


def _whole(sheets: Iterable[_Sheet]) -> Loaded:
    parts: list[str] = []
    notes: list[Note] = []
    for sheet in sheets:
        rows = list(sheet.rows())
        notes.extend(note for row in rows for note in row.notes)
        table = "\n".join(cells.markdown_table(sheet.columns, rows))
        parts.append(f"## {sheet.title}\n\n{table}")
    return Loaded("\n\n".join(parts), notes=tuple(notes))


def _filled(rows: Iterable[Sequence[Any]]) -> Iterator[tuple[int, list[str]]]:
    """Rows that hold something, with their numbers and without the empty cells at their end."""
    source = iter(rows)
    for number in range(1, _MOST_ROWS + 1):
        try:
            values = next(source)
        except StopIteration:
            return
        except _BROKEN as error:
            raise _broken(error) from error
        texts = [_shown(value) for value in values]
        while texts and not texts[-1].strip():
            texts.pop()
        if texts:
            yield number, texts


def _shown(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
        case dt.datetime():
            midnight = value.time() == dt.time()
            return value.date().isoformat() if midnight else value.isoformat(timespec="seconds")
        case dt.date():
            return value.isoformat()
        case dt.time():
            return value.isoformat(timespec="minutes" if not value.second else "seconds")
        case _:
            return str(value)


def _broken(error: Exception) -> IngestError:
    return IngestError(
        f"the workbook is damaged or none: {error or type(error).__name__}",
        remedy="open it in Excel and save it again as .xlsx",
    )
