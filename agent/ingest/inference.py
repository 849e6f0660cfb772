"""Types of fields, from the values that a run's documents have in them."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from agent.ingest import dates
from agent.ingest.conventions import fixed_type, is_coded, is_dated, is_versioned
from agent.ingest.written import Value, Written, name_key
from schemas.collection import Field, FieldType

INT_64 = range(-(2**63), 2**63)
_INT = re.compile(r"-?(?:0|[1-9][0-9]{0,18})")
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.0{1,3})?")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,15})\.(?P<places>[0-9]{1,12})(?:[eE][-+]?[0-9]{1,2})?")
DOMINANT_SHARE = 0.75
TRUE_WORDS = frozenset({"true", "yes", "是"})
FALSE_WORDS = frozenset({"false", "no", "否"})


class Kind(StrEnum):
    """What one scalar looks like. A quoted one is text, unless it is a full day or time."""

    INT = "int"
    DECIMAL = "decimal"
    TRUTH = "truth"
    DAY = "day"
    TIME = "time"
    TEXT = "text"


def kind_of(written: Written) -> Kind:
    text = written.text.strip()
    if dates.is_day_shaped(text):
        return Kind.DAY
    if dates.is_time_shaped(text):
        return Kind.TIME
    if written.quoted:
        return Kind.TEXT
    if _INT.fullmatch(text) and int(text) in INT_64:
        return Kind.INT
    if _DECIMAL.fullmatch(text):
        return Kind.DECIMAL
    # NO and YES in capitals are more often codes
    if text.casefold() in TRUE_WORDS | FALSE_WORDS and text not in ("NO", "YES"):
        return Kind.TRUTH
    return Kind.TEXT


@dataclass(slots=True)
class Evidence:
    """What was seen of one field. `spelling` is that of the first document; `valid_days` counts
    days that a calendar has; `compact` numbers that would be days; `places` are the numbers of
    decimal places; `inexact` decimals that a number would not give back as written; `whole`
    values that are a whole number without loss, quoted or as 2020.0 too.
    """

    spelling: str
    documents: int = 0
    lists: int = 0
    valid_days: int = 0
    compact: int = 0
    inexact: int = 0
    whole: int = 0
    kinds: Counter[Kind] = field(default_factory=Counter)
    places: set[int] = field(default_factory=set)

    def see(self, value: Value) -> None:
        self.documents += 1
        if isinstance(value, tuple):
            self.lists += 1
            for item in value:
                self._count(item)
        else:
            self._count(value)

    def _count(self, written: Written) -> None:
        kind = kind_of(written)
        self.kinds[kind] += 1
        if kind is not Kind.DAY and kind is not Kind.TIME:
            self.whole += _WHOLE.fullmatch(written.text.strip()) is not None
        match kind:
            case Kind.DAY | Kind.TIME:
                self.valid_days += dates.to_time(written.text, dt.UTC) is not None
            case Kind.INT:
                self.compact += dates.to_day(written.text) is not None
            case Kind.DECIMAL:
                self.inexact += repr(float(written.text)) != written.text.strip()
                self.places.add(len(written.text.strip().partition(".")[2]))
            case Kind.TRUTH | Kind.TEXT:
                pass


class Inference:
    """Gathers evidence document by document, so that no front matter has to be kept."""

    def __init__(self, known: Iterable[Field], types: Mapping[str, FieldType]) -> None:
        self._known = {name_key(name) for field in known for name in (field.name, *field.aliases)}
        self._types = {name_key(name): type_ for name, type_ in types.items()}
        self._evidence: dict[str, Evidence] = {}

    def see(self, fields: Mapping[str, Value]) -> None:
        for name, value in fields.items():
            key = name_key(name)
            if key not in self._known:
                seen = self._evidence.get(key)
                if seen is None:
                    seen = self._evidence[key] = Evidence(name)
                seen.see(value)

    def fields(self) -> tuple[Field, ...]:
        """New fields, those of most documents first."""
        ranked = sorted(self._evidence.items(), key=lambda item: -item[1].documents)
        return tuple(
            Field(name=seen.spelling, type=self._types.get(key) or infer(seen.spelling, seen))
            for key, seen in ranked
        )


def infer(name: str, seen: Evidence) -> FieldType:
    """The type that fits all values of a field; string where they are mixed."""
    fixed = fixed_type(name)
    if fixed is not None:
        return fixed
    kinds = set(seen.kinds)
    if seen.lists:
        whole = kinds == {Kind.INT} and not is_versioned(name)
        return FieldType.INT_LIST if whole else FieldType.STRING_LIST
    if is_versioned(name):
        return FieldType.STRING
    return _dated(name, seen) or _plain(name, seen)


def _dated(name: str, seen: Evidence) -> FieldType | None:
    days, times = seen.kinds[Kind.DAY], seen.kinds[Kind.TIME]
    compact = seen.compact if is_dated(name) else 0
    if days + times + compact < seen.kinds.total() or not seen.valid_days + compact:
        return None
    return FieldType.DATETIME if times else FieldType.DATE


def _plain(name: str, seen: Evidence) -> FieldType:
    kinds = set(seen.kinds)
    if kinds == {Kind.INT}:
        return FieldType.INT
    if kinds and kinds <= {Kind.INT, Kind.DECIMAL}:
        # 1.9 and 1.10 are names of something, 1.50 and 12.00 are amounts
        faithful = not seen.inexact or len(seen.places) == 1
        return FieldType.NUMBER if faithful else FieldType.STRING
    if seen.kinds[Kind.INT] and seen.whole >= DOMINANT_SHARE * seen.kinds.total():
        # The few that are no numbers keep their text, are noted, and count as missing.
        return FieldType.INT
    if kinds == {Kind.TRUTH} and not is_coded(name):
        return FieldType.BOOL
    return FieldType.STRING
