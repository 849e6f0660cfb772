"""What answers rest on: markers, the support of sentences, and answers that decline."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.folding import fold

SUPPORTED_SHARE = 0.6
"""The least share of a sentence's terms that its passages have to hold."""

_MARKER = re.compile(r"\[(\d{1,3})\]")
_CITED = re.compile(r"(.+?)((?:\s*\[\d{1,3}\])+)[.。]?", re.S)
_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*")
_CJK_RUN = re.compile(r"[\u3400-\u9fff]+")
_DECLINE = re.compile(
    r"\b(?:do(?:es)? not|don't|doesn't|did not|cannot|can't|could not)\s+(?:\w+\s+){0,3}?"
    r"(?:answer|contain|say|mention|provide|state|specify|include|cover|find)"
    r"|\bno (?:information|answer|passage|mention|document)|\bnot (?:enough|sufficient)\b"
    r"|\b[Nn]othing (?:relevant|in )|\bunanswerable\b|\bI don't know\b"
    r"|没有(?:提到|提及|找到|说明|相关|包含|足够)|无法(?:回答|确定|得知)|未(?:提及|提到|说明|找到)|不知道",
)
_COMMON = frozenset(
    _WORD.findall(
        "a an and are as at be been by can for from had has have in is it its not of on or that "
        "the their this to was were which will with"
    )
)


@dataclass(frozen=True)
class Sentence:
    """A piece of an answer up to its markers; `cites` are the markers' numbers."""

    text: str
    cites: tuple[int, ...]


def markers(answer: str) -> tuple[int, ...]:
    """The number of every marker [n], in order, repeated ones too."""
    return tuple(int(found) for found in _MARKER.findall(answer))


def sentences(answer: str) -> tuple[Sentence, ...]:
    """The cited pieces of an answer; what follows the last marker is one without markers."""
    found: list[Sentence] = []
    end = 0
    for match in _CITED.finditer(answer):
        found.append(Sentence(match[1].strip(), markers(match[2])))
        end = match.end()
    rest = answer[end:].strip()
    return (*found, Sentence(rest, ())) if rest else tuple(found)


def is_supported(sentence: Sentence, passages: Sequence[str]) -> bool:
    """Most of its terms, and all of its numbers, stand in the passages that it cites.

    `passages` are counted from 1. A sentence without markers rests on nothing.
    """
    cited = [passages[n - 1] for n in sentence.cites if 1 <= n <= len(passages)]
    if not cited:
        return False
    held = _terms(" ".join(cited))
    wanted = _terms(sentence.text)
    numbers = {term for term in wanted if term[0].isdigit()}
    if not wanted:
        return True
    return numbers <= held and len(wanted & held) >= SUPPORTED_SHARE * len(wanted)


def is_declined(answer: str) -> bool:
    """The answer says that there is none, or cites nothing."""
    return not markers(answer) or _DECLINE.search(answer.split("\n\n", maxsplit=1)[0]) is not None


def _terms(text: str) -> set[str]:
    """Words but the commonest, and pairs of neighbouring Chinese characters."""
    folded = fold(text)
    pairs = {
        run[i : i + 2] for run in _CJK_RUN.findall(folded) for i in range(max(1, len(run) - 1))
    }
    words = set(_WORD.findall(_CJK_RUN.sub(" ", folded)))
    return (words - _COMMON) | pairs
