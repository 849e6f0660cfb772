"""Plans that are not made twice, and those that must be."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agent.planning.cache import PlanCache
from agent.planning.planner import Planner
from graph.build import build_graph
from graph.context import Context
from graph.serde import state_serializer
from graph.state import State
from schemas.access import Principal
from schemas.filters import EVERYTHING, Compare, Op
from schemas.mentions import Proposal
from schemas.plan import Key, Mode, PlanOutcome
from tests.conftest import MemoryStore, ScriptedChat, as_reply

QUESTION = "HR policy on travel"
REPLY = as_reply(HR="department is", policy="category is", travel="tags has")
PUBLIC = Compare(op=Op.EQ, field="access", value="public")


class Desk:
    """Asks over one cache; the model has the same reply for everything."""

    def __init__(self, make: Callable[..., Context], size: int = 8) -> None:
        self.make = make
        self.plans = PlanCache(size)
        self.planner = Planner()

    async def ask(
        self,
        parts: dict[str, Any] | None = None,
        *,
        graph: Any = None,
        config: Any = None,
        **given: Any,
    ) -> State:
        chat = ScriptedChat([REPLY])
        context = self.make(
            **{"planning": self.planner, "chat": chat, "plans": self.plans} | (parts or {})
        )
        defaults = {
            "question": QUESTION,
            "kb": "company",
            "mode": Mode.AUTO,
            "keys": (),
            "caller": EVERYTHING,
            "history": (),
            "goal": "plan",
            "top": None,
        }
        graph = graph or build_graph().compile()
        state: State = await graph.ainvoke(defaults | given, config, context=context)
        return state


async def pulled_anew() -> str:
    return "sha256:2"


@pytest.fixture
def desk(make_context: Callable[..., Context]) -> Desk:
    return Desk(make_context)


async def test_the_same_question_costs_no_second_call_and_says_so(desk: Desk) -> None:
    first, second = (await desk.ask())["plan"], (await desk.ask())["plan"]
    assert (first.model_calls, first.cached) == (1, False)
    assert (second.model_calls, second.cached, second.model) == (0, True, "scripted")
    assert second.filter == first.filter
    assert second.conditions == first.conditions
    assert set(second.timings_ms) == {"introspect", "link", "plan", "validate"}


KEYS = tuple(Key(name=name) for name in ("department", "category", "tags"))
CALLER = Compare(op=Op.EQ, field="category", value="policy")


@pytest.mark.parametrize(
    "changed",
    [
        {"question": "Is there an HR policy on travel?"},
        {"history": ("Tell me more.",)},
        {"mode": Mode.SEMI_AUTO, "keys": KEYS},
        {"caller": CALLER},
        {"parts": {"principal": Principal(name="reader", grants={"*": PUBLIC})}},
        {"parts": {"today": dt.date(2026, 3, 16)}},
        {"parts": {"zone": "Asia/Tokyo"}},
        {"parts": {"model_digest": pulled_anew}},
        {"parts": {"chat": ScriptedChat([REPLY], name="other")}},
    ],
    ids=lambda changed: next(iter(changed.get("parts", changed))),
)
async def test_whatever_a_plan_depends_on_is_asked_about_anew(
    desk: Desk, changed: dict[str, Any]
) -> None:
    await desk.ask()
    assert not (await desk.ask(**changed))["plan"].cached


async def test_a_thread_is_part_of_the_question(desk: Desk) -> None:
    """The conditions in force differ, so what is to be judged does."""
    graph = build_graph().compile(checkpointer=InMemorySaver(serde=state_serializer()))
    seen = []
    for question, reply in ((QUESTION, REPLY), ("on travel?", as_reply(travel="tags has"))):
        plans = [
            await desk.ask({"chat": ScriptedChat([reply])}, question=question),
            await desk.ask(
                {"chat": ScriptedChat([REPLY, REPLY])},
                graph=graph,
                config={"configurable": {"thread_id": "t"}},
                question=question,
                goal="answer",
            ),
        ]
        seen.append([state["plan"].cached for state in plans])
    assert seen == [[False, True], [False, False]]


async def test_a_pinned_operator_is_part_of_the_question(desk: Desk) -> None:
    given: dict[str, Any] = {"mode": Mode.SEMI_AUTO, "keys": KEYS}
    await desk.ask(**given)
    pinned = (Key(name="department", op=Op.NOT_IN), *KEYS[1:])
    other = await desk.ask({"chat": ScriptedChat(["{}", "{}"])}, mode=Mode.SEMI_AUTO, keys=pinned)
    assert other["plan"].model_calls == 2
    assert (await desk.ask(**given))["plan"].cached


@pytest.mark.parametrize("update", [{"version": "2"}, {"name": "other"}])
async def test_other_visible_values_are_another_collection(
    desk: Desk, store: MemoryStore, update: dict[str, str]
) -> None:
    await desk.ask()
    store.collection = store.collection.model_copy(update=update)
    assert not (await desk.ask())["plan"].cached


async def test_a_description_without_a_version_is_told_apart_by_its_fields(
    desk: Desk, store: MemoryStore
) -> None:
    store.collection = store.collection.model_copy(update={"version": ""})
    await desk.ask()
    assert (await desk.ask())["plan"].cached
    department, *rest = store.collection.fields
    described = department.model_copy(update={"description": "Who the text is about."})
    store.collection = store.collection.model_copy(update={"fields": (described, *rest)})
    assert not (await desk.ask())["plan"].cached


async def test_scopes_never_share_a_plan(desk: Desk) -> None:
    for name, filter_ in (("first", PUBLIC), ("second", CALLER)):
        principal = Principal(name=name, grants={"*": filter_})
        assert not (await desk.ask({"principal": principal}))["plan"].cached
        assert (await desk.ask({"principal": principal}))["plan"].cached


async def test_a_failed_plan_is_not_kept(desk: Desk) -> None:
    failed = (await desk.ask({"chat": ScriptedChat(["?", "?"])}))["plan"]
    assert failed.outcome is PlanOutcome.FAILED
    assert (await desk.ask())["plan"].outcome is PlanOutcome.PLANNED


async def test_without_a_cache_every_question_is_asked(desk: Desk) -> None:
    for _ in range(2):
        assert (await desk.ask({"plans": None}))["plan"].model_calls == 1


def test_it_keeps_what_was_used_last() -> None:
    plans = PlanCache(2)
    proposal = Proposal(outcome=PlanOutcome.NO_FILTER, query="q")
    plans.put("a", proposal)
    plans.put("b", proposal)
    assert plans.get("a") is proposal
    plans.put("c", proposal)
    assert [plans.get(key) is None for key in "abc"] == [False, True, False]


def test_a_size_of_nothing_keeps_nothing() -> None:
    plans = PlanCache(0)
    plans.put("a", Proposal(outcome=PlanOutcome.NO_FILTER, query="q"))
    assert plans.get("a") is None
