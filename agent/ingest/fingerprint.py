"""Digests that tell whether a document would be stored as it is already."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from agent.ingest.loaded import Loaded
from agent.ingest.options import IngestOptions
from agent.ingest.reading import DEFAULT_READING, Reading
from agent.ingest.splitting import Splitter
from agent.ingest.written import Value, Written

_DIGITS = 40


class Fingerprint:
    """Digests of 40 hexadecimal digits over what was read and all else that makes a document of
    it: the options, the tags of the run, the entry of the type map.
    """

    def __init__(self, options: IngestOptions, tags: Sequence[str]) -> None:
        self._options = options
        self._tags = sorted(tags)
        self._ways: dict[Reading, bytes] = {}
        self._splitters: dict[tuple[int, int], Splitter] = {}

    def splitter(self, reading: Reading) -> Splitter:
        """The one that splits files of this kind."""
        sizes = self._options.sizes(reading)
        if sizes not in self._splitters:
            self._splitters[sizes] = Splitter(*sizes)
        return self._splitters[sizes]

    def of_file(self, raw: bytes, reading: Reading, given: Mapping[str, Value]) -> str:
        """`given` are the fields that come from elsewhere than the file."""
        way = self._way(reading) + (_fields(given).encode() if given else b"")
        return hashlib.sha256(way + b"\0" + raw).hexdigest()[:_DIGITS]

    def of_part(self, key: str, loaded: Loaded, reading: Reading) -> str:
        """For one document of a file; in which line it stands makes no other of it."""
        doubtful = sorted(loaded.doubtful)
        parts = (key, loaded.text, _fields(loaded.fields), doubtful, loaded.markup, loaded.pages)
        said = repr(parts).encode("utf-8", "backslashreplace")
        return hashlib.sha256(self._way(reading) + b"\0" + said).hexdigest()[:_DIGITS]

    def _way(self, reading: Reading) -> bytes:
        if reading not in self._ways:
            self._ways[reading] = self._parts(reading).encode()
        return self._ways[reading]

    def _parts(self, reading: Reading) -> str:
        options = self._options
        rules = {tag: sorted(words) for tag, words in options.tag_rules.items()}
        parts: list[object] = [self.splitter(reading).method, self._tags]
        parts += [options.tag_field, rules]
        parts += [sorted(options.access_fields), sorted(options.required_fields)]
        parts += [str(options.zone), sorted(options.file_fields), sorted(options.chunk_fields)]
        aliases = {name: sorted(others) for name, others in options.aliases.items()}
        rare = {"closed": options.closed, "extract": sorted(options.extract), "aliases": aliases}
        rare["stamp"] = options.stamp
        parts.append({name: value for name, value in rare.items() if value})
        way = reading.model_dump(mode="json", exclude={"match"}, exclude_defaults=True)
        if reading != DEFAULT_READING and way:
            parts.append(way)
        return json.dumps(parts, sort_keys=True, ensure_ascii=False)


def _fields(fields: Mapping[str, Value]) -> str:
    return repr([(name, _texts(value)) for name, value in fields.items()])


def _texts(value: Value) -> object:
    if isinstance(value, Written):
        return value.text, value.quoted
    return [(item.text, item.quoted) for item in value]
