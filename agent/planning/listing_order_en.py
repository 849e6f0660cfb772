"""Orders and numbers of a listing in English: the newest 3, the one with the most pages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent.planning.listing_fields import is_ordered
from agent.planning.listing_words import CONDITION, Asked, Reader
from agent.planning.numerals import ENGLISH, count
from agent.planning.tables import listed
from schemas.listing import Listing, Sort

NUMBER = r"(?:\d{1,4}|" + "|".join(word for word in ENGLISH if ENGLISH[word] > 0) + r")\b"
LESS = frozenset(listed("fewest least smallest lowest shortest oldest earliest cheapest"))
_SORTED_BY = re.compile(r"\b(?:sort|order|rank)(?:ed|ing)?\s+by\s+(?:the\s+)?", re.IGNORECASE)
_BY = re.compile(r"\bby\s+(?:the\s+)?", re.IGNORECASE)
_ALPHABET = re.compile(
    r"\b(?:(?:sorted|ordered)\s+)?(?:in\s+)?alphabetical(?:ly)?(?:\s+order(?:ed)?|\s+sorted)?\b",
    re.IGNORECASE,
)
_ENDS = re.compile(r"\s*(?:$|[,;.!?(]|(?:in\s+)?(?:de|a)sc)", re.IGNORECASE)
_DIRECTION = re.compile(
    r"\b(?:in\s+)?(?P<way>(?:de|a)scending|desc|asc|(?:newest|latest|most\s+recent|oldest|earliest|"
    r"highest|lowest|largest|smallest|longest|shortest)\s+first)(?:\s+order)?\b",
    re.IGNORECASE,
)
_ASCENDING = re.compile(r"^asc|oldest|earliest|lowest|smallest|shortest", re.IGNORECASE)
_BY_DATE = re.compile(
    rf"\b(?:(?P<before>{NUMBER})\s+)?(?P<end>newest|latest|most\s+recent(?:ly\s+(?P<verb>\w+))?|"
    rf"oldest|earliest|last(?=\s+{NUMBER}))(?:\s+(?P<after>{NUMBER}))?",
    re.IGNORECASE,
)
_SUPERLATIVE = re.compile(
    rf"\b(?:(?P<before>{NUMBER})\s+)?(?:(?:with|having|that\s+ha(?:s|ve))\s+(?:the\s+)?)?"
    r"(?P<end>most|fewest|highest|lowest|largest|smallest|greatest|biggest|least|longest|shortest|"
    r"latest|earliest|cheapest)\s+(?:number\s+of\s+|expensive\b)?",
    re.IGNORECASE,
)


def sorted_en(reader: Reader) -> Listing | None:
    return _explicit(reader) or _by_date(reader) or _superlative(reader)


def _explicit(reader: Reader) -> Listing | None:
    """Sorted by pages; newest first; in alphabetical order."""
    text, fields = reader.asked.text, reader.asked.fields
    way, alphabet = _DIRECTION.search(text), _ALPHABET.search(text)
    for by in (*_SORTED_BY.finditer(text), *_BY.finditer(text)):
        named = fields.at(by.end())
        if by.re is _BY and named is not None and not _ENDS.match(text, named[1]):
            continue
        day = fields.dated() if re.match(r"date\b", text[by.end() :], re.I) else None
        field, end = named or (day, by.end() + len("date"))
        if field is None or field.type.is_list or field.name in reader.asked.named:
            continue
        reader.take(by.start(), end)
        for words in (way, alphabet):
            if words is not None:
                reader.take(*words.span())
        falling = is_ordered(field) if way is None else not _ASCENDING.search(way["way"])
        return Listing(sort=Sort(field=field.name, descending=falling))
    title = fields.title() if alphabet is not None else None
    if alphabet is not None and title is not None:
        reader.take(*alphabet.span())
        return Listing(sort=Sort(field=title.name, descending=False))
    first = way is not None and way["way"].lower().endswith("first")
    day = fields.dated() if first else None
    if way is None or day is None or re.match(r"(?:high|low|larg|small)", way["way"], re.I):
        return None
    reader.take(*way.span())
    return Listing(sort=Sort(field=day.name, descending=not _ASCENDING.search(way["way"])))


def _by_date(reader: Reader) -> Listing | None:
    """The newest document, the latest 3 policies, the most recently updated one."""
    text, fields = reader.asked.text, reader.asked.fields
    found = _BY_DATE.search(text)
    if found is None:
        return None
    field = fields.dated()
    if found["verb"]:
        named = fields.at(found.start("verb"))
        field = named[0] if named else None
    elif (named := fields.at(_skip(text, found.end()))) is not None and is_ordered(named[0]):
        return None
    if field is None:
        return None
    reader.take(*found.span())
    sort = Sort(field=field.name, descending=found["end"].lower() not in LESS)
    return Listing(sort=sort, limit=_limit(found["before"] or found["after"], reader.asked))


def _superlative(reader: Reader) -> Listing | None:
    """The document with the most pages, the longest, the cheapest."""
    text, fields = reader.asked.text, reader.asked.fields
    for found in _SUPERLATIVE.finditer(f"{text} "):
        kind = found["end"].lower()
        named = fields.at(found.end())
        field, end = named if named and is_ordered(named[0]) else (None, found.end())
        if field is None and kind in ("longest", "shortest"):
            field = fields.length()
        if field is None and (kind == "cheapest" or "expensive" in found.group()):
            field = fields.price()
        if field is None:
            continue
        reader.take(found.start(), min(end, len(text)))
        sort = Sort(field=field.name, descending=kind not in LESS)
        return Listing(sort=sort, limit=_limit(found["before"], reader.asked))
    return None


def _skip(text: str, at: int) -> int:
    """Past white space."""
    return at + len(text[at:]) - len(text[at:].lstrip())


def _limit(words: str | None, asked: Asked) -> int | None:
    """The number that is named; one where only one is asked for."""
    if words:
        return count(words)
    several = asked.plural or re.search(r"\b(?:all|every)\b", asked.text, re.IGNORECASE)
    return None if several else 1


def limited_en(reader: Reader, listing: Listing) -> Listing:
    """A number before the noun: 5 documents with the most pages, the top 3 drafts."""
    nouns = "|".join(map(re.escape, sorted(reader.asked.nouns)))
    for found in _numbers(reader.rest, nouns):
        if (number := count(found["number"])) and (listing.limit is None or listing.limit == 1):
            reader.take(*found.span())
            return listing.model_copy(update={"limit": number})
    return listing


def _numbers(text: str, nouns: str) -> Iterator[re.Match[str]]:
    thing = rf"(?:of\s+the\s+)?(?:{CONDITION}|(?:{nouns})s?\b)"
    before = rf"(?:top|first)?\s*\b(?P<number>{NUMBER})\s+(?={thing})"
    yield from re.finditer(before, text, re.IGNORECASE)
    yield from re.finditer(rf"\b(?:top|first)\s+(?P<number>{NUMBER})", text, re.IGNORECASE)
