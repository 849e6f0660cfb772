"""A large collection that somebody else made: described from a part of it, and said so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pymilvus import DataType, MilvusClient

from agent.store.catalog import FOREIGN_ROWS, MilvusCatalog
from schemas.access import Scope
from schemas.filters import parse_filter
from tests.store_engine import ALL, WatchedConnection, served_lite

pytestmark = pytest.mark.lite

ROWS = 100_000
BATCH = 10_000
DIMENSION = 8
SCAN_CALLS = 10
"""A scan of everything would need more queries, or larger ones."""


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served_lite(tmp_path_factory.mktemp("lite")) as address:
        client = MilvusClient(address)
        schema = client.create_schema()
        schema.add_field("pk", DataType.INT64, is_primary=True)
        schema.add_field("text", DataType.VARCHAR, max_length=100)
        schema.add_field("team", DataType.VARCHAR, max_length=20)
        schema.add_field("pages", DataType.INT64)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=DIMENSION)
        index = client.prepare_index_params()
        index.add_index("vector", index_type="FLAT", metric_type="COSINE")
        client.create_collection("large", schema=schema, index_params=index)
        for start in range(0, ROWS, BATCH):
            client.insert("large", [made(number) for number in range(start, start + BATCH)])
        client.close()
        yield address


def made(number: int) -> dict[str, object]:
    return {
        "pk": number,
        "text": f"a passage of text with the number {number}",
        "team": ("red", "blue", "green")[number % 3],
        "pages": number % 40,
        "vector": [1.0] * DIMENSION,
    }


async def test_a_large_foreign_collection_is_not_scanned_whole(uri: str) -> None:
    connection = WatchedConnection(uri)
    catalog = MilvusCatalog(connection)
    found = await catalog.describe("large", ALL)
    team = found.field("team").profile
    assert team is not None
    assert not team.complete
    assert team.distinct is None
    assert FOREIGN_ROWS <= team.rows < ROWS // 5
    assert set(found.field("team").values) == {"red", "blue", "green"}
    queries = [given for method, given in connection.calls if method == "query"]
    assert 1 <= len(queries) <= SCAN_CALLS

    connection.calls.clear()
    assert await catalog.describe("large", ALL) is found
    assert "query" not in {method for method, _ in connection.calls}

    reds = Scope(filter=parse_filter({"op": "eq", "field": "team", "value": "red"}))
    visible = await catalog.describe("large", reds)
    assert visible.field("team").values == ("red",)
    assert visible.version != found.version
    assert await catalog.describe("large", ALL) is found

    client = MilvusClient(uri)
    client.insert("large", [made(ROWS)])
    client.close()
    assert (await catalog.describe("large", ALL)).version != found.version
