"""What a knowledge base is said to hold, and collections that somebody else made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pymilvus import DataType, MilvusClient

from agent.store.catalog import MilvusCatalog
from agent.store.connection import Connection
from agent.store.documents import MilvusDocuments
from agent.store.search import MilvusSearcher
from graph.ports import Query
from schemas.access import Scope
from schemas.collection import Encoding, FieldType
from schemas.errors import DimensionMismatch, UnknownKnowledgeBase
from tests.store_engine import (
    ALL,
    HashEmbedder,
    WatchedConnection,
    bound,
    draft,
    embedded,
    prepared,
    scoped,
    served_lite,
)

pytestmark = pytest.mark.lite


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served_lite(tmp_path_factory.mktemp("lite")) as address:
        _make_foreign(address)
        yield address


async def filled(uri: str, kb: str) -> None:
    library = await prepared(uri, kb)
    documents = (
        draft("a", department="HR", price=1.5, published="2024-03-01", tags=["x", "公开"]),
        draft("b", department="hr ", price=-2.0, published="2023-01-31", tags=["X"]),
        draft("c", department="HR", tags=["x"], final=True, pages=[3, 4]),
        draft("d", department="研发中心"),
    )
    await library.write(kb, embedded(*documents))


async def test_fields_have_types_columns_values_and_profiles(uri: str) -> None:
    await filled(uri, "profiles")
    found = await MilvusCatalog(Connection(uri)).describe("profiles", ALL)
    department = found.field("department")
    assert department.description == "who owns it"
    assert department.values == ("HR", "研发中心")
    assert department.profile is not None
    assert department.profile.top == (("HR", 3), ("研发中心", 1))
    assert (department.profile.rows, department.profile.missing) == (4, 0)
    assert department.profile.complete
    tags = found.field("tags")
    assert tags.values == ("x", "公开")
    assert tags.profile is not None
    assert (tags.profile.missing, tags.profile.distinct) == (1, 2)
    published = found.field("published").profile
    assert published is not None
    assert (published.minimum, published.maximum) == ("2023-01-31", "2024-03-01")
    price = found.field("price").profile
    assert price is not None
    assert (price.minimum, price.maximum, price.missing_share) == (-2.0, 1.5, 0.5)
    assert found.field("pages").values == (3, 4)
    assert found.field("final").values == (True,)


async def test_only_what_is_in_scope_is_told(uri: str) -> None:
    await filled(uri, "scoped")
    catalog = MilvusCatalog(Connection(uri))
    scope = scoped({"op": "eq", "field": "department", "value": "HR"})
    found = await catalog.describe("scoped", scope)
    assert found.field("department").values == ("HR",)
    assert found.field("published").values == ("2024-03-01",)
    nothing = await catalog.describe("scoped", Scope())
    assert nothing.fields == ()
    everything = await catalog.describe("scoped", ALL)
    assert everything.field("department").values == ("HR", "研发中心")


async def test_disabled_documents_are_not_told(uri: str) -> None:
    await filled(uri, "disabled")
    await MilvusDocuments(Connection(uri)).set_enabled("disabled", "d", False)
    found = await MilvusCatalog(Connection(uri)).describe("disabled", ALL)
    assert found.field("department").values == ("HR",)


async def test_profiles_are_cached_until_somebody_writes(uri: str) -> None:
    await filled(uri, "cached")
    connection = WatchedConnection(uri)
    catalog = MilvusCatalog(connection)
    first = await catalog.describe("cached", ALL)
    connection.calls.clear()
    assert await catalog.describe("cached", ALL) is first
    assert "query" not in {method for method, _ in connection.calls}

    elsewhere = await prepared(uri, "cached")
    await elsewhere.write("cached", embedded(draft("e", department="Sales")))
    second = await catalog.describe("cached", ALL)
    assert second.version != first.version
    assert "Sales" in second.field("department").values
    await elsewhere.delete("cached", ["e"])
    assert "Sales" not in (await catalog.describe("cached", ALL)).field("department").values


async def test_names(uri: str) -> None:
    await filled(uri, "names of 知识")
    catalog = MilvusCatalog(Connection(uri))
    assert "names of 知识" in await catalog.names()
    assert await catalog.foreign_names() == ("bare", "others")
    with pytest.raises(UnknownKnowledgeBase, match=r"'nix'.*'names of 知识'.*'others'"):
        await catalog.describe("nix", ALL)


FOREIGN_ROWS: list[dict[str, Any]] = [
    {
        "content": f"passage number {i} with a longer text than all the rest",
        "team": ("Red", 'Blue "x"', "red")[i % 3],
        "day": f"2024-0{i % 9 + 1}-15",
        "stamp": 20240101 + i,
        "created_at": 1_700_000_000 + 86_400 * i,
        "updated": 1_700_000_000_000 + i,
        "stock": 1_700_000_000 + i,
        "labels": ["a", f"l{i}"],
        "meta": {"level": i, "deep": {"word": f"w{i % 2}"}, "mixed": 1 if i % 2 else "one"},
        "vector": [float(i == 0), 1.0, 0.0],
        "colour": "green" if i % 2 else "blue",
    }
    for i in range(6)
]


def _make_foreign(uri: str) -> None:
    client = MilvusClient(uri)
    schema = client.create_schema(auto_id=True, enable_dynamic_field=True)
    schema.add_field("pk", DataType.INT64, is_primary=True)
    schema.add_field("content", DataType.VARCHAR, max_length=1_000)
    for name in ("team", "day"):
        schema.add_field(name, DataType.VARCHAR, max_length=100)
    for name in ("stamp", "created_at", "updated", "stock"):
        schema.add_field(name, DataType.INT64)
    schema.add_field(
        "labels",
        DataType.ARRAY,
        element_type=DataType.VARCHAR,
        max_capacity=9,
        max_length=50,
    )
    schema.add_field("meta", DataType.JSON)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=3)
    index = client.prepare_index_params()
    index.add_index("vector", index_type="FLAT", metric_type="COSINE")
    client.create_collection("others", schema=schema, index_params=index)
    client.insert("others", FOREIGN_ROWS)
    client.create_collection("bare", dimension=3)
    client.close()


async def test_a_foreign_collection_is_described_by_what_it_holds(uri: str) -> None:
    found = await MilvusCatalog(Connection(uri)).describe("others", ALL)
    guessed = {
        field.name: (field.type, field.column.encoding if field.column else None)
        for field in found.fields
    }
    assert guessed == {
        "team": (FieldType.STRING, Encoding.EXACT),
        "day": (FieldType.DATE, Encoding.ISO_DAY),
        "stamp": (FieldType.DATE, Encoding.YYYYMMDD),
        "created_at": (FieldType.DATETIME, Encoding.EPOCH_S),
        "updated": (FieldType.DATETIME, Encoding.EPOCH_MS),
        "stock": (FieldType.INT, Encoding.EXACT),
        "labels": (FieldType.STRING_LIST, Encoding.EXACT),
        "meta.level": (FieldType.INT, Encoding.EXACT),
        "meta.deep.word": (FieldType.STRING, Encoding.EXACT),
        "colour": (FieldType.STRING, Encoding.EXACT),
    }
    stamp = found.field("stamp").profile
    assert stamp is not None
    assert (stamp.minimum, stamp.maximum, stamp.rows) == ("2024-01-01", "2024-01-06", 6)
    assert stamp.complete
    assert found.field("created_at").values[0] == "2023-11-14T22:13:20Z"


async def test_a_foreign_collection_is_looked_at_again_when_that_is_old(uri: str) -> None:
    """Its number of rows tells of some changes only."""
    client = MilvusClient(uri)
    client.create_collection("aging", dimension=3)

    def replaced(number: int, team: str) -> None:
        if number:
            client.delete("aging", ids=[number])
        client.insert("aging", [{"id": number + 1, "vector": [1.0, 0.0, 0.0], "team": team}])

    replaced(0, "Red")
    seconds = [0.0]
    catalog = MilvusCatalog(Connection(uri), profile_minutes=1, now=lambda: seconds[0])
    always = MilvusCatalog(Connection(uri), profile_minutes=0, now=lambda: seconds[0])
    first = await catalog.describe("aging", ALL)
    assert (await always.describe("aging", ALL)).version == first.version
    replaced(1, "Blue")
    assert (await always.describe("aging", ALL)).field("team").values == ("Blue",)
    seconds[0] = 59.0
    assert await catalog.describe("aging", ALL) is first
    seconds[0] = 60.0
    second = await catalog.describe("aging", ALL)
    assert second.field("team").values == ("Blue",)
    assert second.version != first.version
    client.drop_collection("aging")
    client.close()


@pytest.mark.parametrize(
    ("filter_", "expected"),
    [
        ({"op": "eq", "field": "team", "value": "RED"}, {0, 2, 3, 5}),
        ({"op": "eq", "field": "team", "value": 'blue "X"'}, {1, 4}),
        ({"op": "ge", "field": "day", "value": "2024-05"}, {4, 5}),
        ({"op": "eq", "field": "stamp", "value": "2024-01-03"}, {2}),
        ({"op": "lt", "field": "created_at", "value": "2023-11-16"}, {0, 1}),
        ({"op": "contains", "field": "labels", "value": "l4"}, {4}),
        ({"op": "gt", "field": "meta.level", "value": 3}, {4, 5}),
        ({"op": "eq", "field": "meta.deep.word", "value": "W1"}, {1, 3, 5}),
        ({"op": "in", "field": "colour", "value": ["Green"]}, {1, 3, 5}),
        ({"op": "ne", "field": "colour", "value": "green"}, {0, 2, 4}),
    ],
)
async def test_a_foreign_collection_is_searched_with_filters(
    uri: str, filter_: object, expected: set[int]
) -> None:
    connection = Connection(uri)
    collection = await MilvusCatalog(connection).describe("others", ALL)
    searcher = MilvusSearcher(connection, HashEmbedder(dimension=3, name="theirs"))
    for text in ("anything", ""):
        query = Query("others", text, bound(collection, filter_), 10)
        found = await searcher.search(query, ALL)
        assert {hit.passage.metadata["meta.level"] for hit in found.hits} == expected
        assert await searcher.count("others", query.filter, ALL) == len(expected)


async def test_passages_of_a_foreign_collection(uri: str) -> None:
    connection = Connection(uri)
    collection = await MilvusCatalog(connection).describe("others", ALL)
    searcher = MilvusSearcher(connection, HashEmbedder(dimension=3))
    found = await searcher.search(Query("others", "x", bound(collection), 3), ALL)
    ids = [hit.passage.id for hit in found.hits]
    assert [p.id for p in await searcher.passages("others", ids, ALL)] == ids
    assert found.hits[0].passage.text.startswith("passage number")
    assert set(found.hits[0].scores) == {"dense", "fused"}
    scope = scoped({"op": "eq", "field": "team", "value": "Red"})
    seen = await searcher.search(Query("others", "x", bound(collection), 9), scope)
    assert {hit.passage.metadata["team"] for hit in seen.hits} == {"Red"}
    assert len(seen.hits) == 2


async def test_a_foreign_collection_of_another_dimension_is_refused(uri: str) -> None:
    connection = Connection(uri)
    collection = await MilvusCatalog(connection).describe("others", ALL)
    searcher = MilvusSearcher(connection, HashEmbedder(dimension=4))
    with pytest.raises(DimensionMismatch, match=r"'others'.* 3 dimensions.*4"):
        await searcher.search(Query("others", "x", bound(collection), 3), ALL)


async def test_an_empty_foreign_collection(uri: str) -> None:
    found = await MilvusCatalog(Connection(uri)).describe("bare", ALL)
    assert found.fields == ()
    searcher = MilvusSearcher(Connection(uri), HashEmbedder(dimension=3))
    assert (await searcher.search(Query("bare", "x", bound(found), 3), ALL)).hits == ()
