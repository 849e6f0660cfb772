"""Slips of a model's reply for which one mend only can be right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from schemas.plan import Problem

_CLOSE = 0.75
_APART = 0.1

Schema = Mapping[str, Any]


def mended(reply: Any, schema: Schema) -> tuple[Any, tuple[Problem, ...]]:
    """The reply with keys and words that are close to one allowed spelling, and to no other, put
    right; each change as a problem `reply_mended`. What is close to none or several stays.
    """
    asked: Mapping[str, Any] = schema.get("properties") or {}
    if not isinstance(reply, dict):
        return reply, ()
    slips: list[Problem] = []
    fixed: dict[str, Any] = {}
    for key, said in reply.items():
        missing = [name for name in asked if name not in reply and name not in fixed]
        name = key if key in asked else _closest(key, missing)
        if name is None:
            fixed[key] = said
            continue
        allowed = _allowed(asked[name])
        word = said if said in allowed else _closest(said, allowed)
        fixed[name] = said if word is None else word
        if name != key or (word is not None and word != said):
            slips.append(
                Problem(
                    code="reply_mended",
                    message=f"{key!r}: {said!r} was read as {name!r}: {fixed[name]!r}",
                    value=said,
                )
            )
    return fixed, tuple(slips)


def _allowed(schema: Any) -> Sequence[Any]:
    words = schema.get("enum") if isinstance(schema, Mapping) else None
    return words if isinstance(words, list) else ()


def _closest(said: object, allowed: Sequence[Any]) -> str | None:
    """The one allowed word that can be meant: the same but for case and space, or clearly closer
    than any other.
    """
    if not isinstance(said, str):
        return None
    wanted = _plain(said)
    same = [word for word in allowed if isinstance(word, str) and _plain(word) == wanted]
    if same:
        return same[0] if len(same) == 1 else None
    scored = sorted(
        ((_likeness(wanted, _plain(word)), word) for word in allowed if isinstance(word, str)),
        reverse=True,
    )
    if not scored or scored[0][0] < _CLOSE:
        return None
    second = scored[1][0] if len(scored) > 1 else 0.0
    return scored[0][1] if scored[0][0] - second >= _APART else None


def _likeness(said: str, word: str) -> float:
    """0..1: how alike the least alike of the words are, so that no "since" becomes "before"."""
    pairs = list(zip(said.split(), word.split(), strict=False))
    if not pairs or len(said.split()) != len(word.split()):
        return 0.0
    return min(
        1.0 if _is_short_for(a, b) or _is_short_for(b, a) else SequenceMatcher(None, a, b).ratio()
        for a, b in pairs
    )


def _is_short_for(short: str, long: str) -> bool:
    """Whether `dept` may stand for `department`: its letters, in their order."""
    letters = iter(long)
    return len(short) > 2 and short[0] == long[0] and all(letter in letters for letter in short)


def _plain(text: str) -> str:
    return " ".join(text.replace("_", " ").casefold().split())
