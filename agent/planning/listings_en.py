"""Listings asked for in English."""

from __future__ import annotations

import re

from agent.planning.listing_fields import is_grouping
from agent.planning.listing_order_en import LESS, NUMBER, limited_en, sorted_en
from agent.planning.listing_words import CONDITION, Asked, Reader
from agent.planning.numerals import count
from agent.planning.tables import listed
from agent.planning.words import tokens
from schemas.collection import FieldType
from schemas.listing import Listing, ListingKind, Sort, Unit

_COUNT = re.compile(
    r"\b(?:how\s+many|(?P<of>(?:total\s+)?numbers?\s+of)|count(?:\s+of|\s+up)?|tally)\b",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"\b(?:at\s+(?:most|least)|(?:more|less|fewer|greater|larger|smaller|older|newer|longer|shorter|"
    rf"later|earlier|higher|lower|other)\s+than|up\s+to|no\s+later\s+than)\s+(?={CONDITION})",
    re.IGNORECASE,
)
_EACH = re.compile(
    r"\b(?:group(?:ed)?\s+by|(?:broken|break\s+(?:it|them)?)\s*down\s+by|per|"
    r"(?:(?:for|in|of|by|from|with)\s+)?(?:each|every)|by)\s+(?:the\s+|single\s+)?",
    re.IGNORECASE,
)
_UNIT = re.compile(r"(?P<unit>year|month)s?\b", re.IGNORECASE)
_WHICH = re.compile(r"\b(?:which|what|whose)\s+(?:one\s+)?(?:of\s+the\s+)?", re.IGNORECASE)
_LISTED_FIELD = re.compile(
    r"\b(?:which|what|how\s+many|(?:list|show(?:\s+me)?|give\s+me)(?:\s+all)?)\s+"
    r"(?:(?:the|different|distinct|unique|of|our)\s+)*",
    re.IGNORECASE,
)
_MOST = re.compile(
    r"\b(?:the\s+)?(?P<end>most|fewest|least|(?:largest|highest|greatest|smallest|lowest)\s+number\s+of)\b",
    re.IGNORECASE,
)
_TOP = re.compile(
    rf"\b(?P<end>top|first|bottom|last)\s+(?P<number>{NUMBER})\s+(?=[a-z])", re.IGNORECASE
)
_BY_SIZE = re.compile(
    r"\s*(?:(?:sorted|ordered|ranked)\s+)?by\s+(?:the\s+)?(?:(?:total\s+)?numbers?\s+of|count\s+of|"
    r"most)\s+(?:the\s+)?",
    re.IGNORECASE,
)
_WHO = re.compile(r"\bwho(?:se)?\b", re.IGNORECASE)
_ALWAYS = re.compile(
    r"\b(?:list|enumerate|all|every|name\s+(?:the|me)|(?:are|is)\s+there|do\s+(?:we|you|i)\s+have|"
    r"have\s+we|we\s+have)\b",
    re.IGNORECASE,
)
_SHOW = re.compile(
    r"\b(?:show|find|give|get|display|see|look(?:ing)?\s+for|need|want|search)\b", re.IGNORECASE
)
_PHRASE = re.compile(
    r"^\W*(?:(?:please|only|just|the|our|any|some|and|now|ok(?:ay)?)\W+)*"
    rf"(?:{CONDITION}|[a-z]+s\b|everything|those|ones)",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\b(?:what|which|who|whose|how|is|are|was|were|do|does|did|can)\b", re.I)
_WROTE = re.compile(
    r"\bwhat\s+(?:was|were|is|has\s+been)\s+(?:published|written|released|issued|created)\b|"
    rf"\bwhat\s+(?:did|has|have|does)\s+{CONDITION}\s+(?:written|write|publish(?:ed)?|author(?:ed)?|"
    r"create[d]?|release[d]?|issue[d]?|own)\b",
    re.IGNORECASE,
)
_YES_OR_NO = re.compile(
    r"^\W*(?:(?:are|is|was|were|has)\s+(?!there)|(?:do|does|did|have)\s+(?!(?:we|you|i)\b))",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"\b(?:when|where|why|how(?!\s+many)|whom)\b|\babout[\s?.!]*$|\btell\s+me\b.*\babout\b",
    re.IGNORECASE,
)

_ALLOWED = frozenset(
    listed("""
    a an the this that these those there here it they them i me my we us our you your which what
    who do does did is are was were be been being am have has had can could may would will
    please all every each any some both only just also currently now overall altogether together
    respectively total so far in on of at by for from with within without under to as and or but
    nor not no except besides other than between during since until till before after into over
    about list enumerate show find give get tell see look looking need want like know search
    display name title return present available exist exists existing stored kept hold holds
    contain contains match matches matching belong belongs belonging marked tagged labelled
    labeled classified filed dated written write wrote published publish issued issue released
    release created create authored author made make own owns owned come came out one ones thing
    things anything everything whose whole set database collection library system base knowledge
    s ve start starts begin begins end ends different distinct full complete exactly yet ok okay
    hi hello hey thanks thank kind sort type
    """)
)


_THINGS = frozenset(listed("all the our different distinct matching available"))


def is_residue_en(text: str, asked: Asked) -> bool:
    """Whether words are left that a filter cannot answer."""
    known = _ALLOWED | asked.nouns | asked.named
    return any(token.key not in known and token.text.lower() not in known for token in tokens(text))


def read_en(asked: Asked) -> Listing | None:
    text = asked.text
    if _YES_OR_NO.search(text) or _OTHER.search(text):
        return None
    reader = Reader(asked, text)
    for bound in _BOUND.finditer(text):
        reader.take(*bound.span())
    counting = _counting(asked)
    found = _group(reader, counting=counting is not None)
    if counting is not None:
        reader.take(*counting.span())
    if found is None and counting is not None:
        found = Listing(kind=ListingKind.COUNT)
    if found is None:
        found = sorted_en(reader) or (Listing() if _is_list(asked) else None)
    if found is None or (_WHO.search(text) and found.kind is not ListingKind.GROUP):
        return None
    if found.kind is ListingKind.LIST:
        found = limited_en(reader, found)
    return None if is_residue_en(reader.rest, asked) else found


def _counting(asked: Asked) -> re.Match[str] | None:
    """A number of documents is asked for, not a field with the number of something."""
    found = _COUNT.search(asked.text)
    if found is None or not found["of"]:
        return found
    before = tokens(asked.text[: found.start()])
    if CONDITION in asked.text[: found.start()] or any(t.key in asked.nouns for t in before):
        return None
    after = asked.text[found.end() :].lstrip()
    first = next(iter(tokens(after)), None)
    counts = after.startswith(CONDITION) or (first is not None and first.key in _THINGS)
    return found if counts or (first is not None and first.key in asked.nouns) else None


def _group(reader: Reader, *, counting: bool) -> Listing | None:
    return _top(reader) or _most(reader) or _each(reader, counting=counting) or _values(reader)


def _top(reader: Reader) -> Listing | None:
    """The top 3 departments by number of documents."""
    text = reader.asked.text
    for top in _TOP.finditer(text):
        named = reader.asked.fields.at(top.end())
        by = _BY_SIZE.match(text, named[1]) if named is not None else None
        if named is None or by is None or not is_grouping(named[0]):
            continue
        reader.take(top.start(), by.end())
        sort = Sort(descending=top["end"].lower() in ("top", "first"))
        return Listing(
            kind=ListingKind.GROUP, group=named[0].name, sort=sort, limit=count(top["number"])
        )
    return None


def _most(reader: Reader) -> Listing | None:
    """Which department has the most documents; who wrote the fewest."""
    text = reader.asked.text
    most = _MOST.search(text)
    if most is None:
        return None
    sort = Sort(descending=most["end"].split()[0].lower() not in LESS)
    for which in _WHICH.finditer(text, 0, most.start()):
        named = reader.asked.fields.at(which.end())
        year = _UNIT.match(text, which.end())
        day = reader.asked.fields.dated() if year else None
        if year is not None and day is not None and day.type is not FieldType.INT:
            end, field, unit = year.end(), day, _unit(year["unit"])
        elif named is not None and is_grouping(named[0]):
            end, field, unit = named[1], named[0], None
        else:
            continue
        reader.take(which.start(), end)
        reader.take(*most.span())
        return Listing(kind=ListingKind.GROUP, group=field.name, unit=unit, sort=sort, limit=1)
    who = _WHO.search(text, 0, most.start())
    author = reader.asked.fields.who() if who else None
    if who is None or author is None:
        return None
    reader.take(*who.span())
    reader.take(*most.span())
    return Listing(kind=ListingKind.GROUP, group=author.name, sort=sort, limit=1)


def _each(reader: Reader, *, counting: bool) -> Listing | None:
    """How many documents per department, by year."""
    text = reader.asked.text
    if not counting and not re.search(r"\bgroup|down\s+by|\bper\b|\beach\b", text, re.IGNORECASE):
        return None
    for each in _EACH.finditer(text):
        year = _UNIT.match(text, each.end())
        day = reader.asked.fields.dated() if year else None
        named = reader.asked.fields.at(each.end())
        if year is not None and day is not None and day.type is not FieldType.INT:
            reader.take(each.start(), year.end())
            return Listing(kind=ListingKind.GROUP, group=day.name, unit=_unit(year["unit"]))
        if named is not None and is_grouping(named[0]):
            reader.take(each.start(), named[1])
            return Listing(kind=ListingKind.GROUP, group=named[0].name)
    return None


def _values(reader: Reader) -> Listing | None:
    """Which departments there are: the values themselves, in the plural."""
    text = reader.asked.text
    for asks in _LISTED_FIELD.finditer(text):
        named = reader.asked.fields.at(asks.end(), own=True)
        if named is None or not is_grouping(named[0]) or named[0].type is FieldType.INT:
            continue
        field, end = named
        last = tokens(text[asks.end() : end])[-1]
        if last.key != last.text.lower() and last.key not in reader.asked.nouns:
            reader.take(asks.start(), end)
            return Listing(kind=ListingKind.GROUP, group=field.name)
    return None


def _is_list(asked: Asked) -> bool:
    text = asked.text
    if asked.goes_on or _is_phrase(asked):
        return True
    if _ALWAYS.search(text) or _WROTE.search(text) or (asked.plural and _SHOW.search(text)):
        return True
    things = "|".join(map(re.escape, sorted(asked.nouns)))
    before = r"\b(?:which|what)\s+(?:(?:of|the|our|my|those|these|other)\s+)*"
    which = rf"{before}(?:{CONDITION}|(?:{things})s?\b)"
    return re.search(which, text, re.IGNORECASE) is not None


def _is_phrase(asked: Asked) -> bool:
    """Nothing but the name of what is wanted: "HR policies since 2024"."""
    text = asked.text
    several = asked.plural or re.search(r"\beverything\b", text, re.IGNORECASE)
    return bool(several and CONDITION in text and _PHRASE.search(text) and not _ASKS.search(text))


def _unit(word: str) -> Unit:
    return "month" if word.lower() == "month" else "year"
