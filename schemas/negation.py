"""Negations pushed down to the comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from schemas.collection import Collection
from schemas.filters import AllOf, AnyOf, Compare, Filter, Not
from schemas.operators import ORDERING, SPELLINGS


def negate_compare(c: Compare, *, is_list: bool) -> Compare | None:
    """The comparison true where `c` is false, unknown where `c` is; None if there is none.

    On a list an ordering asks for some element, so that its negation is no other ordering.
    """
    partner = SPELLINGS[c.op].negation
    if partner is None or (is_list and c.op in ORDERING):
        return None
    return c.model_copy(update={"op": partner})


@dataclass(frozen=True)
class Literal:
    """A comparison, or its negation where no operator says that."""

    compare: Compare
    negated: bool = False


@dataclass(frozen=True)
class Every:
    of: tuple[Normal, ...]


@dataclass(frozen=True)
class Some:
    of: tuple[Normal, ...]


Normal = Literal | Every | Some


def negation_normal(f: Filter, c: Collection, *, negated: bool = False) -> Normal:
    """The filter with negations at its comparisons only, by De Morgan, which holds in Kleene's
    logic too.
    """
    match f:
        case Compare():
            if not negated:
                return Literal(f)
            flipped = negate_compare(f, is_list=c.field(f.field).type.is_list)
            return Literal(f, negated=True) if flipped is None else Literal(flipped)
        case Not(of=part):
            return negation_normal(part, c, negated=not negated)
        case AllOf(of=parts) | AnyOf(of=parts):
            inner = tuple(negation_normal(part, c, negated=negated) for part in parts)
            return Every(inner) if isinstance(f, AllOf) is not negated else Some(inner)
        case _:
            assert_never(f)
