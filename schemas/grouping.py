"""Order and groups of documents by the values of a field, exact whatever is asked in between."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from pydantic import JsonValue

from schemas.collection import Field, FieldType
from schemas.listing import Group, Listing
from schemas.periods import MS_PER_DAY
from schemas.values import Key, read_row

T = TypeVar("T")

_EPOCH = dt.date(1970, 1, 1)
_LETTERS = {"year": len("2024"), "month": len("2024-01")}


def sort_key(value: JsonValue, field: Field, *, descending: bool) -> Key | None:
    """What a document is sorted by; of a list, its element that comes first. None: no value."""
    keys = read_row(value, field)
    if not keys:
        return None
    return max(keys) if descending else min(keys)


def in_order(items: Iterable[T], key: Callable[[T], Key | None], *, descending: bool) -> list[T]:
    """Sorted by key; those without one come last either way, equal ones keep their order."""
    pairs = [(key(item), item) for item in items]
    present = [pair for pair in pairs if pair[0] is not None]
    present.sort(key=lambda pair: pair[0], reverse=descending)  # type: ignore[arg-type,return-value]
    return [item for _, item in present] + [item for found, item in pairs if found is None]


class GroupCount:
    """Counts documents by the values of one field, days by year or month where that is asked.

    Values that differ in case alone are one, spelled as most documents spell it. What it holds
    grows with the number of different values.
    """

    def __init__(self, field: Field, listing: Listing) -> None:
        self._field = field
        self._unit = listing.unit
        self._counts: Counter[Key | None] = Counter()
        self._spelled: dict[Key, Counter[str]] = {}

    def add(self, metadata: Mapping[str, JsonValue]) -> None:
        """Count one document: once for each of its values."""
        value = metadata.get(self._field.name)
        items = value if isinstance(value, list) else [value]
        found = {key for item in items if (key := self._key(item)) is not None}
        self._counts.update(found or (None,))

    def groups(self) -> tuple[Group, ...]:
        """All groups, in no order."""
        return tuple(Group(value=self._value(key), count=n) for key, n in self._counts.items())

    def _key(self, item: JsonValue) -> Key | None:
        keys = read_row([item] if self._field.type.is_list else item, self._field)
        if not keys:
            return None
        if self._unit is not None:
            return _day(keys[0], self._field)[: _LETTERS[self._unit]]
        if isinstance(keys[0], str):
            self._spelled.setdefault(keys[0], Counter())[str(item)] += 1
        return keys[0]

    def _value(self, key: Key | None) -> JsonValue:
        spelled = self._spelled.get(key) if key is not None else None
        if not spelled:
            return key
        return min(spelled, key=lambda word: (-spelled[word], word))


def _day(key: Key, field: Field) -> str:
    days = int(key) // MS_PER_DAY if field.type.element is FieldType.DATETIME else int(key)
    try:
        return (_EPOCH + dt.timedelta(days=days)).isoformat()
    except OverflowError:
        return str(key)


def united_groups(parts: Iterable[Sequence[Group]], field: Field, listing: Listing) -> list[Group]:
    """The groups of several knowledge bases as one, in the order asked for: by size, years and
    months by time; documents without a value come last.
    """
    counts: Counter[Key | None] = Counter()
    values: dict[Key | None, JsonValue] = {}
    for group in (group for part in parts for group in part):
        key = _united_key(group.value, field, listing)
        counts[key] += group.count
        values.setdefault(key, group.value)
    groups = [Group(value=values[key], count=count) for key, count in counts.items()]
    groups.sort(key=lambda group: str(group.value))
    if listing.unit is None or listing.sort is not None:
        falling = listing.sort is None or listing.sort.descending
        groups.sort(key=lambda group: -group.count if falling else group.count)
    groups.sort(key=lambda group: group.value is None)
    return groups


def _united_key(value: JsonValue, field: Field, listing: Listing) -> Key | None:
    if value is None or listing.unit is not None:
        return None if value is None else str(value)
    keys = read_row([value] if field.type.is_list else value, field)
    return keys[0] if keys else str(value)
