"""What changed from one filter to another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from schemas.filters import EVERYTHING, AllOf, Compare, Filter, Op, dump_filter
from schemas.normalise import normalise

_SIDES = {Op.GT: "low", Op.GE: "low", Op.LT: "high", Op.LE: "high"}


@dataclass(frozen=True)
class Diff:
    """Conditions of the new filter only, of the old one only, and pairs (old, new) of one
    field. Conditions that say the same are in neither.
    """

    added: tuple[Filter, ...] = ()
    removed: tuple[Filter, ...] = ()
    changed: tuple[tuple[Filter, Filter], ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.removed or self.changed)


def diff(old: Filter, new: Filter) -> Diff:
    """Compare two filters condition by condition, after normalising.

    The conditions are the parts of the topmost `and`. A changed one keeps its field; lower and
    upper ends of ranges are compared with their like.
    """
    before, after = _conditions(old), _conditions(new)
    removed = [part for key, part in before.items() if key not in after]
    added = [part for key, part in after.items() if key not in before]
    changed: list[tuple[Filter, Filter]] = []
    for alike in (_same_operator, _same_side):
        _pair(removed, added, changed, alike)
    return Diff(tuple(added), tuple(removed), tuple(changed))


def _conditions(f: Filter) -> dict[str, Filter]:
    """By their canonical texts."""
    root = normalise(f)
    parts = root.of if isinstance(root, AllOf) else (root,)
    return {dump_filter(part): part for part in parts if part != EVERYTHING}


def _pair(
    removed: list[Filter],
    added: list[Filter],
    changed: list[tuple[Filter, Filter]],
    alike: Callable[[Compare, Compare], bool],
) -> None:
    """Move conditions that are alike from the two lists to the third."""
    for old in list(removed):
        for new in list(added):
            if isinstance(old, Compare) and isinstance(new, Compare) and alike(old, new):
                removed.remove(old)
                added.remove(new)
                changed.append((old, new))
                break


def _same_operator(old: Compare, new: Compare) -> bool:
    return old.field == new.field and old.op is new.op


def _same_side(old: Compare, new: Compare) -> bool:
    return old.field == new.field and _SIDES.get(old.op) == _SIDES.get(new.op)
