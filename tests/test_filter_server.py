"""The reference predicate and a Milvus server select the same rows, filter by filter.

Without further ado this is the server in the `milvus` wheel (2.3.5, which has no nulls). With
MILVUS_URI, and MILVUS_TOKEN where it asks for one, it is the server there, in its own dialect.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from schemas.compile.milvus import Dialect
from tests.filter_columns import KINDS
from tests.filter_shelf import Engine, compare_many
from tests.milvus_server import milvus_server

pytestmark = pytest.mark.server

FILTERS = int(os.environ.get("FACETWISE_SERVER_FILTERS", "1500"))
PER_COLLECTION = 100
ROWS = 50
ROUNDS = -(-FILTERS // (PER_COLLECTION * len(KINDS)))


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    from pymilvus import MilvusClient

    uri = os.environ.get("MILVUS_URI")
    if uri:
        yield _opened(MilvusClient(uri, token=os.environ.get("MILVUS_TOKEN", "")))
        return
    with milvus_server(tmp_path_factory.mktemp("milvus")) as address:
        yield _opened(MilvusClient(address))


def _opened(client: object) -> Engine:
    return Engine(client, Dialect.of(client.get_server_version()))  # type: ignore[attr-defined]  # untyped


@pytest.fixture(scope="module")
def seen() -> set[str]:
    return set()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_predicate_and_server_agree(engine: Engine, kind: str, seed: int, seen: set[str]) -> None:
    before = len(seen)
    compare_many(engine, kind, seed, filters=PER_COLLECTION, rows=ROWS, seen=seen)
    assert len(seen) - before == PER_COLLECTION
    assert ROUNDS * len(KINDS) * PER_COLLECTION >= FILTERS
