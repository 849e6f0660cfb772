"""What the file system knows of a file, as fields of its documents."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from agent.ingest.fixed_places import barred
from agent.ingest.loaded import Loaded
from agent.ingest.opening import Opened
from agent.ingest.options import IngestOptions
from agent.ingest.written import Value, Written, name_key

_OF_THE_WHOLE = frozenset({"modified_day", "size_bytes"})


def file_fields(options: IngestOptions, id_: str, opened: Opened) -> dict[str, Value]:
    """Those wanted, without a folder for a file at the top, and never an access field: where a
    file lies must not decide who may see it. Day and size are no property of one document of
    many: a row would be another one whenever its neighbours change.
    """
    path = PurePosixPath(id_)
    values = {
        "file_name": Written(path.name, quoted=True),
        "file_type": Written(path.suffix.removeprefix(".").lower(), quoted=True),
        "folder": Written("" if str(path.parent) == "." else str(path.parent), quoted=True),
        "modified_day": Written(_day(opened.modified, options.zone)),
        "size_bytes": Written(str(opened.size)),
    }
    return {
        name: value
        for name, value in values.items()
        if name in options.file_fields
        and name not in barred(options)
        and value.text
        and not (opened.divided and name in _OF_THE_WHOLE)
    }


def with_fields(loaded: Loaded, given: Mapping[str, Value]) -> Loaded:
    """A field of the same name that the author wrote wins."""
    if not given:
        return loaded
    own = {name_key(name) for name in loaded.fields}
    added = {name: value for name, value in given.items() if name_key(name) not in own}
    return replace(loaded, fields={**loaded.fields, **added})


def _day(modified: float, zone: dt.tzinfo) -> str:
    try:
        return dt.datetime.fromtimestamp(modified, zone).date().isoformat()
    except (OverflowError, ValueError):
        return ""
