"""What a turn mentions without wanting it: "the price doesn't matter", "7 am is too early"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agent.planning.scene import Found, Scene
from schemas.mentions import Mention

_NAMED = 0.6
"""Weight from which on words name a field for certain."""
_CARELESS = re.compile(
    r"\b(?:does|do|would)(?:\s*n['’]?t|\s+not)\s+(?:really\s+|even\s+)?(?:matter|care|mind)\b"
    r"|\bno\s+(?:particular\s+|specific\s+)?preference\b|\bregardless\s+of\b|\bnot\s+important\b"
    r"|\b(?:any|whatever|whichever)\s+[\w\s]{2,20}\s(?:will\s+do|(?:is|are)\s+(?:fine|ok(?:ay)?|good)|works?)\b"
    r"|都(?:可以|行|成|没关系)|无所谓|不限|不在乎|不在意|没(?:有)?(?:什么)?要求|随便|随意",
    re.IGNORECASE,
)
_TOO = re.compile(
    r"[\s\"'”’]*(?:\b[a-z]+\s+)?(?:is|was|are|were|seems?|sounds?|looks?)\s+(?:(?:a\s+)?(?:bit|little)\s+|way\s+|far\s+|"
    r"much\s+)?too\s+\w+",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(?:[^,;.!?，；。！？]|(?<=\w)[.,](?=\w))+")
_TOO_LATER = re.compile(r"\btoo\s+\w+", re.IGNORECASE)


def dismisses(text: str) -> bool:
    """Whether a text may say of anything that it does not matter, or is too much."""
    return _CARELESS.search(text) is not None or _TOO_LATER.search(text) is not None


def waived(scene: Scene, found: Sequence[Found]) -> frozenset[str]:
    """The fields of which a text says that any value will do. Where it gives a value beside them
    ("I don't mind the city of Leeds"), that is a wish. What it finds to be too much is given up.
    """
    careless = {field for _, _, fields in _waivers(scene, found) for field in fields}
    return frozenset(careless | {one.choices[0].field for _, _, one in _complaints(scene, found)})


def undismissed(scene: Scene, found: Sequence[Found]) -> list[Found]:
    """Without the words of fields that do not matter, and what is found to be too much."""
    gone = [(start, end, fields) for start, end, fields in _waivers(scene, found)]
    gone += [(start, end, scene.allowed) for start, end, _ in _complaints(scene, found)]
    return [
        one
        for one in found
        if not any(
            start <= one.start and one.end <= end and one.choices[0].field in fields
            for start, end, fields in gone
        )
    ]


def without(fields: frozenset[str], mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """Without the mentions of earlier turns that are first of all about these fields."""
    return tuple(
        one
        for one in mentions
        if one.choices[0].field not in fields
        or (one.filter is not None and not {c.field for c in one.choices} <= fields)
    )


def _waivers(scene: Scene, found: Sequence[Found]) -> Iterator[tuple[int, int, frozenset[str]]]:
    """Clauses that waive fields, with the fields that they name best."""
    for clause in _CLAUSE.finditer(scene.text):
        start, end = clause.span()
        if not _CARELESS.search(clause.group()):
            continue
        hits = [
            hit
            for hit in scene.hits
            if start <= hit.start and hit.end <= end and hit.weight >= _NAMED
        ]
        best = max((hit.weight for hit in hits), default=0.0)
        hits = [hit for hit in hits if hit.weight == best]
        inside = [one for one in found if start <= one.start and one.end <= end]
        valued = {
            one.choices[0].field
            for one in inside
            if not any(hit.start <= one.start and one.end <= hit.end for hit in hits)
        }
        fields = frozenset(hit.field for hit in hits) - valued
        if fields:
            yield start, end, fields


def _complaints(scene: Scene, found: Sequence[Found]) -> Iterator[tuple[int, int, Found]]:
    """Clauses that find something to be too much, with what: "2:25 am is too early to fly"."""
    if not _TOO_LATER.search(scene.text):
        return
    for clause in _CLAUSE.finditer(scene.text):
        start, end = clause.span()
        for one in found:
            if start <= one.start and _TOO.match(scene.text[:end], one.end):
                yield start, end, one
