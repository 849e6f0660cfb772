"""How documents are taken in."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field

from agent.ingest.reading import Reading
from schemas.collection import FieldType
from schemas.errors import SettingsError

FILE_FIELDS = ("file_name", "file_type", "folder", "modified_day", "size_bytes")
CHUNK_FIELDS = ("page", "section", "keywords", "entities")


@dataclass(frozen=True)
class IngestOptions:
    """Sizes are in characters unless named otherwise.

    A document is rejected if one of its `access_fields` cannot be read, or if one of the
    `required_fields` is missing. `types` fixes the types of fields instead of inferring them.
    `max_fields` bounds the fields of a knowledge base: rarer ones stay with the document as
    text and cannot be filtered. `zone` is meant where an author wrote a time without one.
    `type_map` tells how files of a kind are read, first fit first. `file_fields` (of FILE_FIELDS)
    are taken from the file system, `chunk_fields` (of CHUNK_FIELDS) are given to single passages.
    `tag_rules` adds a tag to `tag_field` where one of its words stands in the title, a heading
    or the front matter's own tags. `closed` lets no field be added that is not declared.
    `aliases` are other names by field. `extract` are fields that the model may read from a text.
    `stamp` is whatever else makes other documents of the same files.
    """

    chunk_size: int = 800
    chunk_overlap: int = 200
    access_fields: tuple[str, ...] = ()
    required_fields: tuple[str, ...] = ()
    types: Mapping[str, FieldType] = field(default_factory=dict)
    max_fields: int = 32
    max_file_bytes: int = 64 * 1024 * 1024
    embed_batch: int = 64
    embed_parallel: int = 2
    write_chunks: int = 1000
    tag_field: str = "tags"
    tag_rules: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    zone: dt.tzinfo = dt.UTC
    type_map: tuple[Reading, ...] = ()
    file_fields: tuple[str, ...] = ()
    chunk_fields: tuple[str, ...] = ("page",)
    closed: bool = False
    extract: tuple[str, ...] = ()
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    stamp: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.chunk_overlap < self.chunk_size:
            raise SettingsError(
                f"chunk_overlap is {self.chunk_overlap}; allowed are 0 to {self.chunk_size - 1}, "
                f"because chunk_size is {self.chunk_size}"
            )
        for name in ("max_fields", "max_file_bytes", "embed_batch", "embed_parallel"):
            if getattr(self, name) < 1:
                raise SettingsError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if self.write_chunks < 1:
            raise SettingsError(f"write_chunks is {self.write_chunks}; it must be at least 1")
        for name, allowed in (("file_fields", FILE_FIELDS), ("chunk_fields", CHUNK_FIELDS)):
            for value in getattr(self, name):
                if value not in allowed:
                    raise SettingsError(f"{name}: {value!r}; allowed: {', '.join(allowed)}")
        for reading in self.type_map:
            self._check_sizes(reading)

    def sizes(self, reading: Reading) -> tuple[int, int]:
        """Size and overlap of chunks for files that are read in this way. An entry that gives a
        size alone keeps the overlap, as far as it is at most a quarter of it.
        """
        size = reading.chunk_size or self.chunk_size
        if reading.chunk_overlap is not None:
            return size, reading.chunk_overlap
        if reading.chunk_size is None:
            return size, self.chunk_overlap
        return size, min(self.chunk_overlap, size // 4)

    def _check_sizes(self, reading: Reading) -> None:
        size, overlap = self.sizes(reading)
        if overlap >= size:
            raise SettingsError(
                f"type map, entry {reading.match!r}: chunk_overlap is {overlap}; allowed are 0 to "
                f"{size - 1}, because chunk_size is {size}"
            )
