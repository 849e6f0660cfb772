"""A store that goes away, comes back, or cannot read its own data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.store.bases import Bases
from agent.store.catalog import MilvusCatalog
from agent.store.connection import Connection, Patience
from agent.store.documents import MilvusDocuments
from agent.store.layout import CATALOGUE_KEY
from agent.store.library import MilvusLibrary
from agent.store.names import base_name
from schemas.errors import (
    LayoutUnsupported,
    StoreDamaged,
    StoreUnavailable,
    UnknownKnowledgeBase,
    UsageError,
)
from tests.store_engine import (
    ALL,
    DIMENSION,
    FIELDS,
    MODEL,
    Clock,
    draft,
    embedded,
    free_port,
    prepared,
    served_lite,
)

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


def damage_one(folder: Path, kb: str, pattern: str) -> int:
    return sum(damage(path, pattern) for path in folder.rglob(f"{base_name(kb)}_*"))


@pytest.mark.parametrize("pattern", ["*.parquet", "manifest.json*", "schema.json"])
async def test_a_damaged_knowledge_base_leaves_the_others_alone(
    tmp_path: Path, pattern: str, caplog: pytest.LogCaptureFixture
) -> None:
    data, backup = tmp_path / "data", tmp_path / "bad.zip"
    with served_lite(data) as uri:
        for kb in ("bad", "good"):
            library = await prepared(uri, kb)
            await library.write(kb, embedded(draft("a", department="HR")))
            await library.finish(kb)
        await library.backup("bad", backup)
    assert damage_one(data, "bad", pattern)
    with served_lite(data) as uri:
        connection = Connection(uri, files=data)
        library, catalog = MilvusLibrary(connection, now=Clock()), MilvusCatalog(connection)
        assert await library.names() == await catalog.names() == ("good",)
        assert "cannot be used" in caplog.text
        assert (await catalog.describe("good", ALL)).field("department").values == ("HR",)
        await library.write("good", embedded(draft("b", department="Sales")))
        await library.finish("good")
        assert len(await library.hashes("good")) == 2
        with pytest.raises(UnknownKnowledgeBase, match="known: 'good'"):
            await catalog.describe("nix", ALL)
        for broken in (catalog.describe("bad", ALL), library.write("bad", embedded(draft("x")))):
            with pytest.raises(StoreDamaged) as caught:
                await broken
            assert "facetwise restore FILE --replace" in caught.value.remedy
        with pytest.raises(UsageError, match="already"):
            await library.restore_backup(backup)
        await library.restore_backup(backup, replace=True)
        assert set(await library.hashes("bad")) == {"a"}
        assert await library.names() == ("bad", "good")


async def test_a_damaged_knowledge_base_can_be_dropped(tmp_path: Path) -> None:
    with served_lite(tmp_path) as uri:
        library = await prepared(uri, "bad")
        await library.finish("bad")
    assert damage_one(tmp_path, "bad", "schema.json")
    with served_lite(tmp_path) as uri:
        library = MilvusLibrary(Connection(uri, files=tmp_path), now=Clock())
        await library.drop("bad")
        await prepared(uri, "bad")
        assert await library.hashes("bad") == {}


@pytest.mark.parametrize(("layout", "words"), [(0, "ingest its documents"), (2, "update")])
async def test_another_layout_is_refused_with_the_way_out(
    tmp_path: Path, layout: int, words: str
) -> None:
    with served_lite(tmp_path) as uri:
        library = await prepared(uri, "other")
        await library.write("other", embedded(draft("a")))
        await prepared(uri, "ours")
        bases = Bases(Connection(uri))
        catalogue = (await bases.own("other")).catalogue
        stored = json.loads(catalogue.model_dump_json()) | {"layout": layout, "shelves": ["new"]}
        properties = {CATALOGUE_KEY: json.dumps(stored)}
        await bases.connection.call(
            "alter_collection_properties", catalogue.documents, properties=properties
        )
        assert await library.names() == ("ours",)
        for refused in (
            MilvusCatalog(Connection(uri)).describe("other", ALL),
            library.write("other", embedded(draft("b"))),
            library.prepare("other", FIELDS, dimension=DIMENSION, embedding_model=MODEL),
        ):
            with pytest.raises(LayoutUnsupported, match=f"'other' has layout {layout}") as caught:
                await refused
            assert words in caught.value.remedy
        assert await bases.property_of(catalogue.documents, CATALOGUE_KEY) == json.dumps(stored)


async def test_a_catalogue_without_the_newest_attributes_is_read(tmp_path: Path) -> None:
    """What attributes came later has a default."""
    with served_lite(tmp_path) as uri:
        library = await prepared(uri, "old")
        await library.write("old", embedded(draft("a", department="HR")))
        bases = Bases(Connection(uri))
        catalogue = (await bases.own("old")).catalogue
        stored = json.loads(catalogue.model_dump_json())
        for name in ("archive", "rules", "description", "chunk_fields"):
            del stored[name]
        for field in stored["fields"]:
            for name in ("aliases", "default", "synonyms", "description"):
                field.pop(name, None)
        versions = catalogue.model_copy(update={"archive": 0})
        await bases.connection.call(
            "alter_collection_properties",
            catalogue.documents,
            properties={CATALOGUE_KEY: json.dumps(stored)},
        )
        await library.write("old", embedded(draft("a", ("new",), department="Sales")))
        assert await bases.connection.call("has_collection", versions.versions)
        collection = await MilvusCatalog(Connection(uri)).describe("old", ALL)
        assert collection.field("department").values == ("Sales",)
        assert len(await MilvusDocuments(Connection(uri)).versions("old", "a", ALL)) == 1
