"""A document on its way into a knowledge base, before it is stored."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field as Attribute
from pydantic import JsonValue

from schemas.model import Shape


class ChunkDraft(Shape):
    """A piece of a document. `start`/`end` are character offsets into the document's text;
    `embed_text` is what is embedded and indexed (title and headings with the text).
    """

    index: int
    text: str
    embed_text: str
    heading: tuple[str, ...] = ()
    start: int = 0
    end: int = 0
    metadata: Mapping[str, JsonValue] = Attribute(default_factory=dict)


class DocumentDraft(Shape):
    """A read document. `metadata` holds values as the author wrote them, already brought to the
    types of the knowledge base's fields (dates as ISO strings); a missing value is absent.
    `content_hash` covers the text, the metadata and the way of splitting.
    """

    id: str
    source: str
    title: str
    metadata: Mapping[str, JsonValue] = Attribute(default_factory=dict)
    content_hash: str
    chunks: tuple[ChunkDraft, ...]
