"""An index over the known values of a collection, and the values that a question names.

Exact and folded values, synonyms and general words are looked up whole; parts of names,
typing errors and parts of Chinese values go through inverted indexes of tokens and character
n-grams, so that a question costs the same over ten values and over a hundred thousand.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from rapidfuzz import fuzz, process

from agent.planning.facets import is_boolean
from agent.planning.lexicon import other_words
from agent.planning.meanings import meanings
from agent.planning.prose import is_free_text
from agent.planning.words import FUNCTION_WORDS, Token, has_cjk, key, keys, name_words
from schemas.collection import Collection, Field, FieldType, Scalar

__all__ = ["Entry", "Match", "ValueIndex", "is_free_text"]

LONGEST = 24
RESCORED = 200
SIMILAR = 84
PART_LIMIT = 4
LONG_NAME = 4
"""Tokens up to which any single word of a value may stand for it; of longer ones, the first."""
_TEXT = (FieldType.STRING, FieldType.STRING_LIST)


@dataclass(frozen=True)
class Entry:
    """A known value of a field with the tokens of its text."""

    field: str
    value: Scalar
    keys: tuple[str, ...]
    upper: Scalar | None = None


@dataclass(frozen=True)
class Match:
    """Words of a question that name values. `score` 0..1: 1 for the value as it is written."""

    start: int
    end: int
    entries: tuple[Entry, ...]
    score: float


Holds = Callable[[Entry, int, int], bool]
"""Whether the words between two offsets may stand for an entry."""


class ValueIndex:
    """All known values of a collection, ready to be found in questions."""

    def __init__(self, collection: Collection) -> None:
        self._phrases: dict[tuple[str, ...], list[tuple[Entry, float]]] = defaultdict(list)
        self._parts: dict[str, list[Entry]] = defaultdict(list)
        self._pairs: dict[str, list[Entry]] = defaultdict(list)
        self._shared = _shared_words(collection)
        for field in collection.fields:
            if field.values and not is_boolean(field):
                self._add_field(field)
            if field.default and field.type in _TEXT:
                shown = Entry(field.name, field.default, keys(field.default))
                self._phrases[shown.keys].append((shown, 1.0))
            self._add_described(field)
        self._grams: dict[str, list[str]] = defaultdict(list)
        for word in {word for phrase in self._phrases for word in phrase}:
            if len(word) >= 5 and word.isalpha() and not has_cjk(word):
                for gram in _grams(word):
                    self._grams[gram].append(word)

    def find(
        self, text: str, question: Sequence[Token], holds: Holds | None = None
    ) -> tuple[Match, ...]:
        """The matches from left to right, none overlapping, the longest and surest first. Words
        that name a value as a whole count only for the entries that `holds` lets through, so
        that a title that is not meant hides no shorter value.
        """
        found: list[Match] = []
        whole = self._whole(text, question)
        self._keep(found, whole if holds is None else _held(whole, holds))
        self._keep(found, self._partial(text, _uncovered(question, found)))
        self._keep(found, self._chinese(text, _uncovered(question, found)))
        self._keep(found, self._misspelt(text, question, found))
        return tuple(sorted(found, key=lambda m: m.start))

    def exact(self, field: str, text: str) -> Scalar | None:
        """The known value of a field that is written like the text."""
        known = self._phrases.get(keys(text), ())
        return next((e.value for e, _ in known if e.field == field and str(e.value) == text), None)

    def entries(self, text: str) -> tuple[tuple[Entry, float], ...]:
        """The values that a text names as a whole."""
        return tuple(self._phrases.get(keys(text), ()))

    def _add_field(self, field: Field) -> None:
        free = is_free_text(field)
        textual = field.type in _TEXT
        for value in field.values:
            entry = Entry(field.name, value, keys(str(value)))
            if not entry.keys:
                continue
            self._phrases[entry.keys].append((entry, 1.0))
            for synonym in field.synonyms.get(str(value), ()):
                self._phrases[keys(synonym)].append((entry, 0.95))
            if free or not textual:
                continue
            head, bar, _ = str(value).partition(" | ")
            if bar:
                self._phrases[keys(head)].append((entry, 0.9))
            for word in other_words(str(value), field.name):
                self._phrases[keys(word)].append((entry, 0.85))
            self._add_parts(entry)

    def _add_described(self, field: Field) -> None:
        for meaning in meanings(field):
            upper = meaning.upper
            entry = Entry(field.name, meaning.value, keys(meaning.words), upper)
            if entry.keys and not set(entry.keys) <= self._shared:
                self._phrases[entry.keys].append((entry, 0.9))

    def _add_parts(self, entry: Entry) -> None:
        if len(entry.keys) < 2:
            return
        for word in set(entry.keys):
            if not has_cjk(word) and len(word) > 1 and word not in FUNCTION_WORDS:
                self._parts[word].append(entry)
        for first, second in zip(entry.keys, entry.keys[1:], strict=False):
            if has_cjk(first) and has_cjk(second):
                self._pairs[first + second].append(entry)

    @staticmethod
    def _keep(found: list[Match], matches: Iterator[Match]) -> None:
        ordered = sorted(matches, key=lambda m: (m.start - m.end, -m.score, m.start))
        for match in ordered:
            if all(match.end <= other.start or match.start >= other.end for other in found):
                found.append(match)

    def _whole(self, text: str, question: Sequence[Token]) -> Iterator[Match]:
        for at in range(len(question)):
            for length in range(min(LONGEST, len(question) - at), 0, -1):
                part = question[at : at + length]
                phrase = tuple(token.key for token in part)
                known = self._phrases.get(phrase)
                if known and _stands_alone(text, part) and _plausible(part, known):
                    entries = tuple(dict.fromkeys(entry for entry, _ in known))
                    score = max(score for _, score in known)
                    yield Match(part[0].start, part[-1].end, entries, score)

    def _partial(self, text: str, runs: Sequence[Sequence[Token]]) -> Iterator[Match]:
        """Parts of names: the longest runs of words that stand side by side in few values."""
        for run in runs:
            for at, token in enumerate(run):
                entries = self._parts.get(token.key, ())
                if not entries or len(entries) > RESCORED * 50:
                    continue
                yield from self._longest_part(run, at, entries)

    @staticmethod
    def _longest_part(run: Sequence[Token], at: int, entries: Sequence[Entry]) -> Iterator[Match]:
        end = at + 1
        while end < len(run):
            phrase = tuple(token.key for token in run[at : end + 1])
            longer = [entry for entry in entries if _contains(entry.keys, phrase)]
            if not longer:
                break
            entries, end = longer, end + 1
        part = run[at:end]
        if len(set(entries)) > PART_LIMIT or not _names(part, entries):
            return
        covered = len(part) / max(len(entry.keys) for entry in entries)
        yield Match(part[0].start, part[-1].end, tuple(entries), 0.6 + 0.2 * covered)

    def _chinese(self, text: str, runs: Sequence[Sequence[Token]]) -> Iterator[Match]:
        """Parts of Chinese values of two characters and more that begin or end the value."""
        for run in runs:
            for at in range(len(run) - 1):
                entries = self._pairs.get(run[at].key + run[at + 1].key, ())[: RESCORED * 5]
                best: dict[int, list[Entry]] = defaultdict(list)
                for entry in entries:
                    length = _common(run[at:], entry.keys)
                    if length >= 2 and 2 * length >= len(entry.keys):
                        best[length].append(entry)
                if best and len(set(best[max(best)])) <= (1 if max(best) == 2 else PART_LIMIT):
                    end = at + max(best) - 1
                    yield Match(run[at].start, run[end].end, tuple(best[max(best)]), 0.7)

    def _misspelt(
        self, text: str, question: Sequence[Token], found: Sequence[Match]
    ) -> Iterator[Match]:
        mended = {
            id(token): better
            for run in _uncovered(question, found)
            for token in run
            if (better := self._mend(token.key)) is not None
        }
        if not mended:
            return
        words = [Token(t.text, t.start, t.end, mended.get(id(t), t.key)) for t in question]
        touched = {(t.start, t.end) for t in question if id(t) in mended}
        for match in [*self._whole(text, words), *self._partial(text, [words])]:
            if any(match.start <= start and end <= match.end for start, end in touched):
                yield Match(match.start, match.end, match.entries, match.score * 0.85)

    def _mend(self, word: str) -> str | None:
        if len(word) < 5 or not word.isalpha() or has_cjk(word) or word in FUNCTION_WORDS:
            return None
        counts: dict[str, int] = defaultdict(int)
        for gram in _grams(word):
            for other in self._grams.get(gram, ()):
                counts[other] += 1
        near = sorted(
            (other for other in counts if abs(len(other) - len(word)) <= 2),
            key=lambda other: -counts[other],
        )[:RESCORED]
        best = process.extractOne(word, near, scorer=fuzz.ratio, score_cutoff=SIMILAR)
        if best is None or best[0][0] != word[0] or best[0] == word:
            return None
        return str(best[0])


def _held(matches: Iterator[Match], holds: Holds) -> Iterator[Match]:
    for match in matches:
        entries = tuple(e for e in match.entries if holds(e, match.start, match.end))
        if entries:
            yield replace(match, entries=entries)


def _shared_words(collection: Collection) -> frozenset[str]:
    """Words in the names of several fields: what the collection is about, hence no meaning of
    one value.
    """
    counts = Counter(
        word for field in collection.fields for word in set(keys(name_words(field.name)))
    )
    return frozenset(word for word, count in counts.items() if count > 1)


def _grams(word: str) -> set[str]:
    padded = f" {word} "
    return {padded[i : i + 3] for i in range(len(padded) - 2)}


def _contains(whole: tuple[str, ...], part: tuple[str, ...]) -> bool:
    return any(whole[i : i + len(part)] == part for i in range(len(whole) - len(part) + 1))


def _common(run: Sequence[Token], value: tuple[str, ...]) -> int:
    """How many characters from the run's first on stand at the beginning or end of the value."""
    length = 0
    while length < min(len(run), len(value)) and run[length].key == value[length]:
        length += 1
    tail = 0
    for size in range(2, min(len(run), len(value)) + 1):
        if tuple(token.key for token in run[:size]) == value[-size:]:
            tail = size
    return max(length, tail)


