"""The ways to use a mention: the closed list of words that the model chooses from.

Each word stands for conditions that code has already worked out, so that nothing but a choice
can come back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pydantic import JsonValue

from agent.planning.legible import legible_name
from agent.planning.pinned import pinned
from agent.planning.readings import element, readings
from agent.planning.use import KEEP, MAYBE_NOT, NOT, SOFT, Use
from schemas.collection import Collection
from schemas.filters import Compare, Element, Op
from schemas.mentions import Mention, MentionKind


def uses(
    mention: Mention, collection: Collection, operators: Mapping[str, Op] | None = None
) -> Mapping[str, Use]:
    """Word → use, in the order of the choices; `ignore` is not among them.

    A word of exclusion is offered only where the turn excludes something at all, and alone
    where words right beside the mention do. `operators` that are pinned to a field leave no choice
    but that field.
    """
    if mention.kind is MentionKind.EARLIER:
        return _earlier(mention)
    found: dict[str, Use] = {}
    for field_name in dict.fromkeys(choice.field for choice in mention.choices):
        field = collection.by_name.get(field_name)
        if field is None:
            continue
        same = [choice for choice in mention.choices if choice.field == field_name]
        op = (operators or {}).get(field_name)
        every = readings(mention, field, same) if op is None else pinned(mention, field, same, op)
        for use in (_legible(one, collection) for one in every):
            found.setdefault(use.word, use)
    held = set(operators or ())
    matching = _matching(mention, {w: use for w, use in found.items() if use.field not in held})
    return {word: use for word, use in found.items() if word in matching or use.field in held}


def _legible(use: Use, collection: Collection) -> Use:
    """Words begin with the name of their field."""
    name = legible_name(use.field, collection.by_name)
    return use if name == use.field else replace(use, word=name + use.word[len(use.field) :])


def _matching(mention: Mention, found: dict[str, Use]) -> dict[str, Use]:
    hints = mention.hint.split()
    if NOT in hints:
        return _denied(found)
    if MAYBE_NOT in hints:
        return found
    return {word: use for word, use in found.items() if not use.excluded or use.flag}


def _denied(found: dict[str, Use]) -> dict[str, Use]:
    """What is denied right beside the mention can only be excluded; fields that cannot be
    excluded on stay as they are.
    """
    able = {use.field for use in found.values() if use.excluded}
    return {word: use for word, use in found.items() if use.excluded or use.field not in able}


def _earlier(mention: Mention) -> dict[str, Use]:
    """Conditions in force: kept as they are, or dropped; the hint holds their operators."""
    ops = [word for word in mention.hint.split() if word != SOFT]
    parts = tuple(
        Compare(op=Op(op), field=choice.field, value=_frozen(choice.value))
        for op, choice in zip(ops, mention.choices, strict=True)
    )
    if mention.filter is not None:
        return {KEEP: Use(KEEP, parts[0].field, parts, group=mention.filter)}
    loose = _is_outside(parts)
    return {KEEP: Use(KEEP, parts[0].field, parts, loose or parts[0].op.is_negative, loose=loose)}


def _is_outside(parts: tuple[Compare, ...]) -> bool:
    """Two bounds that leave a period out, rather than enclose one."""
    if len(parts) != 2 or parts[0].op is not Op.LT or parts[1].op not in (Op.GE, Op.GT):
        return False
    low, high = parts[0].value, parts[1].value
    if isinstance(low, str) and isinstance(high, str):
        return low <= high
    return isinstance(low, int | float) and isinstance(high, int | float) and low <= high


def _frozen(value: JsonValue) -> Element | tuple[Element, ...] | None:
    if isinstance(value, list | tuple):
        return tuple(item for item in map(element, value) if item is not None)
    return element(value)
