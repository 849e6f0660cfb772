"""Filtered search over a real Milvus Lite: what is asked, what comes back, what never may."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.store.catalog import MilvusCatalog
from agent.store.connection import Connection
from agent.store.documents import MilvusDocuments
from agent.store.fusion import Fusion, Method
from agent.store.search import MilvusSearcher
from graph.ports import Found, Query
from schemas.access import Scope
from schemas.check import bind
from schemas.collection import Collection
from schemas.compile.predicate import to_predicate
from schemas.errors import DimensionMismatch, UnknownDocument, UnknownKnowledgeBase
from schemas.filters import AllOf, AnyOf, Compare, Filter, Not, Op
from tests.store_engine import (
    ALL,
    DIMENSION,
    HashEmbedder,
    LeakyConnection,
    WatchedConnection,
    bound,
    draft,
    embedded,
    prepared,
    scoped,
    served_lite,
    vector_of,
)

pytestmark = pytest.mark.lite

KB = "company"
HR = {"op": "eq", "field": "department", "value": "HR"}

DOCUMENTS = (
    draft("hr-1", ("holiday rules", "sick leave"), department="HR", tags=["公开"], price=1.5),
    draft("hr-2", ("salary bands",), department="hr", tags=["管理", "Secret"], final=True),
    draft("rd-1", ("采集服务启动失败时先查看日志", "机器学习平台"), department="研发中心"),
    draft("sales", ("price list",), department='Sales "EU"', published="2024-05-01"),
    draft("path", ("paths",), department="C:\\share\\", tags=["50%off", "a_b", 'q"q']),
    draft("none", ("nothing known",), tags=[]),
)


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served_lite(tmp_path_factory.mktemp("lite")) as address:
        asyncio.run(_fill(address))
        yield address


async def _fill(uri: str) -> None:
    library = await prepared(uri, KB)
    await library.write(KB, embedded(*DOCUMENTS))
    await library.finish(KB)


async def described(uri: str, kb: str = KB) -> Collection:
    return await MilvusCatalog(Connection(uri)).describe(kb, ALL)


async def search(
    uri: str,
    text: str,
    filter_: object = None,
    scope: Scope = ALL,
    *,
    limit: int = 50,
    connection: Connection | None = None,
    **options: Any,
) -> Found:
    searcher = MilvusSearcher(connection or Connection(uri), HashEmbedder(), **options)
    return await searcher.search(
        Query(KB, text, bound(await described(uri), filter_), limit), scope
    )


def documents(found: Found) -> set[str]:
    return {hit.passage.doc_id for hit in found.hits}


@pytest.mark.parametrize(
    ("filter_", "expected"),
    [
        (None, {"hr-1", "hr-2", "rd-1", "sales", "path", "none"}),
        (HR, {"hr-1", "hr-2"}),
        ({"op": "eq", "field": "department", "value": 'Sales "EU"'}, {"sales"}),
        ({"op": "in", "field": "department", "value": ["C:\\share\\"]}, {"path"}),
        ({"op": "contains", "field": "tags", "value": "50%off"}, {"path"}),
        ({"op": "contains", "field": "tags", "value": "a_b"}, {"path"}),
        ({"op": "contains", "field": "tags", "value": "axb"}, set()),
        ({"op": "contains", "field": "tags", "value": 'Q"q'}, {"path"}),
        ({"op": "empty", "field": "tags"}, {"rd-1", "sales", "none"}),
        ({"op": "ne", "field": "department", "value": "hr"}, {"rd-1", "sales", "path"}),
        ({"op": "ge", "field": "published", "value": "2024"}, {"sales"}),
        ({"op": "or", "of": []}, set()),
    ],
)
async def test_filters_and_counts_agree(uri: str, filter_: object, expected: set[str]) -> None:
    found = await search(uri, "passage", filter_)
    assert documents(found) == expected
    listed = await search(uri, "", filter_)
    assert documents(listed) == expected
    assert len(listed.hits) == len(expected)
    searcher = MilvusSearcher(Connection(uri), HashEmbedder())
    assert await searcher.count(KB, bound(await described(uri), filter_), ALL) == len(expected)


async def test_hits_are_ordered_and_name_their_scores(uri: str) -> None:
    found = await search(uri, "sick leave", limit=3)
    assert found.hits[0].passage.text == "sick leave"
    assert [hit.score for hit in found.hits] == sorted((h.score for h in found.hits), reverse=True)
    assert all(set(hit.scores) == {"dense", "bm25", "fused"} for hit in found.hits)
    assert all(0 <= hit.score <= 1 for hit in found.hits)
    assert found.hits[0].scores["dense"] == pytest.approx(1, abs=1e-5)
    assert found.hits[0].scores["bm25"] > 0
    assert {"embed", "dense", "bm25", "total"} <= set(found.timings_ms)


async def test_keywords_decide_where_they_are_all_that_counts(uri: str) -> None:
    fusion = Fusion(text=1.0, vector=0.0)
    for text, document in (("机器学习", "rd-1"), ("启动失败", "rd-1"), ("SALARY", "hr-2")):
        found = await search(uri, text, fusion=fusion, limit=1)
        assert documents(found) == {document}
        assert found.hits[0].scores["bm25"] > 0


async def test_reciprocal_ranks(uri: str) -> None:
    found = await search(uri, "sick leave", fusion=Fusion(method=Method.RRF), limit=2)
    assert found.hits[0].passage.text == "sick leave"
    assert found.hits[0].score == pytest.approx(1)


async def test_every_leg_carries_scope_and_filter(uri: str) -> None:
    connection = WatchedConnection(uri)
    scope = scoped({"op": "contains", "field": "tags", "value": "公开"})
    found = await search(uri, "holiday rules", HR, scope, connection=connection)
    column = (await described(uri)).field("tags").column
    assert column is not None
    filters = connection.filters("search")
    assert len(filters) == 2
    assert filters == [found.expression] * 2
    assert all(column.exact is not None and column.exact in text for text in filters)
    assert all('"hr"' in text and "公开" in text for text in filters)
    assert documents(found) == {"hr-1"}


async def test_a_leaking_engine_leaks_no_hit(uri: str, caplog: pytest.LogCaptureFixture) -> None:
    scope = scoped({"op": "eq", "field": "department", "value": "HR"})
    found = await search(uri, "passage", None, scope, connection=LeakyConnection(uri))
    assert documents(found) == {"hr-1"}
    assert "fault" in caplog.text
    found = await search(uri, "passage", HR, ALL, connection=LeakyConnection(uri))
    assert documents(found) == {"hr-1", "hr-2"}


async def test_scope_compares_as_written_and_the_filter_folded(uri: str) -> None:
    for value, expected in (("HR", {"hr-1"}), ("hr", {"hr-2"}), ("Hr", set())):
        scope = scoped({"op": "eq", "field": "department", "value": value})
        assert documents(await search(uri, "passage", HR, scope)) == expected
        searcher = MilvusSearcher(Connection(uri), HashEmbedder())
        assert await searcher.count(KB, bound(await described(uri)), scope) == len(expected)


async def test_nothing_is_seen_and_nothing_asked_without_a_scope(uri: str) -> None:
    connection = WatchedConnection(uri)
    found = await search(uri, "passage", None, Scope(), connection=connection)
    assert found.hits == ()
    assert not {"search", "query"} & {method for method, _ in connection.calls}
    assert (
        await MilvusSearcher(connection, HashEmbedder()).count(
            KB, bound(await described(uri)), Scope()
        )
        == 0
    )


async def test_an_undeterminable_scope_is_false(uri: str) -> None:
    scope = scoped({"op": "eq", "field": "tenant", "value": "acme"})
    assert (await search(uri, "passage", None, scope)).hits == ()


async def test_passages_are_looked_up_in_order_and_in_scope(uri: str) -> None:
    hits = (await search(uri, "passage")).hits
    ids = [hit.passage.id for hit in hits]
    searcher = MilvusSearcher(Connection(uri), HashEmbedder())
    found = await searcher.passages(KB, [*reversed(ids), "unknown"], ALL)
    assert [passage.id for passage in found] == list(reversed(ids))
    scope = scoped({"op": "eq", "field": "department", "value": "HR"})
    assert {p.doc_id for p in await searcher.passages(KB, ids, scope)} == {"hr-1"}
    assert await searcher.passages(KB, ids, Scope()) == ()


async def test_disabled_documents_do_not_use_up_the_hits(uri: str) -> None:
    library = await prepared(uri, "disabled")
    crowd = [draft(f"d{i:03}", ("the same words",)) for i in range(150)]
    await library.write("disabled", embedded(*crowd, draft("far", ("something else",))))
    control = MilvusDocuments(Connection(uri))
    for each in crowd:
        await control.set_enabled("disabled", each.id, False)
    searcher = MilvusSearcher(Connection(uri), HashEmbedder())
    everything = bound(await described(uri, "disabled"))
    found = await searcher.search(Query("disabled", "the same words", everything, 1), ALL)
    assert documents(found) == {"far"}
    assert await searcher.count("disabled", everything, ALL) == 1
    assert len(await control.list("disabled", ALL)) == 151
    await control.set_enabled("disabled", "d000", True)
    found = await searcher.search(Query("disabled", "the same words", everything, 1), ALL)
    assert documents(found) == {"d000"}


async def test_a_disabled_passage_is_not_found(uri: str) -> None:
    library = await prepared(uri, "passage off")
    await library.write("passage off", embedded(draft("a", ("one", "two"))))
    control = MilvusDocuments(Connection(uri))
    first, second = await control.passages("passage off", "a", ALL)
    assert first.text == "one"
    await control.set_passage_enabled("passage off", "a", 0, False)
    searcher = MilvusSearcher(Connection(uri), HashEmbedder())
    everything = bound(await described(uri, "passage off"))
    found = await searcher.search(Query("passage off", "one", everything, 5), ALL)
    assert [hit.passage.id for hit in found.hits] == [second.id]
    listed = await searcher.search(Query("passage off", "", everything, 5), ALL)
    assert [hit.passage.id for hit in listed.hits] == [second.id]
    with pytest.raises(UnknownDocument, match="no passage 2; it has 2, from 0 to 1"):
        await control.set_passage_enabled("passage off", "a", 2, False)
    await control.set_passage_enabled("passage off", "a", 0, True)
    assert len(await control.passages("passage off", "a", ALL)) == 2


async def test_chunks_have_metadata_of_their_own(uri: str) -> None:
    library = await prepared(uri, "chunk level")
    own = ({"Pick #": 1}, {"Pick #": 2})
    await library.write(
        "chunk level",
        embedded(
            draft("a", chunk_metadata=own, department="HR"),
            draft("b", chunk_metadata=own[:1], department="HR"),
        ),
    )
    collection = await described(uri, "chunk level")
    assert collection.field("Pick #").values == (1, 2)
    second = bound(collection, {"op": "eq", "field": "Pick #", "value": 2})
    searcher = MilvusSearcher(Connection(uri), HashEmbedder())
    for text in ("passage", ""):
        found = await searcher.search(Query("chunk level", text, second, 5), ALL)
        assert [(h.passage.doc_id, h.passage.text) for h in found.hits] == [("a", "second passage")]
    assert await searcher.count("chunk level", second, ALL) == 1


async def test_a_filter_bound_to_another_collection_is_bound_again(uri: str) -> None:
    searcher = MilvusSearcher(Connection(uri), HashEmbedder())
    elsewhere = Collection(name="elsewhere", fields=(await described(uri)).fields[:1])
    renamed = elsewhere.fields[0].model_copy(
        update={"column": (await described(uri)).field("price").column}
    )
    foreign = bind(Compare(op=Op.EQ, field="department", value="HR"), elsewhere)
    wrong = type(foreign)(foreign.root, elsewhere.model_copy(update={"fields": (renamed,)}))
    found = await searcher.search(Query(KB, "passage", wrong, 50), ALL)
    assert documents(found) == {"hr-1", "hr-2"}


async def test_a_question_is_embedded_once(uri: str) -> None:
    embedder = HashEmbedder()
    searcher = MilvusSearcher(Connection(uri), embedder)
    everything = bound(await described(uri))
    for _ in range(3):
        await searcher.search(Query(KB, "sick leave", everything, 5), ALL)
    assert embedder.asked == ["sick leave"]


@pytest.mark.parametrize("embedder", [HashEmbedder(DIMENSION + 1), HashEmbedder(name="other")])
async def test_another_embedding_is_refused(uri: str, embedder: HashEmbedder) -> None:
    searcher = MilvusSearcher(Connection(uri), embedder)
    with pytest.raises(DimensionMismatch, match="test-embedding"):
        await searcher.search(Query(KB, "x", bound(await described(uri)), 5), ALL)


async def test_an_unknown_knowledge_base(uri: str) -> None:
    searcher = MilvusSearcher(Connection(uri), HashEmbedder())
    with pytest.raises(UnknownKnowledgeBase, match="company"):
        await searcher.search(Query("nix", "x", bound(await described(uri)), 5), ALL)


async def test_concurrent_searches_share_a_connection(uri: str) -> None:
    searcher = MilvusSearcher(Connection(uri), HashEmbedder())
    everything = bound(await described(uri))
    queries = [Query(KB, f"question {i}", everything, 5) for i in range(12)]
    found = await asyncio.gather(*(searcher.search(query, ALL) for query in queries))
    assert all(len(each.hits) == 5 for each in found)


VALUES = ("HR", "hr", "研发中心", 'Sales "EU"', "C:\\share\\", "acme")
TAGS = ("公开", "管理", "Secret", "secret", "50%off", "a_b", 'q"q')


def comparisons() -> st.SearchStrategy[Filter]:
    plain = st.sampled_from((Op.EQ, Op.NE))
    several = st.sampled_from((Op.IN, Op.NOT_IN))
    presence = st.sampled_from((Op.EMPTY, Op.NOT_EMPTY))
    containing = st.sampled_from((Op.CONTAINS, Op.NOT_CONTAINS, Op.STARTS_WITH))
    made: list[st.SearchStrategy[Filter]] = []
    for field, values in (("department", VALUES), ("tags", TAGS)):
        one = st.sampled_from(values)
        some = st.lists(one, max_size=3).map(tuple)
        made += [
            st.builds(Compare, op=plain, field=st.just(field), value=one),
            st.builds(Compare, op=several, field=st.just(field), value=some),
            st.builds(Compare, op=presence, field=st.just(field)),
            st.builds(Compare, op=containing, field=st.just(field), value=one),
        ]
    return st.one_of(made)


def filters() -> st.SearchStrategy[Filter]:
    return st.recursive(
        comparisons(),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3).map(lambda parts: AllOf(of=tuple(parts))),
            st.lists(inner, max_size=3).map(lambda parts: AnyOf(of=tuple(parts))),
            inner.map(lambda part: Not(of=part)),
        ),
        max_leaves=5,
    )


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(scope=filters(), asked=filters())
async def test_no_hit_is_ever_outside_its_scope(uri: str, scope: Filter, asked: Filter) -> None:
    collection = await described(uri)
    allowed = to_predicate(bind(scope, collection), exact=True)
    wanted = to_predicate(bind(asked, collection))
    expected = {each.id for each in DOCUMENTS if allowed(each.metadata) and wanted(each.metadata)}
    searcher = MilvusSearcher(Connection(uri), HashEmbedder())
    query = Query(KB, "passage", bind(asked, collection), 50)
    visible = Scope(filter=scope)
    assert documents(await searcher.search(query, visible)) == expected
    assert await searcher.count(KB, query.filter, visible) == len(expected)
    seen = await MilvusCatalog(Connection(uri)).describe(KB, visible)
    shown = {each.id: each.metadata for each in DOCUMENTS if allowed(each.metadata)}
    tags = {tag for metadata in shown.values() for tag in metadata.get("tags") or []}  # type: ignore[union-attr]  # a list
    told = seen.by_name.get("tags")
    assert told is None or set(told.values) <= tags


def test_vectors_of_tests_are_unit_vectors() -> None:
    assert sum(value**2 for value in vector_of("x")) == pytest.approx(1)
