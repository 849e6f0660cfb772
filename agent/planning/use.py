"""One way to use a mention, and the hints that mentions carry."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.filters import AnyOf, Compare, Filter, all_of

IGNORE = "ignore"
"""A topic, not a condition; always among the choices."""
KEEP = "keep"
NOT = "not"
MAYBE_NOT = "maybe_not"
SOFT = "soft"
AMBIGUOUS = "ambiguous"
CERTAIN = "certain"
"""Hint of a mention that needs no judgement: it holds without being asked about."""


@dataclass(frozen=True)
class Use:
    """What one word of the form stands for. `parts` must all hold (both ends of a period), or
    any of them where `loose` (outside a period), or as `group` has them. `excluded`: it denies
    what the mention says; `flag`: of a yes-or-no field.
    """

    word: str
    field: str
    parts: tuple[Compare, ...]
    excluded: bool = False
    flag: bool = False
    loose: bool = False
    group: Filter | None = None

    @property
    def fields(self) -> frozenset[str]:
        return frozenset(part.field for part in self.parts)

    @property
    def filter(self) -> Filter:
        if self.group is not None:
            return self.group
        if len(self.parts) > 1 and self.loose:
            return AnyOf(of=self.parts)
        return all_of(*self.parts)
