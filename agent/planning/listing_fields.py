"""Which fields a listing sorts and groups by."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from agent.planning.facets import FacetHit, FacetIndex
from agent.planning.words import name_words, tokens
from schemas.collection import Collection, Field, FieldType

DAYS = (FieldType.DATE, FieldType.DATETIME)
_FIGURES = (FieldType.INT, FieldType.NUMBER)
_NAMED = 0.5
_OWN = 0.9
_TITLE = re.compile(r"\b(?:title|name|headline)s?\b|标题|名称|题目", re.IGNORECASE)
_DATED = (
    re.compile(r"publi|issu|releas|发布|出版", re.IGNORECASE),
    re.compile(r"^(?:date|day)$|^日期$", re.IGNORECASE),
    re.compile(r"creat|writ|创建|成文", re.IGNORECASE),
    re.compile(r"updat|modif|chang|revis|更新|修改|修订", re.IGNORECASE),
)
_YEAR = re.compile(r"\byear\b|年份|年度", re.IGNORECASE)
_LENGTH = re.compile(r"\b(?:pages?|length|words?|duration|minutes)\b|页数|长度|字数|时长", re.I)
_LENGTH_ZH = re.compile("页数|字数|篇幅|长度")
_AUTHOR = re.compile(r"\b(?:authors?|writers?)\b|作者|撰写人|撰稿人", re.IGNORECASE)
_PRICE = re.compile(r"\b(?:price|cost|fare)\b|价格|票价|费用", re.IGNORECASE)


class ListingFields:
    """The fields of a collection, as the words of one text name them."""

    def __init__(self, text: str, collection: Collection) -> None:
        self._text = text
        self._collection = collection

    def at(self, start: int, *, own: bool = False) -> tuple[Field, int] | None:
        """The field named by the words that begin here, and where they end; None where none is,
        or where two are named as well. `own`: by its own name, not just by a general word.
        """
        found = self._best((hit for hit in self._hits if hit.start == start), own=own)
        word = _LENGTH_ZH.match(self._text, start)
        if found is None and word is not None and (length := self.length()) is not None:
            return length, word.end()
        return found

    def before(self, end: int) -> tuple[Field, int] | None:
        """The field named by the words that end here, and where they begin."""
        found = self._best(hit for hit in self._hits if hit.end == end)
        if found is None:
            word = re.search(f"(?:{_LENGTH_ZH.pattern})$", self._text[:end])
            length = self.length()
            return (length, word.start()) if word and length else None
        field, _ = found
        return field, min(h.start for h in self._hits if h.end == end and h.field == field.name)

    def who(self) -> Field | None:
        """The one field of texts that some word names, else the authors: "who wrote …"."""
        texts = (FieldType.STRING, FieldType.STRING_LIST)
        hits = (h for h in self._hits if self._collection.field(h.field).type in texts)
        found = self._best(hits, least=0.0)
        named = [f for f in self._collection.fields if _AUTHOR.search(name_words(f.name))]
        if found is None and len(named) == 1:
            return named[0]
        return found[0] if found else None

    def dated(self) -> Field | None:
        """What makes a document newer than another; None where several fields might."""
        days = [field for field in self._collection.fields if field.type in DAYS]
        if len(days) < 2:
            return days[0] if days else self._figure(_YEAR)
        for kind in _DATED:
            named = [field for field in days if kind.search(name_words(field.name))]
            if named:
                return named[0] if len(named) == 1 else None
        return None

    def title(self) -> Field | None:
        """What an alphabetical order goes by, where it names no field."""
        named = [
            field for field in self._collection.fields if _TITLE.search(name_words(field.name))
        ]
        texts = [field for field in named if field.type is FieldType.STRING]
        return texts[0] if len(texts) == 1 else None

    def length(self) -> Field | None:
        return self._figure(_LENGTH)

    def price(self) -> Field | None:
        return self._figure(_PRICE)

    def _figure(self, named: re.Pattern[str]) -> Field | None:
        found = [
            field
            for field in self._collection.fields
            if field.type in _FIGURES and named.search(name_words(field.name))
        ]
        return found[0] if len(found) == 1 else None

    @cached_property
    def _hits(self) -> tuple[FacetHit, ...]:
        return FacetIndex(self._collection).find(self._text, tokens(self._text))

    def _best(
        self, hits: Iterator[FacetHit], *, own: bool = False, least: float = _NAMED
    ) -> tuple[Field, int] | None:
        floor = _OWN if own else least
        ordered = sorted(
            (hit for hit in hits if hit.weight >= floor and not hit.denied),
            key=lambda hit: (-hit.weight, hit.start - hit.end),
        )
        if not ordered:
            return None
        best = ordered[0]
        rivals = {hit.field for hit in ordered if hit.weight == best.weight}
        return (self._collection.field(best.field), best.end) if len(rivals) == 1 else None


def is_ordered(field: Field) -> bool:
    """Whether more and less can be said of its values."""
    return field.type in (*DAYS, *_FIGURES)


def is_grouping(field: Field) -> bool:
    """Whether documents share its values: no title does, nor a day."""
    return field.type not in (*DAYS, FieldType.NUMBER) and not _TITLE.search(name_words(field.name))