def _uncovered(question: Sequence[Token], found: Sequence[Match]) -> list[list[Token]]:
    runs: list[list[Token]] = [[]]
    for token in question:
        if any(match.start <= token.start < match.end for match in found):
            runs.append([])
        else:
            runs[-1].append(token)
    return [run for run in runs if run]


def _stands_alone(text: str, part: Sequence[Token]) -> bool:
    """Whether figures are not cut out of a longer number or identifier."""
    start, end = part[0].start, part[-1].end
    if part[0].text[0].isdigit():
        glued = re.search(r"(?:\d[.,_:/-]|[A-Za-z]{4,}|[_@#/.-])$", text[:start])
        if glued and glued.group() not in "#@":
            return False
    if part[-1].text[-1].isdigit() and re.match(r"[.,_:/]\d|_|\d", text[end:]):
        return False
    return not (start and text[start - 1] in "@_")


def _plausible(part: Sequence[Token], known: Sequence[tuple[Entry, float]]) -> bool:
    if len(part) > 1:
        return not all(token.key in FUNCTION_WORDS for token in part)
    token = part[0]
    if token.is_cjk or token.text.isdigit():
        return not token.is_cjk or any(len(entry.keys) == 1 for entry, _ in known)
    short = len(token.text) == 1 or token.key in FUNCTION_WORDS
    if not short:
        return True
    plain = unicodedata.normalize("NFKC", token.text)
    if plain in ("A", "I", "a", "i") or not plain.isupper():
        return False
    return any(str(entry.value) == plain for entry, _ in known)


def _names(part: Sequence[Token], entries: Sequence[Entry]) -> bool:
    """Whether part of a value is enough: capitals, or a long word that few values have."""
    if part[0].is_cjk:
        return True
    if all(token.text.isdigit() or key(token.text) in FUNCTION_WORDS for token in part):
        return False
    if len(part) > 1:
        return True
    token = part[0]
    if token.text.isdigit() or len(token.text) < 3:
        return False
    if any(len(entry.keys) > LONG_NAME and _head(entry) != token.key for entry in entries):
        return False
    return token.is_name_like or (len(token.text) >= 5 and len(entries) == 1)


def _head(entry: Entry) -> str:
    """The first word of a value that is not grammar: Independent of The Independent - Life."""
    return next((word for word in entry.keys if word not in FUNCTION_WORDS), "")
