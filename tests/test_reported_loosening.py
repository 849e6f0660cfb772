"""Failures that people met where nothing matched, each told again over a real Milvus Lite.

The ids of the cases stand in the ids of the tests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from agent.store.catalog import MilvusCatalog
from agent.store.connection import Connection
from agent.store.search import MilvusSearcher
from graph.context import Context
from graph.state import State
from schemas.collection import Field, FieldType
from schemas.filters import EVERYTHING, NOTHING, Filter, all_of, parse_filter
from schemas.mentions import Proposal
from schemas.plan import Mode, ResultOutcome
from tests.conftest import ScriptedPlanning
from tests.graph_runs import run
from tests.store_engine import HashEmbedder, draft, embedded, prepared, served_lite
from tests.test_loosening import context_of, leaf, proposal, shelf

pytestmark = pytest.mark.lite

KB = "company"
FIELDS = (
    Field(name="department", type=FieldType.STRING),
    Field(name="tags", type=FieldType.STRING_LIST),
    Field(name="region", type=FieldType.STRING),
    Field(name="author", type=FieldType.STRING),
    Field(name="pages", type=FieldType.INT),
    Field(name="published", type=FieldType.DATE),
)
DOCUMENTS = (
    draft("leave", ("leave rules",), department="HR", region="kr", published="2023-03-01"),
    draft("bands", ("salary table",), department="HR", tags=["board"], published="2021-07-01"),
    draft("plan", ("plans of the year",), author="user-e", pages=40, department="Finance"),
)


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served_lite(tmp_path_factory.mktemp("lite")) as address:
        asyncio.run(_fill(address))
        yield address


async def _fill(uri: str) -> None:
    library = await prepared(uri, KB, fields=FIELDS)
    await library.write(KB, embedded(*DOCUMENTS))
    await library.finish(KB)


def over(uri: str, plan: Proposal, scope: Filter = EVERYTHING) -> Context:
    connection = Connection(uri)
    return context_of(
        shelf(),
        plan,
        scope,
        planning=ScriptedPlanning({"salary table": plan, "有哪些制度": plan}),
        catalog=MilvusCatalog(connection),
        searcher=MilvusSearcher(connection, HashEmbedder()),
    )


async def asked(uri: str, filter_: Filter, question: str = "salary table", **given: Any) -> State:
    scope = given.pop("scope", EVERYTHING)
    return await run(over(uri, proposal(filter_), scope), question, **given)


@pytest.mark.parametrize("mode", [Mode.MANUAL, Mode.AUTO], ids=["FB-01-manual", "FB-01-caller"])
async def test_a_callers_filter_that_nothing_meets_finds_nothing_and_says_so(
    uri: str, mode: Mode
) -> None:
    nowhere = leaf("region", "eq", "mars")
    state = await asked(uri, leaf("department", "eq", "HR"), mode=mode, caller=nowhere)
    assert (state["hits"], state["nearest"], state["steps"]) == ((), (), ())
    assert state["result"] is ResultOutcome.NOTHING_MATCHED
    assert state["answer"].startswith("Nothing in 'company' matches (region is mars")


@pytest.mark.parametrize(
    "scope",
    [
        NOTHING,
        parse_filter({"field": "tags", "op": "in", "value": []}),
        all_of(leaf("department", "eq", "HR"), leaf("department", "eq", "Finance")),
    ],
    ids=["FB-02-no-grant", "FB-02-no-roles", "FB-02-contradiction"],
)
async def test_loosening_never_opens_a_scope_and_no_title_is_told(uri: str, scope: Filter) -> None:
    state = await asked(uri, leaf("department", "eq", "zzz"), scope=scope)
    assert (state["hits"], state["nearest"], state["steps"]) == ((), (), ())
    assert "Title of" not in state["answer"]
    assert state["answer"].startswith("Nothing ")


@pytest.mark.parametrize(
    "filter_", [leaf("department", "eq", "zzz"), leaf("published", "ge", "2024")]
)
async def test_what_is_shown_instead_lies_in_the_scope_too(uri: str, filter_: Filter) -> None:
    """FB-02: somebody who may see the documents of the board only."""
    state = await asked(uri, filter_, scope=leaf("tags", "contains", "board"))
    assert {ref.doc_id for ref in state["hits"]} == {"bands"}
    assert state["result"] is ResultOutcome.LOOSENED
    assert "Finance" not in state["answer"]


async def test_the_name_that_was_given_is_loosened_last_and_that_is_told(uri: str) -> None:
    """FB-03: first the number of pages is tried, which does not help."""
    named = leaf("author", "contains", "user-d")
    state = await asked(uri, all_of(named, leaf("pages", "gt", 30)))
    (step,) = state["steps"]
    assert (step.action, step.condition.field, step.found) == ("drop", "author", 1)
    assert {ref.doc_id for ref in state["hits"]} == {"plan"}
    assert "user-d" in state["answer"]


async def test_the_name_that_was_given_stays_where_something_else_helps(uri: str) -> None:
    """FB-03 the other way round: the author has a document, but a shorter one."""
    named = leaf("author", "contains", "user-e")
    state = await asked(uri, all_of(named, leaf("pages", "gt", 60)))
    (step,) = state["steps"]
    assert (step.action, step.condition.field) == ("nearest", "pages")
    assert state["branches"][0].filter == all_of(named, leaf("pages", "ge", 40))


async def test_the_nearest_year_is_shown_and_told_in_chinese(uri: str) -> None:
    of_2024 = (leaf("published", "ge", "2024-01-01"), leaf("published", "lt", "2025-01-01"))
    state = await asked(uri, all_of(leaf("department", "eq", "HR"), *of_2024), "有哪些制度")
    assert [step.words for step in state["steps"]] == ["没有2024年的HR文档，改为显示2023年"]
    assert {ref.doc_id for ref in state["hits"]} == {"leave"}
