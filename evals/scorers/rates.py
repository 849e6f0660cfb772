"""Rates with what they rest on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypedDict

Z95 = 1.959963984540054


class Rate(TypedDict):
    """`ci95` is the Wilson score interval; `rate` and `ci95` are None where n is 0."""

    rate: float | None
    n: int
    ci95: list[float] | None


def rate(outcomes: Iterable[bool | None]) -> Rate:
    """The share of true among those that are not None."""
    known = [bool(one) for one in outcomes if one is not None]
    return share(sum(known), len(known))


def share(hits: int, n: int) -> Rate:
    """`hits` of `n`."""
    if n == 0:
        return Rate(rate=None, n=0, ci95=None)
    return Rate(rate=round(hits / n, 4), n=n, ci95=wilson(hits, n))


def wilson(hits: int, n: int, z: float = Z95) -> list[float]:
    """Wilson's score interval (1927) of a proportion."""
    p = hits / n
    middle = p + z * z / (2 * n)
    spread = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low, high = (middle - spread) / scale, (middle + spread) / scale
    return [round(max(0.0, low), 4), round(min(1.0, high), 4)]


def percentile(values: Sequence[float], q: float) -> float | None:
    """The q-th percentile (0..100), interpolated between neighbours; None of nothing."""
    if not values:
        return None
    ranked = sorted(values)
    place = (len(ranked) - 1) * q / 100
    low = math.floor(place)
    high = min(low + 1, len(ranked) - 1)
    return round(ranked[low] + (ranked[high] - ranked[low]) * (place - low), 1)


def mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None
