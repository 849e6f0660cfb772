"""The parts of hybrid search over a real Milvus Lite: both legs, their fusion, exactness."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from agent.store.bases import Bases
from agent.store.catalog import MilvusCatalog
from agent.store.connection import Connection
from agent.store.fusion import Fusion
from agent.store.guesses import Roles
from agent.store.legs import similarities
from agent.store.questions import Questions
from agent.store.search import MilvusSearcher
from agent.store.targets import ForeignTarget
from graph.ports import Found, Query
from schemas.access import Scope
from schemas.check import bind
from schemas.collection import Collection
from schemas.compile.predicate import to_predicate
from schemas.drafts import ChunkDraft, DocumentDraft
from schemas.errors import StoreUnavailable
from schemas.filters import Filter
from tests.store_engine import (
    ALL,
    HashEmbedder,
    bound,
    draft,
    embedded,
    prepared,
    served_lite,
    vector_of,
)
from tests.test_store_search import filters

pytestmark = pytest.mark.lite

MANY = "many"
WORDED = "worded"
DEPARTMENTS = ("HR", "hr", "研发中心", 'Sales "EU"', "C:\\share\\", None)
TAGS = ("公开", "管理", "Secret", "secret", "50%off", "a_b", 'q"q')
PASSAGES = 240


def many() -> tuple[DocumentDraft, ...]:
    rng = random.Random(3)  # noqa: S311  # repeatable, not secret
    drafts = []
    for number in range(PASSAGES // 2):
        given: dict[str, Any] = {"department": rng.choice(DEPARTMENTS)}
        given["tags"] = rng.sample(TAGS, rng.randrange(3)) or None
        metadata = {name: value for name, value in given.items() if value is not None}
        drafts.append(draft(f"d{number:03}", (f"one {number}", f"two {number}"), **metadata))
    return tuple(drafts)


MANY_DRAFTS = many()
WORDED_DRAFTS = (
    DocumentDraft(
        id="leave",
        source="leave.md",
        title="Ferien und Urlaub",
        content_hash="1",
        chunks=(
            ChunkDraft(
                index=0,
                text="thirty days each year",
                heading=("Vacation entitlement",),
                embed_text="Ferien und Urlaub\nVacation entitlement\nthirty days each year",
            ),
        ),
    ),
    draft("logs", ("采集服务启动失败时先查看日志",)),
    draft("menu", ("the canteen serves soup", "and bread")),
)


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served_lite(tmp_path_factory.mktemp("lite")) as address:
        asyncio.run(_fill(address, MANY, MANY_DRAFTS))
        asyncio.run(_fill(address, WORDED, WORDED_DRAFTS))
        yield address


async def _fill(uri: str, kb: str, drafts: tuple[DocumentDraft, ...]) -> None:
    library = await prepared(uri, kb)
    await library.write(kb, embedded(*drafts))
    await library.finish(kb)


async def described(uri: str, kb: str) -> Collection:
    return await MilvusCatalog(Connection(uri)).describe(kb, ALL)


async def search(
    uri: str, kb: str, text: str, *, limit: int = 5, terms: str = "", **options: Any
) -> Found:
    searcher = MilvusSearcher(Connection(uri), HashEmbedder(), **options)
    query = Query(kb, text, bound(await described(uri, kb)), limit, terms)
    return await searcher.search(query, ALL)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(scope=filters(), asked=filters())
async def test_the_dense_leg_is_exact(uri: str, scope: Filter, asked: Filter) -> None:
    """By vectors alone the same passages, in the same order, as when all rows that the predicates
    keep are scored one by one.
    """
    collection = await described(uri, MANY)
    allowed = to_predicate(bind(scope, collection), exact=True)
    wanted = to_predicate(bind(asked, collection))
    question = np.asarray(vector_of("q"))
    best = sorted(
        (
            (-float(np.asarray(vector_of(chunk.text)) @ question), chunk.text)
            for each in MANY_DRAFTS
            if allowed(each.metadata) and wanted(each.metadata)
            for chunk in each.chunks
        ),
    )[:10]
    vectors_alone = Fusion(text=0.0, vector=1.0)
    searcher = MilvusSearcher(Connection(uri), HashEmbedder(), fusion=vectors_alone)
    found = await searcher.search(
        Query(MANY, "q", bind(asked, collection), 10), Scope(filter=scope)
    )
    assert [hit.passage.text for hit in found.hits] == [text for _, text in best]
    dense = [hit.scores["dense"] for hit in found.hits]
    assert dense == pytest.approx([-distance for distance, _ in best], abs=1e-5)


async def test_fused_scores_are_five_to_ninety_five_by_default(uri: str) -> None:
    assert (Fusion().text, Fusion().vector) == (0.05, 0.95)
    hits = (await search(uri, WORDED, "soup in the canteen")).hits
    highest = max(hit.scores["bm25"] for hit in hits)
    for hit in hits:
        dense, bm25 = hit.scores["dense"], hit.scores["bm25"]
        expected = 0.95 * (1 + dense) / 2 + 0.05 * (bm25 / highest) ** 2
        assert hit.score == pytest.approx(expected)


async def test_what_only_the_words_found_has_a_cosine_too(uri: str) -> None:
    """With far more passages than a leg returns, the best by words is far from the best by
    vectors.
    """
    text = "one 77"
    found = await search(uri, MANY, f"zzz {text.split()[1]}", limit=100, fusion=Fusion(text=1.0))
    hit = next(hit for hit in found.hits if hit.passage.text == text)
    question = np.asarray(vector_of(f"zzz {text.split()[1]}"))
    assert hit.scores["bm25"] > 0
    assert hit.scores["dense"] == pytest.approx(
        float(np.asarray(vector_of(text)) @ question), abs=1e-5
    )


WORDS_ALONE = Fusion(text=1.0, vector=0.0)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("urlaub", "leave"),
        ("ENTITLEMENT", "leave"),
        ("thirty", "leave"),
        ("启动失败", "logs"),
        ("日志", "logs"),
        ("bread", "menu"),
    ],
)
async def test_titles_headings_and_chinese_are_found_by_words(
    uri: str, asked: str, found: str
) -> None:
    first = (await search(uri, WORDED, asked, fusion=WORDS_ALONE, limit=1)).hits[0]
    assert first.passage.doc_id == found
    assert first.scores["bm25"] > 0


async def test_further_terms_join_the_words_and_leave_the_vector_alone(uri: str) -> None:
    alone = await search(uri, WORDED, "something else", fusion=WORDS_ALONE)
    assert all(hit.scores["bm25"] == 0 for hit in alone.hits)
    more = await search(uri, WORDED, "something else", terms="日志 soup", fusion=WORDS_ALONE)
    assert {hit.passage.doc_id for hit in more.hits if hit.scores["bm25"] > 0} == {"logs", "menu"}
    dense = {hit.passage.id: hit.scores["dense"] for hit in alone.hits}
    assert {hit.passage.id: hit.scores["dense"] for hit in more.hits} == pytest.approx(dense)


@pytest.mark.parametrize("text", ["soup", ""])
async def test_a_passage_tells_whether_it_is_its_whole_document(uri: str, text: str) -> None:
    found = await search(uri, WORDED, text, limit=9)
    whole = {hit.passage.doc_id: hit.passage.whole for hit in found.hits}
    assert whole == {"leave": True, "logs": True, "menu": False}
    searcher = MilvusSearcher(Connection(uri), HashEmbedder())
    ids = [hit.passage.id for hit in found.hits]
    looked_up = await searcher.passages(WORDED, ids, ALL)
    assert {one.doc_id: one.whole for one in looked_up} == whole


class UnderfillingConnection(Connection):
    """A server whose graph index finds only a few of the rows that match."""

    async def is_lite(self) -> bool:
        return False

    async def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        found = await super().call(method, *args, **kwargs)
        return [found[0][:2]] if method == "search" else found


async def test_hits_that_a_graph_index_loses_are_found_one_by_one(uri: str) -> None:
    collection = await described(uri, MANY)
    hr = bound(collection, {"op": "eq", "field": "department", "value": "HR"})
    expected = sum(
        len(each.chunks) for each in MANY_DRAFTS if each.metadata.get("department") in ("HR", "hr")
    )
    searcher = MilvusSearcher(UnderfillingConnection(uri), HashEmbedder())
    found = await searcher.search(Query(MANY, "q", hr, 100), ALL)
    assert len(found.hits) == min(100, expected)
    dense = [hit.scores["dense"] for hit in found.hits]
    assert dense[0] == max(dense)


async def test_one_question_to_several_bases_is_embedded_once() -> None:
    class Slow:
        name = "slow"

        def __init__(self) -> None:
            self.asked: list[str] = []

        async def embed_query(self, text: str) -> list[float]:
            self.asked.append(text)
            await asyncio.sleep(0)
            if text == "bad":
                raise StoreUnavailable("down")
            return [float(len(text))]

    embedder = Slow()
    questions = Questions(embedder)
    assert await asyncio.gather(*(questions.vector("abc") for _ in range(3))) == [[3.0]] * 3
    failed = await asyncio.gather(
        questions.vector("bad"), questions.vector("bad"), return_exceptions=True
    )
    assert [type(one) for one in failed] == [StoreUnavailable] * 2
    with pytest.raises(StoreUnavailable):
        await questions.vector("bad")
    assert embedder.asked == ["abc", "bad", "bad"]


def foreign(document: str) -> ForeignTarget:
    roles = Roles(
        key="pk",
        numbered=True,
        dense="vec",
        dimension=2,
        sparse=None,
        text="body",
        document=document,
        title=None,
        source=None,
    )
    return ForeignTarget("theirs", roles, Collection(name="theirs", fields=()), dynamic=False)


@pytest.mark.parametrize(("document", "whole"), [("pk", True), ("file", False)])
async def test_a_row_of_others_is_a_whole_document_if_nothing_groups_rows(
    document: str, whole: bool
) -> None:
    rows = [{"pk": 1, "file": "a", "body": "one"}]
    found = await foreign(document).visible(Bases(Connection("http://127.0.0.1:9")), rows)
    assert [passage.whole for passage in found.values()] == [whole]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [("COSINE", [1.0, 0.0, 0.0]), ("IP", [1.0, 0.0, 0.0]), ("L2", [0.0, -0.6, 0.0])],
)
def test_rows_are_scored_as_the_engine_scores_them(metric: str, expected: list[float]) -> None:
    target = foreign("pk")
    target.metric = metric
    vectors = ([2.0, 0.0], [0.0, math.sqrt(3)], [0.0, 0.0])
    rows = [{"pk": number, "vec": vector} for number, vector in enumerate(vectors, start=1)]
    found = similarities([1.0, 0.0], rows, target)
    assert list(found) == ["1", "2", "3"]
    assert list(found.values()) == pytest.approx(expected, abs=1e-9)


def test_keys_of_others() -> None:
    assert foreign("pk").keys(["7", "-1", "x", "1e3"]) == [7, -1]
