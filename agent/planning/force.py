"""Conditions in force in a thread, as mentions that the next question may keep or drop."""

from __future__ import annotations

from collections.abc import Sequence

from agent.planning.use import SOFT
from schemas.filters import AllOf, AnyOf, Compare, Filter, Not, leaves
from schemas.mentions import Choice, Mention, MentionKind
from schemas.plan import Condition


def in_force(
    previous: Sequence[Condition], filter_: Filter, allowed: frozenset[str]
) -> tuple[Mention, ...]:
    """One mention for the conditions that the same words brought about, and one for each group
    of alternatives, which is kept or dropped as a whole.
    """
    groups = [group for group in _groups(filter_) if _is_said(group, previous, allowed)]
    grouped = [leaf for group in groups for leaf in leaves(group)]
    rest = [c for c in previous if c.field in allowed and not any(_says(c, g) for g in grouped)]
    by_words: dict[tuple[str, str, bool], list[Condition]] = {}
    for condition in rest:
        key = (condition.field, condition.words, condition.hard)
        by_words.setdefault(key, []).append(condition)
    whole = [
        (
            " … ".join(dict.fromkeys(c.words for c in said if c.words)),
            said,
            group,
        )
        for group in groups
        for said in [[c for leaf in leaves(group) for c in previous if _says(c, leaf)]]
    ]
    alone = [(words, said, None) for (_, words, _), said in by_words.items()]
    return tuple(
        _mention(number, words, said, group)
        for number, (words, said, group) in enumerate([*alone, *whole], start=1)
    )


def _groups(filter_: Filter) -> list[Filter]:
    """The parts of a filter that are more than comparisons which must all hold."""
    match filter_:
        case AllOf(of=parts):
            return [part for part in parts if isinstance(part, AnyOf | Not)]
        case AnyOf(of=parts):
            return [filter_] if parts else []
        case Not() | Compare():
            return [filter_] if isinstance(filter_, Not) else []


def _is_said(group: Filter, previous: Sequence[Condition], allowed: frozenset[str]) -> bool:
    return all(
        leaf.field in allowed and any(_says(condition, leaf) for condition in previous)
        for leaf in leaves(group)
    )


def _says(condition: Condition, leaf: Compare) -> bool:
    value = list(leaf.value) if isinstance(leaf.value, tuple) else leaf.value
    said = (condition.field, condition.op, condition.value)
    return condition.hard and said == (leaf.field, leaf.op, value)


def _mention(number: int, words: str, said: Sequence[Condition], group: Filter | None) -> Mention:
    hints = [condition.op.value for condition in said]
    return Mention(
        id=f"e{number}",
        kind=MentionKind.EARLIER,
        words=words or f"{said[0].field} {said[0].value}",
        start=0,
        end=0,
        turn=-1,
        choices=tuple(Choice(field=c.field, value=c.value) for c in said),
        hint=" ".join(hints if said[0].hard else [*hints, SOFT]),
        filter=group,
    )
