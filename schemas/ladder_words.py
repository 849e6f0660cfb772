"""What was changed about a condition, in English and in Chinese."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from schemas.collection import Collection, FieldType
from schemas.compile.text import field_words, to_text
from schemas.filters import EVERYTHING, Compare, Filter, Op, leaves
from schemas.ladder_numbers import is_year
from schemas.ladder_periods import Grain, Span, span_of
from schemas.language import Language
from schemas.loosen import Rung, Unit
from schemas.periods import EPOCH

_QUARTERS_ZH = ("一", "二", "三", "四")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_LONGEST = 24
"""Characters of a value that stands before "document"."""


@dataclass(frozen=True)
class Beside:
    """What a changed condition stood beside: the other conditions of the filter, whether still
    others hold that are not among them, and how many documents met all of them.
    """

    collection: Collection
    others: tuple[Unit, ...] = ()
    more: bool = False
    before: int = 0


def told(rung: Rung, beside: Beside, language: Language) -> str:
    """A sentence part such as "no HR document of 2024; showing 2023"."""
    zh = language == "zh"
    why, now = _why(rung.unit, beside, language), _shown(rung.filter, beside, language)
    name = "、".join(map(field_words, sorted(rung.unit.fields)))
    match rung.action:
        case "nearest":
            return f"{why}，改为显示{now}" if zh else f"{why}; showing {now}"
        case "widen":
            return f"{why}，已放宽到{now}" if zh else f"{why}; widened to {now}"
        case "boost":
            return (
                f"{why}，对“{name}”的条件改为优先而非必须"
                if zh
                else f"{why}; the condition on {name} is now a preference"
            )
        case "drop":
            return (
                f"{why}，已去掉对“{name}”的条件"
                if zh
                else f"{why}; the condition on {name} was dropped"
            )
        case _:
            assert_never(rung.action)


def told_threshold(old: float, new: float, language: Language) -> str:
    if language == "zh":
        return f"没有内容达到相似度{old:g}，改为显示相似度不低于{new:g}的内容"
    return f"nothing reached a similarity of {old:g}; showing from {new:g}"


def _why(unit: Unit, beside: Beside, language: Language) -> str:
    subject, whole = _subject(beside, language)
    label = _label(unit.filter, beside.collection, language)
    zh = language == "zh"
    if zh:
        what = f"{label}的" if label else f"满足“{_text(unit.filter, beside, language)}”的"
        subject = f"{subject}文档" if whole else "、且满足其他条件的文档"
        kind = what.removesuffix("的") + subject if not whole else what + subject
        return f"{kind}只有{beside.before}篇" if beside.before else f"没有{kind}"
    what = (
        f"of {label}" if label else f"{_link(unit, beside)} {_text(unit.filter, beside, language)}"
    )
    noun = "document" if beside.before in (0, 1) else "documents"
    count = f"only {beside.before}" if beside.before else "no"
    said = " ".join(word for word in (count, subject, noun, what) if word)
    return said if whole else f"{said} that meets the other conditions"


def _link(unit: Unit, beside: Beside) -> str:
    """Bounds in days have no verb: "publish date from 2026-01-01"."""
    types = {beside.collection.field(name).type for name in unit.fields}
    return "with" if types <= set(_CALENDAR) else "where"


def _subject(beside: Beside, language: Language) -> tuple[str, bool]:
    """The other conditions as words before "document", and whether that is all of them."""
    values = [_value(unit) for unit in beside.others]
    whole = not beside.more and all(value is not None for value in values) and len(values) <= 2
    if not whole:
        return "", False
    return ("、" if language == "zh" else " ").join(value for value in values if value), True


def _value(unit: Unit) -> str | None:
    leaf = unit.filter
    if not isinstance(leaf, Compare) or leaf.op is not Op.EQ or not isinstance(leaf.value, str):
        return None
    return leaf.value if len(leaf.value) <= _LONGEST else None


def _shown(filter_: Filter, beside: Beside, language: Language) -> str:
    if filter_ == EVERYTHING:
        return ""
    label = _label(filter_, beside.collection, language)
    text = _text(filter_, beside, language)
    return label or (f"“{text}”" if language == "zh" else text)


def _text(filter_: Filter, beside: Beside, language: Language) -> str:
    return to_text(filter_, beside.collection, language)


def _label(filter_: Filter, collection: Collection, language: Language) -> str:
    """A period as people name it, with its field where another one could be meant; empty for
    anything else.
    """
    names = {leaf.field for leaf in leaves(filter_)}
    if len(names) != 1:
        return ""
    field = collection.field(names.pop())
    if field.type in _CALENDAR:
        span = span_of(Unit((filter_,)), collection)
        label = period_words(span, language) if span is not None else ""
        is_plain = len([one for one in collection.fields if one.type in _CALENDAR]) == 1
    elif isinstance(filter_, Compare) and filter_.op is Op.EQ and is_year(field, filter_.value):
        label = f"{filter_.value}年" if language == "zh" else str(filter_.value)
        is_plain = field.name.casefold() in _PLAIN_YEARS
    else:
        return ""
    if is_plain or not label:
        return label
    name = field_words(field.name)
    return f"{label}（{name}）" if language == "zh" else f"{label} ({name})"


_PLAIN_YEARS = ("year", "年", "年份", "年度")
_CALENDAR = (FieldType.DATE, FieldType.DATETIME)


def period_words(span: Span, language: Language) -> str:
    """Such as "Q3 2024"; empty where a side is open."""
    if span.start is None or span.end is None:
        return ""
    first, last = _date(span.start), _date(span.end - 1)
    words = _grain_words(first, span.grain, language)
    if words:
        return words
    if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31):
        ends: Sequence[object] = (first.year, last.year)
        return "{}年至{}年".format(*ends) if language == "zh" else "{} to {}".format(*ends)
    return f"{first}至{last}" if language == "zh" else f"{first} to {last}"


def _grain_words(first: dt.date, grain: Grain, language: Language) -> str:
    zh = language == "zh"
    year, month = first.year, first.month
    match grain:
        case Grain.YEAR:
            return f"{year}年" if zh else str(year)
        case Grain.QUARTER:
            number = (month - 1) // 3
            return f"{year}年第{_QUARTERS_ZH[number]}季度" if zh else f"Q{number + 1} {year}"
        case Grain.MONTH:
            return f"{year}年{month}月" if zh else f"{_MONTHS[month - 1]} {year}"
        case Grain.DAY:
            return f"{year}年{month}月{first.day}日" if zh else first.isoformat()
        case _:
            return ""


def _date(day: int) -> dt.date:
    return EPOCH + dt.timedelta(days=day)
