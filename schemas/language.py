"""In which language a person is answered."""

from __future__ import annotations

import re
from typing import Literal

Language = Literal["en", "zh"]

_HAN = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[A-Za-z]+")


def language_of(text: str) -> Language:
    """Chinese where Chinese characters outnumber Latin words, else English."""
    return "zh" if len(_HAN.findall(text)) > len(_WORD.findall(text)) else "en"
