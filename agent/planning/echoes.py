"""A name that takes the place of one from an earlier turn: "How about Oakland?"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.planning.words import tokens
from schemas.mentions import Mention, MentionKind

_EVIDENCE = 0.3
"""Score from which on the turn itself says which field is meant."""
_SHORT = 5
_INSTEAD = re.compile(
    r"\b(?:how\s+about|what\s+about|instead|rather|make\s+it|changed?|switch|actually|try)\b"
    r"|换成|改成|改为|换个|呢",
    re.IGNORECASE,
)
_OF_A_PEOPLE = re.compile(r"[A-Z][a-z]+(?:an|ese|ish|ic|ian)$")


def echoed(
    text: str, mentions: Sequence[Mention], earlier: Sequence[Mention]
) -> tuple[Mention, ...]:
    """Mentions of a turn whose field its own words leave open: where it changes something, or
    says little else, the field of the last earlier mention that looks alike comes first.
    """
    if not earlier or not (_INSTEAD.search(text) or len(tokens(text)) <= _SHORT):
        return tuple(mentions)
    return tuple(_echo(one, earlier) for one in mentions)


def _echo(mention: Mention, earlier: Sequence[Mention]) -> Mention:
    if mention.kind is not MentionKind.SPAN or mention.choices[0].score >= _EVIDENCE:
        return mention
    able = {choice.field for choice in mention.choices}
    field = next(
        (
            one.choices[0].field
            for one in reversed(earlier)
            if one.choices[0].field in able and looks(one.words) == looks(mention.words)
        ),
        None,
    )
    if field is None:
        return mention
    choices = sorted(mention.choices, key=lambda choice: choice.field != field)
    return mention.model_copy(update={"choices": tuple(choices)})


def looks(words: str) -> tuple[bool, bool, bool]:
    """What two names of one sort have in common: capitals, figures, the ending of a people's
    name (Italian, Chinese).
    """
    return (
        words[:1].isupper(),
        any(char.isdigit() for char in words),
        is_of_a_people(words),
    )


def is_of_a_people(words: str) -> bool:
    """Italian, Chinese, Spanish: what kind of thing rather than where."""
    return _OF_A_PEOPLE.match(words) is not None
