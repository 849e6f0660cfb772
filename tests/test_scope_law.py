"""Whatever is asked, planned, loosened, listed and ranked: nothing outside the scope, ever."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from agent.results import answer_of, result_of
from agent.store.catalog import MilvusCatalog
from agent.store.connection import Connection
from agent.store.search import MilvusSearcher
from schemas.access import Scope
from schemas.drafts import ChunkDraft, DocumentDraft
from schemas.errors import FilterError
from schemas.hits import HitRef, Passage
from tests.scope_world import (
    ALL,
    DOCUMENTS,
    FIELDS,
    QUESTION,
    Outcome,
    Request,
    World,
    requests,
    run,
    shown,
    token,
)
from tests.store_engine import DIMENSION, MODEL, HashEmbedder, prepared, served_lite, vector_of


def refs_in(value: object) -> Iterator[HitRef]:
    """Every reference anywhere in a state."""
    if isinstance(value, HitRef):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from refs_in(part)
    elif isinstance(value, tuple | list):
        for part in value:
            yield from refs_in(part)


def assert_inside(request: Request, outcome: Outcome) -> None:
    """No reference, no kept passage, and no word of a document that may not be seen."""
    seen = {(kb, one.id) for kb in FIELDS for one in request.visible(kb)}
    state, context = outcome.state, outcome.context
    assert {(ref.kb, ref.id) for ref in refs_in(state)} <= seen
    assert set(context.passages) <= seen
    told = "".join(
        repr(part)
        for part in (
            state,
            outcome.costs,
            result_of(QUESTION, state, context),
            answer_of(QUESTION, state, context, None),
        )
    )
    documents = {one.doc_id for kb in FIELDS for one in request.visible(kb)}
    for kb in FIELDS:
        for number in range(DOCUMENTS):
            if f"id-{token(kb, number)}" not in documents:
                assert token(kb, number) not in told


def assert_counted_inside(request: Request, outcome: Outcome) -> None:
    """No number is larger than what may be seen lets it be."""
    documents = {one.doc_id for kb in request.kbs for one in request.visible(kb)}
    steps = [step for step in outcome.state["steps"] if step.action != "threshold"]
    counts = [step.found for step in steps]
    counts += [cost[name] for cost in outcome.costs for name in ("documents", "documents_without")]
    tally = outcome.state.get("tally")
    if tally:
        counts += [tally.total, *(group.count for group in tally.groups)]
    assert all(count <= len(documents) for count in counts)


def without_clock(outcome: Outcome) -> dict[str, Any]:
    """The state and costs without what a clock told."""
    state: dict[str, Any] = {k: v for k, v in outcome.state.items() if k != "timings"}
    state["plan"] = state["plan"].model_copy(update={"timings_ms": {}})
    state["statistics"] = _untimed(state["statistics"])
    return state | {"costs": outcome.costs}


def _untimed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _untimed(part) for key, part in value.items() if not key.endswith("ms")}
    return [_untimed(part) for part in value] if isinstance(value, list) else value


BUSY = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]


@settings(max_examples=60, deadline=None, suppress_health_check=BUSY)
@given(request_=requests())
async def test_nothing_outside_the_scope_is_told(request_: Request) -> None:
    outcome = await run(request_, World(ALL))
    assert_inside(request_, outcome)
    assert_counted_inside(request_, outcome)


@settings(max_examples=60, deadline=None, suppress_health_check=BUSY)
@given(request_=requests())
async def test_an_engine_that_forgets_the_scope_shows_nothing_outside_it(
    request_: Request,
) -> None:
    assert_inside(request_, await run(request_, World(ALL, leaky=True)))


@settings(max_examples=60, deadline=None, suppress_health_check=BUSY)
@given(request_=requests())
async def test_what_may_not_be_seen_changes_nothing(request_: Request) -> None:
    """The same request over a store that holds only what the scope shows: the same plan, hits,
    nearest, counts, steps and words.
    """
    visible: dict[str, tuple[Passage, ...]] = {
        kb: shown(kb, request_.principal.scope(kb)) for kb in FIELDS
    }
    whole, part = await run(request_, World(ALL)), await run(request_, World(visible))
    assert without_clock(whole) == without_clock(part)


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served_lite(tmp_path_factory.mktemp("lite")) as address:
        asyncio.run(_fill(address))
        yield address


async def _fill(uri: str) -> None:
    for kb, fields in FIELDS.items():
        library = await prepared(uri, kb, fields=fields)
        by_document: dict[str, list[Passage]] = {}
        for one in ALL[kb]:
            by_document.setdefault(one.doc_id, []).append(one)
        drafts = [_draft(doc_id, some) for doc_id, some in by_document.items()]
        await library.write(
            kb, [(each, [vector_of(chunk.text) for chunk in each.chunks]) for each in drafts]
        )
        await library.finish(kb)


def _draft(doc_id: str, passages: list[Passage]) -> DocumentDraft:
    return DocumentDraft(
        id=doc_id,
        source=f"{doc_id}.md",
        title=passages[0].title,
        metadata=passages[0].metadata,
        content_hash=doc_id,
        chunks=tuple(
            ChunkDraft(index=one.chunk_index, text=one.text, embed_text=one.text)
            for one in passages
        ),
    )


@pytest.mark.lite
@settings(max_examples=30, deadline=None, suppress_health_check=BUSY)
@given(request_=requests())
async def test_the_law_holds_over_an_engine(uri: str, request_: Request) -> None:
    connection = Connection(uri)
    searcher = MilvusSearcher(connection, HashEmbedder(DIMENSION, MODEL))
    refused = ""
    try:
        outcome = await run(request_, MilvusCatalog(connection), searcher)
    except FilterError as error:
        # The caller named a field that no document shows.
        refused = str(error)
    assert "secret" not in refused
    if refused:
        return
    documents = {one.doc_id for kb in request_.kbs for one in request_.visible(kb)}
    assert {ref.doc_id for ref in refs_in(outcome.state)} <= documents
    told = repr((outcome.state, outcome.costs, outcome.context.passages))
    for kb in FIELDS:
        for number in range(DOCUMENTS):
            if f"id-{token(kb, number)}" not in documents:
                assert token(kb, number) not in told
    assert_counted_inside(request_, outcome)
    await connection.close()


def test_references_are_found_wherever_they_are() -> None:
    some = ALL["alpha"][0]
    ref = HitRef(id=some.id, doc_id=some.doc_id, kb="alpha", score=1.0)
    assert list(refs_in({"x": ({"y": [ref]},)})) == [ref]
    assert shown("alpha", Scope()) == ()
