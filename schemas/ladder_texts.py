"""Texts exchanged for known values that are near to them, and equality widened to containing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rapidfuzz import fuzz, process

from schemas.collection import Collection, Field
from schemas.filters import Compare, Filter, Op, any_of
from schemas.folding import fold
from schemas.loosen import Rung, Unit

TRIED = 4
COMPARED = 5_000
SPELLED = 50_000
"""So many known values, the most frequent first, are looked at for shared words and for their
spelling.
"""

SHARED = 0.6
"""Of the words of the shorter one: one of one, two of three."""

SPELLED_ALIKE = 84
"""Of 100, by edit distance over both lengths: one letter of seven may differ."""

_WORD = re.compile(r"[^\W\d_]{3,}")
_HAN = re.compile(r"[\u3400-\u9fff]{2,}")
_EQUAL = (Op.EQ, Op.IN)
_WANTED = (*_EQUAL, Op.CONTAINS, Op.STARTS_WITH, Op.ENDS_WITH)


def text_rungs(unit: Unit, collection: Collection, *, exchange: bool = True) -> Iterator[Rung]:
    """Near values first, unless none may stand in its place, then a text that contains it."""
    leaf = unit.filter
    if not isinstance(leaf, Compare) or leaf.op not in _WANTED:
        return
    field = collection.field(leaf.field)
    asked = _texts(leaf)
    for value in near_values(asked, field) if exchange else ():
        if not any(fold(text) in fold(value) for text in asked if leaf.op not in _EQUAL):
            yield Rung("nearest", unit, Compare(op=Op.EQ, field=leaf.field, value=value))
    if not field.type.is_list and leaf.op is not Op.CONTAINS and _may_be_part(asked):
        parts = (Compare(op=Op.CONTAINS, field=leaf.field, value=text) for text in asked)
        wide: Filter = any_of(*parts)
        yield Rung("widen", unit, wide)


def near_values(asked: Sequence[str], field: Field) -> list[str]:
    """Known values that share words with one asked for or are spelled nearly as it is, the
    nearest first.
    """
    wanted = [fold(text) for text in asked]
    scores: dict[str, float] = {}
    known = [value for value in field.values[:SPELLED] if isinstance(value, str)]
    folded = [fold(value) for value in known]
    for text in wanted:
        if len(text) < 4:
            continue
        for _, score, index in process.extract(
            text, folded, scorer=fuzz.ratio, score_cutoff=SPELLED_ALIKE, limit=TRIED
        ):
            scores[known[index]] = max(scores.get(known[index], 0.0), score / 100)
    for value, other in zip(known[:COMPARED], folded[:COMPARED], strict=True):
        shared = max((_shared(text, other) for text in wanted), default=0.0)
        if shared >= SHARED:
            scores[value] = max(scores.get(value, 0.0), shared)
    near = [value for value in scores if fold(value) not in wanted]
    return sorted(near, key=lambda value: -scores[value])[:TRIED]


def _shared(one: str, other: str) -> float:
    """The share of the shorter one's words that both have. Chinese texts share a word where two
    characters that one of them begins with stand in the other.
    """
    words, others = set(_WORD.findall(_latin(one))), set(_WORD.findall(_latin(other)))
    if words and others:
        return len(words & others) / min(len(words), len(others))
    runs, opposite = _HAN.findall(one), _HAN.findall(other)
    if runs and opposite and (runs[0][:2] in other or opposite[0][:2] in one):
        return 0.5 + 0.5 * fuzz.ratio(one, other) / 100
    return 0.0


def _latin(text: str) -> str:
    return _HAN.sub(" ", text)


def _texts(leaf: Compare) -> list[str]:
    items = leaf.value if isinstance(leaf.value, tuple) else (leaf.value,)
    return [item for item in items if isinstance(item, str)]


def _may_be_part(asked: Sequence[str]) -> bool:
    """Whether texts that contain these are likely to mean the same."""
    return (
        bool(asked)
        and len(asked) <= 8
        and all(len(_WORD.findall(text)) > 0 or _HAN.search(text) is not None for text in asked)
    )
