"""The values of one field, found in a question by their words."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from agent.enhancing.words import Token, is_plain, keys, tokens
from schemas.collection import Field

PARTLY = 3
"""How many values a part of their name may fit for it to name them."""

_DENIED = re.compile(
    r"(?:\b(?:not|no|without|except|excluding|other\s+than|non)(?:\s+(?:for|the|tagged|about|any))*"
    r"[\s-]*|(?:不是|不要|不含|除了|除|非|没有|排除|无关)(?:关于|标签为)?\s*)[\"'“‘《「(]*$",
    re.IGNORECASE,
)


class Vocabulary:
    """The values of a field with their synonyms. Pure."""

    def __init__(self, field: Field) -> None:
        self._wholes: dict[tuple[str, ...], dict[str, None]] = defaultdict(dict)
        self._longest: dict[str, int] = {}
        self._parts: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        self.values = frozenset(map(str, field.values))
        for value in map(str, field.values):
            for words in (value, *field.synonyms.get(value, ())):
                self._add(keys(words), value)

    def named_in(self, question: str) -> tuple[str, ...]:
        """The values whose words all stand side by side in the question, the longest first where
        they overlap, without those that it denies.
        """
        found: dict[str, None] = {}
        words = tokens(question)
        at = 0
        while at < len(words):
            values, length = self._at(words, at)
            if values and not _DENIED.search(question[: words[at].start]):
                found |= dict.fromkeys(values)
            at += length
        return tuple(found)

    def partly(self, name: str) -> tuple[str, ...]:
        """The values of which a name is a part; none where it fits too many."""
        wanted = keys(name)
        found: dict[str, None] = {}
        for whole in self._parts.get(wanted[0], ()) if wanted else ():
            if _within(wanted, whole):
                found |= self._wholes[whole]
            if len(found) > PARTLY:
                return ()
        return tuple(found)

    def _add(self, words: tuple[str, ...], value: str) -> None:
        """A value of one letter, or of nothing but grammar, stands in every question."""
        if all(is_plain(word) for word in words) or words == (words[0][:1],):
            return
        if words not in self._wholes:
            for word in set(words):
                self._parts[word].append(words)
        self._wholes[words].setdefault(value)
        self._longest[words[0]] = max(self._longest.get(words[0], 0), len(words))

    def _at(self, words: Sequence[Token], at: int) -> tuple[Iterable[str], int]:
        """The longest values that begin with a token, and how many tokens to go on by."""
        longest = self._longest.get(words[at].key, 0)
        for length in range(min(longest, len(words) - at), 0, -1):
            values = self._wholes.get(tuple(word.key for word in words[at : at + length]))
            if values:
                return values, length
        return (), 1


def _within(part: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    size = len(part)
    return any(whole[at : at + size] == part for at in range(len(whole) - size + 1))
