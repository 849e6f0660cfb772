"""Wording that asks for the beginning, the end or a part of a text."""

from __future__ import annotations

import re

from agent.planning.spans import Span
from schemas.operators import Op

_REACH = 40
_STARTS = re.compile(
    r"(?:start(?:s|ing)?|begin(?:s|ning)?)\s+with(?:\s+the)?(?:\s+words?)?\s*\W*$", re.IGNORECASE
)
_ENDS = re.compile(r"end(?:s|ing)?\s+(?:with|in)(?:\s+the)?(?:\s+words?)?\s*\W*$", re.IGNORECASE)
_ENDS_ZH = re.compile(r"^\W*(?:结尾|收尾)")
_STARTS_ZH = re.compile(r"^\W*(?:开头|打头)")
_HOLDS = re.compile(
    r"(?:contain(?:s|ing)?|includ(?:e|es|ing)|with|ha(?:s|ve|ving)|mention(?:s|ing)?|substring|"
    r"words?|letters?|包含|含有|带有|有)"
    r"(?:\s+(?:the|a|an|word|words|string|substring|phrase|letters?))*\s*\W*$",
    re.IGNORECASE,
)
_INSIDE = re.compile(
    r"^\W*(?:in|within|inside|somewhere in|as part of)\s+(?:the|its|their)\b", re.IGNORECASE
)


def textual_hint(text: str, span: Span) -> str:
    """The operator that the words around a span name; "" where they name none."""
    if span.contained:
        return Op.CONTAINS.value
    before, after = text[max(0, span.start - _REACH) : span.start], text[span.end :][:24]
    if _ENDS.search(before) or _ENDS_ZH.match(after):
        return Op.ENDS_WITH.value
    if _STARTS.search(before) or _STARTS_ZH.match(after):
        return Op.STARTS_WITH.value
    if _INSIDE.match(after) or _HOLDS.search(before):
        return Op.CONTAINS.value
    return ""
