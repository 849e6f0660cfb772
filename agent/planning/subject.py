"""What is left to search for once the conditions are taken out of the question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.planning.joins import Accepted
from agent.planning.tables import listed
from agent.planning.words import FUNCTION_WORDS, tokens

_LEAD = re.compile(
    r"(?:\b(?:published|issued|released|created|written|authored|dated|from|since|before|after|until|in|by|of|for|on|"
    r"during|between|over|within|with|without|except|not|the|a|an|and|or|at|least|more|less|than|above|below|under)\s+)+$",
    re.IGNORECASE,
)
_EMPTY = frozenset(
    listed("""
    pep peps document documents doc docs file files article articles one ones
    """)
)
_FUNCTION_ZH = re.compile(
    r"[的了吗呢吧啊呀是在有和与及或被把给我你您他她它们哪些个什么怎么样请帮找列出一下里中关于所有文档文件？。，！、\s]+"
)


def subject(question: str, accepted: Sequence[Accepted]) -> str:
    """The question without the words of its conditions; all of it where nothing else is left."""
    now = sorted((one for one in accepted if one.turn == 0), key=lambda one: -one.start)
    if not now:
        return question
    text = question
    for one in now:
        before = _LEAD.sub("", text[: one.start])
        text = f"{before} {text[one.end :]}"
    text = re.sub(r"\s+", " ", text).strip(" ,;:，；、")
    text = re.sub(r"\s+([?.,!])", r"\1", text)
    return text if _says_something(text) else question


def _says_something(text: str) -> bool:
    words = [t for t in tokens(text) if t.key not in FUNCTION_WORDS and t.key not in _EMPTY]
    if any(not word.is_cjk for word in words):
        return True
    return len(_FUNCTION_ZH.sub("", text)) > 1
