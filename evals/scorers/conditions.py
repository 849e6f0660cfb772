"""Conditions right, missing and too many, whatever joins them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evals.golds import Expected, Gold
from evals.scorers.canonical import Item, canonical, items, understood
from schemas.collection import Collection
from schemas.filters import EVERYTHING, Filter


@dataclass(frozen=True)
class Judged:
    """A condition and whether the other side has it, too."""

    field: str
    op: str
    hit: bool


@dataclass(frozen=True)
class Conditions:
    """`said` are the conditions of the plan, `meant` those of the right filter nearest to it."""

    said: tuple[Judged, ...]
    meant: tuple[Judged, ...]

    @property
    def hits(self) -> int:
        return sum(one.hit for one in self.said)


def compare(said: Filter, gold: Gold, collection: Collection) -> Conditions:
    """Judged against the right filter that most conditions agree with; the first one of equals."""
    plain = canonical(said, collection)
    options = [_against(plain, one, collection) for one in gold.all]
    return max(options, key=_agreement)


def is_false_filter(said: Filter, gold: Gold) -> bool | None:
    """A filter where none is right; None where one is."""
    return None if gold.may_be_something else said != EVERYTHING


def is_missed_filter(said: Filter, gold: Gold) -> bool | None:
    """No filter where one is right; None where none may be."""
    return None if gold.may_be_nothing else said == EVERYTHING


def _against(plain: Filter, expected: Expected, collection: Collection) -> Conditions:
    said = tuple(items(understood(plain, expected, collection), collection))
    meant = tuple(items(canonical(expected.filter, collection), collection))
    return Conditions(_judged(said, meant), _judged(meant, said))


def _judged(ones: Sequence[Item], others: Sequence[Item]) -> tuple[Judged, ...]:
    left = Counter(other.key for other in others)
    judged = []
    for one in ones:
        hit = left[one.key] > 0
        left[one.key] -= hit
        judged.append(Judged(one.field, one.op, hit))
    return tuple(judged)


def _agreement(conditions: Conditions) -> float:
    """F1; two empty sides agree wholly."""
    both = len(conditions.said) + len(conditions.meant)
    return 2 * conditions.hits / both if both else 1.0
