"""The ways to use a mention: the closed list of words that the model chooses from.

Each word stands for conditions that code has already worked out, so that nothing but a choice
can come back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pydantic import JsonValue

from agent.planning.readings import DATES, element, readings
from agent.planning.use import KEEP, MAYBE_NOT, NOT, Use
from schemas.collection import Collection, Field
from schemas.filters import Compare, Element, Op
from schemas.mentions import Choice, Mention, MentionKind


def uses(
    mention: Mention, collection: Collection, pinned: Mapping[str, Op] | None = None
) -> Mapping[str, Use]:
    """Word → use, in the order of the choices; `ignore` is not among them.

    A word of exclusion is offered only where the turn excludes something at all, and alone
    where words right beside the mention do. `pinned` operators leave no choice but the field.
    """
    if mention.kind is MentionKind.EARLIER:
        return _earlier(mention)
    found: dict[str, Use] = {}
    for field_name in dict.fromkeys(choice.field for choice in mention.choices):
        field = collection.by_name.get(field_name)
        if field is None:
            continue
        same = [choice for choice in mention.choices if choice.field == field_name]
        op = (pinned or {}).get(field_name)
        every = readings(mention, field, same) if op is None else _pinned(field, same, op)
        for use in every:
            found.setdefault(use.word, use)
    return _matching(mention, found)


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
    parts = tuple(
        Compare(op=Op(op), field=choice.field, value=_frozen(choice.value))
        for op, choice in zip(mention.hint.split(), mention.choices, strict=True)
    )
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


def _pinned(field: Field, choices: list[Choice], op: Op) -> Iterable[Use]:
    """The one operator that the caller allows on a field."""
    value = choices[0].value
    if isinstance(value, list | tuple):
        value = value[1] if op in (Op.LT, Op.LE) and field.type not in DATES else value[0]
    held = element(value)
    if not op.takes_value:
        yield Use(f"{field.name} {op}", field.name, (Compare(op=op, field=field.name),))
    elif held is not None:
        operand = (held,) if op.takes_list else held
        part = Compare(op=op, field=field.name, value=operand)
        yield Use(f"{field.name} {op}", field.name, (part,))
