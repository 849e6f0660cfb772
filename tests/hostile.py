"""Strings made to break out of an expression, or to be taken for something else."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from schemas.folding import fold

FRAGMENTS = (
    '"', "'", "`", "\\", '\\"', "\\\\",
    "\\\\\"", "\n", "\r\n", "\t", "\x00", "\x1f", "\x7f", "\x85",
    "\\n", "\\u0041", "\\x41", "\\101", "\\%", "\\_", "%", "_", "%%", "*", "?", ".*", "^$",
    " or ", " and ", "not ", "!", "==", "!=", "<", ">=", "=~", "&&", "||", "(", ")", "[", "]", "][",
    "{", "}", "{x}", "{{x}}", "${x}", "{0}", "%s", ";", ",", ".", "--", "/*", "*/", "#", "//",
    "1 == 1", '" or 1 == 1', '" or 1 == 1 or "', '") or (id >= 0', "' or '1'=='1", '"] or doc["a',
    '" or s like "%', "exists", "$meta", '$meta["a"]', "null", "NULL", "true", "is null", "in [1]",
    "like", "id", "array_contains(tags, ",
    "＂", "“", "”", "ʺ", "″", "＇", "’", "＼", "﹨", "％", "﹪",
    "＿", "（", "｛", "＝", "Ａ", "K", "ı", "İ", "ſ", "ß", "а", "ﬁ", "①", "\u200b", "\u200d",
    "\u202e", "\ufeff", "\u2028", "\u3000", "\u0301", "\ud7ff", "\ue000", "\U0010ffff", "🙂", "新",
    "0", "-1", "1e999", "NaN", "0x1F", "001", " ",
)  # fmt: skip


def hostile(rng: random.Random) -> str:
    """A few fragments in a row; never one that folds to nothing."""
    while True:
        text = "".join(rng.choice(FRAGMENTS) for _ in range(rng.randint(1, 4)))
        if fold(text):
            return text


HOSTILE = st.lists(
    st.sampled_from(FRAGMENTS) | st.characters(exclude_categories=["Cs"]), max_size=6
)
HOSTILE_TEXTS = HOSTILE.map("".join).filter(fold)
HOSTILE_NAMES = HOSTILE.map("".join).filter(lambda name: 0 < len(name) <= 255)
