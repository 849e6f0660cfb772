"""Which document of a knowledge base a file is.

The id of a document is the path of its file below the folder that was given, such as
`hr/remote-work.md`; for a file given by itself, its name. So that the same file keeps its id
however it is named later, the stored content hash carries a second part, its origin: a digest
of the folder that the id is relative to. A file is looked up under every folder above it, and
where id and origin agree, it is that document.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from agent.ingest.discovery import Discovery, Source


@dataclass(frozen=True, slots=True)
class Identity:
    """`stored` is the content digest of the document as it is in the knowledge base, None if it
    is new. `foreign`: that document came from another folder, so it may be another one.
    """

    id: str
    origin: str
    stored: str | None = None
    foreign: bool = False


def stamp(content: str, origin: str) -> str:
    """The content hash that is stored with a document."""
    return f"{content}-{origin}"


class Identities:
    """The documents known to a knowledge base, by id, with their stored content hashes."""

    def __init__(self, hashes: Mapping[str, str]) -> None:
        self._known = {id_: stored.rpartition("-")[::2] for id_, stored in hashes.items()}
        self._origins: dict[Path, str] = {}

    def identify(self, source: Source) -> Identity:
        for folder in (source.root, *source.path.parents):
            id_ = _below(source.path, folder)
            content, origin = self._known.get(id_, ("", ""))
            if origin and origin == self.origin(folder):
                return Identity(id_, origin, content)
        id_ = _below(source.path, source.root)
        stored = self._known.get(id_)
        return Identity(
            id_,
            self.origin(source.root),
            None if stored is None else stored[0],
            foreign=stored is not None,
        )

    def vanished(self, found: Discovery, seen: Iterable[str]) -> tuple[str, ...]:
        """Documents that came from the folders given and whose files are gone. A folder that was
        ingested by itself and has vanished as a whole below another one is not recognised.
        """
        parents = {parent for folder in found.folders for parent in folder.parents}
        origins = {self.origin(folder): folder for folder in (*parents, *found.visited)}
        gone = []
        for id_, (_, origin) in self._known.items():
            folder = origins.get(origin)
            if folder is None or not _within(folder / id_, found.folders):
                continue
            if not _within(folder / id_, found.unreadable):
                gone.append(id_)
        return tuple(sorted(set(gone) - set(seen)))

    def origin(self, folder: Path) -> str:
        """12 hexadecimal digits for a folder."""
        if folder not in self._origins:
            name = unicodedata.normalize("NFC", folder.as_posix())
            self._origins[folder] = hashlib.sha256(name.encode()).hexdigest()[:12]
        return self._origins[folder]


def _below(path: Path, folder: Path) -> str:
    # macOS hands out decomposed names for the same file
    return unicodedata.normalize("NFC", path.relative_to(folder).as_posix())


def _within(path: Path, folders: Iterable[Path]) -> bool:
    return any(folder in path.parents for folder in folders)
