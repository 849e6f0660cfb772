"""Values of JSON as their author wrote them, flattened to dotted names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from agent.ingest.decoding import clean
from agent.ingest.loaders.rows import Row
from agent.ingest.written import Note, Value, Written, name_key

_MAX_DEPTH = 50
_MAX_VALUES = 10_000


class _Number(str):
    """A number, or NaN and its kind, as it stands in the file."""


class _Pairs(list[tuple[str, object]]):
    """An object with all its keys, also those that are given twice."""


class TooMuch(Exception):
    """A record that is nested too deep or holds too many values."""


DECODER = json.JSONDecoder(
    object_pairs_hook=_Pairs,
    parse_float=_Number,
    parse_int=_Number,
    parse_constant=_Number,
    strict=False,
)
"""Its values are what `as_row` reads."""


def is_object(value: object) -> bool:
    return isinstance(value, _Pairs)


def as_row(value: object, key: str, line: int | None) -> Row:
    """TooMuch if the record is too large. A record that is no object is its text."""
    flat = _Flat(line)
    if isinstance(value, _Pairs):
        flat.read(value, "", 0)
    else:
        flat.items(value, "text", 0, flat.single("text"))
    return Row(key, flat.cells(), line, tuple(flat.notes), doubtful=frozenset(flat.doubtful))


@dataclass(slots=True)
class _Flat:
    line: int | None
    notes: list[Note] = field(default_factory=list)
    doubtful: set[str] = field(default_factory=set)
    _values: dict[str, list[Written]] = field(default_factory=dict)
    _lists: set[str] = field(default_factory=set)
    _count: int = 0

    def cells(self) -> dict[str, Value]:
        return {
            name: tuple(values) if name in self._lists else values[-1]
            for name, values in self._values.items()
            if values
        }

    def single(self, name: str) -> list[Written]:
        return self._values.setdefault(name, [])

    def read(self, pairs: _Pairs, prefix: str, depth: int) -> None:
        spelt: dict[str, str] = {}
        for raw, value in pairs:
            name = f"{prefix}{clean(raw).strip()}"
            known = spelt.get(name_key(name))
            if known is None:
                known = spelt[name_key(name)] = name
            else:
                self._forget(known)
            if isinstance(value, _Pairs):
                self._deeper(depth)
                self.read(value, f"{known}.", depth + 1)
            else:
                self.items(value, known, depth, self.single(known))

    def _forget(self, name: str) -> None:
        self.notes.append(Note("given twice; the last one counts", name, self.line))
        self.doubtful.add(name_key(name))
        for earlier in [one for one in self._values if f"{one}.".startswith(f"{name}.")]:
            del self._values[earlier]
            self._lists.discard(earlier)

    def items(self, value: object, name: str, depth: int, out: list[Written]) -> None:
        """A value, or the values of a list; lists in lists are joined."""
        if isinstance(value, _Pairs):
            self._lists.update(self._in_list(value, name, depth))
        elif isinstance(value, list):
            self._deeper(depth)
            self._lists.add(name)
            for item in value:
                if isinstance(item, _Pairs):
                    self._lists.update(self._in_list(item, name, depth + 1))
                else:
                    self.items(item, name, depth + 1, out)
        else:
            self._scalar(value, name, out)

    def _in_list(self, pairs: _Pairs, name: str, depth: int) -> Iterator[str]:
        """Objects in lists add to the name: `by: [{name: A}, {name: B}]` is `by.name: [A, B]`."""
        self._deeper(depth)
        for raw, value in pairs:
            dotted = f"{name}.{clean(raw).strip()}"
            self.items(value, dotted, depth + 1, self.single(dotted))
            yield dotted

    def _scalar(self, value: object, name: str, out: list[Written]) -> None:
        self._count += 1
        if self._count > _MAX_VALUES:
            raise TooMuch(f"more than {_MAX_VALUES} values")
        match value:
            case _Number() if value.lstrip("-") in {"NaN", "Infinity"}:
                said = f"{value} is no number; taken as missing"
                self.notes.append(Note(said, name, self.line))
            case _Number():
                out.append(Written(str(value), line=self.line or 0))
            case bool():
                out.append(Written("true" if value else "false", line=self.line or 0))
            case str() if text := clean(value).strip():
                out.append(Written(text, quoted=True, line=self.line or 0))
            case _:
                return

    def _deeper(self, depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise TooMuch(f"nested more than {_MAX_DEPTH} deep")
