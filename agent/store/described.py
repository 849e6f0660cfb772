"""Collections that are only described: planned for and compiled for, never searched."""

from __future__ import annotations

from collections.abc import Sequence

from agent.store.names import column_name
from graph.ports import Found, Listed, Query
from schemas.access import Scope
from schemas.check import Bound
from schemas.collection import Collection, Column, ColumnKind, Encoding, Field, FieldType
from schemas.compile.literals import is_identifier
from schemas.compile.milvus import Dialect, split
from schemas.errors import UsageError
from schemas.hits import Passage
from schemas.listing import Listing

_KINDS: dict[FieldType, tuple[ColumnKind, Encoding]] = {
    FieldType.STRING: (ColumnKind.VARCHAR, Encoding.FOLDED),
    FieldType.INT: (ColumnKind.INT, Encoding.EXACT),
    FieldType.NUMBER: (ColumnKind.DOUBLE, Encoding.EXACT),
    FieldType.BOOL: (ColumnKind.BOOL, Encoding.EXACT),
    FieldType.DATE: (ColumnKind.INT, Encoding.DAY_NUMBER),
    FieldType.DATETIME: (ColumnKind.INT, Encoding.EPOCH_MS),
    FieldType.STRING_LIST: (ColumnKind.ARRAY, Encoding.FOLDED),
    FieldType.INT_LIST: (ColumnKind.ARRAY, Encoding.EXACT),
}


def as_stored(collection: Collection) -> Collection:
    """The collection with a column for each field that has none: named after the field where
    that can stand in an expression, else as our own knowledge bases name it.
    """
    return Collection(
        name=collection.name,
        fields=tuple(_with_column(field) for field in collection.fields),
        description=collection.description,
        version=collection.version,
    )


def _with_column(field: Field) -> Field:
    if field.column is not None:
        return field
    kind, encoding = _KINDS[field.type]
    column = Column(name=_column_name(field.name), kind=kind, encoding=encoding)
    return field.model_copy(update={"column": column})


def _column_name(field: str) -> str:
    return field if is_identifier(field) else column_name(field)


class DescribedCatalog:
    """The Catalog port over one described collection; as a Searcher it refuses."""

    def __init__(self, collection: Collection, dialect: str | None = None) -> None:
        self._collection = as_stored(collection)
        self._dialect = Dialect(dialect or Dialect.LITE)

    async def describe(self, kb: str, scope: Scope) -> Collection:
        return self._collection

    async def expression(self, filter_: Bound) -> str:
        return split(filter_, self._dialect).pushed

    async def search(self, query: Query, scope: Scope) -> Found:
        raise self._refused()

    async def count(self, kb: str, filter_: Bound, scope: Scope) -> int:
        raise self._refused()

    async def listing(
        self, kb: str, filter_: Bound, scope: Scope, listing: Listing, shown: int
    ) -> Listed:
        raise self._refused()

    async def passages(self, kb: str, ids: Sequence[str], scope: Scope) -> tuple[Passage, ...]:
        raise self._refused()

    def _refused(self) -> UsageError:
        return UsageError(
            f"the collection {self._collection.name!r} is only described: it holds no documents",
            remedy="name a knowledge base with --kb",
        )
