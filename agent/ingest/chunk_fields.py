"""Metadata that passages have of their own: page, section, keywords, entities."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import JsonValue

from agent.ingest.fixed_places import barred
from agent.ingest.loaded import Loaded
from agent.ingest.options import IngestOptions
from agent.ingest.written import Value, Written, name_key
from schemas.collection import Field, FieldType
from schemas.drafts import ChunkDraft

TYPES: Mapping[str, FieldType] = {
    "page": FieldType.INT,
    "section": FieldType.STRING,
    "keywords": FieldType.STRING_LIST,
    "entities": FieldType.STRING_LIST,
}
MOST = 5
_LONGEST_NAME = 60
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]{2,30}")
_CJK = re.compile(r"[\u4e00-\u9fff]{2,}")
_GRAMMAR = frozenset("的了是在和与及或等个这那其为对从到由被把将会可能要就都而以于所有不也很")
_PLAIN = frozenset(
    _WORD.findall(
        "the and for are was were been being that this these those with from into not but you your "
        "can may must will shall should would could have has had its our their they them his her "
        "all any each more most other some such only than then when where which who whom why how "
        "what also there here very use used using one two out over under about after before"
    )
)
_LATIN = r"A-Za-z0-9_\u00c0-\u024f"
_PART = rf"[A-Z\u00c0-\u00d6\u00d8-\u00de][{_LATIN}'’-]{{1,30}}"
_NAME = re.compile(
    rf"(?<![{_LATIN}]){_PART}(?:[ \t](?:(?:of|and|de|van|von|der)[ \t])?{_PART}){{1,4}}"
)
_LIKE_A_NAME = re.compile(r"[A-Z\u00c0-\u00d6\u00d8-\u00de\u3040-\u30ff\u3400-\u9fff]")
_QUOTED = re.compile(r"《([^《》\n]{2,40})》|「([^「」\n]{2,40})」")
_OPENING = re.compile(
    r"(?:The|A|An|In|On|At|For|If|When|This|These|By|To|From|With|And|But|See)[ \t]+"
)


def wanted_of(options: IngestOptions) -> tuple[str, ...]:
    """What is asked for, without access fields: no text may say who sees it."""
    return tuple(name for name in options.chunk_fields if name not in barred(options))


def evidence(loaded: Loaded, wanted: Sequence[str]) -> dict[str, Value]:
    """What the passages of a document will have, as values that a type can be inferred from."""
    text = Written("-", quoted=True)
    seen: dict[str, Value] = {
        "page": Written("1"),
        "section": text,
        "keywords": (text,),
        "entities": (text,),
    }
    return {
        name: value
        for name, value in seen.items()
        if name in wanted and (name != "page" or loaded.pages)
    }


def with_chunk_fields(
    chunks: Sequence[ChunkDraft],
    wanted: Sequence[str],
    fields: Iterable[Field],
    document: Mapping[str, JsonValue],
) -> tuple[ChunkDraft, ...]:
    """The chunks with those of `wanted` whose field, if there is one, has the type for it.

    `section` is the last heading above; `keywords` those of the author, then words that are
    frequent here and rare in the rest of the document; `entities` capitalised names of several
    words, names in 《》 and 「」, and the document's own values that occur. No dictionary and no
    model: what is not written like a name is not found.
    """
    known = {name_key(field.name): field.type for field in fields}
    fit = {name for name in wanted if known.get(name, TYPES[name]) is TYPES[name]}
    counts = [Counter(_terms(chunk.text)) if "keywords" in fit else Counter() for chunk in chunks]
    spread = Counter(term for count in counts for term in count)
    return tuple(
        chunk.model_copy(
            update={
                "metadata": dict(_own(chunk, fit, _keywords(count, spread, len(chunks)), document))
            }
        )
        for chunk, count in zip(chunks, counts, strict=True)
    )


def _own(
    chunk: ChunkDraft, fit: set[str], keywords: Sequence[str], document: Mapping[str, JsonValue]
) -> Iterator[tuple[str, JsonValue]]:
    if "page" in fit and "page" in chunk.metadata:
        yield "page", chunk.metadata["page"]
    if "section" in fit and chunk.heading:
        yield "section", chunk.heading[-1]
    if "keywords" in fit:
        given = document.get("keywords")
        own = [str(word) for word in given] if isinstance(given, list) else []
        yield "keywords", [*dict.fromkeys([*own, *keywords])]
    if "entities" in fit:
        found = list(dict.fromkeys(_entities(chunk.text, document)))
        if found:
            yield "entities", [*found]


def _terms(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        word = match.group().lower()
        if word not in _PLAIN:
            yield word
    for match in _CJK.finditer(text):
        run = match.group()
        for size in (2, 3, 4):
            for at in range(len(run) - size + 1):
                gram = run[at : at + size]
                if not _GRAMMAR & set(gram):
                    yield gram


def _keywords(count: Counter[str], spread: Counter[str], chunks: int) -> list[str]:
    """A part of a longer term that is as frequent is no word of its own."""
    repeated = {term: n for term, n in count.items() if n > 1}
    scores = {term: n * math.log(1 + chunks / spread[term]) for term, n in repeated.items()}
    best: list[str] = []
    for term in sorted(scores, key=lambda term: (-scores[term], -len(term), term)):
        if len(best) == MOST:
            break
        longer = (other for other in scores if term in other and term != other)
        is_part = any(repeated[other] >= repeated[term] for other in longer)
        if not is_part and not any(term in other or other in term for other in best):
            best.append(term)
    return best


def _entities(text: str, document: Mapping[str, JsonValue]) -> Iterator[str]:
    for match in _NAME.finditer(text):
        name = _OPENING.sub("", match.group(), count=1)
        if re.search(r"[ \t]", name):
            yield " ".join(name.split())
    for match in _QUOTED.finditer(text):
        yield match[1] or match[2]
    for value in document.values():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, str) and 1 < len(item) <= _LONGEST_NAME and _named(item, text):
                yield item


def _named(value: str, text: str) -> bool:
    """Whether a value that is written like a name stands in a text, and not inside a word."""
    if not _LIKE_A_NAME.search(value) or value not in text:
        return False
    inside = rf"(?<![{_LATIN}]){re.escape(value)}(?![{_LATIN}])"
    return re.search(inside, text) is not None
