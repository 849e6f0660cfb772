"""Number words and numerals in English and Chinese."""

from __future__ import annotations

import re

_SIMPLE = {
    "zero": 0,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "fifty": 50,
    "hundred": 100,
}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
ENGLISH = {
    f"{word} {scale}": number * by
    for word, number in {"a": 1, **_SIMPLE}.items()
    for scale, by in _SCALES.items()
    if number > 0 and word != scale
} | _SIMPLE
"""Two hundred before two, so that an alternation of them all takes the longer."""
ORDINALS = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
}
_CHINESE_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_CHINESE_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}

ENGLISH_PATTERN = "|".join(sorted(ENGLISH, key=len, reverse=True))
CHINESE_PATTERN = "[零〇一二两三四五六七八九十百千]+"
COUNT_EN = rf"(?:\d+|{ENGLISH_PATTERN}|an?|couple of|few)"
COUNT_ZH = rf"(?:\d+|{CHINESE_PATTERN}|半)"


def chinese(text: str) -> int | None:
    """The number in Chinese characters, digit by digit (二〇二四) or with units (二十四)."""
    if not text or any(c not in _CHINESE_DIGITS and c not in _CHINESE_UNITS for c in text):
        return None
    if not any(c in _CHINESE_UNITS for c in text):
        return int("".join(str(_CHINESE_DIGITS[c]) for c in text))
    total = section = digit = 0
    for c in text:
        if c in _CHINESE_DIGITS:
            digit = _CHINESE_DIGITS[c]
        elif (unit := _CHINESE_UNITS[c]) >= 10_000:
            total, section, digit = (total + section + digit) * unit, 0, 0
        else:
            section, digit = section + (digit or 1) * unit, 0
    return total + section + digit


def count(text: str) -> int | None:
    """How many, from digits or words: "12", "five", "a", "couple of", "三"."""
    word = text.strip().lower()
    if re.fullmatch(r"\d{1,9}", word):
        return int(word)
    if word in ("a", "an"):
        return 1
    if word == "couple of":
        return 2
    if word == "few":
        return 3
    return ENGLISH.get(word, chinese(word))
