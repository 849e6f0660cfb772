"""Collections in an engine, and what it finds there beside what the predicate finds."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import JsonValue

from schemas.check import Bound, bind
from schemas.collection import Collection, Column, ColumnKind, Encoding, Field, FieldType
from schemas.compile.list_columns import SEPARATOR
from schemas.compile.milvus import Dialect, split
from schemas.compile.predicate import to_predicate
from schemas.filters import dump_filter
from schemas.values import read_row
from tests.filter_columns import KINDS, Row, rows_of
from tests.strategies import Made, collection_of, compare_of, filter_of

PAGE = 40


@dataclass(frozen=True)
class Engine:
    """A Milvus of any kind. On those without nulls something stands in every column."""

    client: Any
    dialect: Dialect

    def options(self, level: str) -> dict[str, str]:
        """A server waits for its clock at each strong query, which is needed only once."""
        return {} if self.dialect is Dialect.LITE else {"consistency_level": level}


@dataclass(frozen=True)
class Shelf:
    """A collection in the engine with the rows that it holds, by id."""

    engine: Engine
    name: str
    made: tuple[Made, ...]
    collection: Collection
    rows: tuple[Row, ...]

    def found(self, expression: str) -> list[int]:
        return [id_ for page in self._pages(expression, 1_000) for id_ in page]

    def meant(self, bound: Bound, *, exact: bool = False) -> list[int]:
        matches = to_predicate(bound, exact=exact)
        return [i for i, row in enumerate(self.rows) if matches(row)]

    def answered(self, bound: Bound, *, exact: bool = False) -> list[int]:
        """What is found by the pushed part and, page by page, kept by the rest."""
        parts = split(bound, self.engine.dialect, exact=exact)
        if parts.rest is None:
            return self.found(parts.pushed)
        keeps = to_predicate(parts.rest, exact=exact)
        pages = self._pages(parts.pushed, PAGE)
        return [id_ for page in pages for id_ in page if keeps(self.rows[id_])]

    def _pages(self, expression: str, size: int) -> Iterator[list[int]]:
        last = -1
        while True:
            after = f"({expression}) and (id > {last})" if expression else f"id > {last}"
            got = self.engine.client.query(
                self.name,
                filter=after if last >= 0 else expression,
                output_fields=["id"],
                limit=size,
                iterator="True",
                reduce_stop_for_best="True",
                **self.engine.options("Eventually"),
            )
            ids = sorted(row["id"] for row in got)
            yield ids
            if len(ids) < size:
                return
            last = ids[-1]

    def drop(self) -> None:
        self.engine.client.drop_collection(self.name)


def compare_many(
    engine: Engine, kind: str, seed: int, *, filters: int, rows: int, seen: set[str]
) -> None:
    """Make a collection and `filters` filters that are not in `seen` yet, and assert that the
    engine and the predicate find the same rows by each of them.
    """
    rng = random.Random(f"{kind}{seed}")  # noqa: S311  # repeatable, not secret
    made = KINDS[kind](rng)
    if not engine.dialect.has_nulls:
        made = tuple(map(_never_null, made))
    shelf = shelve(engine, f"{kind}_{seed}", made, rows_of(rng, made, rows))
    telling = compared = 0
    while compared < filters:
        f = filter_of(rng, lambda: compare_of(rng, made))
        text = dump_filter(f)
        if text in seen:
            continue
        seen.add(text)
        bound = bind(f, shelf.collection)
        meant, answered = shelf.meant(bound), shelf.answered(bound)
        assert answered == meant, explain(shelf, bound, answered, meant)
        compared += 1
        telling += 0 < len(meant) < rows
    assert telling > filters // 3
    shelf.drop()


def explain(shelf: Shelf, bound: Bound, answered: list[int], meant: list[int]) -> str:
    wrong = sorted(set(answered) ^ set(meant))
    parts = split(bound, shelf.engine.dialect)
    lines = [dump_filter(bound.root), parts.pushed]
    lines += [f"{'extra' if i in answered else 'missing'}: {shelf.rows[i]}" for i in wrong[:3]]
    return "\n".join(lines)


def _never_null(made: Made) -> Made:
    field = made.field
    assert field.column is not None
    column = field.column.model_copy(update={"nullable": False})
    return replace(made, field=field.model_copy(update={"column": column}))


def shelve(engine: Engine, name: str, made: tuple[Made, ...], rows: Sequence[Row]) -> Shelf:
    client = engine.client
    if client.has_collection(name):
        client.drop_collection(name)
    schema = client.create_schema(enable_dynamic_field=True)
    schema.add_field("id", _type("INT64"), is_primary=True)
    schema.add_field("vec", _type("FLOAT_VECTOR"), dim=2)
    columns = {column.name: column for column in _columns(made)}
    for column in columns.values():
        _add(schema, column, made, nulls=engine.dialect.has_nulls)
    params = client.prepare_index_params()
    params.add_index("vec", index_type="FLAT", metric_type="COSINE")
    client.create_collection(name, schema=schema, index_params=params)
    kept = tuple(row if engine.dialect.has_nulls else _without_nulls(row, made) for row in rows)
    cells = [_engine_row(i, row, made) for i, row in enumerate(kept)]
    if not engine.dialect.has_nulls:
        cells = [{**_fillers(columns), **_without_none(row)} for row in cells]
    client.insert(name, cells)
    settled = engine.options("Strong")
    there = client.query(name, filter="", output_fields=["id"], limit=1_000, **settled)
    assert len(there) == len(cells)
    return Shelf(engine, name, made, collection_of(made, name), kept)


def _type(name: str) -> Any:
    from pymilvus import DataType

    return DataType[name]


def _columns(made: tuple[Made, ...]) -> Iterator[Column]:
    for each in made:
        column = each.field.column
        assert column is not None
        if column.name != "$meta":
            yield column.model_copy(update={"path": ()})


_TYPES = {
    ColumnKind.VARCHAR: "VARCHAR",
    ColumnKind.INT: "INT64",
    ColumnKind.FLOAT: "FLOAT",
    ColumnKind.DOUBLE: "DOUBLE",
    ColumnKind.BOOL: "BOOL",
    ColumnKind.JSON: "JSON",
    ColumnKind.ARRAY: "ARRAY",
}


def _add(schema: Any, column: Column, made: tuple[Made, ...], *, nulls: bool) -> None:
    text = {"max_length": 4_000}
    allowed = {"nullable": True} if nulls else {}
    more: dict[str, Any] = dict(text) if column.kind is ColumnKind.VARCHAR else {}
    if column.kind is ColumnKind.ARRAY:
        field = next(each.field for each in made if each.field.column == column)
        is_int = field.type is FieldType.INT_LIST
        more = {"element_type": _type("INT64" if is_int else "VARCHAR"), "max_capacity": 16}
        more |= {} if is_int else text
    nullable = allowed if column.nullable or column.kind is ColumnKind.JSON else {}
    schema.add_field(column.name, _type(_TYPES[column.kind]), **nullable, **more)
    for companion in filter(None, (column.exact, column.joined)):
        schema.add_field(companion, _type("VARCHAR"), **allowed, **text)


def _engine_row(i: int, row: Row, made: tuple[Made, ...]) -> dict[str, Any]:
    out: dict[str, Any] = {"id": i, "vec": [1.0, float(i)]}
    for each in made:
        field, column = each.field, each.field.column
        assert column is not None
        value = row.get(field.name)
        if column.kind is ColumnKind.JSON:
            _put(out, column, value, is_there=field.name in row)
            continue
        cell = stored(value, field)
        out[column.name] = "" if cell is None and column.kind is ColumnKind.VARCHAR and (
            not column.nullable
        ) else cell  # fmt: skip
        keys = read_row(value, field, exact=True)
        if column.exact:
            out[column.exact] = _joined(keys) if field.type.is_list else next(iter(keys), None)
        if column.joined:
            out[column.joined] = _joined(read_row(value, field))
    return out


def _joined(keys: Sequence[object]) -> str | None:
    return SEPARATOR.join(("", *map(str, keys), "")) if keys else None


def stored(value: JsonValue, field: Field) -> JsonValue:
    """A row's value as it stands in the field's column: our own hold keys, others as given."""
    assert field.column is not None
    keys = read_row(value, field)
    match field.column.encoding:
        case Encoding.FOLDED | Encoding.DAY_NUMBER:
            return (list(keys) if field.type.is_list else keys[0]) if keys else None
        case Encoding.EPOCH_MS if isinstance(value, str):
            return keys[0] if keys else None
        case _:
            return value


def _put(out: dict[str, Any], column: Column, value: JsonValue, *, is_there: bool) -> None:
    if not is_there:
        return
    below = out if column.name == "$meta" else out.setdefault(column.name, {})
    for key in column.path[:-1]:
        below = below.setdefault(key, {})
    below[column.path[-1]] = value


_FILLERS: dict[ColumnKind, Any] = {
    ColumnKind.VARCHAR: "",
    ColumnKind.ARRAY: [],
    ColumnKind.JSON: {},
}


def _fillers(columns: dict[str, Column]) -> dict[str, Any]:
    fillers = {name: _FILLERS.get(column.kind) for name, column in columns.items()}
    for column in columns.values():
        fillers.update((name, "") for name in (column.exact, column.joined) if name)
    return fillers


def _without_none(cells: dict[str, Any]) -> dict[str, Any]:
    return {name: cell for name, cell in cells.items() if cell is not None}


def _without_nulls(row: Row, made: tuple[Made, ...]) -> Row:
    """Numbers and booleans cannot be missing where there are no nulls."""
    full = dict(row)
    for each in made:
        field, column = each.field, each.field.column
        assert column is not None
        must = column.kind in (ColumnKind.INT, ColumnKind.FLOAT, ColumnKind.DOUBLE, ColumnKind.BOOL)
        if must and stored(row.get(field.name), field) is None:
            full[field.name] = next(v for v in each.rows if stored(v, field) is not None)
    return full
