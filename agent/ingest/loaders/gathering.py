"""Documents of a file are gathered into one, or told what concerns the file as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from agent.ingest.loaded import Loaded, Markup, Unreadable
from agent.ingest.loaders.rows import Row, documents
from agent.ingest.reading import Reading
from agent.ingest.written import Note
from schemas.errors import IngestError


def gathered(rows: Iterable[Row | Unreadable], reading: Reading) -> Iterator[Loaded]:
    """All rows as one document; the fields of a row are kept if it is the only one."""
    read = list(documents(rows, reading))
    good = [one for one in read if isinstance(one, Loaded)]
    bad = [one for one in read if isinstance(one, Unreadable)]
    if not good:
        raise IngestError(bad[0].reason if bad else "it holds no record")
    if len(good) == 1:
        first = replace(good[0], key=None)
    else:
        notes = tuple(note for one in good for note in one.notes)
        first = Loaded("\n\n".join(one.text for one in good), notes=notes, markup=Markup.PLAIN)
    missed = tuple(Note(f"left out: {one.reason}", line=one.line) for one in bad)
    yield replace(first, notes=(*first.notes, *missed))


def with_note(
    read: Iterable[Loaded | Unreadable], message: str | None
) -> Iterator[Loaded | Unreadable]:
    """What is said of the whole file stands with its first document."""
    for one in read:
        if message is not None and isinstance(one, Loaded):
            yield replace(one, notes=(Note(message), *one.notes))
            message = None
        else:
            yield one
