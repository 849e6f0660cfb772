"""Ingest that is cut off: what is visible is whole, and the next run goes on."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from agent.app import Agent
from agent.settings import Settings
from agent.store.bases import Bases
from agent.store.catalog import MilvusCatalog
from agent.store.connection import Connection, Patience
from agent.store.documents import MilvusDocuments
from agent.store.library import MilvusLibrary
from agent.store.reading import pages
from agent.store.search import MilvusSearcher
from graph.ports import Query
from schemas.access import LOCAL
from schemas.errors import UnknownDocument
from schemas.hits import Passage
from tests.interrupted_writer import ACTIONS, DEPARTMENTS, IDS, marked
from tests.store_engine import (
    ALL,
    HashEmbedder,
    bound,
    embedded,
    free_port,
    lite_process,
    prepared,
    scoped,
    served_lite,
)
from tests.test_cli import facetwise, runtime_env

PUBLIC = scoped({"op": "eq", "field": "department", "value": "public"})

pytestmark = pytest.mark.lite

DOCUMENTS = 60
SENTENCES = 120
SMALL_BATCHES = {"FACETWISE_INGEST__WRITE_BATCH": "20", "FACETWISE_INGEST__EMBED_BATCH": "16"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents of several chunks each; the marker in the text says which version it is."""
    folder = tmp_path_factory.mktemp("many")
    write_version(folder, 1)
    return folder


def write_version(folder: Path, version: int) -> None:
    for number in range(DOCUMENTS):
        text = " ".join(
            f"Sentence {i} of document {number} in version {version}." for i in range(SENTENCES)
        )
        header = f"---\ntitle: Document {number}\naccess: public\nversion: v{version}\n---\n\n"
        (folder / f"{number:03}.md").write_text(header + text)


@pytest.fixture(scope="module")
def settings(lite_settings: Settings) -> Settings:
    return lite_settings.model_copy(update={"kb": "many"})


def cut_off(folder: Path, settings: Settings, seconds: float, kind: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "agent.cli", "ingest", str(folder), "--kb", "many"],
        env={**os.environ, **runtime_env(settings), **SMALL_BATCHES},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(seconds)
    process.send_signal(kind)
    _, stderr = process.communicate(timeout=60)
    assert "Traceback" not in stderr


def visible(settings: Settings) -> dict[str, set[str]]:
    """The versions seen in each visible document; checks that each is all there."""

    async def look() -> dict[str, set[str]]:
        async with Agent(settings) as agent:
            if "many" not in await agent.kbs():
                return {}
            store = await agent.store()
            scope = LOCAL.scope("many")
            seen: dict[str, set[str]] = {}
            for document in await agent.documents("many"):
                passages = await store.documents.passages("many", document.id, scope)
                assert len(passages) == document.chunks > 1
                assert all(passage.metadata["access"] == "public" for passage in passages)
                seen[document.id] = {str(passage.metadata["version"]) for passage in passages}
                assert all(
                    f"version {version[1:]}." in passage.text
                    for passage in passages
                    for version in seen[document.id]
                )
            return seen

    return asyncio.run(look())


@pytest.mark.parametrize(
    ("version", "kind"), [(1, signal.SIGKILL), (2, signal.SIGKILL), (3, signal.SIGINT)]
)
def test_an_interrupted_run_leaves_whole_documents_and_the_next_one_completes(
    folder: Path, settings: Settings, version: int, kind: signal.Signals
) -> None:
    write_version(folder, version)
    for seconds in (2.0, 3.0, 4.5):
        cut_off(folder, settings, seconds, kind)
        for versions in visible(settings).values():
            assert len(versions) == 1
    done = facetwise(
        *("ingest", str(folder), "--kb", "many", "--json"),
        cwd=folder,
        env=runtime_env(settings),
    )
    assert done.returncode == 0, done.stderr
    assert visible(settings) == {f"{n:03}.md": {f"v{version}"} for n in range(DOCUMENTS)}


KILLS = int(os.environ.get("FACETWISE_KILLS", "6"))
KB = "killed"


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served_lite(tmp_path_factory.mktemp("lite")) as address:
        yield address


