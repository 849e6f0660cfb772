"""The file of a backup.

A zip archive: `manifest.json`, and numbered parts of three kinds, `documents`, `chunks` and
`versions`. A part is a file of JSON lines, one row each; of chunks and versions it has another
one beside it, `.npy`, with their vectors as little-endian single floats, one row each. The
manifest is written last and names rows and SHA-256 of every part. Nothing is ever extracted to
the disk, and no name in the file is used as a path.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import JsonValue, ValidationError

from agent.store.rows import Row
from schemas.errors import BackupDamaged, StoreError, UsageError
from schemas.model import Shape

FORMAT = "facetwise-backup"
VERSION = 1
MANIFEST = "manifest.json"

PART_BYTES = 8_000_000
"""A part is closed once its lines have so many bytes."""

PART_ROWS = 1_000
LARGEST = 64_000_000
"""Bytes of a member that are read at most: more than any part has, with the largest row last."""

_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    ValueError,
    NotImplementedError,
    RecursionError,
    RuntimeError,
)
"""What reading an archive raises that is damaged, encrypted or packed in an unknown way."""


class Kind(StrEnum):
    DOCUMENTS = "documents"
    CHUNKS = "chunks"
    VERSIONS = "versions"


class Part(Shape):
    """`lines` and `vectors` are SHA-256 sums; documents have no vectors."""

    kind: Kind
    rows: int
    lines: str
    vectors: str = ""


class Manifest(Shape):
    """`catalogue` is that of the knowledge base, as its layout has it."""

    format: str
    version: int
    created: str
    catalogue: Mapping[str, JsonValue]
    parts: tuple[Part, ...]

    def rows(self, kind: Kind) -> int:
        return sum(part.rows for part in self.parts if part.kind is kind)


class BackupWriter:
    """Appends parts; `close` writes the manifest."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._parts: list[Part] = []

    def add(self, kind: Kind, rows: Sequence[Row]) -> None:
        """Rows with JSON values and, unless they are documents, a vector `dense`."""
        begun: list[bytes] = []
        first = 0
        for index, row in enumerate(rows):
            plain = {name: value for name, value in row.items() if name != "dense"}
            begun.append(json.dumps(plain, ensure_ascii=False).encode() + b"\n")
            last = index == len(rows) - 1
            if last or len(begun) >= PART_ROWS or sum(map(len, begun)) >= PART_BYTES:
                self._write(kind, b"".join(begun), rows[first : index + 1])
                begun, first = [], index + 1

    def close(self, catalogue: Mapping[str, JsonValue], created: str) -> None:
        manifest = Manifest(
            format=FORMAT,
            version=VERSION,
            created=created,
            catalogue=catalogue,
            parts=tuple(self._parts),
        )
        self._store(MANIFEST, manifest.model_dump_json().encode())

    def _write(self, kind: Kind, lines: bytes, rows: Sequence[Row]) -> None:
        name = _name(kind, len(self._parts))
        part = Part(kind=kind, rows=len(rows), lines=self._store(f"{name}.jsonl", lines))
        if kind is not Kind.DOCUMENTS:
            buffer = io.BytesIO()
            np.save(buffer, np.asarray([row["dense"] for row in rows], dtype="<f4"))
            vectors = self._store(f"{name}.npy", buffer.getvalue(), packed=False)
            part = part.model_copy(update={"vectors": vectors})
        self._parts.append(part)

    def _store(self, name: str, data: bytes, *, packed: bool = True) -> str:
        method = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
        self._archive.writestr(zipfile.ZipInfo(name), data, method, 1 if packed else None)
        return hashlib.sha256(data).hexdigest()


