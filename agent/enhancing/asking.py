"""The one question put to the model: keywords and translations, and what of its reply may be
used. What it says only ever adds words to the full text leg.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import prompts
from agent.enhancing.scripts import NAMES, may_be, script_of
from graph.ports import Message
from schemas.enhanced import LanguageCode
from schemas.folding import fold
from schemas.plan import Problem

FAILED = "enhancement_failed"
LONGEST_TEXT = 300
"""Characters of a search text that is still put to the model."""
MOST_KEYWORDS = 8
_LONGEST_KEYWORD = 40
_SHOWN = 120

_NO_TRANSLATION = re.compile(r"[\n\r{}<>`|\\]|https?:|www\.|@|```", re.IGNORECASE)
_ROLE = re.compile(r"^\s*(?:system|assistant|user|translation|译文|翻译)\s*[:：]", re.IGNORECASE)
_LONG_NUMBER = re.compile(r"\d{3,}")


@dataclass(frozen=True)
class Wish:
    """What the model is asked for; `text` is what it is asked about."""

    text: str
    keywords: bool
    languages: tuple[LanguageCode, ...]

    @property
    def anything(self) -> bool:
        return self.keywords or bool(self.languages)


@dataclass(frozen=True)
class Reply:
    keywords: tuple[str, ...] = ()
    translations: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


def messages(wish: Wish) -> tuple[Message, ...]:
    wanted = [f"- {code}: the text in {NAMES[code]}" for code in wish.languages]
    if wish.keywords:
        wanted.append(f"- keywords: at most {MOST_KEYWORDS} words of the text")
    text = json.dumps(wish.text, ensure_ascii=False)
    asked = prompts.render("enhance", text=text, wanted="\n".join(wanted))
    return Message("system", prompts.render("enhance_system")), Message("user", asked)


def reply_schema(wish: Wish) -> dict[str, Any]:
    """An object with a text for each language, and a list of keywords."""
    text = {"type": "string", "minLength": 1, "maxLength": _longest(wish.text)}
    properties: dict[str, Any] = dict.fromkeys(wish.languages, text)
    if wish.keywords:
        word = {"type": "string", "minLength": 1, "maxLength": _LONGEST_KEYWORD}
        properties["keywords"] = {"type": "array", "items": word, "maxItems": MOST_KEYWORDS}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def read(reply: str, wish: Wish) -> Reply:
    """What of a reply may be used; what may not is told."""
    try:
        given = json.loads(reply)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, Mapping):
        return Reply(problems=(failed("the model's reply is no JSON object", reply),))
    problems: list[Problem] = []
    translations: dict[str, str] = {}
    for code in wish.languages:
        text = given.get(code)
        fault = _fault(text, code, wish.text)
        if fault:
            problems.append(failed(f"no translation into {NAMES[code]}: {fault}", text))
        elif fold(str(text)) != fold(wish.text):
            translations.setdefault(fold(str(text)), " ".join(str(text).split()))
    keywords: tuple[str, ...] = ()
    if wish.keywords:
        keywords = _keywords(given.get("keywords"), wish.text)
        if not keywords:
            why = "none of the model's keywords stands in the search text"
            problems.append(failed(why, given.get("keywords")))
    return Reply(keywords, tuple(translations.values()), tuple(problems))


def failed(message: str, value: object = None) -> Problem:
    shown = None if value is None else str(value)[:_SHOWN]
    return Problem(code=FAILED, message=message, value=shown)


def _longest(text: str) -> int:
    """A Chinese character may become a word."""
    return 80 + (5 if script_of(text) in {"han", "kana", "hangul"} else 3) * len(text)


def _fault(text: object, code: LanguageCode, original: str) -> str:
    """Why a text is no translation; empty if it may be one. One in another script than its
    language's, one that runs on, or one with addresses, markup or figures that the search text
    does not have is an answer, or obeys something.
    """
    if not isinstance(text, str) or not text.strip():
        return "it is empty"
    if len(text) > _longest(original):
        return f"it has {len(text)} characters, at most {_longest(original)} are allowed"
    if not may_be(text, code):
        return "it is written in another script"
    stray = _NO_TRANSLATION.search(text)
    if stray and stray.group() not in original:
        return f"it holds {stray.group()!r}, which the search text does not"
    if _ROLE.match(text) and not _ROLE.match(original):
        return "it begins like a turn of a conversation"
    known = set(_LONG_NUMBER.findall(fold(original)))
    stray_numbers = sorted(set(_LONG_NUMBER.findall(fold(text))) - known)
    if stray_numbers:
        return f"it holds the number {stray_numbers[0]}, which the search text does not"
    return _repeats_prompt(text)


def _repeats_prompt(text: str) -> str:
    rules = fold(prompts.render("enhance_system"))
    words = fold(text).split()
    runs = (" ".join(words[at : at + 6]) for at in range(len(words) - 5))
    return "it repeats the instructions" if any(run in rules for run in runs) else ""


def _keywords(given: object, text: str) -> tuple[str, ...]:
    folded = fold(text)
    words: Sequence[object] = given if isinstance(given, list) else []
    kept: dict[str, str] = {}
    for word in words:
        if isinstance(word, str) and fold(word) and fold(word) in folded:
            kept.setdefault(fold(word), " ".join(word.split()))
    return tuple(kept.values())[:MOST_KEYWORDS]
