"""Failures that people met with filters in other systems, each told again with other values.

The ids of the cases stand in the ids of the tests.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import JsonValue

from agent.store.catalog import MilvusCatalog
from agent.store.connection import Connection
from schemas.check import bind, check
from schemas.collection import Collection, Column, ColumnKind, Encoding, Field, FieldType
from schemas.compile import dify, ragflow
from schemas.compile.milvus import Dialect, split, to_milvus
from schemas.compile.predicate import to_predicate
from schemas.errors import FilterError
from schemas.filters import BOUNDS, EVERYTHING, Compare, Op, parse_filter
from tests.filter_shelf import Engine, Shelf, shelve
from tests.store_engine import ALL, bound, draft, embedded, prepared, served_lite
from tests.strategies import Made

F, K, E = FieldType, ColumnKind, Encoding


def made(name: str, type_: FieldType, column: Column) -> Made:
    return Made(Field(name=name, type=type_, column=column), (), ())


FOLDED = {"kind": K.VARCHAR, "encoding": E.FOLDED}
FIELDS = (
    made("path", F.STRING, Column(name="path", exact="path_x", **FOLDED)),
    made("share", F.STRING, Column(name="share", kind=K.VARCHAR)),
    made("shade", F.STRING, Column(name="$meta", kind=K.JSON, path=("shade",))),
    made("teams", F.STRING_LIST, Column(name="teams", kind=K.ARRAY, encoding=E.FOLDED, joined="j")),
    made("labels", F.STRING_LIST, Column(name="labels", kind=K.ARRAY)),
    made("due", F.DATE, Column(name="due", kind=K.VARCHAR, encoding=E.ISO_DAY)),
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    from milvus_lite.server_manager import server_manager_instance
    from pymilvus import MilvusClient

    path = str(tmp_path_factory.mktemp("reported") / "reported.db")
    client = MilvusClient(path)
    yield Engine(client, Dialect.LITE)
    client.close()
    server_manager_instance.release_server(path)


ROWS: list[dict[str, JsonValue]] = [
    {"path": "D:\\depot\\", "share": "\\\\host\\new", "shade": "teal", "teams": ["ops"]},
    {"path": "D:\\reports\\next", "share": "rate\t5%\n", "shade": "amber", "teams": []},
    {"path": "one\nand\ttwo", "share": "rateXX5", "teams": None, "due": "2023-3-7"},
    {"path": "25%more", "share": "x_y", "shade": None, "labels": ["ops", "x"], "due": "2023-03-10"},
    {"path": "25AAmore", "share": "xzy", "shade": "teal", "labels": [], "due": "unknown"},
    {"path": "k_v", "share": "", "shade": "", "labels": ["dev"], "due": "2023-03-12"},
    {"path": "kxv", "teams": ["ops", "dev"]},
]


@pytest.fixture(scope="module")
def shelf(engine: Engine) -> Shelf:
    return shelve(engine, "reported", FIELDS, ROWS)


def leaf(field: str, op: str, value: Any = None) -> dict[str, Any]:
    return {"op": op, "field": field} | ({} if value is None else {"value": value})


def negated(field: str, op: str, value: Any) -> dict[str, Any]:
    return {"op": "not", "of": leaf(field, op, value)}


@pytest.mark.lite
@pytest.mark.parametrize(
    ("filter_", "expected"),
    [
        pytest.param(leaf("path", "eq", "D:\\depot\\"), [0], id="MV-01 equal"),
        pytest.param(leaf("path", "ends_with", "\\"), [0], id="MV-01 at the end"),
        pytest.param(leaf("share", "eq", "\\\\host\\new"), [0], id="MV-01 unfolded"),
        pytest.param(leaf("path", "in", ["D:\\reports\\next"]), [1], id="MV-02 in"),
        pytest.param(leaf("path", "eq", "D:\\reports\\next"), [1], id="MV-02 equal"),
        pytest.param(leaf("path", "contains", "\\n"), [1], id="MV-02 contains"),
        pytest.param(leaf("path", "eq", "one\nand\ttwo"), [2], id="MV-04 folded"),
        pytest.param(leaf("share", "eq", "rate\t5%\n"), [1], id="MV-04 unfolded"),
        pytest.param(leaf("path", "contains", "25%m"), [3], id="MV-05 percent"),
        pytest.param(leaf("path", "contains", "k_"), [5], id="MV-05 underline"),
        pytest.param(leaf("share", "contains", "x_"), [3], id="MV-05 unfolded"),
        pytest.param(leaf("path", "not_contains", "%"), [0, 1, 2, 4, 5, 6], id="MV-05 negated"),
        pytest.param(leaf("shade", "ne", "teal"), [1], id="MV-07 not equal"),
        pytest.param(negated("shade", "eq", "teal"), [1], id="MV-07 negated"),
        pytest.param(
            {"op": "or", "of": [leaf("shade", "ne", "teal"), leaf("shade", "empty")]},
            [1, 2, 3, 5, 6], id="MV-07 or empty",
        ),
        pytest.param(leaf("teams", "not_in", ["dev"]), [0], id="MV-08 joined"),
        pytest.param(leaf("labels", "not_in", ["ops"]), [5], id="MV-08 array"),
        pytest.param(leaf("teams", "in", []), [], id="MV-09 in nothing"),
        pytest.param(leaf("labels", "not_in", []), [3, 5], id="MV-09 not in nothing"),
        pytest.param(leaf("labels", "empty"), [0, 1, 2, 4, 6], id="MV-09 empty"),
        pytest.param(leaf("shade", "in", ["teal", "amber"]), [0, 1, 4], id="MV-11"),
        pytest.param(leaf("due", "ge", "2023-03-10"), [3, 5], id="MV-20 text dates"),
        pytest.param(leaf("due", "empty"), [0, 1, 2, 4, 6], id="MV-20 no dates"),
    ],
)  # fmt: skip
def test_engine_and_predicate_give(shelf: Shelf, filter_: Any, expected: list[int]) -> None:
    known = {"share": [row.get("share") for row in ROWS]}
    assert known
    found = bind(parse_filter(filter_), shelf.collection)
    assert shelf.meant(found) == expected
    assert shelf.answered(found) == expected


@pytest.mark.lite
@pytest.mark.parametrize("seed", [pytest.param(seed, id=f"MV-08 {seed}") for seed in range(3)])
def test_none_of_agrees_on_any_rows(engine: Engine, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311  # repeatable, not secret
    names = ("a", "b", "B", "ä")
    pool: tuple[JsonValue, ...] = (None, [], [""], ["a"], ["b", "a"], ["B"], ["ä", ""])
    rows = [
        {f: rng.choice(pool) for f in ("teams", "labels") if rng.random() < 0.8} for _ in range(40)
    ]
    held = shelve(engine, f"none_of_{seed}", FIELDS, rows)
    known = held.collection.field("labels").model_copy(update={"values": names})
    fields = tuple(known if f.name == "labels" else f for f in held.collection.fields)
    c = held.collection.model_copy(update={"fields": fields})
    for field in ("teams", "labels"):
        for value in (["a"], ["b", "ä"], []):
            f = bind(parse_filter(leaf(field, "not_in", value)), c)
            assert held.answered(f) == held.meant(f)
    held.drop()


@pytest.mark.parametrize("dialect", [pytest.param(d, id=f"MV-01 MV-04 {d}") for d in Dialect])
def test_literals_have_one_form_everywhere(dialect: Dialect) -> None:
    c = Collection(name="c", fields=tuple(each.field for each in FIELDS))
    f = bind(parse_filter(leaf("share", "eq", 'D:\\a"\n\t')), c)
    assert to_milvus(f, dialect) == r'(share == "D:\\a\"\n\t")'


@pytest.mark.parametrize("dialect", [pytest.param(d, id=f"MV-22 {d}") for d in Dialect])
def test_joins_are_lower_case_and_in_parentheses(dialect: Dialect) -> None:
    c = Collection(
        name="c",
        fields=tuple(
            Field(name=name, type=F.INT, column=Column(name=name, kind=K.INT, nullable=False))
            for name in ("grade", "size")
        ),
    )
    a, b, d = leaf("grade", "eq", 3), leaf("size", "gt", 0), leaf("size", "lt", 0)
    f = {"op": "OR", "of": [a, {"op": "AND", "of": [b, d]}]}
    text = "((grade == 3) or ((size > 0) and (size < 0)))"
    assert to_milvus(bind(parse_filter(f), c), dialect) == text


def test_raw_expressions_are_no_filters() -> None:
    """MV-22: text of callers is never passed through."""
    with pytest.raises(FilterError, match="a filter is an object"):
        parse_filter("grade == 3 OR size > 0")


def nested(levels: int, word: str) -> Any:
    inner: Any = leaf("path", "not_empty")
    for _ in range(levels):
        inner = {"op": word, "of": [inner, leaf("path", "empty")] if word == "or" else [inner]}
    return inner


def test_groups_of_one_are_flattened_however_deep() -> None:
    """MV-23"""
    assert parse_filter(nested(500, "and")) == parse_filter(leaf("path", "not_empty"))


def test_depth_is_bounded_with_a_message() -> None:
    """MV-23"""
    with pytest.raises(FilterError, match=f"deeper than {BOUNDS.depth} levels"):
        parse_filter(nested(200, "or"))


NAME = Field(name="writer", type=F.STRING)
WIRES = Collection(name="w", fields=(NAME, Field(name="issued", type=F.DATE)))


def condition(name: Any, op: str, value: Any = None) -> dict[str, Any]:
    written = {"name": name, "comparison_operator": op}
    return {"conditions": [written if value is None else {**written, "value": value}]}


def kept(body: Any, rows: list[dict[str, Any]]) -> list[bool]:
    found = [module.import_condition(body) for module in (dify, ragflow)]
    assert found[0] == found[1]
    return [to_predicate(bind(found[0], WIRES))(row) for row in rows]


@pytest.mark.parametrize("glyph", [pytest.param(g, id=f"CP-02 {g}") for g in ("≥", ">=", "gte")])
def test_glyphs_mean_the_same(glyph: str) -> None:
    rows = [{"issued": "2021-06-30"}, {"issued": "2021-07-01"}, {}]
    assert kept(condition("issued", glyph, "2021-07-01"), rows) == [False, True, False]


def test_contains_looks_into_the_value() -> None:
    """CP-03"""
    rows = [{"writer": "Marta Kern"}, {"writer": "Ma"}]
    assert kept(condition("writer", "contains", "Mart"), rows) == [True, False]
    assert kept(condition("writer", "in", ["Ma", "Mart"]), rows) == [False, True]


@pytest.mark.parametrize(
    ("body", "meant"),
    [
        pytest.param(None, EVERYTHING, id="CP-05 absent"),
        pytest.param(
            condition(["kind", "topic"], "contains", "ML"),
            parse_filter({"op": "or", "of": [leaf("kind", "contains", "ML"),
                                             leaf("topic", "contains", "ML")]}),
            id="CP-05 list of names",
        ),
        pytest.param(
            condition("kind", "in", ["ML", "NLP"]),
            parse_filter(leaf("kind", "in", ["ML", "NLP"])),
            id="CP-05 one name",
        ),
    ],
)  # fmt: skip
def test_old_and_new_forms_are_read(body: Any, meant: Any) -> None:
    assert dify.import_condition(body) == meant


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("{{#begin.unit#}}", id="CP-06 workflow variable"),
        pytest.param("{{ unit }}", id="CP-06 template"),
        pytest.param(["ok", "{{#x.y#}}"], id="CP-06 in a list"),
        pytest.param(None, id="CP-06 null"),
    ],
)
def test_a_variable_without_value_is_an_error(value: Any) -> None:
    op = "in" if isinstance(value, list) else "is"
    for module in (dify, ragflow):
        with pytest.raises(FilterError, match=r"conditions\[0\].*'unit'"):
            module.import_condition(condition("unit", op, value))


def test_empty_and_not_empty_part_the_rows() -> None:
    """CP-07"""
    values: tuple[Any, ...] = ("", None, "b", [], "  ")
    rows: list[dict[str, Any]] = [*({"writer": value} for value in values), {}]
    missing = kept(condition("writer", "empty"), rows)
    assert missing == [True, True, False, True, True, True]
    assert kept(condition("writer", "not empty"), rows) == [not each for each in missing]


ODD = ("or", "exists", "last-seen", "unit name", "x.y", "is", 'say "x"', "$kind", "编号")


@pytest.mark.lite
async def test_any_key_is_a_field(tmp_path: Any) -> None:
    """SC-05"""
    fields = [Field(name=name, type=F.STRING) for name in ODD]
    with served_lite(tmp_path) as uri:
        library = await prepared(uri, "odd", fields=(*fields, *ACCESS))
        await library.write("odd", embedded(*(draft(f"d{i}", ("t",), (), **{name: f"v{i}"})
                                              for i, name in enumerate(ODD))))  # fmt: skip
        await library.finish("odd")
        c = await MilvusCatalog(Connection(uri)).describe("odd", ALL)
        assert set(ODD) <= set(c.by_name)
        for i, name in enumerate(ODD):
            column = c.field(name).column
            assert column is not None
            assert await count(uri, bound(c, leaf(name, "eq", f"V{i}"))) == 1
            assert column.name in split(bound(c, leaf(name, "eq", "x")), Dialect.LITE).pushed


@pytest.mark.lite
async def test_a_rare_value_at_the_end_is_known(tmp_path: Any) -> None:
    """SC-01: more documents than one page holds, one value in the last of them only."""
    many = 8_300
    drafts = [
        draft(f"d{i:05d}", ("t",), unit="rare" if i >= many - 3 else f"unit {i % 7}")
        for i in range(many)
    ]
    with served_lite(tmp_path) as uri:
        fields = (Field(name="unit", type=F.STRING), *ACCESS)
        library = await prepared(uri, "big", fields=fields)
        for start in range(0, many, 2_000):
            await library.write("big", embedded(*drafts[start : start + 2_000]))
        await library.finish("big")
        c = await MilvusCatalog(Connection(uri)).describe("big", ALL)
        unit = c.field("unit")
        assert "rare" in unit.values
        assert unit.profile is not None
        assert (unit.profile.complete, unit.profile.rows) == (True, many)
        assert await count(uri, bound(c, leaf("unit", "eq", "Rare"))) == 3


ACCESS = (Field(name="department", type=F.STRING), Field(name="tags", type=F.STRING_LIST))


async def count(uri: str, filter_: Any) -> int:
    from agent.store.search import MilvusSearcher
    from tests.store_engine import HashEmbedder

    return await MilvusSearcher(Connection(uri), HashEmbedder()).count(
        filter_.collection.name, filter_, ALL
    )


def test_unseen_values_of_a_sample_are_no_errors() -> None:
    """SC-01: where not every value is known, another one may still occur."""
    sampled = Field(name="unit", type=F.STRING, values=("north",))
    c = Collection(name="c", fields=(sampled,))
    assert check(Compare(op=Op.EQ, field="unit", value="legal"), c).problems == ()
