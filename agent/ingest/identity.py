"""Which documents of a knowledge base a file stands for.

The id of a document is the path of its file below the folder that was given, such as
`hr/remote-work.md`; for a file given by itself, its name. The documents of a file that divides
add their key: `hr/staff.csv#17`. So that the same file keeps its id however it is named later,
the stored content hash carries a second part, its origin: a digest of the folder that the id is
relative to. A file is looked up under every folder above it, and where id and origin agree, it
is that file.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from agent.ingest.discovery import Discovery, Source

KEY = "#"
"""Stands between the file and the key in the id of a document of a file that divides."""


@dataclass(frozen=True, slots=True)
class Identity:
    """`stored` is the content digest of the file's one document as it is in the knowledge base,
    None if it has none. `foreign`: what is stored under this id came from another folder, so it
    may be another file.
    """

    id: str
    origin: str
    stored: str | None = None
    foreign: bool = False


@dataclass(frozen=True, slots=True)
class Stored:
    """The two parts of a stored content hash."""

    content: str
    origin: str


def stamp(content: str, origin: str) -> str:
    """The content hash that is stored with a document."""
    return f"{content}-{origin}"


def part_id(file: str, key: str) -> str:
    """The id of one document of a file; without a key it is the file's."""
    return f"{file}{KEY}{key}" if key else file


class Identities:
    """The documents known to a knowledge base, by id, with their stored content hashes."""

    def __init__(self, hashes: Mapping[str, str]) -> None:
        self._known: dict[str, Stored] = {}
        self._parts: dict[str, dict[str, list[str]]] = {}
        for id_, hash_ in hashes.items():
            content, _, origin = hash_.rpartition("-")
            self._known[id_] = Stored(content, origin)
            for file in _files(id_):
                self._parts.setdefault(file, {}).setdefault(origin, []).append(id_)
        self._origins: dict[Path, str] = {}

    def __contains__(self, id_: object) -> bool:
        return id_ in self._known

    def stored(self, id_: str) -> Stored | None:
        return self._known.get(id_)

    def identify(self, source: Source) -> Identity:
        for folder in (source.root, *source.path.parents):
            id_ = _below(source.path, folder)
            known = self._known.get(id_)
            parts = self._parts.get(id_)
            if not known and not parts:
                continue
            origin = self.origin(folder)
            if known and known.origin == origin:
                return Identity(id_, origin, known.content)
            if parts and origin in parts:
                return Identity(id_, origin)
        id_ = _below(source.path, source.root)
        known = self._known.get(id_)
        return Identity(
            id_,
            self.origin(source.root),
            None if known is None else known.content,
            foreign=known is not None or id_ in self._parts,
        )

    def others(self, source: Source, identity: Identity, taken: Container[str]) -> list[str]:
        """Documents stored for a file beside those `taken`: of rows that are gone, or from when
        it was divided and is no longer, or the other way round.
        """
        parts = self._parts.get(identity.id, {})
        origins = parts if identity.foreign else {identity.origin} & parts.keys()
        ids = [id_ for origin in origins for id_ in parts[origin]]
        if identity.stored is not None:
            ids.append(identity.id)
        folder = source.path.parents[identity.id.count("/")]
        return [id_ for id_ in ids if id_ not in taken and not _is_file(source, folder, id_)]

    def vanished(self, found: Discovery, seen: Container[str]) -> tuple[str, ...]:
        """Documents that came from the folders given and whose files are gone; `seen` are the
        ids of the files that are there. A folder that was ingested by itself and has vanished as
        a whole below another one is not recognised.
        """
        parents = {parent for folder in found.folders for parent in folder.parents}
        origins = {self.origin(folder): folder for folder in (*parents, *found.visited)}
        gone = []
        for id_, known in self._known.items():
            folder = origins.get(known.origin)
            if folder is None or not _within(folder / id_, found.folders):
                continue
            is_there = id_ in seen or any(file in seen for file in _files(id_))
            if not is_there and not _within(folder / id_, found.unreadable):
                gone.append(id_)
        return tuple(sorted(gone))

    def origin(self, folder: Path) -> str:
        """12 hexadecimal digits for a folder."""
        if folder not in self._origins:
            name = unicodedata.normalize("NFC", folder.as_posix())
            self._origins[folder] = hashlib.sha256(name.encode()).hexdigest()[:12]
        return self._origins[folder]


def _files(id_: str) -> Iterator[str]:
    """The files that a document may be a part of: names of files and keys may hold a # too."""
    at = id_.find(KEY)
    while at > 0:
        yield id_[:at]
        at = id_.find(KEY, at + 1)


def _is_file(source: Source, folder: Path, id_: str) -> bool:
    """Whether `notes#1.md` is a file beside `notes` rather than a part of it."""
    try:
        path = folder / id_
        return path != source.path and path.is_file()
    except (OSError, ValueError):
        return False


def _below(path: Path, folder: Path) -> str:
    # macOS hands out decomposed names for the same file
    return unicodedata.normalize("NFC", path.relative_to(folder).as_posix())


def _within(path: Path, folders: Iterable[Path]) -> bool:
    return any(folder in path.parents for folder in folders)
