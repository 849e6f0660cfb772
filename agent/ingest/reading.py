"""How files of a kind are read: one entry of the type map."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from schemas.model import Shape


class Reading(Shape):
    """The first entry whose `match` fits a file's path below its root holds for it; what an
    entry leaves out is the default. Column names are compared without case.

    `loader` overrides what content and suffix say. `documents` is for tables and JSON: a
    document a `row`, or the whole `file` as one document. `text` are the columns or JSON keys
    (dotted: `author.name`) that make the text, by default all of a row; `metadata` those that
    become fields, by default all but the text; `ignore` those that are left out. `id` is the
    column that keeps a row's identity when rows move; by default its number. `chunk_size` and
    `chunk_overlap` are in characters.
    """

    match: str = "*"
    loader: str | None = None
    documents: Literal["row", "file"] = "row"
    id: str | None = None
    title: str | None = None
    text: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    sheets: tuple[str, ...] = ()
    encoding: str | None = None
    delimiter: str | None = Field(None, min_length=1, max_length=1)
    chunk_size: int | None = Field(None, ge=100)
    chunk_overlap: int | None = Field(None, ge=0)

    @model_validator(mode="after")
    def _overlap_fits(self) -> Reading:
        size, overlap = self.chunk_size, self.chunk_overlap
        if size is not None and overlap is not None and overlap >= size:
            raise ValueError(f"chunk_overlap {overlap} must be below chunk_size {size}")
        return self


DEFAULT_READING = Reading()
