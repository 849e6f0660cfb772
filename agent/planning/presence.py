"""Words that ask for a field to be missing or present: no department, 没有部门."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.planning.facets import FacetHit
from schemas.collection import Field, FieldType

_MISSING = re.compile(
    r"(?:\b(?:no(?!\s+(?:other|more|longer)\b)|without|lack(?:s|ing)?|missing|never\s+had|(?:do|does|did)(?:\s+not|n['’]t)\s+(?:have|name|give|list|state|specify)|"
    r"not\s+(?:tied|bound|assigned|attached)\s+to|unknown|empty|null)\b"
    r"(?:\s+(?:any|an?|the|known|recorded|single|particular|specific))*\s*(?:\w+\s)?|"
    r"(?:(?<!有)没有|无|缺少|缺失|未填写?|没填|不带|未标注|未指定|没有标注|没有指定)(?:任何|标注|注明|指定|填写|写明|所属)?的?)\s*$",
    re.IGNORECASE,
)
_MISSING_AFTER = re.compile(
    r"^\s*(?:is|are|was|were)?\s*(?:missing|unknown|absent|not\s+(?:known|recorded|given|set|specified|available)|empty|null|"
    r"为空|缺失|未知|未填|不详|空缺)",
    re.IGNORECASE,
)
_NOT_DONE = re.compile(
    r"(?:(?:\b(?:not|never)|n['’]t)(?:\s+(?:yet|been|ever|so\s+far|still))*|(?:尚未|还没有?|仍未|从未|未)被?)\s*$",
    re.IGNORECASE,
)
"""Before the name of a day: what has not been closed has no day of closing."""
_GOES_ON = re.compile(
    r"\s*(?:yet\s+)?(?:(?:in|on|by|before|after|since|until|till|between|during|at|from|within|last|"
    r"this|to|for|earlier|later)\b|\d|于|在)",
    re.IGNORECASE,
)
_PRESENT = re.compile(
    r"(?:\b(?:ha(?:s|ve|d|ving)|with|declar(?:e|es|ing)|giv(?:e|es|en)|list(?:s|ing)?|record(?:s|ed)?)\s+"
    r"(?:some|any|an?|at\s+least\s+one|one\s+or\s+more|a\s+known|known)(?:\s+other)?|\bsome\s+other|\bany\s+other|"
    r"(?:填写了|标注了|注明了|写明了|指定了|设置了|有))\s*$",
    re.IGNORECASE,
)
_PRESENT_AFTER = re.compile(
    r"^\s*(?:(?:on\s+)?(?:some|any|an?other|at\s+least\s+one)(?:\s+other)?\b|an?\s+(?:\w+\s+)?one\b|(?:is|are|was|were)\s+(?:recorded|known|present|given)|"
    r"records?\b|不为空|已填)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Presence:
    """Words about a field being there or not, with the fields that they may mean, best first."""

    start: int
    end: int
    fields: tuple[str, ...]
    missing: bool


def find_presence(
    text: str, hits: Sequence[FacetHit], fields: Mapping[str, Field]
) -> tuple[Presence, ...]:
    """Presence asked for in so many words; positive wording only where a field can be absent."""
    found: dict[tuple[int, int, bool], list[FacetHit]] = {}
    for hit in hits:
        before, after = text[max(0, hit.start - 40) : hit.start], text[hit.end : hit.end + 32]
        if lead := _MISSING.search(before):
            start = hit.start - len(before) + lead.start()
            found.setdefault((start, hit.end, True), []).append(hit)
        elif trail := _MISSING_AFTER.match(after):
            found.setdefault((hit.start, hit.end + trail.end(), True), []).append(hit)
        elif not _can_be_absent(fields[hit.field]):
            continue
        elif undone := _undone(fields[hit.field], before, text[hit.end :]):
            start = hit.start - len(before) + undone.start()
            found.setdefault((start, hit.end, True), []).append(hit)
        else:
            place = _present(text, hit, before, after)
            if place is not None:
                found.setdefault((*place, False), []).append(hit)
    return tuple(
        Presence(start, end, _best(group), missing)
        for (start, end, missing), group in sorted(found.items())
    )


def _undone(field: Field, before: str, after: str) -> re.Match[str] | None:
    """Words that deny what a field of days dates: "not closed", unless a day or a name follows."""
    if field.type not in (FieldType.DATE, FieldType.DATETIME) or _GOES_ON.match(after):
        return None
    return _NOT_DONE.search(before)


def _present(text: str, hit: FacetHit, before: str, after: str) -> tuple[int, int] | None:
    if lead := _PRESENT.search(before):
        return hit.start - len(before) + lead.start(), hit.end
    if trail := _PRESENT_AFTER.match(after):
        return hit.start, hit.end + trail.end()
    return None


def _best(hits: Sequence[FacetHit]) -> tuple[str, ...]:
    ordered = sorted(hits, key=lambda hit: -hit.weight)
    return tuple(dict.fromkeys(hit.field for hit in ordered))[:4]


def _can_be_absent(field: Field) -> bool:
    if field.profile is not None and field.profile.rows:
        return field.profile.missing > 0
    return bool(re.search(r"\babsent\b|\bmissing\b|\bempty\b|缺|空", field.description))
