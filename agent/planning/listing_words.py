"""What reading a listing works with: a question whose conditions are marks, and its nouns."""

from __future__ import annotations

from dataclasses import dataclass

from agent.planning.listing_fields import ListingFields
from agent.planning.tables import listed
from agent.planning.words import ENTITY_NOUNS, keys, tokens
from schemas.collection import Collection

CONDITION = "§"
"""Stands for the words of one condition."""

_NOUNS = frozenset(
    listed("""
    document doc file article item entry record publication text paper
    文档 文件 文章 资料 材料 记录 条目 文献 文稿
    """)
)


@dataclass(frozen=True)
class Asked:
    """A question, its conditions as marks. `nouns` stand for any document, `named` for fields
    that conditions are about; `plural`: it asks for several; `goes_on`: earlier conditions hold.
    """

    text: str
    fields: ListingFields
    nouns: frozenset[str]
    named: frozenset[str]
    plural: bool
    goes_on: bool


def nouns_of(collection: Collection) -> frozenset[str]:
    """Words for a document of the collection: a movie is one where movies are collected."""
    named = _forms(collection.name.replace("_", " "))
    return _NOUNS | named | (_forms(collection.description) & ENTITY_NOUNS)


def _forms(text: str) -> frozenset[str]:
    """The compared forms of words, and what they are without an s: movies is movy and movie."""
    return frozenset((*keys(text), *(t.text.lower().removesuffix("s") for t in tokens(text))))


@dataclass
class Reader:
    """A question, and what of it is not yet understood: spaces stand for the rest."""

    asked: Asked
    rest: str

    def take(self, start: int, end: int) -> None:
        self.rest = f"{self.rest[:start]}{' ' * (end - start)}{self.rest[end:]}"
