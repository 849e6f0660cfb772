"""How a question names fields: by their names, their descriptions, or general words for them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from agent.planning.lexicon import field_words
from agent.planning.tables import listed
from agent.planning.words import FUNCTION_WORDS, Token, has_cjk, keys, name_words, preceding, stem
from schemas.collection import Collection, Field, FieldType
from schemas.folding import fold

_GENERIC = frozenset(
    listed("name id number code date type no title day time year value key option available have")
)
_TRUTH = (
    frozenset({"true", "false"}),
    frozenset({"yes", "no"}),
    frozenset({"是", "否"}),
    frozenset({"y", "n"}),
)
_LONGEST = 8
_FIGURED = 0.95
_OWN = 0.9
"""Weight from which on words are a field's own name, not just a part of what describes it."""


@dataclass(frozen=True)
class FacetHit:
    """Words of a question that name a field; `weight` 0..1 says how surely. `denied`: with a
    prefix such as un-; `asked`: what the question wants to know, rather than a condition.
    """

    field: str
    start: int
    end: int
    weight: float
    denied: bool = False
    asked: bool = False


def is_boolean(field: Field) -> bool:
    """A bool, or a field whose known values are just a pair such as True and False."""
    if field.type is FieldType.BOOL:
        return True
    if len(field.values) != 2:
        return False
    return frozenset(fold(str(value)) for value in field.values) in _TRUTH


_ASKED = re.compile(
    r"(?:^|[.?!,]\s+|\band\s+)(?:(?:please|can\s+you|could\s+you|i\s+want\s+to\s+know)\s+)*"
    r"(?:in\s+|on\s+|at\s+|from\s+|to\s+|for\s+)?"
    r"(?:what|which|who|whose|how\s+many|name|list|give(?:\s+me)?|show(?:\s+me)?|tell(?:\s+me)?|find|return|count|state)"
    r"(?:['’]s|\s+(?:is|are|was|were|the|a|an|his|her|its|their|all|different|distinct|total|number|numbers|of|average|highest|"
    r"lowest|maximum|minimum|sum|amount|most|least|first|last|kind|type|name|names|many|values?|for))*\s+$",
    re.IGNORECASE,
)


def is_asked(text: str, start: int) -> bool:
    """Whether what starts here is what the question wants to know: "What is the …"."""
    return _ASKED.search(preceding(text, start)) is not None


