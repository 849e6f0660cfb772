"""The hits of several knowledge bases, each ranked by its own policy, brought together."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import pairwise, zip_longest

from schemas.hits import Hit


def merged(
    given: Sequence[Hit], groups: Sequence[Sequence[Hit]], *, comparable: bool
) -> Sequence[Hit]:
    """In the order of the search, where no group has changed it; else by score, where the groups
    went through the same steps (`comparable`) and each is in the order of its scores; else in
    turn. Ties are broken by id.
    """
    groups = [group for group in groups if group]
    if len(groups) < 2:
        return [hit for group in groups for hit in group]
    places = {_key(hit): place for place, hit in enumerate(given)}
    if all(_rising([places[_key(hit)] for hit in group]) for group in groups):
        return sorted((hit for g in groups for hit in g), key=lambda hit: places[_key(hit)])
    if comparable and all(_rising([-hit.score for hit in group]) for group in groups):
        return list(heapq.merge(*groups, key=lambda hit: (-hit.score, _key(hit))))
    return [hit for one in zip_longest(*groups) for hit in one if hit is not None]


def _key(hit: Hit) -> tuple[str, str]:
    return hit.passage.id, hit.passage.kb


def _rising(numbers: Sequence[float]) -> bool:
    return all(a <= b for a, b in pairwise(numbers))
