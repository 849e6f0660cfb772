"""Paths given by a person become the files to read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from agent.ingest.report import FileReason
from schemas.errors import UsageError


@dataclass(frozen=True, slots=True)
class Source:
    """A file, and the folder that its id is relative to; both resolved."""

    path: Path
    root: Path

    @property
    def name(self) -> str:
        """The path below the root, with forward slashes."""
        return self.path.relative_to(self.root).as_posix()


class Accepts(Protocol):
    """Whether a file is to be read; `named`: it was given by itself."""

    def __call__(self, source: Source, *, named: bool) -> bool: ...


@dataclass(slots=True)
class Discovery:
    """`folders` are the folders given, `visited` all folders looked into, `unreadable` those
    whose content is not known.
    """

    files: list[Source] = field(default_factory=list)
    skipped: list[FileReason] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    visited: list[Path] = field(default_factory=list)
    unreadable: list[Path] = field(default_factory=list)


def discover(paths: Sequence[str | Path], accepts: Accepts) -> Discovery:
    """Files in a stable order, each once, even if several paths lead to it.

    Links inside a folder are not followed: one that leads back would loop, and one that leads
    out would take in what was not given. Hidden files and folders are left out. All of them,
    and files that `accepts` refuses, are named in `skipped`. UsageError names a missing path.
    """
    if not paths:
        raise UsageError("no path to ingest was given")
    resolved = sorted({_resolve(path) for path in paths})
    found = Discovery()
    seen: set[Path] = set()
    for path in resolved:
        if path.is_dir() and not any(folder in path.parents for folder in found.folders):
            found.folders.append(path)
            _walk(path, accepts, found)
    seen.update(source.path for source in found.files)
    for path in resolved:
        if not path.is_dir() and path not in seen:
            _take(Source(path, path.parent), accepts, found, named=True)
    return found


def _resolve(path: str | Path) -> Path:
    try:
        return Path(path).expanduser().resolve(strict=True)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UsageError(f"there is no file or folder {str(path)!r}") from error
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"cannot read {str(path)!r}: {error}") from error


def _walk(root: Path, accepts: Accepts, found: Discovery) -> None:
    def unreadable(error: OSError) -> None:
        folder = Path(error.filename)
        name = f"{folder.relative_to(root).as_posix()}/"
        reason = f"folder cannot be read: {error.strerror}"
        found.skipped.append(FileReason(file=name, reason=reason))
        found.unreadable.append(folder)

    for here, folders, files in os.walk(root, onerror=unreadable):
        folder = Path(here)
        found.visited.append(folder)
        folders[:] = list(_enter(root, folder, folders, found))
        for name in sorted(files):
            _take(Source(folder / name, root), accepts, found)


def _enter(root: Path, folder: Path, names: list[str], found: Discovery) -> Iterator[str]:
    for name in sorted(names):
        reason = _aside(folder / name)
        if reason:
            below = (folder / name).relative_to(root).as_posix()
            found.skipped.append(FileReason(file=f"{below}/", reason=reason))
        else:
            yield name


def _take(source: Source, accepts: Accepts, found: Discovery, *, named: bool = False) -> None:
    reason = _aside(source.path) or _refused(source, accepts, named)
    if reason:
        found.skipped.append(FileReason(file=_printable(source.name), reason=reason))
    else:
        found.files.append(source)


def _aside(path: Path) -> str:
    if path.is_symlink():
        return "symbolic link; name its target to ingest it"
    return "hidden" if path.name.startswith(".") else ""


def _refused(source: Source, accepts: Accepts, named: bool) -> str:
    path = source.path
    if not path.is_file():
        return "not a regular file"
    if _printable(path.name) != path.name:
        return "its name is not valid Unicode; rename it to ingest it"
    if accepts(source, named=named):
        return ""
    return f"no loader for {path.suffix or 'files without a suffix'}"


def _printable(name: str) -> str:
    return name.encode("utf-8", "replace").decode()
