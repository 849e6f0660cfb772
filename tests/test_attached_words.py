"""Keywords and questions that an author attached to a document find it, on a real Milvus Lite."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.ingest.options import IngestOptions
from agent.ingest.pipeline import Ingest
from agent.store.catalog import MilvusCatalog
from agent.store.connection import Connection
from agent.store.library import MilvusLibrary
from agent.store.search import MilvusSearcher
from graph.ports import Found, Query
from schemas.check import bind
from schemas.filters import EVERYTHING, parse_filter
from tests.fakes_ingest import CountingEmbedder
from tests.store_engine import ALL, DIMENSION, MODEL, HashEmbedder, served_lite

pytestmark = pytest.mark.lite

KB = "attached"
FRONT_MATTER = """---
title: Reserves
important_kwd: [zanzibar, 应急储备]
question_kwd:
  - How long does the quokka allowance last?
  - 储备金多久补充一次？
---

# Reserves

The first section says little.

# More

Nor does the second.
"""
RECORDS = [
    {"title": "A", "text": "Nothing of note.", "important_kwd": ["wombat"], "question_kwd": []},
    {"title": "B", "text": "Nothing either.", "question_kwd": ["Who feeds the axolotl?"]},
    {"title": "C", "text": "A plain record.", "keywords": "narwhal; 独角鲸"},
]


class Embedder(CountingEmbedder):
    """Under the name of the one that embeds the questions."""

    name = MODEL


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("files")
    (folder / "reserves.md").write_text(FRONT_MATTER, encoding="utf-8")
    (folder / "records.json").write_text(json.dumps(RECORDS), encoding="utf-8")
    with served_lite(tmp_path_factory.mktemp("lite")) as address:
        asyncio.run(_fill(address, folder))
        yield address


async def _fill(uri: str, folder: Path) -> None:
    connection = Connection(uri)
    library = MilvusLibrary(connection, now=lambda: dt.datetime.now(dt.UTC))
    embedder = Embedder(size=DIMENSION)
    report = await Ingest(library, embedder, IngestOptions()).run(KB, [folder])
    assert not report.failed
    await connection.close()


async def search(uri: str, text: str, filter_: object = None, terms: str = "") -> Found:
    connection = Connection(uri)
    collection = await MilvusCatalog(connection).describe(KB, ALL)
    wanted = bind(parse_filter(filter_) if filter_ else EVERYTHING, collection)
    searcher = MilvusSearcher(connection, HashEmbedder())
    found = await searcher.search(Query(KB, text, wanted, terms=terms), ALL)
    await connection.close()
    return found


def by_text(found: Found) -> set[tuple[str, int]]:
    """Title and number of the passages that the full text leg found."""
    return {
        (hit.passage.title, hit.passage.chunk_index)
        for hit in found.hits
        if hit.scores.get("bm25", 0) > 0
    }


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("zanzibar", {("Reserves", 0), ("Reserves", 1)}),
        ("应急储备", {("Reserves", 0), ("Reserves", 1)}),
        ("quokka allowance", {("Reserves", 0), ("Reserves", 1)}),
        ("储备金", {("Reserves", 0), ("Reserves", 1)}),
        ("wombat", {("A", 0)}),
        ("axolotl", {("B", 0)}),
        ("narwhal", {("C", 0)}),
        ("独角鲸", {("C", 0)}),
        ("platypus", set()),
    ],
)
async def test_attached_words_are_searched_with_every_passage(
    uri: str, asked: str, expected: set[tuple[str, int]]
) -> None:
    assert by_text(await search(uri, asked)) == expected


async def test_further_terms_go_to_the_full_text_leg(uri: str) -> None:
    assert by_text(await search(uri, "platypus", terms="wombat axolotl")) == {("A", 0), ("B", 0)}


async def test_attached_words_stay_fields_and_stay_out_of_the_shown_text(uri: str) -> None:
    keyed = {"op": "contains", "field": "important_kwd", "value": "Zanzibar"}
    hits = (await search(uri, "", keyed)).hits
    assert {hit.passage.title for hit in hits} == {"Reserves"}
    assert all("zanzibar" not in hit.passage.text for hit in hits)
    assert hits[0].passage.metadata["important_kwd"] == ["zanzibar", "应急储备"]
