"""How new a passage's document is."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping

from pydantic import JsonValue

from schemas.collection import Collection, Field, FieldType
from schemas.errors import FilterError
from schemas.folding import fold
from schemas.hits import Passage
from schemas.periods import MS_PER_DAY, day_number, parse_period
from schemas.values import read_row

SPAN_DAYS = 3650

DATE_NAMES = (
    "publish_date", "published", "published_at", "publication_date", "发布日期", "发布时间",
    "date", "日期",
    "updated", "updated_at", "modified", "last_modified", "更新日期", "更新时间",
    "effective_date", "created", "created_at", "创建日期",
)  # fmt: skip
"""Fields that tell how new a document is, the most telling first."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?=$|[T t])")


class Freshness:
    """Freshness by the date that `field` names; None: the field of that sense in the collection
    of each knowledge base.
    """

    def __init__(
        self, collections: Mapping[str, Collection], today: dt.date, field: str | None = None
    ) -> None:
        self._today = day_number(today)
        self._named = Field(name=field, type=FieldType.DATE) if field else None
        self._fields = {kb: _date_field(one, field) for kb, one in collections.items()}

    def of(self, passage: Passage) -> float | None:
        """1 today, falling to 0 over SPAN_DAYS; a date to come counts as today. None where the
        document has no date that can be read.
        """
        field = self._fields.get(passage.kb) or self._named
        if field is None:
            return None
        day = _day(passage.metadata.get(field.name), field)
        if day is None:
            return None
        return min(1.0, max(0.0, 1 - (self._today - day) / SPAN_DAYS))


def _date_field(collection: Collection, name: str | None) -> Field | None:
    """The field of this name, or of the first name in DATE_NAMES, by its own name or an alias;
    where none is called so, the only date there is.
    """
    if name is not None:
        return collection.by_name.get(name)
    dates = [
        field for field in collection.fields if field.type in (FieldType.DATE, FieldType.DATETIME)
    ]
    for known in DATE_NAMES:
        for field in dates:
            if known in map(fold, (field.name, *field.aliases)):
                return field
    return dates[0] if len(dates) == 1 else None


def _day(value: JsonValue, field: Field) -> int | None:
    """The day number of a value; the first day of a month or year, and the day of a time
    without a zone, which comparisons refuse.
    """
    keys = read_row(value, field)
    if keys:
        number = int(keys[0])
        return number // MS_PER_DAY if field.type is FieldType.DATETIME else number
    text = str(value).strip() if isinstance(value, str | int) else ""
    found = _DAY.match(text)
    try:
        return parse_period(found[0] if found else text).start
    except FilterError:
        return None
