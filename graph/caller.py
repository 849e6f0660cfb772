"""The caller's filter and the model's, where both speak: the caller's stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.check import bind
from schemas.collection import Collection
from schemas.compile.text import to_text
from schemas.facts import implies, is_contradiction
from schemas.filters import EVERYTHING, Compare, Filter, Op, all_of, leaves
from schemas.loosen import Unit, units
from schemas.mentions import Proposal
from schemas.plan import Branch, Condition, Problem

CONFLICT = "conflicts_with_caller"


def added(filter_: Filter, caller: Filter, collection: Collection) -> Filter:
    """What a filter asks for beyond the caller's: only that can be loosened to any effect."""
    if caller == EVERYTHING:
        return filter_
    bound = bind(caller, collection)
    parts = [
        part
        for unit in units(filter_)
        if not implies(bound, bind(unit.filter, collection))
        for part in unit.parts
    ]
    return all_of(*parts)


@dataclass(frozen=True)
class _Fitted:
    """A branch's filter without what contradicts the caller, and what that was."""

    branch: Branch
    dropped: tuple[Unit, ...]


def beside_caller(
    proposal: Proposal, caller: Filter, collection: Collection, question: str
) -> Proposal:
    """The proposal without what cannot hold beside the caller's filter; each such condition is
    reported. What only repeats the caller's filter stays in the plan.

    A branch is dropped whole while another one remains: without its own condition it would only
    repeat the caller's.
    """
    if caller == EVERYTHING or is_contradiction(bind(caller, collection)):
        return proposal
    fitted = [_fitted(branch, caller, collection, question) for branch in proposal.branches]
    dropped = tuple(unit for one in fitted for unit in one.dropped)
    whole = [one.branch for one in fitted if not one.dropped]
    return proposal.model_copy(
        update={
            "branches": tuple(whole or [one.branch for one in fitted[:1]]),
            "conditions": _left(proposal.conditions, dropped),
            "problems": (
                *proposal.problems,
                *(_conflict(unit, proposal.conditions, caller, collection) for unit in dropped),
            ),
        }
    )


def _fitted(branch: Branch, caller: Filter, collection: Collection, question: str) -> _Fitted:
    kept: list[Filter] = []
    dropped: list[Unit] = []
    for unit in units(branch.filter):
        alone = bind(all_of(*kept, unit.filter), collection)
        together = bind(all_of(caller, *kept, unit.filter), collection)
        if is_contradiction(together) and not is_contradiction(alone):
            dropped.append(unit)
        else:
            kept.extend(unit.parts)
    # The words of a dropped condition are a subject again, so the whole question is searched for.
    query = question if dropped else branch.query
    return _Fitted(
        branch.model_copy(update={"filter": all_of(*kept), "query": query}), tuple(dropped)
    )


def _conflict(
    unit: Unit, conditions: Sequence[Condition], caller: Filter, collection: Collection
) -> Problem:
    leaf = next(leaves(unit.filter))
    words = next((c.words for c in conditions if c.field == leaf.field and c.words), "")
    said, given = to_text(unit.filter, collection), to_text(caller, collection)
    because = f" (from {words!r})" if words else ""
    return Problem(
        code=CONFLICT,
        message=f"{said}{because} cannot hold beside the given filter ({given}); it was left out",
        field=leaf.field,
        value=_plain(leaf.value),
        words=words,
    )


def _left(conditions: Sequence[Condition], dropped: Sequence[Unit]) -> tuple[Condition, ...]:
    """The conditions without those dropped; of one that several branches share, the rest."""
    gone = [leaf for unit in dropped for leaf in leaves(unit.filter)]
    return tuple(left for c in conditions if (left := _narrowed(c, gone)) is not None)


def _narrowed(condition: Condition, gone: Sequence[Compare]) -> Condition | None:
    if any(
        (leaf.field, leaf.op, _plain(leaf.value))
        == (condition.field, condition.op, condition.value)
        for leaf in gone
        if condition.hard
    ):
        return None
    if condition.op is not Op.IN or not isinstance(condition.value, list):
        return condition
    values = {leaf.value for leaf in gone if leaf.field == condition.field and leaf.op is Op.EQ}
    left = [value for value in condition.value if value not in values]
    if len(left) == len(condition.value) or not left:
        return condition if left else None
    one = len(left) == 1
    return condition.model_copy(
        update={"op": Op.EQ if one else Op.IN, "value": left[0] if one else left}
    )


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
