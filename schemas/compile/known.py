"""Known values of a field that a comparison finds."""

from __future__ import annotations

from schemas.collection import Field
from schemas.compile.predicate import judge_leaf
from schemas.filters import Compare
from schemas.operators import SPELLINGS


def positive_form(c: Compare) -> Compare:
    """The comparison itself, or the positive partner of a negative one."""
    partner = SPELLINGS[c.op].negation
    if not c.op.is_negative or partner is None:
        return c
    return c.model_copy(update={"op": partner})


def known_matches(c: Compare, field: Field) -> list[str]:
    """The known values of a string field, as written, that the comparison is true of."""
    judge = judge_leaf(c, field, exact=False)
    return [str(value) for value in field.values if judge({field.name: value}) is True]
