"""Cells and header lines of tables, of whatever file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from agent.ingest.decoding import clean
from agent.ingest.loaders.rows import Row
from agent.ingest.written import Note, Value, Written, name_key

ERRORS = frozenset(
    {"#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#SPILL!", "#CALC!"}
)
"""What a cell shows whose formula has failed."""


def header(cells: Iterable[str]) -> tuple[str, ...]:
    """Names of columns, each once: `id, id` become `id, id_2`, an empty one `column_3`."""
    names: list[str] = []
    taken: set[str] = set()
    for place, cell in enumerate(cells, 1):
        wanted = " ".join(clean(cell).split()) or f"column_{place}"
        name, number = wanted, 1
        while name_key(name) in taken:
            number += 1
            name = f"{wanted}_{number}"
        taken.add(name_key(name))
        names.append(name)
    return tuple(names)


def repeated(cells: Iterable[str]) -> frozenset[str]:
    """Keys (written.name_key) of the columns that a header line names more than once."""
    counts = Counter(name_key(" ".join(clean(cell).split())) for cell in cells)
    return frozenset(key for key, count in counts.items() if key and count > 1)


def row(
    key: str,
    columns: Sequence[str],
    texts: Sequence[str],
    line: int,
    doubtful: frozenset[str] = frozenset(),
) -> Row:
    """Empty cells are absent; those that show an error are absent with a note, and doubtful, as
    are those of the columns named so.
    """
    cells: dict[str, Value] = {}
    notes: list[Note] = []
    for name, raw in zip(columns, texts, strict=False):
        text = clean(raw).strip()
        if text in ERRORS:
            notes.append(Note(f"row {key}: {text} is an error; taken as missing", name, line))
            doubtful |= {name_key(name)}
        elif text:
            cells[name] = Written(text, line=line)
    extra = (clean(raw).strip() for raw in texts[len(columns) :])
    kept = tuple(Written(text, line=line) for text in extra if text)
    return Row(key, cells, line, tuple(notes), kept, doubtful)


def markdown_table(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """Lines of a table in Markdown; extra cells stand at the end of their row."""
    yield _line(columns)
    yield _line(["---"] * len(columns))
    for one in rows:
        values = [one.cells.get(name) for name in columns]
        shown = [value.text if isinstance(value, Written) else "" for value in values]
        yield _line([*shown, *(item.text for item in one.extra)])


def _line(cells: Iterable[str]) -> str:
    inner = (" ".join(cell.replace("|", "\\|").split()) for cell in cells)
    return f"| {' | '.join(inner)} |"
