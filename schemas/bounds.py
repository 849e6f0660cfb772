"""What a filter may measure, and which values may stand in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

from schemas.model import Shape

Element = str | int | float | bool
Value = str | int | float | bool | None | tuple[Element, ...]


class Bounds(Shape):
    """What a filter may measure. Depth and nodes count groups, negations and comparisons;
    strings are measured in characters.
    """

    depth: int = 40
    nodes: int = 1_000
    list_length: int = 10_000
    string_length: int = 65_535
    field_length: int = 255


BOUNDS = Bounds()
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


def element_of(value: object) -> Element:
    match value:
        case bool():
            return value
        case int():
            if not INT64_MIN <= value <= INT64_MAX:
                raise ValueError(f"{value} is outside 64 bits ({INT64_MIN} to {INT64_MAX})")
            return int(value)
        case float():
            if not math.isfinite(value):
                raise ValueError(f"{value} is not a finite number")
            return float(value)
        case str():
            return text_of(value, BOUNDS.string_length, "a string value")
        case _:
            raise ValueError(
                f"a value is a string, a number, true, false or a list of these, not {value!r}"
            )


def text_of(value: str, limit: int, what: str) -> str:
    if len(value) > limit:
        raise ValueError(f"{what} has {len(value)} characters; at most {limit} are allowed")
    if not _is_unicode(value):
        raise ValueError(f"{what} is not valid Unicode: {value!r}")
    return str(value)


def value_of(value: object) -> Value:
    if value is None:
        return None
    if isinstance(value, list | tuple):
        if len(value) > BOUNDS.list_length:
            raise ValueError(
                f"a list has {len(value)} elements; at most {BOUNDS.list_length} are allowed"
            )
        return tuple(value) if _all_sane(value) else tuple(element_of(item) for item in value)
    return element_of(value)


def _all_sane(items: Sequence[object]) -> bool:
    """Whether a list of ints or of strings needs no look at each of them."""
    kinds = set(map(type, items))
    if kinds == {int}:
        numbers = cast(Sequence[int], items)
        return min(numbers) >= INT64_MIN and max(numbers) <= INT64_MAX
    if kinds == {str}:
        texts = cast(Sequence[str], items)
        return max(map(len, texts)) <= BOUNDS.string_length and _is_unicode("".join(texts))
    return False


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
