"""Whether a filter selects the right rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from evals.golds import Gold
from schemas.check import bind
from schemas.collection import Collection
from schemas.compile.predicate import to_predicate
from schemas.filters import Filter

Rows = Sequence[tuple[str, Mapping[str, JsonValue]]]
"""Ids with metadata as people write it."""


def selected(f: Filter, rows: Rows, collection: Collection) -> frozenset[str]:
    """The ids of the rows that match."""
    wanted = to_predicate(bind(f, collection))
    return frozenset(id_ for id_, metadata in rows if wanted(metadata))


def selection_f1(said: Filter, gold: Gold, rows: Rows, collection: Collection) -> float:
    """How well the selected rows agree with those of the nearest right filter: the harmonic mean
    of precision and recall, 1 where both select nothing.
    """
    got = selected(said, rows, collection)
    return max(_f1(got, selected(one.filter, rows, collection)) for one in gold.all)


def _f1(got: frozenset[str], wanted: frozenset[str]) -> float:
    if not got and not wanted:
        return 1.0
    return 2 * len(got & wanted) / (len(got) + len(wanted))


def is_same_selection(said: Filter, gold: Gold, rows: Rows, collection: Collection) -> bool:
    """The rows of a right filter, no fewer and no more."""
    got = selected(said, rows, collection)
    return any(got == selected(one.filter, rows, collection) for one in gold.all)
