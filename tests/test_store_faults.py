"""A store that goes away, comes back, or cannot read its own data."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.store.catalog import MilvusCatalog
from agent.store.connection import Connection, Patience
from schemas.errors import StoreDamaged, StoreUnavailable
from tests.store_engine import ALL, draft, embedded, free_port, prepared, served_lite

pytestmark = pytest.mark.lite


async def test_a_store_may_go_away_and_come_back(tmp_path: Path) -> None:
    port = free_port()
    with served_lite(tmp_path, port) as uri:
        library = await prepared(uri, "kb")
        await library.write("kb", embedded(draft("a", department="HR")))
        connection = Connection(uri, patience=Patience(attempts=2, budget=2))
        catalog = MilvusCatalog(connection)
        assert (await catalog.describe("kb", ALL)).field("department").values == ("HR",)
    with pytest.raises(StoreUnavailable, match=f"no vector store answers at .*{port}$") as caught:
        await catalog.describe("kb", ALL)
    assert caught.value.retryable
    assert caught.value.remedy
    with served_lite(tmp_path, port):
        assert (await catalog.describe("kb", ALL)).field("department").values == ("HR",)


def damage(folder: Path, pattern: str) -> int:
    """How many files were overwritten."""
    files = [path for path in folder.rglob(pattern) if path.is_file()]
    for path in files:
        path.write_bytes(b"garbage" * 20)
    return len(files)


@pytest.mark.parametrize("pattern", ["*.parquet", "manifest.json*", "schema.json"])
async def test_unreadable_data_is_said_in_one_line(tmp_path: Path, pattern: str) -> None:
    with served_lite(tmp_path) as uri:
        library = await prepared(uri, "kb")
        await library.write("kb", embedded(draft("a")))
        await library.finish("kb")
    assert damage(tmp_path, pattern)
    with served_lite(tmp_path) as uri:
        with pytest.raises(StoreDamaged, match="cannot read its data") as caught:
            await MilvusCatalog(Connection(uri)).describe("kb", ALL)
        assert "\n" not in str(caught.value)
        assert "Retry" not in str(caught.value)
        assert caught.value.remedy
