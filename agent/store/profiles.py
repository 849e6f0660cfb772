"""What is known of a field's values, from the documents that may be seen. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from schemas.collection import Encoding, Field, FieldType, Profile, Scalar
from schemas.values import Key, read_row

MAX_VALUES = 5_000
"""Distinct values listed of a field; beyond it the most frequent ones, and `complete` is false."""

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
        self._written: dict[Key, Counter[Scalar]] = {}

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
            self._written.setdefault(key, Counter())[written] += 1

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

    def described(self, *, complete: bool = True) -> Field:
        """The field with values and profile. `complete` is false if rows were only sampled."""
        listed = [key for key in self._ordered() if _is_short(key)][:MAX_VALUES]
        profile = Profile(
            rows=self.rows,
            missing=self.missing,
            distinct=len(self._counts) if complete else None,
            minimum=self._spelling(min(self._counts)) if self._has_bounds else None,
            maximum=self._spelling(max(self._counts)) if self._has_bounds else None,
            top=tuple((self._spelling(key), self._counts[key]) for key in listed[:TOP]),
            complete=complete and len(listed) == len(self._counts),
        )
        values = tuple(value for key in listed for value in self._listed(key))
        return self.field.model_copy(update={"values": values, "profile": profile})

    def _listed(self, key: Key) -> Sequence[Scalar]:
        """The commonest writing where values are stored folded; else all of them, since the
        engine can only be asked for a value as it is written.
        """
        if self._is_folded:
            return [self._spelling(key)]
        return sorted(
            self._written[key], key=lambda value: (-self._written[key][value], str(value))
        )

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
        counts = self._written[key]
        return min(counts, key=lambda written: (-counts[written], str(written)))


def _is_short(key: Key) -> bool:
    return not isinstance(key, str) or len(key) <= MAX_LENGTH
