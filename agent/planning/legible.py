"""Names and words that stand in JSON as they are: some servers make their grammar for replies
without escapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_HOSTILE = re.compile(r'["\\\x00-\x1f\x7f-\x9f]')
_SIGNS = {'"': "'", "\\": "/"}

NAMELESS = "field"
"""A field whose name holds nothing legible."""


def legible(text: str) -> str:
    """Without what JSON has to escape: `"` as `'`, `\\` as `/`, control characters as spaces. A
    text without any of those is returned as it is.
    """
    if _HOSTILE.search(text) is None:
        return text
    plain = _HOSTILE.sub(lambda match: _SIGNS.get(match.group(), " "), text)
    return " ".join(plain.split())


def legible_name(name: str, names: Iterable[str]) -> str:
    """The legible form of one of `names`, another for each: names that are legible keep theirs,
    the others are numbered where they would become equal.
    """
    if _HOSTILE.search(name) is None:
        return name
    known = tuple(names)
    taken = {one for one in known if _HOSTILE.search(one) is None}
    for other in known:
        if other in taken:
            continue
        found = numbered(legible(other) or NAMELESS, taken)
        if other == name:
            return found
        taken.add(found)
    return numbered(legible(name) or NAMELESS, taken)


def numbered(text: str, taken: Iterable[str]) -> str:
    """The text, or else the text with the first number from 2 on that is not taken."""
    found, number = text, 1
    while found in taken:
        number += 1
        found = f"{text} ({number})"
    return found
