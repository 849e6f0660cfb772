"""The reference predicate and Milvus Lite select the same rows, filter by filter."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from itertools import product

import pytest

from schemas.check import bind
from schemas.collection import Column, ColumnKind, Encoding, Field, FieldType
from schemas.compile.milvus import Dialect, to_milvus
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
from tests.filter_columns import KINDS, Row
from tests.filter_shelf import Engine, Shelf, compare_many, explain, shelve
from tests.hostile import FRAGMENTS, hostile
from tests.strategies import COMPLETE, WORDS, Made

pytestmark = pytest.mark.lite

FILTERS = int(os.environ.get("FACETWISE_FUZZ_FILTERS", "5000"))
PER_COLLECTION = 120
ROWS = 60
ROUNDS = -(-FILTERS // (PER_COLLECTION * len(KINDS)))


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    from milvus_lite.server_manager import server_manager_instance
    from pymilvus import MilvusClient

    path = str(tmp_path_factory.mktemp("lite") / "filters.db")
    client = MilvusClient(path)
    yield Engine(client, Dialect.LITE)
    client.close()
    server_manager_instance.release_server(path)


@pytest.fixture(scope="module")
def seen() -> set[str]:
    """The filters that were compared so far, so that none is counted twice."""
    return set()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_predicate_and_engine_agree(engine: Engine, kind: str, seed: int, seen: set[str]) -> None:
    before = len(seen)
    compare_many(engine, kind, seed, filters=PER_COLLECTION, rows=ROWS, seen=seen)
    assert len(seen) - before == PER_COLLECTION
    assert ROUNDS * len(KINDS) * PER_COLLECTION >= FILTERS


TEXT_OPS = (
    Op.EQ, Op.NE, Op.IN, Op.NOT_IN, Op.CONTAINS, Op.NOT_CONTAINS, Op.STARTS_WITH, Op.ENDS_WITH,
)  # fmt: skip


def texts(words: Sequence[str]) -> tuple[Made, ...]:
    """The same words in our own columns and below an odd key of a dynamic field."""
    own = Column(name="s", kind=ColumnKind.VARCHAR, encoding=Encoding.FOLDED, exact="s_x")
    tags = Column(name="t", kind=ColumnKind.ARRAY, encoding=Encoding.FOLDED, joined="t_j")
    path = Column(name="$meta", kind=ColumnKind.JSON, path=('k "1"][',))
    known = {"values": tuple(words), "profile": COMPLETE}
    fields = (
        Field(name='say "it"', type=FieldType.STRING, column=own),
        Field(name="tags", type=FieldType.STRING_LIST, column=tags),
        Field(name="raw", type=FieldType.STRING, column=path).model_copy(update=known),
    )
    return tuple(Made(field, tuple(words), tuple(words)) for field in fields)


def shelf_of(engine: Engine, words: Sequence[str]) -> Shelf:
    rows: list[Row] = [{'say "it"': word, "tags": [word], "raw": word} for word in words]
    return shelve(engine, "texts", texts(words), [*rows, {}, {'say "it"': "", "tags": []}])


def test_every_string_finds_its_row_and_no_other(engine: Engine) -> None:
    """Also beside a JSON term, which changes how Lite evaluates the whole expression."""
    shelf = shelf_of(engine, WORDS)
    for word, field, op in product(WORDS, shelf.collection.by_name, TEXT_OPS):
        f = Compare(op=op, field=field, value=(word,) if op.takes_list else word)
        beside_json = AllOf(of=(f, Compare(op=Op.NOT_EMPTY, field="raw")))
        bound = bind(f if field == "tags" else beside_json, shelf.collection)
        answered, meant = shelf.answered(bound), shelf.meant(bound)
        assert answered == meant, explain(shelf, bound, answered, meant)
    shelf.drop()


def test_no_string_breaks_out(engine: Engine) -> None:
    """Each hostile text finds itself, and not the row that stands for everything else."""
    rng = random.Random(7)  # noqa: S311  # repeatable, not secret
    words = sorted({hostile(rng) for _ in range(150)} | {f"a{part}b" for part in FRAGMENTS})
    shelf = shelf_of(engine, ["bystander", *words])
    for i, word in enumerate(words, start=1):
        for field in shelf.collection.by_name:
            f = Compare(op=rng.choice((Op.EQ, Op.CONTAINS, Op.IN)), field=field, value=word)
            if f.op is Op.IN:
                f = f.model_copy(update={"value": (word,)})
            bound = bind(f, shelf.collection)
            answered, meant = shelf.answered(bound), shelf.meant(bound)
            assert answered == meant, explain(shelf, bound, answered, meant)
            assert i in answered
            assert 0 not in answered
    shelf.drop()


def test_scope_is_compared_exactly(engine: Engine) -> None:
    tenant = Column(name="o", kind=ColumnKind.VARCHAR, encoding=Encoding.FOLDED, exact="o_x")
    made = (Made(Field(name="owner", type=FieldType.STRING, column=tenant), (), ()),)
    owners = ["acme", "ACME", " acme", "acme ", "", None, "acme_1", "acmeX1", 'a"c\\me', "ac%me"]
    shelf = shelve(engine, "scopes", made, [{"owner": owner} for owner in owners])
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
    shelf.drop()


def test_missing_is_missing_in_every_form(engine: Engine) -> None:
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
    shelf = shelve(engine, "missing", made, rows)
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
    shelf.drop()


def test_the_bounds_are_within_what_the_engine_takes(engine: Engine) -> None:
    column = Column(name="n", kind=ColumnKind.INT)
    made = (Made(Field(name="n", type=FieldType.INT, column=column), (), ()),)
    shelf = shelve(engine, "bounds", made, [{"n": i} for i in range(20)])
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
    shelf.drop()
