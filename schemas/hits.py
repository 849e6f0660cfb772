"""Documents, passages and ranked hits."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field as Attribute
from pydantic import JsonValue

from schemas.model import Shape

Span = tuple[int, int]
"""Beginning and end of a part of a text, in characters."""


class Document(Shape):
    """A visible document without its text. `metadata` holds the values as people write them."""

    id: str
    kb: str
    source: str
    title: str
    metadata: Mapping[str, JsonValue] = Attribute(default_factory=dict)
    chunks: int = 0
    content_hash: str = ""
    revision: str = ""
    enabled: bool = True
    ingested_at: str = ""


class Passage(Shape):
    """A chunk of a document with a copy of the document's metadata; `whole`: the document has
    no other.
    """

    id: str
    doc_id: str
    kb: str
    title: str
    text: str
    source: str = ""
    chunk_index: int = 0
    whole: bool = False
    heading: tuple[str, ...] = ()
    metadata: Mapping[str, JsonValue] = Attribute(default_factory=dict)


class Hit(Shape):
    """A passage found by a search. `score` orders hits (higher first, 0..1 after fusion);
    `scores` names its parts, such as `dense` (cosine), `bm25`, `fused`. With a `span` the passage
    holds only that part of its text.
    """

    passage: Passage
    score: float
    scores: Mapping[str, float] = Attribute(default_factory=dict)
    span: Span | None = None


class HitRef(Shape):
    """What the graph's state keeps of a hit: never its text."""

    id: str
    doc_id: str
    kb: str
    score: float
    scores: Mapping[str, float] = Attribute(default_factory=dict)
    span: Span | None = None


def excerpt(passage: Passage, span: Span | None) -> Passage:
    """The passage with that part of its text; without a span as it is."""
    if span is None:
        return passage
    return passage.model_copy(update={"text": passage.text[slice(*span)]})
