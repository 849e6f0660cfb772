"""The search without the model's filter, begun while the model plans."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agent.app import Agent
from agent.requests import AskOptions
from agent.sections import PathSettings
from agent.settings import Settings
from graph.build import build_graph
from graph.context import Budgets, Context
from graph.ports import Completion, Found, Message, Query
from graph.scouts import Scouts
from graph.serde import state_serializer
from schemas.access import Scope
from schemas.check import bind
from schemas.errors import StoreUnavailable
from schemas.filters import EVERYTHING, Filter, all_of
from schemas.mentions import Proposal
from schemas.plan import Branch, Mode, PlanOutcome, ResultOutcome
from tests.conftest import MemoryStore, ScriptedChat, ScriptedPlanning, as_reply
from tests.graph_runs import run
from tests.test_graph import SCHEMA
from tests.test_loosening import HR, LIBRARY, OF_2024, context_of, leaf, proposal, shelf

NOWHERE = leaf("access", "eq", "nobody")


@dataclass
class Announcing(MemoryStore):
    """Tells when a search begins, and fails as often as it is told to."""

    begun: asyncio.Event = field(default_factory=asyncio.Event)
    faults: list[Exception] = field(default_factory=list)

    async def search(self, query: Query, scope: Scope) -> Found:
        self.begun.set()
        if self.faults:
            self.queries.append(query)
            raise self.faults.pop(0)
        return await super().search(query, scope)


def announcing(*faults: Exception) -> Announcing:
    return Announcing(LIBRARY, shelf().stored, faults=list(faults))


@dataclass
class WaitingChat:
    """Replies only after somebody has begun to search."""

    store: Announcing
    name: str = "waiting"

    async def complete(
        self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None
    ) -> Completion:
        await asyncio.wait_for(self.store.begun.wait(), 30)
        return Completion(text=as_reply(use="wanted"), model=self.name)

    def stream(self, messages: Sequence[Message]) -> Any:
        raise AssertionError("nobody asks it to write")


def planned(store: Announcing, plan: Proposal, **parts: Any) -> Context:
    planning = ScriptedPlanning({"q": plan}, schema=SCHEMA)
    given: dict[str, Any] = {"planning": planning, "chat": WaitingChat(store)}
    return context_of(store, plan, **(given | parts))


def filters_of(store: MemoryStore) -> list[Filter]:
    return [query.filter.root for query in store.queries]


async def test_what_was_found_meanwhile_is_used_where_no_filter_is_planned() -> None:
    store = announcing()
    plan = Proposal(
        outcome=PlanOutcome.NO_FILTER, query="q", branches=(Branch(query="q"),), conditions=()
    )
    state = await run(planned(store, plan))
    assert filters_of(store) == [EVERYTHING]
    assert len(state["hits"]) == 5


async def test_a_filter_is_searched_for_by_itself() -> None:
    store = announcing()
    state = await run(planned(store, proposal(HR)))
    assert filters_of(store) == [EVERYTHING, HR]
    assert {ref.doc_id for ref in state["hits"]} == {"d1", "d2"}


async def test_what_was_found_meanwhile_is_the_nearest_where_nothing_matches() -> None:
    store = announcing()
    state = await run(planned(store, proposal(NOWHERE)))
    assert filters_of(store) == [EVERYTHING, NOWHERE]
    assert len(state["nearest"]) == 3
    assert "The nearest outside these conditions" in state["answer"]


async def test_the_caller_holds_for_it() -> None:
    store = announcing()
    state = await run(planned(store, proposal(NOWHERE)), caller=HR)
    assert filters_of(store) == [HR, all_of(HR, NOWHERE)]
    assert {ref.doc_id for ref in state["nearest"]} == {"d1", "d2"}


@pytest.mark.parametrize(
    ("goal", "parts", "searched"),
    [("plan", {}, []), ("search", {"search_after_failure": False}, [HR])],
)
async def test_nothing_is_begun_that_may_not_be_wanted(
    goal: str, parts: dict[str, Any], searched: list[Filter]
) -> None:
    store = announcing()
    chat = ScriptedChat([as_reply(use="wanted")])
    await run(planned(store, proposal(HR), **({"chat": chat} | parts)), goal=goal)
    assert len(chat.seen) == 1
    assert filters_of(store) == searched


async def test_one_that_fails_costs_the_plan_nothing() -> None:
    store = announcing(StoreUnavailable("gone for a moment"))
    state = await run(planned(store, Proposal(outcome=PlanOutcome.NO_FILTER, query="q")))
    assert state["plan"].outcome is PlanOutcome.NO_FILTER
    assert len(state["hits"]) == 5
    assert len(store.queries) == 2


async def test_an_outage_that_lasts_is_raised_by_the_search_itself() -> None:
    store = announcing()
    store.fault = StoreUnavailable("gone")
    with pytest.raises(StoreUnavailable):
        await run(planned(store, proposal(HR)))


class Endless:
    """A searcher that never finds anything."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.cancelled = False

    async def search(self, query: Query, scope: Scope) -> Found:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        raise AssertionError("it waits for ever")


