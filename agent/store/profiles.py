"""What is known of a field's values, from the documents that may be seen. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from schemas.collection import Collection, Encoding, Field, FieldType, Profile, Scalar
from schemas.values import Key, read_row

MAX_VALUES = 5_000
"""Distinct values known of a field; beyond it the most frequent ones, and `complete` is false.
Also how many of them are shown where somebody looks at a field.
"""

MAX_TEXTS = 1_000_000
"""The same for texts of our own collections, whose documents are counted whole. The index that
links questions to them takes about 0.8 GB and a minute of one core for so many.
"""

MAX_LENGTH = 400
"""Characters of a value that is listed; longer ones are text rather than facets."""

TOP = 50
_ORDERED = (FieldType.INT, FieldType.NUMBER, FieldType.DATE, FieldType.DATETIME)


class Tally:
    """Counts the values of one field, document by document."""

    def __init__(self, field: Field) -> None:
        self.field = field
        self.rows = 0
        self.missing = 0
        self._keys: dict[tuple[type, Scalar], Key | None] = {}
        self._counts: Counter[Key] = Counter()
        self._first: dict[Key, Scalar] = {}
        self._others: dict[Key, Counter[Scalar]] = {}

    def add(self, value: JsonValue) -> None:
        """Count one document's value; what cannot be read as the field's type is missing."""
        self.add_all([value])

    def add_all(self, values: Sequence[JsonValue]) -> None:
        """Count the values that one document's chunks have; each counts once."""
        self.rows += 1
        found: dict[Key, Scalar] = {}
        for item in self._items(values):
            if isinstance(item, str | int | float) and (key := self._key(item)) is not None:
                found[key] = item
        if not found:
            self.missing += 1
        self._counts.update(found.keys())
        for key, written in found.items():
            if self._first.setdefault(key, written) != written:
                self._others.setdefault(key, Counter())[written] += 1

    def _items(self, values: Sequence[JsonValue]) -> Iterator[JsonValue]:
        for value in values:
            if isinstance(value, list) and self.field.type.is_list:
                yield from value
            else:
                yield value

    def _key(self, item: Scalar) -> Key | None:
        """Memoised: a facet has few distinct values and many documents."""
        name = (type(item), item)
        if name not in self._keys:
            keys = read_row([item] if self.field.type.is_list else item, self.field)
            self._keys[name] = keys[0] if keys else None
        return self._keys[name]

    def described(self, *, complete: bool = True, most_texts: int = MAX_VALUES) -> Field:
        """The field with values and profile. `complete` is false if rows were only sampled;
        `most_texts` bounds the values of a field of texts.
        """
        is_text = self.field.type.element is FieldType.STRING
        most = most_texts if is_text else MAX_VALUES
        kept = [key for key in self._ordered() if _is_short(key)][:most]
        profile = Profile(
            rows=self.rows,
            missing=self.missing,
            distinct=len(self._counts) if complete else None,
            minimum=self._spelling(min(self._counts)) if self._has_bounds else None,
            maximum=self._spelling(max(self._counts)) if self._has_bounds else None,
            top=tuple((self._spelling(key), self._counts[key]) for key in kept[:TOP]),
            complete=complete and len(kept) == len(self._counts),
        )
        values = tuple(value for key in kept for value in self._listed(key))
        return self.field.model_copy(update={"values": values, "profile": profile})

    def _listed(self, key: Key) -> Sequence[Scalar]:
        """The commonest writing where values are stored folded; else all of them, since the
        engine can only be asked for a value as it is written.
        """
        if self._is_folded:
            return [self._spelling(key)]
        counts = self._written(key)
        return sorted(counts, key=lambda value: (-counts[value], str(value)))

    @property
    def _is_folded(self) -> bool:
        column = self.field.column
        is_text = self.field.type.element is FieldType.STRING
        return not is_text or column is None or column.encoding is Encoding.FOLDED

    @property
    def _has_bounds(self) -> bool:
        return bool(self._counts) and self.field.type.element in _ORDERED

    def _ordered(self) -> Sequence[Key]:
        """The most frequent first, equal ones by value."""
        by_value = sorted(self._counts)
        return sorted(by_value, key=lambda key: -self._counts[key])

    def _spelling(self, key: Key) -> Scalar:
        """The commonest writing of a value."""
        if key not in self._others:
            return self._first[key]
        counts = self._written(key)
        return min(counts, key=lambda written: (-counts[written], str(written)))

    def _written(self, key: Key) -> Mapping[Scalar, int]:
        """How often each writing of a value was counted. Most values have but one."""
        others = self._others.get(key, Counter())
        return {self._first[key]: self._counts[key] - others.total(), **others}


def listed(collection: Collection) -> Collection:
    """The collection for people: no field with more than MAX_VALUES values."""
    return collection.model_copy(update={"fields": tuple(map(_shown, collection.fields))})


def _shown(field: Field) -> Field:
    if len(field.values) <= MAX_VALUES:
        return field
    profile = field.profile and field.profile.model_copy(update={"complete": False})
    return field.model_copy(update={"values": field.values[:MAX_VALUES], "profile": profile})


def _is_short(key: Key) -> bool:
    return not isinstance(key, str) or len(key) <= MAX_LENGTH
