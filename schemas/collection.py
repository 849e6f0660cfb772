"""What is known about a collection: its fields, their types and values, where they are stored."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property

from pydantic import Field as Attribute

from schemas.errors import FilterError
from schemas.model import Shape

Scalar = str | int | float | bool


class FieldType(StrEnum):
    """Types of the filter language; lists hold elements of one type."""

    STRING = "string"
    INT = "int"
    NUMBER = "number"
    BOOL = "bool"
    DATE = "date"
    DATETIME = "datetime"
    STRING_LIST = "string_list"
    INT_LIST = "int_list"

    @property
    def is_list(self) -> bool:
        return self in (FieldType.STRING_LIST, FieldType.INT_LIST)

    @property
    def element(self) -> FieldType:
        """The type of one element; a scalar type is its own element."""
        match self:
            case FieldType.STRING_LIST:
                return FieldType.STRING
            case FieldType.INT_LIST:
                return FieldType.INT
            case _:
                return self


class Encoding(StrEnum):
    """How a field's values stand in its column."""

    FOLDED = "folded"  # strings after schemas.folding.fold (our own collections)
    EXACT = "exact"  # values as written: unfolded strings, numbers, booleans
    ISO_DAY = "iso_day"  # "2024-01-31" in a VARCHAR
    ISO_TIME = "iso_time"  # "2024-01-31T10:00:00Z" in a VARCHAR
    DAY_NUMBER = "day_number"  # days since 1970-01-01, INT64 (our own collections)
    YYYYMMDD = "yyyymmdd"  # 20240131, INT64
    YEAR = "year"  # 2024, INT64
    EPOCH_S = "epoch_s"
    EPOCH_MS = "epoch_ms"


class ColumnKind(StrEnum):
    """The engine's type of a column, as far as expressions differ by it."""

    VARCHAR = "varchar"
    INT = "int"
    FLOAT = "float"
    DOUBLE = "double"
    BOOL = "bool"
    ARRAY = "array"
    JSON = "json"  # a path into a JSON column or a dynamic field


class Column(Shape):
    """Where a field's values are stored in the engine.

    `name` is the physical column; for JSON kinds, `path` are the keys below it (a dynamic
    field is the column `$meta` with one key). `exact` names a companion column with the
    unfolded values, used for scope conditions; `joined` a VARCHAR with the folded elements of
    a list, each between `\\x1f` characters (see store.columns), because list operators are
    slow on Lite.
    """

    name: str
    kind: ColumnKind
    encoding: Encoding = Encoding.EXACT
    path: tuple[str, ...] = ()
    nullable: bool = True
    exact: str | None = None
    joined: str | None = None


class Profile(Shape):
    """What is known of a field's values. Shares are 0..1; counts are of documents."""

    rows: int = 0
    missing: int = 0
    distinct: int | None = None
    minimum: Scalar | None = None
    maximum: Scalar | None = None
    top: tuple[tuple[Scalar, int], ...] = ()
    complete: bool = False

    @property
    def missing_share(self) -> float:
        return self.missing / self.rows if self.rows else 0.0


class Field(Shape):
    """One facet. `values` are the known values as people write them, all of them if
    `profile.complete`; `synonyms` maps a value to other words for it. `aliases` are other names
    of the field; `default` is the word that a missing value is shown as, never a stored value.
    """

    name: str
    type: FieldType
    description: str = ""
    aliases: tuple[str, ...] = ()
    default: str = ""
    values: tuple[Scalar, ...] = ()
    synonyms: Mapping[str, tuple[str, ...]] = Attribute(default_factory=dict)
    column: Column | None = None
    profile: Profile | None = None


class Collection(Shape):
    """A knowledge base, or a described collection without a store."""

    name: str
    fields: tuple[Field, ...]
    description: str = ""
    version: str = ""

    @cached_property
    def by_name(self) -> Mapping[str, Field]:
        return {field.name: field for field in self.fields}

    def field(self, name: str) -> Field:
        """Raise FilterError naming the known fields if there is none of this name."""
        found = self.by_name.get(name)
        if found is None:
            known = ", ".join(sorted(self.by_name)) or "none"
            raise FilterError(f"unknown field {name!r} in {self.name!r}; known fields: {known}")
        return found
