"""Weaker forms of a filter: each keeps every row that the filter kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from schemas.filters import EVERYTHING, AllOf, AnyOf, Compare, Filter, Not, Op, all_of, leaves

_LOWER = (Op.GT, Op.GE)
_UPPER = (Op.LT, Op.LE)

Action = Literal["nearest", "widen", "boost", "drop"]
"""What may become of a condition, the smallest change first: another value in its place, a wider
range, a wish that excludes nothing, nothing.
"""

ACTIONS: tuple[Action, ...] = ("nearest", "widen", "boost", "drop")


@dataclass(frozen=True)
class Unit:
    """Parts of a filter that stand or fall together: a comparison, a group, or both ends of a
    range over one field.
    """

    parts: tuple[Filter, ...]

    @property
    def filter(self) -> Filter:
        return all_of(*self.parts)

    @property
    def fields(self) -> frozenset[str]:
        return frozenset(leaf.field for leaf in leaves(self.filter))


@dataclass(frozen=True)
class Rung:
    """One change of a unit; `filter` is what stands in its place. All but `nearest` keep every
    row that the unit kept.
    """

    action: Action
    unit: Unit
    filter: Filter = EVERYTHING

    @property
    def is_soft(self) -> bool:
        """Whether the condition excludes nothing any more."""
        return self.filter == EVERYTHING


def units(filter_: Filter) -> tuple[Unit, ...]:
    """What a filter is the conjunction of."""
    match filter_:
        case AllOf(of=parts):
            return _paired([part for part in parts if part != AllOf(of=())])
        case AnyOf() | Not() | Compare():
            return (Unit((filter_,)),)


def without(filter_: Filter, unit: Unit) -> Filter:
    """The filter with one unit taken out; a row that matched before matches still."""
    return all_of(*(part for other in units(filter_) if other != unit for part in other.parts))


def _paired(parts: list[Filter]) -> tuple[Unit, ...]:
    found: list[Unit] = []
    for part in parts:
        partner = next((unit for unit in found if _is_other_end(unit, part)), None)
        if partner is None:
            found.append(Unit((part,)))
        else:
            found[found.index(partner)] = Unit((*partner.parts, part))
    return tuple(found)


def _is_other_end(unit: Unit, part: Filter) -> bool:
    if len(unit.parts) != 1 or not isinstance(part, Compare):
        return False
    first = unit.parts[0]
    if not isinstance(first, Compare) or first.field != part.field:
        return False
    return (first.op in _LOWER and part.op in _UPPER) or (first.op in _UPPER and part.op in _LOWER)
