"""What is right for a case: one filter or several, with other values that are right too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from schemas.check import bind
from schemas.collection import Collection
from schemas.errors import FilterError
from schemas.filters import EVERYTHING, Compare, Filter, parse_filter


@dataclass(frozen=True)
class Expected:
    """One right filter. `synonyms` are pairs: an accepted comparison, and what it stands for."""

    filter: Filter
    synonyms: tuple[tuple[Compare, Compare], ...] = ()


@dataclass(frozen=True)
class Gold:
    """The right filter and other right ones; no filter is EVERYTHING."""

    first: Expected
    others: tuple[Expected, ...] = ()

    @property
    def all(self) -> tuple[Expected, ...]:
        return (self.first, *self.others)

    @property
    def may_be_nothing(self) -> bool:
        return any(one.filter == EVERYTHING for one in self.all)

    @property
    def may_be_something(self) -> bool:
        return any(one.filter != EVERYTHING for one in self.all)


def parse_gold(gold: object, accept: object, collection: Collection) -> Gold:
    """From the JSON of a suite. Raises FilterError where one does not fit the collection."""
    others = accept if isinstance(accept, list | tuple) else [] if accept is None else [accept]
    return Gold(
        _expected(gold, "gold", collection),
        tuple(_expected(one, f"accept[{index}]", collection) for index, one in enumerate(others)),
    )


def _expected(obj: object, at: str, collection: Collection) -> Expected:
    try:
        filter_ = EVERYTHING if obj is None else parse_filter(_stripped(obj))
        bind(filter_, collection)
        synonyms = tuple(_synonyms(obj))
        for accepted, _ in synonyms:
            bind(accepted, collection)
    except FilterError as error:
        raise FilterError(f"{at}: {error}") from error
    return Expected(filter_, synonyms)


def _stripped(obj: object) -> object:
    """The canonical filter: comparisons without the key `accept`."""
    match obj:
        case Mapping():
            return {
                key: _stripped(value) if key == "of" else value
                for key, value in obj.items()
                if key != "accept" or "of" in obj
            }
        case list() | tuple():
            return [_stripped(part) for part in obj]
        case _:
            return obj


def _synonyms(obj: object) -> Iterator[tuple[Compare, Compare]]:
    match obj:
        case list() | tuple():
            for part in obj:
                yield from _synonyms(part)
        case Mapping() if "of" in obj:
            yield from _synonyms(obj["of"])
        case Mapping() if "accept" in obj:
            yield from _of_leaf(obj)
        case _:
            return


def _of_leaf(obj: Mapping[str, Any]) -> Iterator[tuple[Compare, Compare]]:
    meant = parse_filter(_stripped(obj))
    values = obj["accept"]
    if not isinstance(values, list) or not isinstance(meant, Compare):
        raise FilterError(f"`accept` of a comparison is a list of values, not {values!r}")
    for value in values:
        other = parse_filter({"op": obj["op"], "field": obj["field"], "value": value})
        if isinstance(other, Compare):
            yield other, meant
