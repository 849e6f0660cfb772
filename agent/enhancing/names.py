"""Names in a question, by how they are written: no dictionary and no model."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent.enhancing.words import is_plain
from schemas.folding import fold

MOST = 8

_UPPER = r"A-Z\u00c0-\u00d6\u00d8-\u00de\u0141\u0160\u017d"
_LETTERS = r"A-Za-z0-9\u00c0-\u024f'’&-"
_CAPITALS = re.compile(
    rf"(?<![{_LETTERS}])[{_UPPER}][{_LETTERS}]*"
    rf"(?:[ \t]+(?:(?:of|de|van|von|der|the)[ \t]+)?[{_UPPER}][{_LETTERS}]*)*"
)
_QUOTED = re.compile(
    r"《([^《》\n]{2,40})》|「([^「」\n]{2,40})」|“([^“”\n]{2,40})”|\"([^\"\n]{2,40})\""
)
_TITLED = re.compile(r"([\u4e00-\u9fff]{1,3}?)(?=先生|女士|经理|主任|教授|博士|老师|总监)")
_BY = re.compile(
    r"(?:作者是?|负责人是?|联系人是?|由)([\u4e00-\u9fff]{2,3}?)(?=写|起草|批准|负责|编写|发布|主持|签|$|[的，。？?])"
)


def names(question: str) -> tuple[str, ...]:
    """Capitalised runs, what stands in quotation marks or 《》, and Chinese names beside a title
    or a word such as 作者; once each, in the order of these kinds.
    """
    found: dict[str, str] = {}
    for name in (*_capitalised(question), *_marked(question)):
        found.setdefault(fold(name), name)
    return tuple(found.values())[:MOST]


def _capitalised(question: str) -> Iterator[str]:
    for match in _CAPITALS.finditer(question):
        words = match.group().split()
        while words and is_plain(fold(words[0])):
            words = words[1:]
        name = " ".join(words)
        opens = match.start() == 0 or question[: match.start()].rstrip().endswith((".", "?", "!"))
        one_plain_word = len(words) == 1 and name[1:].islower() and opens
        if len(name) > 1 and not one_plain_word:
            yield name.removesuffix("'s").removesuffix("’s")


def _marked(question: str) -> Iterator[str]:
    for match in _QUOTED.finditer(question):
        yield next(part for part in match.groups() if part).strip()
    for pattern in (_BY, _TITLED):
        for match in pattern.finditer(question):
            if len(match[1]) > 1:
                yield match[1]
