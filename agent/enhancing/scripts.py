"""In which script a text is written, and whether it may be in a language."""

from __future__ import annotations

import re
from collections.abc import Mapping

from schemas.enhanced import LanguageCode

NAMES: Mapping[LanguageCode, str] = {
    "en": "English",
    "zh": "Chinese",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "pt": "Portuguese",
    "nl": "Dutch",
    "pl": "Polish",
    "ru": "Russian",
    "ja": "Japanese",
    "ko": "Korean",
}

_LETTERS: Mapping[str, re.Pattern[str]] = {
    "han": re.compile(r"[\u3400-\u9fff]"),
    "kana": re.compile(r"[\u3040-\u30ff]"),
    "hangul": re.compile(r"[\uac00-\ud7af]"),
    "cyrillic": re.compile(r"[\u0400-\u04ff]"),
    "latin": re.compile(r"[A-Za-z\u00c0-\u024f]+"),
}
_SCRIPT: Mapping[str, str] = {"zh": "han", "ja": "kana", "ko": "hangul", "ru": "cyrillic"}
_ENGLISH = re.compile(
    r"\b(?:the|what|how|which|who|when|where|does|do|are|for|of|and|with|can|may|should)\b",
    re.IGNORECASE,
)


def script_of(text: str) -> str:
    """The script with the most letters (a Latin word counts as one); Japanese by its kana."""
    counts = {name: len(pattern.findall(text)) for name, pattern in _LETTERS.items()}
    if counts["kana"]:
        counts["kana"] += counts["han"]
        counts["han"] = 0
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else ""


def may_be(text: str, language: LanguageCode) -> bool:
    """Whether a text is in the script of a language; Japanese may be without kana."""
    script = script_of(text)
    wanted = _SCRIPT.get(language, "latin")
    return script == wanted or (language == "ja" and script == "han")


def is_in(text: str, language: LanguageCode) -> bool:
    """Whether a text is surely in a language already; of those in Latin letters only English is
    told from the others.
    """
    match language:
        case "zh" | "ja" | "ko" | "ru":
            return script_of(text) == _SCRIPT[language]
        case "en":
            return script_of(text) == "latin" and bool(_ENGLISH.search(text))
        case _:
            return False
