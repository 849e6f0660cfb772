"""A wish for what is recent, where no date was given: it may rank documents, never remove one."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence

from agent.planning.joins import Accepted
from graph.ports import Ask
from schemas.collection import Collection, FieldType
from schemas.filters import Op
from schemas.plan import Condition

_RECENT = re.compile(
    r"(?<!more )\b(?:recent(?:ly)?|latest|newest|up[- ]to[- ]date)\b|最近的?|近期的?|最新的?",
    re.IGNORECASE,
)
_DAYS = (FieldType.DATE, FieldType.DATETIME)
_YEAR = dt.timedelta(days=365)


def freshness(
    ask: Ask, collection: Collection, accepted: Sequence[Accepted]
) -> tuple[Condition, ...]:
    """The last 365 days as a soft condition, where the collection has one field of days that
    nothing else is said of. With several of them it is not clear which is meant.
    """
    usable = {key.name for key in ask.keys} if ask.keys else set(collection.by_name)
    days = [f.name for f in collection.fields if f.type in _DAYS and f.name in usable]
    found = _RECENT.search(ask.question)
    if found is None or len(days) != 1 or any(days[0] in one.use.fields for one in accepted):
        return ()
    since = (ask.today - _YEAR).isoformat()
    return (Condition(field=days[0], op=Op.GE, value=since, words=found.group(), hard=False),)
