"""What became of the documents of a run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from agent.ingest.report import FileNote, FileReason

_NOTES_PER_FILE = 100


@dataclass(slots=True)
class Outcome:
    """What became of the documents so far; `seconds` by part. `broken` are the ids of files that
    were not read to their end.
    """

    added: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    failed: list[FileReason] = field(default_factory=list)
    notes: list[FileNote] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    chunks: int = 0
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    _noted: Counter[str] = field(default_factory=Counter)

    @property
    def written(self) -> int:
        return len(self.added) + len(self.replaced)

    def note(self, file: str, notes: Sequence[FileNote]) -> None:
        """Of a file whose every row is odd, the first notes say it all."""
        room = max(_NOTES_PER_FILE - self._noted[file], 0)
        self.notes.extend(notes[:room])
        self._noted[file] += len(notes)

    def close(self) -> None:
        """Say of which files there would be more notes."""
        for file, count in self._noted.items():
            if count > _NOTES_PER_FILE:
                more = f"{count - _NOTES_PER_FILE} more notes of this kind"
                self.notes.append(FileNote(file=file, message=more))
