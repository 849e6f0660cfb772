"""How much of a text says something."""

from __future__ import annotations

import re

GRAM = 4
LEAST_VARIED = 0.12
"""Share of different runs of GRAM characters below which a text only repeats itself. Tables and
logs have 0.25 and more, prose more than 0.4.
"""

LOOKED_AT = 1_000
"""Characters; in much longer texts every run comes back."""

_SPACE = re.compile(r"\s+")


def density(text: str) -> float:
    """The share of letters, digits and CJK characters, in 0..1, where a run of white space counts
    as one character; 0 for a text without any, and for one that only repeats itself.
    """
    plain = _SPACE.sub(" ", text).strip()
    if not plain or is_repetition(plain):
        return 0.0
    return sum(letter.isalnum() for letter in plain) / len(plain)


def is_repetition(text: str) -> bool:
    """Whether a text is hardly more than the same few characters or words again and again."""
    part = text[:LOOKED_AT]
    runs = len(part) - GRAM + 1
    if runs < 2 * GRAM:
        return False
    return len({part[i : i + GRAM] for i in range(runs)}) < LEAST_VARIED * runs
