"""How documents are taken in."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field

from schemas.collection import FieldType
from schemas.errors import SettingsError


@dataclass(frozen=True)
class IngestOptions:
    """Sizes are in characters unless named otherwise.

    A document is rejected if one of its `access_fields` cannot be read, or if one of the
    `required_fields` is missing. `types` fixes the types of fields instead of inferring them.
    `max_fields` bounds the fields of a knowledge base: rarer ones stay with the document as
    text and cannot be filtered. `zone` is meant where an author wrote a time without one.
    `tag_rules` adds a tag to `tag_field` where one of its words stands in the title, a heading
    or the front matter's own tags.
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
