"""Which searches a plan consists of."""

from __future__ import annotations

import re

from agent.planning.joins import Joined
from agent.planning.stories import retells
from schemas.filters import AllOf, Compare, Filter, Op, all_of, leaves
from schemas.operators import MEMBERSHIP
from schemas.plan import Branch

MOST_BRANCHES = 4
_COMPARED = re.compile(
    r"\b(?:for|in|from)\s+each\b|\beach\s+(?:of|one)\b|\brespectively\b|\bcompar\w+|\bdiffer\w*|\bversus\b|\bvs\b|分别|各自|各(?!种|类)|对比|比较|相比|区别|差异",
    re.IGNORECASE,
)


def branches_of(question: str, query: str, joined: Joined) -> tuple[Branch, ...]:
    """One branch per value where several sources are to be compared, or what they report is
    retold, so that none crowds out another; else one.
    """
    whole = (Branch(query=query, filter=joined.filter),)
    several = [
        leaf for leaf in leaves(joined.filter) if leaf.op is Op.IN and isinstance(leaf.value, tuple)
    ]
    if len(several) != 1 or not (_COMPARED.search(question) or retells(question)):
        return whole
    values = several[0].value
    if not isinstance(values, tuple) or not 2 <= len(values) <= MOST_BRANCHES:
        return whole
    rest = [part for part in leaves(joined.filter) if part != several[0]]
    if any(part.op in MEMBERSHIP for part in rest) or not _is_conjunction(joined, several[0]):
        return whole
    return tuple(
        Branch(
            query=query,
            filter=_with(joined, several[0], Compare(op=Op.EQ, field=several[0].field, value=v)),
        )
        for v in values
    )


def _is_conjunction(joined: Joined, part: Compare) -> bool:
    match joined.filter:
        case AllOf(of=parts):
            return part in parts
        case _:
            return joined.filter == part


def _with(joined: Joined, old: Compare, new: Compare) -> Filter:
    match joined.filter:
        case AllOf(of=parts):
            return all_of(*(new if part == old else part for part in parts))
        case _:
            return new