class FacetIndex:
    """The words for the fields of one collection."""

    def __init__(self, collection: Collection) -> None:
        self._phrases: dict[tuple[str, ...], dict[str, float]] = defaultdict(dict)
        self._stems: dict[str, dict[str, float]] = defaultdict(dict)
        self._pairs: dict[frozenset[str], set[str]] = defaultdict(set)
        for field in collection.fields:
            self._add_field(field)
        shared = {phrase for phrase, fields in self._phrases.items() if len(fields) > 2}
        for phrase in shared:
            fields = self._phrases[phrase]
            if max(fields.values()) < 1.0:
                self._phrases[phrase] = {field: 0.6 * weight for field, weight in fields.items()}
            else:
                own = {field: weight for field, weight in fields.items() if weight >= _OWN}
                self._phrases[phrase] = own

    def find(self, text: str, question: tuple[Token, ...]) -> tuple[FacetHit, ...]:
        """The longest names from left to right; a word inside a longer name counts once."""
        hits: list[FacetHit] = list(self._denied(question))
        at = 0
        while at < len(question):
            length = self._longest_at(question, at)
            if not length:
                hits += self._inflected(question[at])
                at += 1
                continue
            part = question[at : at + length]
            named = dict(self._phrases[tuple(t.key for t in part)])
            if length == 1:
                for hit in self._inflected(part[0]):
                    named[hit.field] = max(hit.weight, named.get(hit.field, 0.0))
            start, end = part[0].start, part[-1].end
            for field, weight in named.items():
                hits.append(FacetHit(field, start, end, weight, asked=is_asked(text, start)))
            at += length
        return (*hits, *self._figured(text, question, hits))

    def _inflected(self, token: Token) -> Iterator[FacetHit]:
        """Another form of a word in a field's name: opened, for `OpenDate`."""
        root = stem(token.key)
        if root != token.key:
            for field, weight in self._stems.get(root, {}).items():
                yield FacetHit(field, token.start, token.end, weight)

    def _figured(
        self, text: str, question: tuple[Token, ...], hits: Sequence[FacetHit]
    ) -> Iterator[FacetHit]:
        """A figure of a field's name beside its neighbour there, in either order: "a 50m split",
        for `Split (50m)`; where no longer part of its name stands.
        """
        for first, second in pairwise(question):
            start, end = first.start, second.end
            for field in sorted(self._pairs.get(frozenset((first.key, second.key)), ())):
                covered = (h for h in hits if h.field == field and h.weight >= _OWN)
                if not any(h.start <= start and end <= h.end for h in covered):
                    yield FacetHit(field, start, end, _FIGURED, asked=is_asked(text, start))

    def _denied(self, question: tuple[Token, ...]) -> Iterator[FacetHit]:
        """unofficial, nonofficial: the name of a field with a prefix that denies it."""
        for token in question:
            for prefix in ("un", "non"):
                stem = token.key.removeprefix(prefix)
                if stem != token.key and len(stem) > 3:
                    for field, weight in self._phrases.get((stem,), {}).items():
                        yield FacetHit(field, token.start, token.end, weight, denied=True)

    def _longest_at(self, question: tuple[Token, ...], at: int) -> int:
        for length in range(min(_LONGEST, len(question) - at), 0, -1):
            if tuple(t.key for t in question[at : at + length]) in self._phrases:
                return length
        return 0

    def _add(self, phrase: str, field: str, weight: float) -> None:
        key = keys(phrase)
        if key and len(key) <= _LONGEST:
            known = self._phrases[key]
            known[field] = max(known.get(field, 0.0), weight)

    def _add_field(self, field: Field) -> None:
        words = name_words(field.name)
        for name in (words, *map(name_words, field.aliases)):
            self._add(name, field.name, 1.0)
        self._add(re.sub(r"\([^)]*\)", " ", words), field.name, 0.95)
        if not has_cjk(words) and 1 < len(keys(words)) <= 3:
            self._add(words.replace(" ", ""), field.name, 0.95)
        parts = () if has_cjk(words) else keys(words)
        for first, second in pairwise(parts):
            grammar = {w for w in (first, second) if len(w) > 1} & FUNCTION_WORDS
            if first.isdigit() != second.isdigit() and not grammar:
                self._pairs[frozenset((first, second))].add(field.name)
        for part in parts:
            if len(part) > 3 and part in FUNCTION_WORDS and len(parts) == 1:
                self._stems[stem(part)][field.name] = 0.8
            if len(part) > 1 and part not in FUNCTION_WORDS:
                weight = 0.4 if part in _GENERIC else 0.7 if len(parts) > 1 else 1.0
                self._add(part, field.name, weight)
                if part not in _GENERIC:
                    self._stems[stem(part)][field.name] = 0.8 * weight
        for word in field_words(words):
            self._add(word, field.name, 0.6 if len(keys(word)) > 1 or len(word) > 3 else 0.35)
            if len(word) > 3 and word.isalpha():
                stems = self._stems[stem(word)]
                stems[field.name] = max(0.5, stems.get(field.name, 0.0))
        self._add_description(field)

    def _add_description(self, field: Field) -> None:
        for word in re.findall(r"[\u4e00-\u9fff]{2,8}", field.description):
            if is_boolean(field) or not has_cjk(field.name):
                self._add(word, field.name, 0.5)
        text = re.split(r"[;:；：。]|\bsuch as\b|\babsent\b", field.description, maxsplit=1)[0]
        if not text:
            return
        content = [word for word in keys(text) if word not in FUNCTION_WORDS]
        if len(content) <= 4 and not has_cjk(text):
            self._add(text, field.name, 0.9)
        if has_cjk(text):
            self._add(re.sub(r"（.*?）", "", text), field.name, 0.9)
            return
        for word in content[:12]:
            if len(word) > 2 and word not in _GENERIC:
                self._add(word, field.name, 0.45)