class BackupReader:
    """An opened backup, whose parts are checked as they are read."""

    def __init__(self, archive: zipfile.ZipFile, path: Path) -> None:
        self._archive = archive
        self._path = path
        self.manifest = self._manifest()
        expected = {MANIFEST}
        for number, part in enumerate(self.manifest.parts):
            expected.add(f"{_name(part.kind, number)}.jsonl")
            if part.kind is not Kind.DOCUMENTS:
                expected.add(f"{_name(part.kind, number)}.npy")
        if sorted(expected) != sorted(archive.namelist()):
            raise self._damaged("its parts are not those that it names")

    def parts(self, dimension: int) -> Iterator[tuple[Kind, list[Row]]]:
        """Rows part by part, those with vectors with `dense`. Raises BackupDamaged."""
        for number, part in enumerate(self.manifest.parts):
            name = _name(part.kind, number)
            try:
                rows = _rows(self._read(f"{name}.jsonl", part.lines))
                if part.kind is not Kind.DOCUMENTS:
                    data = self._read(f"{name}.npy", part.vectors)
                    vectors = _vectors(data, part.rows, dimension)
                    for row, vector in zip(rows, vectors, strict=True):
                        row["dense"] = vector
            except _BROKEN as error:
                raise self._damaged(f"part {name} cannot be read ({error})") from error
            if len(rows) != part.rows or not all(_is_sound(part.kind, row) for row in rows):
                raise self._damaged(f"part {name} does not hold the rows that it should")
            yield part.kind, rows

    def _manifest(self) -> Manifest:
        try:
            found = json.loads(self._read(MANIFEST))
        except _BROKEN as error:
            raise self._damaged(f"it has no manifest that can be read ({error})") from error
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise self._damaged("it is no backup of a knowledge base")
        if found.get("version") != VERSION:
            raise BackupDamaged(
                f"{self._path} is a backup in version {found.get('version')!r} of the format;"
                f" this program reads {VERSION}",
                remedy="update facetwise",
            )
        try:
            return Manifest.model_validate(found)
        except ValidationError as error:
            raise self._damaged(f"its manifest has {error.error_count()} faults") from error

    def _read(self, name: str, expected: str | None = None) -> bytes:
        info = self._archive.getinfo(name)
        if info.file_size > LARGEST:
            raise ValueError(f"{info.file_size:,} bytes are more than a part can have")
        with self._archive.open(info) as member:
            data = member.read(LARGEST + 1)
        if expected is not None and hashlib.sha256(data).hexdigest() != expected:
            raise ValueError("its checksum is another one")
        return data

    def _damaged(self, detail: str) -> BackupDamaged:
        return BackupDamaged(f"{self._path} cannot be restored: {detail}")


@contextmanager
def new_backup(path: Path) -> Iterator[BackupWriter]:
    """A backup that is at its place once it is whole. Raises UsageError where it cannot be, and
    where there is a file that is no backup.
    """
    _check_replaceable(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            with zipfile.ZipFile(file, "w", allowZip64=True) as archive:
                yield BackupWriter(archive)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written: {error.strerror or error}",
            remedy="free some space, or name another place",
        ) from error
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def opened_backup(path: Path) -> Iterator[BackupReader]:
    """Raises UsageError if there is no such file, BackupDamaged if it is no backup."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield BackupReader(archive, path)
    except FileNotFoundError as error:
        raise UsageError(f"{path} does not exist") from error
    except zipfile.BadZipFile as error:
        raise BackupDamaged(f"{path} cannot be restored: {error}") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error


def _check_replaceable(path: Path) -> None:
    if not path.exists():
        return
    try:
        with opened_backup(path):
            return
    except (BackupDamaged, UsageError) as error:
        raise UsageError(
            f"{path} exists and is no backup, so it is not replaced", remedy="name another file"
        ) from error


def _name(kind: Kind, number: int) -> str:
    return f"{kind}/{number:06}"


def _rows(data: bytes) -> list[Row]:
    return [json.loads(line) for line in data.decode().split("\n") if line]


def _vectors(data: bytes, rows: int, dimension: int) -> list[list[float]]:
    """ValueError unless the header says what is there; nothing is allocated on its word."""
    stream = io.BytesIO(data)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("vectors in an unknown format")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream, max_header_size=1_000)
    if shape != (rows, dimension) or fortran or dtype != np.dtype("<f4"):
        raise ValueError(f"vectors of shape {shape} and type {dtype}")
    flat = np.frombuffer(stream.read(), dtype="<f4")
    if flat.size != rows * dimension or not np.isfinite(flat).all():
        raise ValueError("vectors are missing")
    found: list[list[float]] = flat.reshape(rows, dimension).tolist()
    return found


_TEXTS = ("id", "revision", "content_hash", "title", "source", "ingested_at")
_TYPES: Mapping[Kind, Mapping[str, type]] = {
    Kind.DOCUMENTS: {
        **dict.fromkeys(_TEXTS, str),
        "enabled": bool,
        "chunks": int,
        "original": dict,
    },
    Kind.CHUNKS: {
        **dict.fromkeys(("id", "doc_id", "revision", "text", "heading", "terms"), str),
        **dict.fromkeys(("chunk_index", "start", "stop"), int),
        "enabled": bool,
        "original": dict,
        "dense": list,
    },
}


def _is_sound(kind: Kind, row: Any) -> bool:
    types = {**_TYPES[Kind.CHUNKS], "document": str} if kind is Kind.VERSIONS else _TYPES[kind]
    return (
        isinstance(row, dict)
        and row.keys() == types.keys()
        and all(type(row[name]) is type_ for name, type_ in types.items())
    )
