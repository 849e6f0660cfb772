"""Values that are written differently and may mean the same."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from rapidfuzz import fuzz

from schemas.folding import fold

SIMILAR = 90
MOST_VALUES = 500
"""Values of a field that are compared with each other, the most frequent ones."""
_SHORTEST = 5
_PUNCTUATION = re.compile(r"[\W_]+")
_FIGURES = re.compile(r"\d+")
_KIND = re.compile(
    r"(?:部门|中心|事业部|[部处科组室司局]"
    r"| ?(?:department|dept|division|team|group|office|centre|center))$"
)


def near_duplicates(counts: Mapping[str, int]) -> list[tuple[str, ...]]:
    """Groups of values, the commonest of each first.

    Alike are values that differ in punctuation and spaces only (HR, H.R.), long ones by a letter
    or two but in no figure, and names of the same unit (研发部, 研发中心).
    """
    values = sorted(counts, key=lambda value: (-counts[value], value))[:MOST_VALUES]
    parents = {value: value for value in values}
    for forms in _by_form(values):
        for other in forms[1:]:
            _join(parents, forms[0], other)
    folded = [(value, fold(value)) for value in values]
    for index, (value, one) in enumerate(folded):
        for other, two in folded[index + 1 :]:
            if _is_typo(one, two):
                _join(parents, value, other)
    groups: dict[str, list[str]] = defaultdict(list)
    for value in values:
        groups[_root(parents, value)].append(value)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def skeleton(value: str) -> str:
    return _PUNCTUATION.sub("", fold(value))


def _stem(value: str) -> str:
    """The name of a unit without the word for its kind; at least two characters."""
    folded = fold(value)
    stem = skeleton(_KIND.sub("", folded))
    return stem if len(stem) >= 2 else skeleton(folded)


def _by_form(values: Sequence[str]) -> Iterable[list[str]]:
    for form in (skeleton, _stem):
        alike: dict[str, list[str]] = defaultdict(list)
        for value in values:
            if form(value):
                alike[form(value)].append(value)
        yield from alike.values()


def _is_typo(one: str, two: str) -> bool:
    if min(len(one), len(two)) < _SHORTEST or abs(len(one) - len(two)) > 2:
        return False
    if _FIGURES.findall(one) != _FIGURES.findall(two):
        return False
    return fuzz.ratio(one, two, score_cutoff=SIMILAR) > 0


def _root(parents: dict[str, str], value: str) -> str:
    while parents[value] != value:
        value = parents[value]
    return value


def _join(parents: dict[str, str], one: str, two: str) -> None:
    first, second = _root(parents, one), _root(parents, two)
    if first != second:
        parents[second] = first
