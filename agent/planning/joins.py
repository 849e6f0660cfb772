"""How accepted uses join: all, any, groups; and the conditions that say so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.planning.use import Use
from schemas.collection import Collection
from schemas.filters import AnyOf, Compare, Element, Filter, Op, all_of, any_of
from schemas.plan import Condition

_OR = re.compile(r"\bor\b|\beither\b|或|要么|\bas\s+well\s+as\b|\btogether\s+with\b", re.IGNORECASE)
_OR_MORE = re.compile(
    r"^\s*[a-z]{0,12}\s*\bor\s+(?:more|above|higher|over|greater|up|better|larger|older|longer|later|newer|after|since|"
    r"earlier|before|less|fewer|below|lower|under|smaller|younger|shorter|cheaper)\b(?=\s*\S)|或(?:以[上下]|更[高低多少早晚])",
    re.IGNORECASE,
)
"""The or of a comparison: "4 or better" joins nothing."""
_AND = re.compile(r"\band\b|&|和|与|及|且|并|同时", re.IGNORECASE)
_OR_ANY = re.compile(
    r"\bor\s+(?:any|all|every|whatever|anything|everything)\b|或者?(?:任何|所有|任意|全部)",
    re.IGNORECASE,
)
_TOGETHER = re.compile(r"at\s+the\s+same\s+time|simultaneously|同时", re.IGNORECASE)
_BOTH = re.compile(r"\bboth\b", re.IGNORECASE)
_REACH = 80
_PARTIAL = {Op.CONTAINS, Op.NOT_CONTAINS}
_LOWER, _UPPER = {Op.LT, Op.LE}, {Op.GT, Op.GE}
_SINGLE = {Op.EQ: Op.IN, Op.CONTAINS: Op.IN, Op.IN: Op.IN}
_DENIED = {Op.NE: Op.NOT_IN, Op.NOT_CONTAINS: Op.NOT_IN, Op.NOT_IN: Op.NOT_IN}


@dataclass(frozen=True)
class Accepted:
    """A use that holds, with the words that justify it and where they stand. `rivals` are other
    fields that the words could have meant as well.
    """

    use: Use
    words: str
    start: int
    end: int
    turn: int = 0
    hard: bool = True
    added: bool = False
    ambiguous: bool = False
    rivals: tuple[str, ...] = ()


@dataclass(frozen=True)
class Joined:
    """A filter with its conditions, each with its words."""

    filter: Filter
    conditions: tuple[Condition, ...]


def join(text: str, accepted: Sequence[Accepted], collection: Collection) -> Joined:
    """One filter from all uses. `text` is the question, for the words between them."""
    halves = _halves(text, accepted) or _or_any(text, accepted)
    if halves is not None:
        sides = [join(text, side, collection) for side in halves]
        conditions = tuple(c for side in sides for c in side.conditions)
        return Joined(any_of(*(side.filter for side in sides)), conditions)
    groups = [_group(text, group, collection) for group in _by_field(accepted)]
    parts: list[Filter] = []
    starts: list[tuple[int, int]] = []
    for group in groups:
        hard = all(one.hard for one in group.members)
        if not hard:
            continue
        first, last = group.members[0], group.members[-1]
        if parts and _alternative(text, groups, group, starts):
            parts[-1] = AnyOf(of=(parts[-1], group.joined.filter))
        else:
            parts.append(group.joined.filter)
        if last.turn == 0:
            starts.append((first.start, last.end))
    conditions = tuple(c for group in groups for c in group.joined.conditions)
    return Joined(all_of(*parts), conditions)


@dataclass(frozen=True)
class _Group:
    members: tuple[Accepted, ...]
    joined: Joined


def _by_field(accepted: Sequence[Accepted]) -> list[tuple[Accepted, ...]]:
    fields: dict[tuple[str, bool], list[Accepted]] = {}
    for one in accepted:
        fields.setdefault((one.use.field, one.hard), []).append(one)
    return [tuple(members) for members in fields.values()]


def _group(text: str, members: tuple[Accepted, ...], collection: Collection) -> _Group:
    """The uses of one field: equal kinds merge, all others must hold together."""
    wanted = [one for one in members if _kind(one.use) == "value"]
    denied = [one for one in members if _kind(one.use) == "denied"]
    periods = [one for one in members if _kind(one.use) == "range"]
    rest = [one for one in members if _kind(one.use) == "other"]
    joined = [
        *_merged(text, wanted, collection),
        *_excluded(denied, collection),
        *_ranges(text, periods),
        *_bounds(rest),
    ]
    conditions = tuple(c for one in joined for c in one.conditions)
    return _Group(members, Joined(all_of(*(one.filter for one in joined)), conditions))


def _kind(use: Use) -> str:
    if use.group is not None:
        return "other"
    if len(use.parts) == 2 and not use.excluded:
        return "range"
    if len(use.parts) == 1 and use.parts[0].op in _SINGLE:
        return "value"
    if len(use.parts) == 1 and use.parts[0].op in _DENIED:
        return "denied"
    return "other"


def _alone(one: Accepted) -> Joined:
    return Joined(one.use.filter, tuple(_condition(part, one) for part in one.use.parts))


def _merged(text: str, wanted: list[Accepted], collection: Collection) -> list[Joined]:
    distinct = list({one.use.parts[0]: one for one in wanted}.values())
    if len(distinct) < 2:
        return [_alone(one) for one in distinct]
    if not any(one.added for one in distinct) and _all_needed(text, distinct, collection):
        return [_alone(one) for one in distinct]
    if _has_text(distinct, collection):
        conditions = tuple(_condition(one.use.parts[0], one) for one in distinct)
        return [Joined(any_of(*(one.use.filter for one in distinct)), conditions)]
    values = tuple(dict.fromkeys(v for one in distinct for v in _values(one.use.parts[0])))
    part = Compare(op=Op.IN, field=distinct[0].use.field, value=values)
    return [Joined(part, (_condition(part, *distinct),))]


def _has_text(members: Sequence[Accepted], collection: Collection) -> bool:
    """Whether a part of a text is meant: then no list of whole values says the same."""
    field = collection.by_name.get(members[0].use.field)
    listed = field is None or field.type.is_list
    return not listed and any(one.use.parts[0].op in _PARTIAL for one in members)


def _excluded(denied: list[Accepted], collection: Collection) -> list[Joined]:
    distinct = list({one.use.parts[0]: one for one in denied}.values())
    if len(distinct) < 2 or _has_text(distinct, collection):
        return [_alone(one) for one in distinct]
    values = tuple(dict.fromkeys(v for one in distinct for v in _values(one.use.parts[0])))
    part = Compare(op=Op.NOT_IN, field=distinct[0].use.field, value=values)
    return [Joined(part, (_condition(part, *distinct),))]


def _ranges(text: str, periods: list[Accepted]) -> list[Joined]:
    if len(periods) < 2:
        return [_alone(one) for one in periods]
    whole = any_of(*(one.use.filter for one in periods))
    return [Joined(whole, tuple(_condition(p, one) for one in periods for p in one.use.parts))]


def _bounds(rest: list[Accepted]) -> list[Joined]:
    """Bounds that no value can keep together are alternatives: before 1995, or after 2002."""
    alone = [_alone(one) for one in rest]
    if len(rest) != 2 or any(len(one.use.parts) != 1 for one in rest):
        return alone
    below, above = sorted(
        (one.use.parts[0] for one in rest), key=lambda part: part.op not in _LOWER
    )
    if below.op not in _LOWER or above.op not in _UPPER or not _is_apart(below.value, above.value):
        return alone
    conditions = tuple(c for one in alone for c in one.conditions)
    return [Joined(any_of(*(one.filter for one in alone)), conditions)]


def _is_apart(low: object, high: object) -> bool:
    if isinstance(low, str) and isinstance(high, str):
        return low <= high
    return isinstance(low, int | float) and isinstance(high, int | float) and low <= high


def _all_needed(text: str, members: Sequence[Accepted], collection: Collection) -> bool:
    """Whether every value must hold: on list fields unless "or" stands between them, on others
    only where the wording insists (at the same time), or wants both contained in one text.
    """
    first, last = members[0], members[-1]
    between = text[first.end : last.start] if first.turn == last.turn == 0 else ""
    if _OR.search(_OR_MORE.sub(" ", between)):
        return False
    field = collection.by_name.get(first.use.field)
    if field is None or field.type.is_list:
        return field is not None
    contained = all(one.use.parts[0].op is Op.CONTAINS for one in members)
    insists = _TOGETHER.search(between) is not None
    return insists or (contained and _BOTH.search(between) is not None)


def _alternative(
    text: str, groups: Sequence[_Group], group: _Group, spans: Sequence[tuple[int, int]]
) -> bool:
    """Whether "or" stands between this field's words and the words of the field before it."""
    first = group.members[0]
    before = [end for _, end in spans if end <= first.start]
    if not before or first.turn:
        return False
    gap = _OR_MORE.sub(" ", text[max(before) : first.start])
    return len(gap) <= _REACH and bool(re.search(r"\bor\b|或|要么", gap, re.IGNORECASE))


