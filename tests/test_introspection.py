"""A large collection that somebody else made: described from a part of it, and said so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymilvus import DataType, MilvusClient

from agent.store.catalog import MilvusCatalog
from agent.store.foreign_rows import FOREIGN_ROWS, RANGES, ranges
from schemas.access import Scope
from schemas.filters import parse_filter
from tests.store_engine import ALL, WatchedConnection, served_lite

pytestmark = pytest.mark.lite

ROWS = 100_000
BATCH = 10_000
DIMENSION = 8
SCAN_CALLS = 2
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
        schema.add_field("decade", DataType.INT64)
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
        "decade": number // 10_000,
        "vector": [1.0] * DIMENSION,
    }


@given(
    st.integers(-(10**6), 10**18),
    st.lists(st.integers(1, 10**6), min_size=1, max_size=199),
    st.integers(FOREIGN_ROWS, 10**9),
    st.floats(1, 10**7),
)
def test_ranges_lie_apart_after_the_first_rows(
    first: int, gaps: list[int], count: int, wanted: float
) -> None:
    keys = [first + sum(gaps[:n]) for n in range(len(gaps) + 1)]
    spans = ranges(keys, count, wanted)
    last = keys[-1]
    for start, end in spans:
        assert start > last
        assert end is None or end > start
        last = end - 1 if end is not None else start
    assert [end for _, end in spans].count(None) == bool(spans)


def test_ranges_of_keys_without_gaps_hold_what_is_wanted() -> None:
    spans = ranges(range(200), ROWS, 8_000)
    sizes = [(ROWS if end is None else end) - start for start, end in spans]
    assert len(spans) == RANGES
    assert abs(sum(sizes) - 8_000) < RANGES
    assert spans[RANGES // 2][0] > ROWS * 0.4
    assert ranges([str(n) for n in range(200)], ROWS, 8_000) == []
    assert ranges([1], ROWS, 8_000) == []


async def test_a_large_foreign_collection_is_not_scanned_whole(uri: str) -> None:
    connection = WatchedConnection(uri)
    seconds = [0.0]
    catalog = MilvusCatalog(connection, profile_minutes=10, now=lambda: seconds[0])
    found = await catalog.describe("large", ALL)
    team = found.field("team").profile
    assert team is not None
    assert not team.complete
    assert team.distinct is None
    assert FOREIGN_ROWS <= team.rows < ROWS // 5
    assert set(found.field("team").values) == {"red", "blue", "green"}
    reached = found.field("decade").profile
    assert reached is not None
    assert (reached.minimum, reached.maximum) == (0, (ROWS - 1) // 10_000)
    queries = [given for method, given in connection.calls if method == "query"]
    assert 1 <= len(queries) <= SCAN_CALLS

    connection.calls.clear()
    assert await catalog.describe("large", ALL) is found
    assert "query" not in {method for method, _ in connection.calls}

    seconds[0] = 600
    again = await catalog.describe("large", ALL)
    assert "query" in {method for method, _ in connection.calls}
    assert again == found

    reds = Scope(filter=parse_filter({"op": "eq", "field": "team", "value": "red"}))
    visible = await catalog.describe("large", reds)
    assert visible.field("team").values == ("red",)
    assert visible.version != found.version
    assert await catalog.describe("large", ALL) is again

    client = MilvusClient(uri)
    client.insert("large", [made(ROWS)])
    client.close()
    assert (await catalog.describe("large", ALL)).version != found.version
