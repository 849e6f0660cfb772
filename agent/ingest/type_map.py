"""The type map: which files are read in which way."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from agent.ingest.reading import DEFAULT_READING, Reading
from schemas.errors import UsageError


class TypeMap:
    """The first entry that fits a file holds for it, as a whole."""

    def __init__(self, entries: Sequence[Reading] = ()) -> None:
        self._entries = tuple(entries)

    def reading(self, name: str) -> Reading:
        """`name` is a file's path below its root. A pattern without a slash is also compared
        with the last part of the path alone; case does not count.
        """
        path = name.casefold()
        for entry in self._entries:
            pattern = entry.match.casefold()
            if fnmatchcase(path, pattern):
                return entry
            if "/" not in pattern and fnmatchcase(PurePosixPath(path).name, pattern):
                return entry
        return DEFAULT_READING


def read_type_map(path: Path) -> tuple[Reading, ...]:
    """The entries of a YAML file. UsageError names the entry, its key, the value and what is
    allowed.
    """
    where = f"the type map {str(path)!r}"
    try:
        entries = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{where} cannot be read: {error}") from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise UsageError(f"{where} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(entries, list):
        raise UsageError(f"{where} must be a list of entries, each with keys of: {_KEYS}")
    return parse_type_map(entries, where)


def parse_type_map(entries: Sequence[object], where: str) -> tuple[Reading, ...]:
    """As `read_type_map`; `where` names the place that they come from."""
    return tuple(
        _entry(entry, f"{where}, entry {number}") for number, entry in enumerate(entries, 1)
    )


def check_loaders(entries: Sequence[Reading], names: Collection[str]) -> None:
    """UsageError if an entry names a loader that there is not."""
    for number, entry in enumerate(entries, 1):
        if entry.loader is not None and entry.loader not in names:
            allowed = ", ".join(sorted(names))
            raise UsageError(
                f"type map, entry {number} ({entry.match}): loader is {entry.loader!r}; "
                f"allowed: {allowed}"
            )


_KEYS = ", ".join(Reading.model_fields)


def _entry(entry: object, where: str) -> Reading:
    if not isinstance(entry, Mapping):
        raise UsageError(f"{where}: {entry!r} is not a mapping; its keys may be: {_KEYS}")
    try:
        return Reading.model_validate({str(key): value for key, value in entry.items()})
    except ValidationError as error:
        faults = "; ".join(_fault(fault) for fault in error.errors(include_url=False))
        raise UsageError(f"{where}: {faults}") from error


def _fault(fault: ErrorDetails) -> str:
    key = ".".join(map(str, fault["loc"]))
    if fault["type"] == "extra_forbidden":
        return f"unknown key {key!r}; allowed: {_KEYS}"
    return f"{key}: {fault['msg']} (got {fault['input']!r})" if key else fault["msg"]
