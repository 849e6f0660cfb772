"""Files that divide, taken into a real Milvus Lite."""

from __future__ import annotations

import asyncio
import csv
import datetime as dt
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from agent.ingest.options import IngestOptions
from agent.ingest.pipeline import Ingest
from agent.ingest.reading import Reading
from agent.ingest.report import IngestReport
from agent.store.bases import Bases
from agent.store.connection import Connection
from agent.store.documents import MilvusDocuments
from agent.store.library import MilvusLibrary
from agent.store.reading import pages
from schemas.hits import Document
from tests.fakes_ingest import CountingEmbedder
from tests.store_engine import ALL, served_lite

pytestmark = pytest.mark.lite

HEAD = ("number", "name", "text", "year")
ANN = ("7", "Ann", "Ann writes the handbook.", "2020")
BOB = ("8", "Bob", "Bob answers the phone.", "2021")
CY = ("9", "Cy", "Cy keeps the books.", "2022")
BY_NUMBER = (Reading(match="*.csv", id="number", title="name", text=("text",)),)
BY_ROW = (Reading(match="*.csv", title="name", text=("text",)),)


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served_lite(tmp_path_factory.mktemp("lite")) as uri:
        yield uri


class Desk:
    """A CSV file, a knowledge base of its own, and what is in it."""

    def __init__(self, connection: Connection, root: Path, kb: str) -> None:
        self.connection = connection
        self.file = root / "staff.csv"
        self.kb = kb
        self.embedder = CountingEmbedder(size=8)

    def put(self, *rows: tuple[str, ...]) -> None:
        with self.file.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([HEAD, *rows])

    def library(self) -> MilvusLibrary:
        return MilvusLibrary(self.connection, now=lambda: dt.datetime.now(dt.UTC))

    async def run(self, types: tuple[Reading, ...] = BY_NUMBER) -> IngestReport:
        self.embedder.texts.clear()
        options = IngestOptions(type_map=types)
        return await Ingest(self.library(), self.embedder, options).run(self.kb, [self.file])

    async def stored(self) -> dict[str, Document]:
        documents = MilvusDocuments(self.connection)
        return {one.id: one for one in await documents.list(self.kb, ALL)}

    async def texts(self) -> list[str]:
        """Of all chunks that are stored, owned by a document or not."""
        bases = Bases(self.connection)
        chunks = (await bases.own(self.kb)).catalogue.chunks
        return sorted(
            [row["text"] async for rows in pages(bases, chunks, "", ["text"]) for row in rows]
        )


@pytest.fixture
async def desk(uri: str, tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Desk]:
    connection = Connection(uri)
    yield Desk(connection, tmp_path, request.node.name)
    await connection.close()


def ids(*keys: str) -> tuple[str, ...]:
    return tuple(f"staff.csv#{key}" for key in keys)


async def test_rows_that_come_change_and_go(desk: Desk) -> None:
    desk.put(ANN, BOB)
    assert (await desk.run()).added == ids("7", "8")
    again = await desk.run()
    assert (again.unchanged, again.chunks, desk.embedder.texts) == (ids("7", "8"), 0, [])
    desk.put(BOB, (*ANN[:3], "2030"), CY)
    report = await desk.run()
    assert (report.added, report.replaced, report.unchanged) == (ids("9"), ids("7"), ids("8"))
    assert len(desk.embedder.texts) == 2
    stored = await desk.stored()
    assert stored["staff.csv#7"].metadata["year"] == 2030
    assert stored["staff.csv#9"].title == "Cy"
    desk.put(BOB)
    report = await desk.run()
    assert (report.pruned, desk.embedder.texts) == (ids("7", "9"), [])
    assert set(await desk.stored()) == set(ids("8"))
    assert await desk.texts() == ["Bob answers the phone."]


async def test_rows_in_another_order_are_known_by_their_id_column_only(desk: Desk) -> None:
    desk.put(ANN, BOB, CY)
    await desk.run(BY_ROW)
    desk.put(CY, BOB, ANN)
    report = await desk.run(BY_ROW)
    assert (report.replaced, report.unchanged) == (ids("1", "3"), ids("2"))
    report = await desk.run(BY_NUMBER)
    assert (report.added, report.pruned) == (ids("7", "8", "9"), ids("1", "2", "3"))
    desk.put(ANN, CY, BOB)
    report = await desk.run(BY_NUMBER)
    assert (report.unchanged, report.chunks) == (ids("7", "8", "9"), 0)
    assert await desk.texts() == sorted(row[2] for row in (ANN, BOB, CY))


async def test_two_runs_at_once_leave_each_document_once(desk: Desk) -> None:
    desk.put(*((str(n), f"N{n}", f"Text of {n}.", "2020") for n in range(60)))
    options = IngestOptions(type_map=BY_NUMBER, embed_batch=5, write_chunks=5)
    runs = [Ingest(desk.library(), CountingEmbedder(size=8), options) for _ in range(2)]
    await runs[0].run(desk.kb, [desk.file])
    desk.put(*((str(n), f"N{n}", f"New text of {n}.", "2020") for n in range(60)))
    reports = await asyncio.gather(*(run.run(desk.kb, [desk.file]) for run in runs))
    assert all(not report.failed for report in reports)
    stored = await desk.stored()
    assert len(stored) == 60
    assert await desk.texts() == sorted(f"New text of {n}." for n in range(60))
    assert (await desk.run()).unchanged == tuple(sorted(stored))
