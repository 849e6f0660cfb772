"""Questions that ask for the documents themselves: which there are, how many, of what kind.

What stands in a question beside its conditions decides: where anything is left that only the
text of a document could answer, it is no listing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from agent.planning.joins import Accepted
from agent.planning.lexicon import field_words
from agent.planning.listing_fields import ListingFields
from agent.planning.listing_words import CONDITION, Asked, nouns_of
from agent.planning.listings_en import is_residue_en, read_en
from agent.planning.listings_zh import is_residue_zh, read_zh
from agent.planning.words import has_cjk, keys, name_words, singular, tokens
from schemas.collection import Collection
from schemas.listing import Listing, ListingKind

_THEM = re.compile(
    r"\b(?:them|those|these|they|it|ones?|same)\b|其中|它们|这些|那些|上述|前面", re.IGNORECASE
)
_EACH = re.compile(r"\beach\b|\brespectively\b|各有|各自|分别", re.IGNORECASE)


def listing_of(
    question: str,
    accepted: Sequence[Accepted],
    history: Sequence[str],
    collection: Collection,
    replaced: Sequence[str] = (),
) -> Listing | None:
    """The listing that a question asks for; None where something has to be searched for.

    `accepted` are the conditions that hold, those of earlier turns too; `history` the turns
    that they may come from; `replaced` words of conditions there that others now stand for.
    """
    now = [one for one in accepted if one.turn == 0 and one.hard]
    earlier = [one.words for one in accepted if one.turn < 0] + [*replaced]
    text = _masked(question, now)
    asked = _asked(text, question, accepted, collection, goes_on=bool(earlier))
    if not _is_whole(asked, bool(now), earlier, history):
        return None
    found = read_zh(asked) if has_cjk(text) else read_en(asked)
    return _apart(question, now, found)


def _apart(question: str, now: Sequence[Accepted], found: Listing | None) -> Listing | None:
    """How many HR and Finance have each: one number for each of the values named."""
    if found is None or found.kind is not ListingKind.COUNT or not _EACH.search(question):
        return found
    named = Counter(one.use.field for one in now if not one.use.excluded)
    several = [field for field, times in named.items() if times > 1]
    if len(several) != 1:
        return found
    return Listing(kind=ListingKind.GROUP, group=several[0])


def _masked(question: str, accepted: Sequence[Accepted]) -> str:
    """The question with one mark in place of the words of each condition."""
    text = question
    for one in sorted(accepted, key=lambda one: -one.start):
        text = f"{text[: one.start]}{CONDITION}{text[one.end :]}"
    return text


def _asked(
    text: str,
    question: str,
    accepted: Sequence[Accepted],
    collection: Collection,
    *,
    goes_on: bool,
) -> Asked:
    nouns = nouns_of(collection)
    names = [name for one in accepted for name in _names(one.use.field)]
    spans = [(one.start, one.end) for one in accepted if one.turn == 0 and one.hard]
    things = (
        token
        for token in tokens(question)
        if (not token.is_name_like or not token.start)
        and (token.key in nouns or any(s <= token.start < e for s, e in spans))
    )
    return Asked(
        text=text,
        fields=ListingFields(text, collection),
        nouns=nouns,
        named=frozenset(names),
        goes_on=goes_on,
        plural=any(singular(token.text.lower()) != token.text.lower() for token in things),
    )


def _names(field: str) -> tuple[str, ...]:
    """The words for a field: whole Chinese ones, and the compared forms of all others."""
    words = (name_words(field), *field_words(field))
    return tuple(w for word in words for w in ((word,) if has_cjk(word) else keys(word)))


def _is_whole(
    asked: Asked, has_conditions: bool, earlier: Sequence[str], history: Sequence[str]
) -> bool:
    """Whether the question says all that it is about, or goes on from turns that were listings:
    no count can be made of what was searched for.
    """
    if not history:
        return True
    if not earlier:
        named = has_conditions or any(t.key in asked.nouns for t in tokens(asked.text))
        named = named or any(noun in asked.text for noun in asked.nouns if has_cjk(noun))
        return named and not _THEM.search(asked.text)
    return all(_says_nothing_else(turn, asked, earlier) for turn in history)


def _says_nothing_else(turn: str, asked: Asked, earlier: Sequence[str]) -> bool:
    text = turn
    for words in sorted({words for words in earlier if words}, key=len, reverse=True):
        text = text.replace(words, CONDITION)
    is_residue = is_residue_zh if has_cjk(text) else is_residue_en
    return not is_residue(text, asked)
