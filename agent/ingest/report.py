"""What a run of ingesting did."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from pydantic import Field as Attribute

from schemas.model import Shape


class FileReason(Shape):
    """A file, or one document of a file that divides, that was not taken in, and why; `remedy` is
    what would mend it, if known. `line` counts from 1.
    """

    file: str
    reason: str
    remedy: str = ""
    line: int | None = None


class FileNote(Shape):
    """Something in a file that was read differently from what its author may have meant.
    `line` counts from 1.
    """

    file: str
    message: str
    field: str | None = None
    line: int | None = None


class Progress(Shape):
    """How far a run is. `done` and `total` count documents; `chunks` those embedded so far;
    `seconds_left` is an estimate from the pace so far, None before there is one.
    """

    done: int
    total: int
    file: str = ""
    chunks: int = 0
    seconds_left: float | None = None


class IngestReport(Shape):
    """Ids of documents and files by what became of them. `pruned` are documents that were deleted
    because their file, or their row of a file, is gone.

    `seconds` has the parts survey, read, split, embed, write and total; parts overlap, so they
    may add up to more than the total. `peak_rss_bytes` is this process's, None where the
    platform does not tell.
    """

    kb: str
    added: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    pruned: tuple[str, ...] = ()
    skipped: tuple[FileReason, ...] = ()
    failed: tuple[FileReason, ...] = ()
    notes: tuple[FileNote, ...] = ()
    chunks: int = 0
    seconds: Mapping[str, float] = Attribute(default_factory=dict)
    peak_rss_bytes: int | None = None


def peak_rss() -> int | None:
    """The largest resident size of this process so far, in bytes."""
    if sys.platform == "win32":
        return None
    import resource  # noqa: PLC0415  (does not exist on Windows)

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
