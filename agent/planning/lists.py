"""Mentions that stand in one list: "A, B or C" are used alike."""

from __future__ import annotations

import re

from agent.planning.use import Use
from schemas.mentions import Mention

_BETWEEN = re.compile(
    r"\s*[\"'”’]?\s*(?:,|、|，)?\s*(?:and|or|nor|&|和|或|或者|与|及|以及)?\s*(?:the\s+|an?\s+)?[\"'“‘]?\s*",
    re.IGNORECASE,
)


def is_listed(gap: str) -> bool:
    """Whether the text between two mentions only joins them."""
    return bool(gap.strip()) and _BETWEEN.fullmatch(gap) is not None


def follows(text: str, first: Mention, second: Mention) -> bool:
    """Whether a mention goes on a list that the one before it began, on some common field."""
    if first.turn != second.turn or first.turn != 0 or first.kind is not second.kind:
        return False
    common = {c.field for c in first.choices} & {c.field for c in second.choices}
    return bool(common) and is_listed(text[first.end : second.start])


def aligned(use: Use, uses: tuple[Use, ...], first: Use) -> Use:
    """The use on the field of the list's first member; the use itself where there is none."""
    if use.field == first.field:
        return use
    ops = [part.op for part in use.parts]
    return next((u for u in uses if u.field == first.field and [p.op for p in u.parts] == ops), use)
