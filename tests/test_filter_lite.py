"""The reference predicate and Milvus Lite select the same rows, filter by filter."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import pytest
from pydantic import JsonValue

from schemas.check import Bound, bind
from schemas.collection import Collection, Column, ColumnKind, Encoding, Field, FieldType
from schemas.compile.list_columns import SEPARATOR
from schemas.compile.milvus import Dialect, split, to_milvus
from schemas.compile.predicate import to_predicate
from schemas.filters import (
    BOUNDS,
    NOTHING,
    AllOf,
    AnyOf,
    Compare,
    Filter,
    Not,
    Op,
    dump_filter,
)
from schemas.values import as_float32, read_row
from tests.strategies import (
    COMPLETE,
    DAYS,
    FLOATS,
    INTS,
    SINGLES,
    TIMES,
    WORDS,
    Made,
    bools,
    collection_of,
    compare_of,
    dates,
    filter_of,
    int_lists,
    letterwise,
    numbers,
    own_fields,
    row_of,
    string_lists,
    strings,
)

pytestmark = pytest.mark.lite

FILTERS = int(os.environ.get("FACETWISE_FUZZ_FILTERS", "1500"))
PER_COLLECTION = 125
ROWS = 60

Row = Mapping[str, JsonValue]


def foreign_fields(rng: random.Random) -> tuple[Made, ...]:
    """Columns as others make them: unfolded strings, dates as text or numbers, arrays."""
    f, k, e = FieldType, ColumnKind, Encoding
    title = strings("title", rng, Column(name="title", kind=k.VARCHAR))
    known = Column(name="dept", kind=k.VARCHAR, nullable=False)
    dept = strings("dept", rng, known)
    labels = string_lists("labels", rng, Column(name="labels", kind=k.ARRAY))
    every = tuple(dict.fromkeys(x for row in labels.rows for x in row))  # type: ignore[union-attr]  # lists
    years = ("1999", "2023", "2024", "2025")
    return (
        replace(title, field=_known(title.field, title.rows)),
        replace(dept, field=_known(dept.field, dept.rows)),
        letterwise("plain", rng, Column(name="plain", kind=k.VARCHAR)),
        replace(labels, field=_known(labels.field, every)),
        int_lists("codes", rng, Column(name="codes", kind=k.ARRAY)),
        numbers("single", f.NUMBER, Column(name="single", kind=k.FLOAT), SINGLES),
        numbers("rank", f.NUMBER, Column(name="rank", kind=k.INT), INTS),
        dates("iso_day", f.DATE, Column(name="iso_day", kind=k.VARCHAR, encoding=e.ISO_DAY), DAYS),
        dates("ymd", f.DATE, Column(name="ymd", kind=k.INT, encoding=e.YYYYMMDD), DAYS),
        dates("year", f.DATE, Column(name="year", kind=k.INT, encoding=e.YEAR), years),
        dates("ms_day", f.DATE, Column(name="ms_day", kind=k.INT, encoding=e.EPOCH_MS), TIMES),
        dates("s_day", f.DATE, Column(name="s_day", kind=k.INT, encoding=e.EPOCH_S), WHOLE),
        dates("s_time", f.DATETIME, Column(name="s_time", kind=k.INT, encoding=e.EPOCH_S), WHOLE),
        dates("t_day", f.DATETIME, Column(name="t_day", kind=k.INT, encoding=e.DAY_NUMBER), DAYS),
        dates("text_t", f.DATE, Column(name="text_t", kind=k.VARCHAR, encoding=e.ISO_TIME), WHOLE),
    )


WHOLE = tuple(time for time in TIMES if "." not in time)


def dynamic_fields(rng: random.Random) -> tuple[Made, ...]:
    """Paths into a JSON column and dynamic fields, some with odd names."""
    f, k, e = FieldType, ColumnKind, Encoding

    def at(*path: str, encoding: Encoding = e.EXACT) -> Column:
        return Column(name="doc", kind=k.JSON, path=path, encoding=encoding)

    title = strings("title", rng, at("a", 'q"k'))
    safe = tuple(number for number in INTS if abs(number) <= 2**53)
    return (
        replace(title, field=_known(title.field, title.rows)),
        letterwise("Pick #", rng, Column(name="$meta", kind=k.JSON, path=("Pick #",))),
        numbers("n", f.INT, at("n"), safe),
        numbers("score", f.NUMBER, Column(name="$meta", kind=k.JSON, path=("score",)), FLOATS[2:5]),
        bools("open", at("中文 key")),
        dates("day", f.DATE, at("day", encoding=e.ISO_DAY), DAYS),
        dates("t", f.DATETIME, at("t", encoding=e.EPOCH_MS), TIMES),
        string_lists("labels", rng, at("labels")),
        int_lists("codes", rng, at("a", "codes")),
        numbers("plain_int", f.INT, Column(name="plain_int", kind=k.INT), INTS),
        strings("own", rng, Column(name="own", kind=k.VARCHAR, encoding=Encoding.FOLDED)),
    )


def _known(field: Field, values: Any) -> Field:
    return field.model_copy(update={"values": tuple(values), "profile": COMPLETE})


def stored(value: JsonValue, field: Field) -> JsonValue:
    """A row's value as it stands in the field's own column, by the contract of encodings."""
    column = field.column
    assert column is not None
    keys = read_row(value, field)
    if not keys:
        return value if column.encoding is Encoding.EXACT and value in ("", []) else None
    if field.type.is_list:
        folded = column.encoding is Encoding.FOLDED or field.type is FieldType.INT_LIST
        return list(keys) if folded else value
    match column.encoding:
        case Encoding.FOLDED:
            return keys[0]
        case Encoding.EXACT if column.kind is ColumnKind.FLOAT:
            return as_float32(float(keys[0]))
        case Encoding.EXACT:
            return value if field.type is FieldType.STRING else keys[0]
        case _:
            return _stored_date(value, int(keys[0]), field)


def _stored_date(value: JsonValue, key: int, field: Field) -> JsonValue:
    assert field.column is not None
    assert isinstance(value, str)
    is_time = field.type is FieldType.DATETIME
    days = key // 86_400_000 if is_time else key
    ms = read_row(value, field.model_copy(update={"type": FieldType.DATETIME}))[0]
    match field.column.encoding:
        case Encoding.DAY_NUMBER:
            return days
        case Encoding.EPOCH_MS:
            return int(ms)
        case Encoding.EPOCH_S:
            return int(ms) // 1000
        case Encoding.YYYYMMDD:
            return int(value.replace("-", ""))
        case Encoding.YEAR:
            return int(value)
        case _:
            return value


@dataclass(frozen=True)
class Shelf:
    """A collection in the engine with the rows that it holds, by id."""

    client: Any
    name: str
    made: tuple[Made, ...]
    collection: Collection
    rows: tuple[Row, ...]

    def found(self, expression: str) -> list[int]:
        got = self.client.query(self.name, filter=expression, output_fields=["id"], limit=1_000)
        return sorted(row["id"] for row in got)

    def meant(self, bound: Bound, *, exact: bool = False) -> list[int]:
        matches = to_predicate(bound, exact=exact)
        return [i for i, row in enumerate(self.rows) if matches(row)]

    def answered(self, bound: Bound) -> list[int]:
        """What is found by the pushed part and kept by the rest."""
        parts = split(bound, Dialect.LITE)
        ids = self.found(parts.pushed)
        if parts.rest is None:
            return ids
        keeps = to_predicate(parts.rest)
        return [i for i in ids if keeps(self.rows[i])]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from milvus_lite.server_manager import server_manager_instance
    from pymilvus import MilvusClient

    path = str(tmp_path_factory.mktemp("lite") / "filters.db")
    opened = MilvusClient(path)
    yield opened
    opened.close()
    server_manager_instance.release_server(path)


def shelve(client: Any, name: str, made: tuple[Made, ...], rows: list[Row]) -> Shelf:
    schema = client.create_schema(enable_dynamic_field=True)
    schema.add_field("id", _type("INT64"), is_primary=True)
    schema.add_field("vec", _type("FLOAT_VECTOR"), dim=2)
    for column in {c.name: c for c in _columns(made)}.values():
        _add(schema, column, made)
    params = client.prepare_index_params()
    params.add_index("vec", index_type="FLAT", metric_type="COSINE")
    client.create_collection(name, schema=schema, index_params=params)
    client.insert(name, [_engine_row(i, row, made) for i, row in enumerate(rows)])
    return Shelf(client, name, made, collection_of(made, name), tuple(rows))


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
    "varchar": "VARCHAR",
    "int": "INT64",
    "float": "FLOAT",
    "double": "DOUBLE",
    "bool": "BOOL",
}


def _add(schema: Any, column: Column, made: tuple[Made, ...]) -> None:
    text = {"max_length": 2_000}
    if column.kind is ColumnKind.JSON:
        schema.add_field(column.name, _type("JSON"), nullable=True)
        return
    if column.kind is ColumnKind.ARRAY:
        field = next(each.field for each in made if each.field.column == column)
        element = "INT64" if field.type is FieldType.INT_LIST else "VARCHAR"
        length = text if element == "VARCHAR" else {}
        schema.add_field(
            column.name,
            _type("ARRAY"),
            element_type=_type(element),
            max_capacity=16,
            nullable=True,
            **length,
        )
    else:
        length = text if column.kind is ColumnKind.VARCHAR else {}
        schema.add_field(
            column.name, _type(_TYPES[column.kind]), nullable=column.nullable, **length
        )
    for companion in filter(None, (column.exact, column.joined)):
        schema.add_field(companion, _type("VARCHAR"), nullable=True, **text)


def _engine_row(i: int, row: Row, made: tuple[Made, ...]) -> dict[str, JsonValue]:
    out: dict[str, Any] = {"id": i, "vec": [1.0, float(i)]}
    for each in made:
        field, column = each.field, each.field.column
        assert column is not None
        value = row.get(field.name)
        if column.kind is ColumnKind.JSON:
            _put(out, column, field, value, is_there=field.name in row)
            continue
        cell = stored(value, field)
        out[column.name] = "" if cell is None and not column.nullable else cell
        if column.exact:
            out[column.exact] = next(iter(read_row(value, field, exact=True)), None)
        if column.joined:
            keys = [str(key) for key in read_row(value, field)]
            out[column.joined] = SEPARATOR.join(("", *keys, "")) if keys else None
    return out


def _put(
    out: dict[str, Any], column: Column, field: Field, value: JsonValue, is_there: bool
) -> None:
    if not is_there:
        return
    below = out if column.name == "$meta" else out.setdefault(column.name, {})
    for key in column.path[:-1]:
        below = below.setdefault(key, {})
    below[column.path[-1]] = stored(value, field) if value else value


def rows_of(rng: random.Random, made: tuple[Made, ...], *, blanks: bool) -> list[Row]:
    """In foreign columns only null and the empty string are missing: the engine cannot trim."""
    rows: list[Row] = [row_of(rng, made) for _ in range(ROWS)]
    if blanks:
        return rows
    return [{name: "" if value == "  " else value for name, value in row.items()} for row in rows]


KINDS = {"own": own_fields, "foreign": foreign_fields, "dynamic": dynamic_fields}
ROUNDS = max(1, FILTERS // PER_COLLECTION // len(KINDS))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_predicate_and_engine_agree(client: Any, kind: str, seed: int) -> None:
    rng = random.Random(f"{kind}{seed}")  # noqa: S311  # repeatable, not secret
    made = KINDS[kind](rng)
    shelf = shelve(client, f"{kind}_{seed}", made, rows_of(rng, made, blanks=kind == "own"))
    telling = 0
    for _ in range(PER_COLLECTION):
        f = filter_of(rng, lambda: compare_of(rng, made))
        bound = bind(f, shelf.collection)
        meant = shelf.meant(bound)
        assert shelf.answered(bound) == meant, (
            dump_filter(f) + "\n" + split(bound, Dialect.LITE).pushed
        )
        telling += 0 < len(meant) < ROWS
    assert telling > PER_COLLECTION // 3
    client.drop_collection(shelf.name)


def test_every_string_finds_its_row_and_no_other(client: Any) -> None:
    """Also beside a JSON term, which changes how Lite evaluates the whole expression."""
    own = Column(name="s", kind=ColumnKind.VARCHAR, encoding=Encoding.FOLDED, exact="s_x")
    tags = Column(name="t", kind=ColumnKind.ARRAY, encoding=Encoding.FOLDED, joined="t_j")
    made = (
        Made(Field(name='say "it"', type=FieldType.STRING, column=own), WORDS, WORDS),
        Made(Field(name="tags", type=FieldType.STRING_LIST, column=tags), WORDS, WORDS),
        Made(
            Field(
                name="raw",
                type=FieldType.STRING,
                column=Column(name="$meta", kind=ColumnKind.JSON, path=('k "1"',)),
                values=WORDS,
                profile=COMPLETE,
            ),
            WORDS,
            WORDS,
        ),
    )
    rows: list[Row] = [{'say "it"': word, "tags": [word], "raw": word} for word in WORDS]
    shelf = shelve(client, "strings", made, [*rows, {}, {'say "it"': "", "tags": []}])
    for word, field, op in product(WORDS, shelf.collection.by_name, TEXT_OPS):
        f = Compare(op=op, field=field, value=(word,) if op.takes_list else word)
        beside_json = AllOf(of=(f, Compare(op=Op.NOT_EMPTY, field="raw")))
        bound = bind(f if field == "tags" else beside_json, shelf.collection)
        assert shelf.answered(bound) == shelf.meant(bound), dump_filter(bound.root)
    client.drop_collection("strings")


TEXT_OPS = (Op.EQ, Op.NE, Op.IN, Op.NOT_IN, Op.CONTAINS, Op.NOT_CONTAINS, Op.STARTS_WITH)


def test_scope_is_compared_exactly(client: Any) -> None:
    tenant = Column(name="o", kind=ColumnKind.VARCHAR, encoding=Encoding.FOLDED, exact="o_x")
    made = (Made(Field(name="owner", type=FieldType.STRING, column=tenant), (), ()),)
    owners = ["acme", "ACME", " acme", "acme ", "", None, "acme_1", "acmeX1", 'a"c\\me', "ac%me"]
    shelf = shelve(client, "scopes", made, [{"owner": owner} for owner in owners])
    for owner in filter(None, owners):
        for f in (
            Compare(op=Op.EQ, field="owner", value=owner),
            Compare(op=Op.IN, field="owner", value=(owner,)),
            Compare(op=Op.NE, field="owner", value=owner),
            Not(of=Compare(op=Op.IN, field="owner", value=(owner, "ACME"))),
        ):
            bound = bind(f, shelf.collection)
            found = shelf.found(to_milvus(bound, Dialect.LITE, exact=True))
            assert found == shelf.meant(bound, exact=True), dump_filter(f)
    assert shelf.found(to_milvus(bind(NOTHING, shelf.collection), Dialect.LITE, exact=True)) == []
    client.drop_collection("scopes")


def test_missing_is_missing_in_every_form(client: Any) -> None:
    made = (
        Made(
            Field(
                name="color",
                type=FieldType.STRING,
                column=Column(name="$meta", kind=ColumnKind.JSON, path=("color",)),
            ),
            (),
            (),
        ),
        Made(
            Field(
                name="groups",
                type=FieldType.STRING_LIST,
                column=Column(name="groups", kind=ColumnKind.ARRAY),
            ),
            (),
            (),
        ),
    )
    rows: list[Row] = [
        {"color": "blue", "groups": ["g1"]},
        {"color": "red", "groups": ["g2", "g1"]},
        {"color": "red", "groups": ["g2"]},
        {"color": None, "groups": []},
        {"color": "", "groups": None},
        {},
    ]
    shelf = shelve(client, "missing", made, rows)
    for f, expected in (
        (Compare(op=Op.NE, field="color", value="blue"), [1, 2]),
        (Not(of=Compare(op=Op.EQ, field="color", value="blue")), [1, 2]),
        (Compare(op=Op.NOT_IN, field="color", value=()), [0, 1, 2]),
        (Compare(op=Op.IN, field="color", value=()), []),
        (Compare(op=Op.EMPTY, field="color"), [3, 4, 5]),
        (Compare(op=Op.NE, field="groups", value="g1"), [2]),
        (Compare(op=Op.NOT_CONTAINS, field="groups", value="g1"), [2]),
        (Compare(op=Op.NOT_IN, field="groups", value=("g1", "g3")), [2]),
        (Compare(op=Op.EMPTY, field="groups"), [3, 4, 5]),
        (Compare(op=Op.IN, field="groups", value=()), []),
        (Compare(op=Op.NOT_IN, field="groups", value=()), [0, 1, 2]),
    ):
        bound = bind(f, shelf.collection)
        assert shelf.meant(bound) == shelf.answered(bound) == expected, dump_filter(f)
    client.drop_collection("missing")


def test_the_bounds_are_within_what_the_engine_takes(client: Any) -> None:
    column = Column(name="n", kind=ColumnKind.INT)
    made = (Made(Field(name="n", type=FieldType.INT, column=column), (), ()),)
    shelf = shelve(client, "bounds", made, [{"n": i} for i in range(20)])
    many = tuple(range(5, 5 + BOUNDS.list_length))
    f: Filter = Compare(op=Op.IN, field="n", value=many)
    assert len(shelf.answered(bind(f, shelf.collection))) == 15
    for level in range(BOUNDS.depth - 1):
        other = Compare(op=Op.EQ, field="n", value=level)
        f = AllOf(of=(f, Not(of=other))) if level % 2 else AnyOf(of=(f, other))
        if level == BOUNDS.depth - 3:
            break
    bound = bind(f, shelf.collection)
    assert shelf.answered(bound) == shelf.meant(bound)
    client.drop_collection("bounds")
