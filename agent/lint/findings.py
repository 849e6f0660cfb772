"""One thing that is worth a look, and what would mend it."""

from __future__ import annotations

from enum import StrEnum

from schemas.model import Shape

SHOWN = 5


class Kind(StrEnum):
    """Most harmful first."""

    ACCESS_MISSING = "access_missing"
    UNREAD = "unread"
    NEAR_DUPLICATES = "near_duplicates"
    UNDATED = "undated"
    CANNOT_FILTER = "cannot_filter"
    MISSING = "missing"


class Finding(Shape):
    """`documents` are the ids of the first few of `count`; `values` those that it is about."""

    kind: Kind
    message: str
    remedy: str
    field: str | None = None
    values: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    count: int = 0
