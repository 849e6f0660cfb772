"""Answers made of sentences of the passages, for models too small to write reliably."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from agent.models.sentences import sentences
from schemas.folding import fold
from schemas.hits import Passage

LEXICAL_WEIGHT = 0.4
RANK_DISCOUNT = 0.04
NEAR_DUPLICATE = 0.9
WORST_SHARE = 0.55

_TOKEN = re.compile(r"[a-z0-9][a-z0-9_.+#-]*|[\u3400-\u9fff]{2}")
_CJK_RUN = re.compile(r"[\u3400-\u9fff]+")


class Embedder(Protocol):
    async def embed_documents(self, texts: Sequence[str]) -> list[list[float]]: ...

    async def embed_query(self, text: str) -> list[float]: ...


@dataclass(frozen=True)
class _Sentence:
    text: str
    passage: int
    position: int
    score: float
    vector: tuple[float, ...]


class ExtractiveWriter:
    """The Writer port: up to `limit` sentences, each with the marker [n] of its passage.

    A sentence scores by cosine to the question and by the share of the question's terms
    (weighted by their rarity among the candidates) that it holds; later passages count less.
    """

    name = "extractive"

    def __init__(self, embedder: Embedder, *, limit: int = 4) -> None:
        self._embedder = embedder
        self._limit = limit

    async def write(
        self, question: str, passages: Sequence[Passage], notes: Sequence[str]
    ) -> AsyncIterator[str]:
        """Yield one sentence at a time, grouped by passage in the order of the passages."""
        candidates = [
            (number, position, text)
            for number, passage in enumerate(passages, start=1)
            for position, text in enumerate(sentences(passage.text))
        ]
        if not candidates:
            for number, passage in enumerate(passages[:1], start=1):
                yield f"{' '.join(passage.text.split())[:300]} [{number}]"
            return
        chosen = self._choose(await self._scored(question, candidates))
        for index, sentence in enumerate(sorted(chosen, key=lambda s: (s.passage, s.position))):
            yield f"{' ' if index else ''}{sentence.text} [{sentence.passage}]"

    async def _scored(
        self, question: str, candidates: Sequence[tuple[int, int, str]]
    ) -> list[_Sentence]:
        texts = [text for _, _, text in candidates]
        target = await self._embedder.embed_query(question)
        vectors = await self._embedder.embed_documents(texts)
        overlap = _overlap(question, texts)
        return [
            _Sentence(
                text=text,
                passage=number,
                position=position,
                score=(1 - LEXICAL_WEIGHT) * _cosine(target, vector)
                + LEXICAL_WEIGHT * share
                - RANK_DISCOUNT * (number - 1),
                vector=tuple(vector),
            )
            for (number, position, text), vector, share in zip(
                candidates, vectors, overlap, strict=True
            )
        ]

    def _choose(self, scored: Sequence[_Sentence]) -> list[_Sentence]:
        """The best ones, without near-repeats and without what is far below the best."""
        ranked = sorted(scored, key=lambda s: s.score, reverse=True)
        chosen: list[_Sentence] = []
        for sentence in ranked:
            if len(chosen) == self._limit or sentence.score < WORST_SHARE * ranked[0].score:
                break
            if all(_cosine(sentence.vector, kept.vector) < NEAR_DUPLICATE for kept in chosen):
                chosen.append(sentence)
        return chosen or ranked[:1]


def _overlap(question: str, texts: Sequence[str]) -> list[float]:
    wanted = _terms(question)
    held = [_terms(text) for text in texts]
    seen = Counter(term for terms in held for term in terms)
    weight = {term: math.log(1 + len(texts) / (1 + seen[term])) for term in wanted}
    total = sum(weight.values()) or 1.0
    return [sum(weight[term] for term in wanted & terms) / total for terms in held]


def _terms(text: str) -> set[str]:
    """Words, and pairs of neighbouring Chinese characters."""
    folded = fold(text)
    pairs = {
        run[i : i + 2] for run in _CJK_RUN.findall(folded) for i in range(max(1, len(run) - 1))
    }
    words = {token.rstrip(".-") for token in _TOKEN.findall(folded) if token.isascii()}
    return {_stem(word) for word in words} | pairs


def _stem(word: str) -> str:
    """Plural and verb endings off, roughly: enough to match within one document's wording."""
    for ending in ("ing", "ies", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _cosine(left: Sequence[float], right: Sequence[float]) -> float:
    dot = sum(a * b for a, b in zip(left, right, strict=True))
    norm = math.sqrt(sum(a * a for a in left)) * math.sqrt(sum(b * b for b in right))
    return dot / norm if norm else 0.0
