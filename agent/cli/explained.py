"""Why a search found what it found, in lines of at most 100 columns."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.language import Language

WIDTH = 100
_TITLE = 24
"""Columns that a title has at least."""

_ORDER = ("score", "dense", "bm25", "fused", "similarity", "rerank", "boosts")


@dataclass(frozen=True)
class _Words:
    head: str
    more: str
    passage: str
    removed: str
    below: str
    unknown: str
    became: str
    conditions: str
    without: str
    same: str
    cut: str
    none: str
    labels: Mapping[str, str]


_EN = _Words(
    head="Found, best first ({shown} of {total}):",
    more="also",
    passage="passage",
    removed="- {}",
    below="- not among the first",
    unknown="- not shown",
    became="became of it",
    conditions="Conditions (documents that match: {}):",
    without="without {}: {} more {}",
    same="without {}: no more documents",
    cut="{} took away {} of {}",
    none="nothing",
    labels={
        "expression": "expression",
        "removed": "removed by",
        "enhanced": "added",
        "stages": "milliseconds",
        "problems": "note",
        "steps": "of these",
    },
)
_ZH = _Words(
    head="检索到的段落，从高到低（{shown}/{total}）：",
    more="另有",
    passage="段落",
    removed="- {}",
    below="- 未进入前列",
    unknown="- 未显示",
    became="结果",
    conditions="条件（符合的文档 {} 份）：",
    without="去掉 {}：多 {} 份{}",
    same="去掉 {}：不会多出文档",
    cut="{} 去掉 {}/{}",
    none="无",
    labels={
        "expression": "表达式",
        "removed": "被去掉",
        "enhanced": "补充",
        "stages": "毫秒",
        "problems": "注意",
        "steps": "其中",
    },
)


def explained_text(explain: Mapping[str, Any], language: Language) -> list[str]:
    """The explanation in lines: what was found and what became of it, what was taken away,
    what each condition costs, what was added, how long it took.
    """
    words = _ZH if language == "zh" else _EN
    lines: list[str] = []
    if "search" in explain["timings_ms"]:
        lines += [*_table(explain, words), ""]
        lines += _labelled(words, "removed", _removed(explain, words))
    lines += _conditions(explain["counterfactuals"], words)
    for part, added in explain["enhanced"].items():
        lines += _labelled(words, "enhanced", f"{part}: {', '.join(added)}")
    for problem in explain["problems"]:
        lines += _labelled(words, "problems", problem)
    lines += _labelled(words, "expression", explain["expression"] or words.none)
    lines += _labelled(words, "stages", _milliseconds(explain["stages_ms"]))
    parts = {name: ms for name, ms in explain["timings_ms"].items() if "." in name}
    if parts:
        lines += _labelled(words, "steps", _milliseconds(parts))
    return lines


def _table(explain: Mapping[str, Any], words: _Words) -> Iterator[str]:
    found = [_summed(one) for one in explain["found"]]
    yield words.head.format(shown=len(found), total=explain["found_total"])
    if not found:
        return
    columns = _score_names(found)
    below = words.below if explain["strategies"] else words.unknown
    fates = [_fate(one, words, below) for one in found]
    fate = max(width(text) for text in (*fates, words.became))
    wide = {name: max(6, len(name)) for name in columns}
    while columns and WIDTH - 7 - fate - sum(wide[name] + 2 for name in columns) < _TITLE:
        columns = columns[:-1]
    title = min(
        WIDTH - 7 - fate - sum(wide[name] + 2 for name in columns),
        max(width(one["title"]) for one in found),
    )
    head = "".join(f"  {name:>{wide[name]}}" for name in columns)
    yield f"  #  {padded(words.passage, title)}{head}  {words.became}"
    for one, became in zip(found, fates, strict=True):
        scores = "".join(f"  {_score(one['scores'].get(name)):>{wide[name]}}" for name in columns)
        yield f" {one['rank']:>2}  {padded(one['title'], title)}{scores}  {became}"
        left = [name for name in one["scores"] if name not in columns]
        if left:
            told = ", ".join(f"{name} {_score(one['scores'][name])}" for name in left)
            yield from textwrap.wrap(
                f"{words.more} {told}", WIDTH, initial_indent=" " * 5, subsequent_indent=" " * 5
            )


def _summed(one: Mapping[str, Any]) -> dict[str, Any]:
    """With its final score among the others, all boosts as one, and its heading in the title."""
    boosts = [value for name, value in one["scores"].items() if name.startswith("boost.")]
    scores = {name: v for name, v in one["scores"].items() if not name.startswith("boost.")}
    scores["score"] = one["score"]
    if boosts:
        scores["boosts"] = sum(boosts)
    title = " › ".join((one["title"], *one["heading"][-1:]))
    return {**one, "scores": scores, "title": title}


def _score_names(found: Sequence[Mapping[str, Any]]) -> list[str]:
    named = dict.fromkeys(name for one in found for name in one["scores"])
    return [name for name in _ORDER if name in named] + [n for n in named if n not in _ORDER]


def _fate(one: Mapping[str, Any], words: _Words, below: str) -> str:
    """`below` is said of what no step is known to have taken away."""
    if one["kept"] is not None:
        return f"[{one['kept']}]"
    return words.removed.format(one["removed_by"]) if one["removed_by"] else below


def _score(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _removed(explain: Mapping[str, Any], words: _Words) -> str:
    told = [
        words.cut.format(step["strategy"], step["removed"], step["in"])
        + (f" ({step['fault']})" if step.get("fault") else "")
        for step in explain["strategies"]
        if step["removed"] or step.get("fault")
    ]
    if not explain["strategies"]:
        told = [f"{name} {count}" for name, count in explain["removed"].items() if count]
    return "; ".join(told) or words.none


def _conditions(found: Sequence[Mapping[str, Any]], words: _Words) -> Iterator[str]:
    if not found:
        return
    yield words.conditions.format(found[0]["documents"])
    for one in found:
        noun = "文档" if words is _ZH else "document" if one["more"] == 1 else "documents"
        told = (
            words.without.format(one["condition"], one["more"], noun)
            if one["more"]
            else words.same.format(one["condition"])
        )
        yield from wrapped(told, "  ", "      ")


def _milliseconds(timings: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {ms:.1f}" for name, ms in timings.items())


def _labelled(words: _Words, label: str, text: str) -> Iterator[str]:
    wide = max(width(one) for one in words.labels.values()) + 2
    yield from wrapped(text, padded(words.labels[label], wide), " " * wide)


def wrapped(text: str, first: str, indent: str) -> Iterator[str]:
    """The text in lines of at most WIDTH columns, wide characters counted as two."""
    line, used = first, width(first)
    for word in _pieces(text):
        if used + width(word.rstrip()) > WIDTH and used > width(indent):
            yield line.rstrip()
            line, used = indent, width(indent)
        line, used = line + word, used + width(word)
    yield line.rstrip()


def _pieces(text: str) -> Iterator[str]:
    """Words with the white space behind them; wide characters one by one, and of what is too
    long for a line its parts.
    """
    word = ""
    for ch in text:
        word += ch
        if ch.isspace() or width(ch) > 1 or len(word) >= WIDTH // 2:
            yield word
            word = ""
    if word:
        yield word


def width(text: str) -> int:
    """Columns that a text takes in a terminal."""
    return sum(
        0 if unicodedata.combining(ch) else 2 if unicodedata.east_asian_width(ch) in "WF" else 1
        for ch in text
    )


def padded(text: str, columns: int) -> str:
    """The text in so many columns, cut where it is longer."""
    flat = " ".join(text.split())
    if width(flat) > columns:
        while flat and width(flat) > columns - 1:
            flat = flat[:-1]
        flat += "…"
    return flat + " " * (columns - width(flat))
