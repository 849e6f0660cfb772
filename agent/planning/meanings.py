"""What a field's description says about its values: codes with their meanings, and examples.

Understood are `A finished, no problems; B finished, not paid`, `1 for a charter school, 0 for
another`, `TRAD (traditional) or SSS (State Special School)`, `low: stays in attack`,
`adults are 19 to 65`, `免费为 0`, `such as Prague, east Bohemia or south Moravia`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agent.planning.words import FUNCTION_WORDS, keys
from schemas.collection import Field, FieldType, Scalar

_LONGEST = 40
_NUMBERS = (FieldType.INT, FieldType.NUMBER, FieldType.INT_LIST)
_SUCH_AS = re.compile(
    r"(?:such\s+as|e\.g\.|for\s+example|例如|比如|如)[:,\s]*(?P<list>[^.;；。]+)", re.IGNORECASE
)
_LISTED = re.compile(
    r":\s*(?P<list>[A-Z][\w &/-]*(?:,\s*[A-Z][\w &/-]*)+(?:,?\s+or\s+[A-Z][\w &/-]*)?)"
    r"(?:\.\s|\.?\s*$)"
    r"|[:：]\s*(?P<list_low>[\w-]+(?: \w+)?(?:, [\w-]+(?: \w+)?)*,? or [\w-]+(?: \w+)?)\s*"
    r"(?:\.\s|;|\.?$)"
    r"|[:：]\s*(?P<list_zh>[\w]{2,12}(?:、[\w]{2,12})+(?:(?:和|或)[\w]{2,12})?)\s*[。.]?(?:\s|$)"
)
_PARENTHESIS = re.compile(r"\b(?P<code>[A-Z][A-Z0-9]{1,15})\s+\((?P<meaning>[^()]{3,60})\)")
_CLAUSE = re.compile(
    r"^\s*(?P<code>\d{1,6}|[A-Z][A-Z0-9]*(?:\s[A-Z][A-Z0-9]+)*)\s+(?:for\s+|is\s+|means\s+|=\s*)?(?:an?\s+|the\s+)?(?P<meaning>[^\d].{2,60})$"
)
_RANGE = re.compile(
    r"\b(?P<word>[a-z]{4,20})\s+(?:are\s+|is\s+)?(?P<low>\d+)\s+(?:to|-)\s+(?P<high>\d+)"
)
_NAMED_ZH = re.compile(r"(?P<word>[\u4e00-\u9fff]{2,6}?)(?:为|是|=)\s*(?P<value>\d+)")


@dataclass(frozen=True)
class Meaning:
    """Words for a value, or for the numbers from `value` to `upper`."""

    words: str
    value: Scalar
    upper: Scalar | None = None


def meanings(field: Field) -> tuple[Meaning, ...]:
    """The words that the description of a field gives for its values."""
    if not field.description:
        return ()
    found = [*_codes(field), *_ranges(field), *_examples(field)]
    usable = [m for m in found if any(word not in FUNCTION_WORDS for word in keys(m.words))]
    return tuple(dict.fromkeys(usable))


def listed_values(field: Field) -> tuple[str, ...]:
    """All values of a text field that nobody listed but its description does: "Where it stands:
    Draft, Final or Rejected."; none where the description only gives examples.
    """
    if field.values or field.type not in (FieldType.STRING, FieldType.STRING_LIST):
        return ()
    found = _LISTED.search(field.description)
    if found is None or _SUCH_AS.search(field.description):
        return ()
    return tuple(_items(found["list"] or found["list_low"] or found["list_zh"]))


def _items(text: str) -> Iterator[str]:
    for item in re.split(r",|、|\bor\b|\band\b|或|和", text):
        value = re.sub(r"\(.*?\)", "", item).strip(" .。")
        if 1 < len(value) <= _LONGEST and not _PARENTHESIS.search(item):
            yield value


def _codes(field: Field) -> Iterator[Meaning]:
    text = field.description
    known = {str(value): value for value in field.values}
    for found in _PARENTHESIS.finditer(text):
        yield Meaning(found["meaning"], known.get(found["code"], found["code"]))
    last: Scalar | None = None
    for clause in re.split(r"[;；,，]|:\s|\bor\b", text):
        value, meaning = _clause(field, clause, known)
        if value is not None:
            last = value
        elif last is None or not known:
            continue
        else:
            value, meaning = last, clause
        for words in _phrases(meaning):
            yield Meaning(words, value)
    for found in _NAMED_ZH.finditer(text):
        if field.type in _NUMBERS:
            yield Meaning(found["word"], int(found["value"]))


def _clause(field: Field, clause: str, known: dict[str, Scalar]) -> tuple[Scalar | None, str]:
    for code, value in known.items():
        if clause.strip().startswith(code + " "):
            return value, clause.strip()[len(code) :]
    found = _CLAUSE.match(clause)
    if found is None or known:
        return None, ""
    code = found["code"]
    if field.type in _NUMBERS:
        return (int(code), found["meaning"]) if code.isdigit() else (None, "")
    return (code, found["meaning"]) if not code.isdigit() else (None, "")


def _phrases(meaning: str) -> Iterator[str]:
    text = re.sub(r"\(.*?\)", " ", meaning).strip(" .:")
    if text.casefold() in ("another", "other", "others", "else", "ok so far"):
        return
    yield text
    short = re.sub(r"^(?:fully|partly|a|an|the|for)\s+", "", text)
    if short != text:
        yield short


def _ranges(field: Field) -> Iterator[Meaning]:
    if field.type in _NUMBERS:
        for found in _RANGE.finditer(field.description):
            yield Meaning(found["word"], int(found["low"]), int(found["high"]))


def _examples(field: Field) -> Iterator[Meaning]:
    """Values that the description names; they stand for themselves."""
    if field.values or field.type not in (FieldType.STRING, FieldType.STRING_LIST):
        return
    examples = _SUCH_AS.search(field.description)
    if examples is not None:
        yield from (Meaning(value, value) for value in _items(examples["list"]))
