"""Files of other programs go into a real Milvus Lite, and filters on their metadata find them."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agent.ingest.options import IngestOptions
from agent.ingest.pipeline import Ingest
from agent.ingest.report import IngestReport
from agent.store.bases import Bases
from agent.store.connection import Connection
from agent.store.documents import MilvusDocuments
from agent.store.library import MilvusLibrary
from tests.fakes_ingest import CountingEmbedder
from tests.store_engine import ALL, bound, served_lite

pytestmark = pytest.mark.lite

FILES = Path(__file__).parent / "files"
KB = "samples"


class Shelf:
    """All samples in one knowledge base, and what taking them in reported."""

    def __init__(self, connection: Connection, report: IngestReport) -> None:
        self.connection = connection
        self.report = report

    async def found(self, filter_: object) -> set[str]:
        catalogue = (await Bases(self.connection).own(KB)).catalogue
        asked = bound(catalogue.collection, filter_)
        documents = await MilvusDocuments(self.connection).list(KB, ALL, asked)
        return {document.id for document in documents}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shelf(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shelf]:
    with served_lite(tmp_path_factory.mktemp("lite")) as uri:
        connection = Connection(uri)
        library = MilvusLibrary(connection, now=lambda: dt.datetime.now(dt.UTC))
        ingest = Ingest(library, CountingEmbedder(size=8), IngestOptions())
        yield Shelf(connection, await ingest.run(KB, [FILES]))
        await connection.close()


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("filter_", "expected"),
    [
        ({"op": "eq", "field": "author", "value": "HR team"}, {"handbook.pdf"}),
        ({"op": "contains", "field": "keywords", "value": "home office"}, {"handbook.pdf"}),
        ({"op": "eq", "field": "Code", "value": "0123"}, {"excel.csv#1", "staff.xlsx#Policies!2"}),
        ({"op": "eq", "field": "部门", "value": "人力资源部"}, {"gb18030.csv#1"}),
        ({"op": "ge", "field": "发布日期", "value": "2024-01-10"}, {"gb18030.csv#2"}),
        ({"op": "eq", "field": "author.team", "value": "HR"}, {"jq.json#1"}),
        ({"op": "contains", "field": "tags", "value": "pay"}, {"pandas.jsonl#2"}),
        ({"op": "lt", "field": "year", "value": 2024}, {"pandas.jsonl#2"}),
        (
            {"op": "eq", "field": "department", "value": "hr"},
            {"python-markdown.html", "sphinx.html"},
        ),
        ({"op": "eq", "field": "published", "value": "2024-01-05"}, {"python-markdown.html"}),
        ({"op": "gt", "field": "Pages", "value": 10}, {"staff.xlsx#Policies!2"}),
    ],
)
async def test_metadata_of_every_kind_of_file_finds_it(
    shelf: Shelf, filter_: object, expected: set[str]
) -> None:
    assert await shelf.found(filter_) == expected


@pytest.mark.asyncio(loop_scope="module")
async def test_what_has_no_text_is_told(shelf: Shelf) -> None:
    reasons = {one.file: one.reason for one in shelf.report.failed}
    assert reasons["scanned.pdf"] == "no text, 3 pages"
    assert "encrypted" in reasons["encrypted.pdf"]
    assert set(reasons) == {"scanned.pdf", "encrypted.pdf"}
