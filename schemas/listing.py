"""Questions that a filter answers alone: which documents, how many, how many of each kind."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import JsonValue

from schemas.model import Shape

Unit = Literal["year", "month"]


class ListingKind(StrEnum):
    LIST = "list"
    COUNT = "count"
    GROUP = "group"


class Sort(Shape):
    """`field` None is the number of documents, which only groups have."""

    field: str | None = None
    descending: bool = True


class Listing(Shape):
    """What is asked of all matching documents. `limit` is a number that the question names;
    `unit` gathers days into years or months. Documents without a sort go by id, groups by
    their size.
    """

    kind: ListingKind = ListingKind.LIST
    sort: Sort | None = None
    group: str | None = None
    unit: Unit | None = None
    limit: int | None = None


class Group(Shape):
    """Documents that share a value; None gathers those without one. A document with a list of
    values counts in the group of each.
    """

    value: JsonValue = None
    count: int


class Tally(Shape):
    """An executed listing: `total` counts every matching document, `distinct` all groups, of
    which `groups` are the first. `text` is the answer in words, with a marker [n] for each
    document shown.
    """

    total: int
    groups: tuple[Group, ...] = ()
    distinct: int = 0
    text: str = ""