QUERY = Query("company", "q", bind(EVERYTHING, LIBRARY))
SCOPE = Scope(filter=EVERYTHING)


async def test_what_still_runs_at_the_end_is_cancelled() -> None:
    searcher, scouts = Endless(), Scouts()
    scouts.send(searcher.search, QUERY, SCOPE)
    scouts.send(searcher.search, QUERY, SCOPE)
    await searcher.begun.wait()
    await scouts.close()
    assert searcher.cancelled
    assert await scouts.found(QUERY, SCOPE) is None


async def test_a_scope_of_its_own_is_another_search() -> None:
    store, scouts = announcing(), Scouts()
    scouts.send(store.search, QUERY, SCOPE)
    assert await scouts.found(QUERY, Scope()) is None
    found = await scouts.found(QUERY, SCOPE)
    assert found is not None
    assert len(found.hits) == 5
    await scouts.close()


@pytest.mark.parametrize(
    ("fault", "rises"), [(StoreUnavailable("gone"), False), (ZeroDivisionError("a bug"), True)]
)
async def test_a_bug_rises_at_the_end_and_an_outage_nobody_met_does_not(
    fault: Exception, rises: bool
) -> None:
    store, scouts = announcing(fault), Scouts()
    scouts.send(store.search, QUERY, SCOPE)
    await asyncio.sleep(0)
    if rises:
        with pytest.raises(ZeroDivisionError):
            await scouts.close()
    else:
        await scouts.close()


async def test_a_resumed_run_does_without_and_looks_the_nearest_up_again() -> None:
    saver = InMemorySaver(serde=state_serializer())
    graph = build_graph().compile(checkpointer=saver, interrupt_before=["answer"])
    config: Any = {"configurable": {"thread_id": "t"}}
    given: Any = {"question": "q", "kb": "company", "mode": Mode.AUTO, "keys": ()}
    given |= {"caller": EVERYTHING, "history": (), "goal": "answer", "top": None}
    store = announcing()
    plan = proposal(all_of(OF_2024, NOWHERE))
    await graph.ainvoke(given, config, context=planned(store, plan))
    public = context_of(store, plan, leaf("access", "eq", "public"), budgets=Budgets())
    state = await graph.ainvoke(None, config, context=public)
    assert state["result"] is ResultOutcome.NOTHING_MATCHED
    assert "Document 1" in state["answer"]
    assert "Document 2" not in state["answer"]


class Unanswering:
    """A model that never replies."""

    name = "unanswering"

    async def complete(
        self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None
    ) -> Completion:
        await asyncio.Event().wait()
        raise AssertionError("it waits for ever")


async def test_whoever_goes_away_while_the_model_plans_leaves_no_search_behind(
    tmp_path: Path,
) -> None:
    searcher = Endless()
    store = announcing()
    context = planned(store, proposal(HR), chat=Unanswering(), searcher=searcher)
    agent = Agent(Settings(paths=PathSettings(data=tmp_path)))

    async def ask() -> None:
        async for _ in agent._run("q", AskOptions(kb="company"), context, "answer"):
            pass

    asking = asyncio.create_task(ask())
    await asyncio.wait_for(searcher.begun.wait(), 30)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert searcher.cancelled