def start_writer(uri: str, locks: Path, action: str, seed: int) -> subprocess.Popen[str]:
    """A process that writes already."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.interrupted_writer", uri, KB, str(locks), action, str(seed)],
        cwd=Path(__file__).parent.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


async def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    await asyncio.to_thread(process.communicate, timeout=30)


def assert_whole(passages: Sequence[Passage]) -> None:
    """Of each document all passages, of one version, with one set of access fields."""
    by_document: dict[str, list[Passage]] = {}
    for passage in passages:
        by_document.setdefault(passage.doc_id, []).append(passage)
    for found in by_document.values():
        metadata = found[0].metadata
        assert all(passage.metadata == metadata for passage in found)
        assert metadata["department"] in DEPARTMENTS
        version = int(str(metadata["Pick #"]))
        count = 2 + version % 5
        texts = sorted(passage.text for passage in found)
        assert texts == [f"passage {i} of {count} in version {version}" for i in range(count)]


class Onlooker:
    """Searches as long as it is let, and checks all that it finds."""

    def __init__(self, uri: str) -> None:
        connection = Connection(uri, patience=Patience(attempts=8, budget=60))
        self._catalog = MilvusCatalog(connection)
        self._searcher = MilvusSearcher(connection, HashEmbedder())
        self._documents = MilvusDocuments(connection)
        self.searches = 0

    async def look(self) -> None:
        collection = await self._catalog.describe(KB, ALL)
        query = Query(KB, "passage of version", bound(collection), 500)
        for scope in (ALL, PUBLIC):
            hits = (await self._searcher.search(query, scope)).hits
            passages = [hit.passage for hit in hits]
            assert_whole(passages)
            if scope is PUBLIC:
                assert all(passage.metadata["department"] == "public" for passage in passages)
        document = (await self._documents.list(KB, ALL, limit=1))[0]
        with contextlib.suppress(UnknownDocument):
            assert_whole(await self._documents.passages(KB, document.id, ALL))
        self.searches += 1

    async def until(self, enough: asyncio.Event) -> None:
        while not enough.is_set():
            await self.look()


async def assert_completes(uri: str, locks: Path, version: int) -> None:
    """A run after the interruption ends complete and leaves nothing of what was cut off."""
    library = MilvusLibrary(
        Connection(uri, locks=locks), now=lambda: dt.datetime.now(dt.UTC) + dt.timedelta(minutes=5)
    )
    known = await library.hashes(KB)
    await library.delete(KB, sorted(set(known) - set(IDS)))
    await library.write(KB, embedded(*(marked(id_, version, "public") for id_ in IDS)))
    await library.finish(KB)
    assert await library.hashes(KB) == {id_: f"{id_} {version}" for id_ in IDS}
    bases = Bases(Connection(uri))
    catalogue = (await bases.own(KB)).catalogue
    rows = [row async for rows in pages(bases, catalogue.chunks, "", ["doc_id"]) for row in rows]
    assert len(rows) == len(IDS) * (2 + version % 5)


async def prepare_killed(uri: str, locks: Path) -> None:
    await prepared(uri, KB)
    await assert_completes(uri, locks, 1)


@pytest.mark.parametrize("kill", range(KILLS))
async def test_a_writer_killed_while_others_search_leaves_whole_documents(
    uri: str, tmp_path: Path, kill: int
) -> None:
    rng = random.Random(kill)  # noqa: S311  # no secret is made of it
    await prepare_killed(uri, tmp_path)
    action = ACTIONS[kill % len(ACTIONS)]
    process = await asyncio.to_thread(start_writer, uri, tmp_path, action, 10 + kill)
    onlooker, enough = Onlooker(uri), asyncio.Event()
    looking = asyncio.create_task(onlooker.until(enough))
    await asyncio.sleep(rng.uniform(0.2, 1.6))
    await end(process)
    await onlooker.look()
    enough.set()
    await looking
    assert onlooker.searches > 1
    await assert_completes(uri, tmp_path, 100_000 + kill)


@pytest.mark.parametrize("kill", range(max(2, KILLS // 4)))
async def test_a_store_killed_while_it_is_written_and_searched_loses_nothing_acknowledged(
    tmp_path: Path, kill: int
) -> None:
    rng = random.Random(1_000 + kill)  # noqa: S311  # no secret is made of it
    port, data, locks = free_port(), tmp_path / "data", tmp_path / "locks"
    with lite_process(data, port) as (uri, server):
        await prepare_killed(uri, locks)
        action = ACTIONS[1 + kill % 3]
        process = await asyncio.to_thread(start_writer, uri, locks, action, 10 + kill)
        onlooker, enough = Onlooker(uri), asyncio.Event()
        looking = asyncio.create_task(onlooker.until(enough))
        await asyncio.sleep(rng.uniform(0.3, 1.6))
        server.kill()
        await asyncio.to_thread(server.wait, 30)
        with lite_process(data, port):
            await onlooker.look()
            await end(process)
            enough.set()
            await looking
            await assert_completes(uri, locks, 100_000 + kill)


async def test_processes_that_write_one_document_at_once_leave_it_whole(
    uri: str, tmp_path: Path
) -> None:
    await prepare_killed(uri, tmp_path)
    writers = [
        await asyncio.to_thread(start_writer, uri, tmp_path, action, seed)
        for seed, action in enumerate(("replace", "set", "delete"), start=3)
    ]
    onlooker, enough = Onlooker(uri), asyncio.Event()
    looking = asyncio.create_task(onlooker.until(enough))
    await asyncio.sleep(3)
    enough.set()
    await looking
    for process in writers:
        await end(process)
    await onlooker.look()
    await assert_completes(uri, tmp_path, 200_000)