def _halves(
    text: str, accepted: Sequence[Accepted]
) -> tuple[Sequence[Accepted], Sequence[Accepted]] | None:
    """Two complete groups: "rejected ones for 3.3 together with withdrawn ones for 2.5"."""
    now = [one for one in accepted if one.turn == 0]
    middle = len(now) // 2
    if len(now) < 4 or len(now) % 2 or len(now) != len(accepted):
        return None
    left, right = now[:middle], now[middle:]
    if [one.use.field for one in left] != [one.use.field for one in right]:
        return None
    if len({one.use.field for one in left}) < len(left):
        return None
    gap = text[left[-1].end : right[0].start]
    return (left, right) if _OR.search(gap) or _AND.search(gap) else None


def _or_any(
    text: str, accepted: Sequence[Accepted]
) -> tuple[Sequence[Accepted], Sequence[Accepted]] | None:
    """A narrowed group, or any of another: "drafts above 10 pages, or any minutes"."""
    now = [one for one in accepted if one.turn == 0]
    if len(now) != len(accepted):
        return None
    for place in range(2, len(now)):
        left, right = now[:place], now[place:]
        narrowed = len({one.use.field for one in left}) > 1
        if narrowed and _OR_ANY.search(text[left[-1].end : right[0].start]):
            return left, right
    return None


def _values(part: Compare) -> tuple[Element, ...]:
    if isinstance(part.value, tuple):
        return part.value
    return () if part.value is None else (part.value,)


def _condition(part: Compare, *members: Accepted) -> Condition:
    value = list(part.value) if isinstance(part.value, tuple) else part.value
    words = " … ".join(dict.fromkeys(one.words for one in members))
    return Condition(
        field=part.field,
        op=part.op,
        value=value,
        words=words,
        hard=all(one.hard for one in members),
    )
