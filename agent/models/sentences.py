"""Sentences of a passage, English and Chinese, as an extractive answer quotes them."""

from __future__ import annotations

import re
from itertools import pairwise

_END = re.compile(
    r"(?<=[。！？!?；])\s*|(?<=[.!?])[\"')\]]*\s+(?=[A-Z0-9\"'(\[\u4e00-\u9fff])|\n{2,}"
)
_FENCE = re.compile(r"^\s*(```|~~~).*?^\s*\1", re.M | re.S)
_RULE = re.compile(r"^[\s=\-~^\"#*|:+_.]{3,}$")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s")
_DIRECTIVE = re.compile(r"^\s*\.\. ")
_ROLE = re.compile(r":[a-z:-]+:`([^`]*)`")
_LINK = re.compile(r"`([^`<]+?)\s*<[^>]*>`__?")
_CODE_MARK = re.compile(r"->|==|[{}<>=;|\\]|\w\(|\)\(|__|\.\w+\(")
_LIST_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)、])\s+")
_WORD = re.compile(r"[^\W_]+")
_CJK = re.compile(r"[\u3400-\u9fff]")

SHORTEST = 4
LONGEST = 400
CODE_SHARE = 0.15


def sentences(text: str) -> tuple[str, ...]:
    """Sentences worth quoting, in order: no headings, rules, code or lone fragments."""
    found: list[str] = []
    for block in _blocks(_FENCE.sub("\n\n", text)):
        found += [part for raw in _END.split(block) if (part := _tidy(raw)) and _is_said(part)]
    return tuple(found)


def _blocks(text: str) -> list[str]:
    """Paragraphs with their lines joined; list items and table rows stand alone, headings, rules
    and what is indented below a directive or a `::` are left out.
    """
    blocks: list[str] = []
    lines: list[str] = []
    source = _without_literals(text.splitlines())

    def close() -> None:
        if lines:
            blocks.append(_join(lines))
            lines.clear()

    for line, below in pairwise([*source, ""]):
        is_title = bool(_RULE.match(below) and below.strip())
        if not line.strip() or _RULE.match(line) or _HEADING.match(line) or is_title:
            close()
        elif _LIST_ITEM.match(line):
            close()
            lines.append(_LIST_ITEM.sub("", line))
        elif line.lstrip().startswith("|"):
            close()
            blocks.append(" ".join(cell.strip() for cell in line.strip().strip("|").split("|")))
        else:
            lines.append(line.strip())
    close()
    return blocks


def _without_literals(source: list[str]) -> list[str]:
    kept: list[str] = []
    literal = False
    for line in source:
        literal = literal and (not line.strip() or line[:1].isspace())
        left_out = literal or bool(_DIRECTIVE.match(line))
        kept.append("" if left_out else line)
        literal = left_out or line.rstrip().endswith("::")
    return kept


def _join(lines: list[str]) -> str:
    """Lines of one paragraph; between Chinese characters a line break is no space."""
    text = lines[0].strip()
    for line in lines[1:]:
        glue = "" if text and line and _CJK.match(text[-1]) and _CJK.match(line[0]) else " "
        text = f"{text}{glue}{line.strip()}"
    return text


def _tidy(text: str) -> str:
    """Without the marks of Markdown and reStructuredText."""
    plain = _LINK.sub(r"\1", _ROLE.sub(r"\1", text))
    plain = plain.replace("**", "").replace("`", "").replace("::", ":")
    return " ".join(plain.split()).strip()


def _is_said(sentence: str) -> bool:
    """Long enough to say something, short enough to be a sentence, and not about an address."""
    if not SHORTEST <= len(sentence) <= LONGEST or "://" in sentence:
        return False
    words = len(_CJK.findall(sentence)) + len(_WORD.findall(sentence))
    if len(_CODE_MARK.findall(sentence)) > CODE_SHARE * words:
        return False
    return len(_CJK.findall(sentence)) >= SHORTEST or len(_WORD.findall(sentence)) >= SHORTEST
