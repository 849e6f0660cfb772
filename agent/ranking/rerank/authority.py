"""How much a passage's source is to be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from schemas.collection import Collection, FieldType
from schemas.errors import FilterError
from schemas.folding import fold
from schemas.hits import Passage
from schemas.values import as_bool

OFFICIAL_NAMES = ("is_official", "official", "authoritative", "官方", "是否官方", "正式")
"""Fields that tell whether a document is official."""


class Authority:
    """1 for an official document, else the highest weight (0..1) of a pattern in `weights` that
    fits its source, such as `handbook/*`, else 0.

    `field` names the field that tells; None: the one of that sense in the collection.
    """

    def __init__(
        self,
        collections: Mapping[str, Collection],
        weights: Mapping[str, float],
        field: str | None = None,
    ) -> None:
        self._weights = weights
        self._names = {
            kb: (field,) if field else _official_fields(collection)
            for kb, collection in collections.items()
        }
        self._default = (field,) if field else OFFICIAL_NAMES

    def of(self, passage: Passage) -> float:
        names = self._names.get(passage.kb, self._default)
        if any(_is_true(passage.metadata.get(name)) for name in names):
            return 1.0
        fitting = (
            weight
            for pattern, weight in self._weights.items()
            if fnmatchcase(passage.source, pattern)
        )
        return max(fitting, default=0.0)


def _official_fields(collection: Collection) -> tuple[str, ...]:
    return tuple(
        field.name
        for field in collection.fields
        if field.type is FieldType.BOOL
        and any(fold(name) in OFFICIAL_NAMES for name in (field.name, *field.aliases))
    )


def _is_true(value: object) -> bool:
    try:
        return as_bool(value)
    except FilterError:
        return False
