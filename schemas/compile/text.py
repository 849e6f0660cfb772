"""Filters in words, for chips, explanations and notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

from schemas.collection import Collection, Field, FieldType
from schemas.errors import FilterError
from schemas.filters import AllOf, AnyOf, Compare, Element, Filter, Not, Op
from schemas.operators import ORDERING, SPELLINGS
from schemas.periods import Period, iso_day, parse_moment, parse_period

Language = Literal["en", "zh"]

_SHOWN = 8
"""So many elements of a list are shown, of the others their number."""


@dataclass(frozen=True)
class _Words:
    all: str
    any: str
    negated: str
    everything: str
    nothing: str
    span: str
    more: str
    none: str
    true: str
    false: str
    comma: str
    dates: Mapping[Op, str]
    lists: Mapping[Op, str]


_EN = _Words(
    all=" and ",
    any=" or ",
    negated="not ({})",
    everything="everything",
    nothing="nothing",
    span="from {} to {}",
    more=" and {} more",
    none="no value",
    true="true",
    false="false",
    comma=", ",
    dates={Op.GE: "from {}", Op.GT: "after {}", Op.LT: "before {}", Op.LE: "until {}"},
    lists={Op.EQ: "contains {}", Op.NE: "does not contain {}"},
)
_ZH = _Words(
    all=" 且 ",
    any=" 或 ",
    negated="非（{}）",
    everything="全部",
    nothing="无",
    span="从 {} 到 {}",
    more=" 等（另有 {} 个）",
    none="无值",
    true="是",
    false="否",
    comma="、",
    dates={Op.GE: "从 {} 起", Op.GT: "晚于 {}", Op.LT: "早于 {}", Op.LE: "截至 {}"},
    lists={Op.EQ: "包含 {}", Op.NE: "不包含 {}"},
)


def to_text(f: Filter, c: Collection | None = None, lang: Language = "en") -> str:
    """A sentence part such as `department is HR and publish date from 2024-01-01`.

    With the collection, ranges of ints are closed and lists worded as lists. Never an error:
    a field that the collection does not have is worded by its value.
    """
    return _Writer(c, lang).write(f)


class _Writer:
    def __init__(self, c: Collection | None, lang: Language) -> None:
        self.fields: Mapping[str, Field] = c.by_name if c is not None else {}
        self.chinese = lang == "zh"
        self.words = _ZH if self.chinese else _EN

    def write(self, f: Filter) -> str:
        match f:
            case Compare():
                return self._compare(f)
            case AllOf(of=()):
                return self.words.everything
            case AnyOf(of=()):
                return self.words.nothing
            case AllOf(of=parts):
                return self.words.all.join(self._conjunction(parts))
            case AnyOf(of=parts):
                return self.words.any.join(self._grouped(part, AllOf) for part in parts)
            case Not(of=part):
                return self._negation(part)
            case _:
                assert_never(f)

    def _conjunction(self, parts: Sequence[Filter]) -> list[str]:
        """Two comparisons of one field that make a range are told as one."""
        told: list[str] = []
        rest = list(parts)
        while rest:
            first = rest.pop(0)
            for i, other in enumerate(rest):
                if (text := self._span(first, other)) is not None:
                    told.append(text)
                    del rest[i]
                    break
            else:
                told.append(self._grouped(first, AnyOf))
        return told

    def _grouped(self, f: Filter, other: type[AllOf] | type[AnyOf]) -> str:
        text = self.write(f)
        if not isinstance(f, other) or len(f.of) < 2:
            return text
        return f"（{text}）" if self.chinese else f"({text})"

    def _negation(self, part: Filter) -> str:
        if isinstance(part, Compare):
            partner = SPELLINGS[part.op].negation
            if partner is not None and not (self._is_list(part) and part.op in ORDERING):
                return self._compare(part.model_copy(update={"op": partner}))
        return self.words.negated.format(self.write(part))

    def _compare(self, c: Compare) -> str:
        name = field_words(c.field)
        if not c.op.takes_value:
            return f"{name} {self._wording(c.op)}"
        if c.op in self.words.dates and self._is_calendar(c):
            return f"{name} {self.words.dates[c.op].format(c.value)}"
        if c.op in self.words.lists and self._is_list(c):
            return f"{name} {self.words.lists[c.op].format(self._value(c))}"
        return f"{name} {self._wording(c.op)} {self._value(c)}"

    def _wording(self, op: Op) -> str:
        return SPELLINGS[op].chinese if self.chinese else SPELLINGS[op].english

    def _value(self, c: Compare) -> str:
        if not isinstance(c.value, tuple):
            return self.words.none if c.value is None else self._element(c.value)
        if not c.value:
            return self.words.none
        shown = self.words.comma.join(map(self._element, c.value[:_SHOWN]))
        hidden = len(c.value) - _SHOWN
        return shown + (self.words.more.format(hidden) if hidden > 0 else "")

    def _element(self, value: Element) -> str:
        match value:
            case bool():
                return self.words.true if value else self.words.false
            case float():
                return str(int(value)) if value.is_integer() and abs(value) < 1e15 else str(value)
            case int():
                return str(value)
            case str():
                return value if _reads_plainly(value) else f'"{_visible(value)}"'

    def _is_list(self, c: Compare) -> bool:
        field = self.fields.get(c.field)
        return field is not None and field.type.is_list

    def _is_calendar(self, c: Compare) -> bool:
        """By the type of the field; by the form of the value where that is not known."""
        field = self.fields.get(c.field)
        if field is not None:
            return field.type in (FieldType.DATE, FieldType.DATETIME)
        return isinstance(c.value, str) and len(c.value) > 4 and _period(c.value) is not None

    def _span(self, one: Filter, other: Filter) -> str | None:
        """A lower and an upper bound of one field, as an inclusive range."""
        if not (isinstance(one, Compare) and isinstance(other, Compare)):
            return None
        low, high = (one, other) if one.op in (Op.GE, Op.GT) else (other, one)
        if low.field != high.field or low.op not in (Op.GE, Op.GT) or self._is_list(low):
            return None
        if high.op not in (Op.LT, Op.LE):
            return None
        ends = self._days(low, high) if self._is_calendar(low) else self._ints(low, high)
        if ends is None:
            return None
        return f"{field_words(low.field)} {self.words.span.format(*ends)}"

    def _days(self, low: Compare, high: Compare) -> tuple[str, str] | None:
        start, end = _period(low.value), _period(high.value)
        if start is None or end is None:
            return None
        if (low.op is Op.GT and _is_instant(start)) or (high.op is Op.LE and _is_instant(end)):
            return None
        first = start.start if low.op is Op.GE else start.end
        last = (end.start if high.op is Op.LT else end.end) - 1
        return None if first > last else (iso_day(first), iso_day(last))

    def _ints(self, low: Compare, high: Compare) -> tuple[str, str] | None:
        field = self.fields.get(low.field)
        whole = field is not None and field.type is FieldType.INT
        values = (low.value, high.value)
        if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
            return None
        if low.op is Op.GE and high.op is Op.LE:
            return self._value(low), self._value(high)
        if not (whole and isinstance(low.value, int) and isinstance(high.value, int)):
            return None
        first = low.value + (low.op is Op.GT)
        last = high.value - (high.op is Op.LT)
        return None if first > last else (str(first), str(last))


def field_words(name: str) -> str:
    """A field's name as words: `publish_date` is `publish date`."""
    return " ".join(name.replace("_", " ").split()) or name


def _period(value: object) -> Period | None:
    """The days that a value covers; none of them of the midnight before a day. None if the
    value is no date, or a time within a day.
    """
    if isinstance(value, int) and not isinstance(value, bool) and 1000 <= value <= 9999:
        value = str(value)
    if not isinstance(value, str):
        return None
    try:
        moment = parse_moment(value)
        if moment is None:
            return parse_period(value)
    except FilterError:
        return None
    midnight = moment.exact and moment.ms % 86_400_000 == 0 and value.endswith(("Z", "z"))
    return Period(moment.day, moment.day) if midnight else None


def _is_instant(period: Period) -> bool:
    return period.start == period.end


def _visible(text: str) -> str:
    return "".join(ch if ch.isprintable() else " " for ch in text)


def _reads_plainly(text: str) -> bool:
    """Whether a value needs no quotes to be told from the words around it."""
    return (
        text.isprintable()
        and text == text.strip()
        and not set(text) & set('",、()（）')
        and not {"and", "or", "not", "且", "或", "非"} & set(text.casefold().split())
    )
