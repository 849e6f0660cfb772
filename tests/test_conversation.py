"""Threads: conditions are kept, added, replaced, cleared; a group of them survives whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agent.planning.clearing import clears
from agent.planning.form import asked_of
from agent.planning.planner import Planner
from graph.build import build_graph
from graph.context import Context
from graph.serde import state_serializer
from graph.state import State
from schemas.filters import EVERYTHING, Filter, any_of, to_json
from schemas.plan import Condition, Mode, Origin, PlanOutcome
from tests.conftest import MemoryStore, ScriptedChat
from tests.planning_cases import HANDBOOK, PLANNER, ask, link, plan, said, whole


@pytest.mark.parametrize(
    "text",
    [
        "forget the filter",
        "Start over: Finance guides",
        "Please clear all filters.",
        "forget about all that, what about HR?",
        "ok, drop those conditions",
        "HR guides, without any filters",
        "不要这些条件了",
        "重新开始，找市场部的指南",
        "去掉筛选条件",
    ],
)
def test_turns_that_clear(text: str) -> None:
    assert clears(text)


@pytest.mark.parametrize(
    "text",
    [
        "how do I start again after an error?",
        "which filters does the camera have?",
        "guides on the conditions of travel",
        "documents without a department",
        "没有条件限制的岗位有哪些",
    ],
)
def test_turns_that_do_not(text: str) -> None:
    assert not clears(text)


HR_GUIDES = "HR guides"


@pytest.mark.parametrize(
    ("history", "question", "expected"),
    [
        ((HR_GUIDES,), "only final ones", {"department", "category", "status"}),
        ((HR_GUIDES,), "forget the filters", set()),
        ((HR_GUIDES,), "Start over: final ones", {"status"}),
        ((HR_GUIDES,), "重新开始，草案有哪些？", {"status"}),
        ((HR_GUIDES, "start over"), "final ones", {"status"}),
        ((HR_GUIDES, "start over with minutes"), "final ones", {"category", "status"}),
    ],
)
def test_what_was_cleared_stays_cleared(
    history: tuple[str, ...], question: str, expected: set[str]
) -> None:
    proposal = plan(question, history=history)
    assert {condition.field for condition in proposal.conditions} == expected


def follow(question: str, first: str, uses: dict[str, str] | None = None) -> object:
    """What the second turn of a thread filters by."""
    before = plan(first)
    more: dict[str, Any] = {"previous": before.conditions, "filter": whole(before)}
    return said(plan(question, uses, history=(first,), **more))


def either(*parts: object) -> dict[str, object]:
    return {"op": "or", "of": list(parts)}


def leaf(op: str, field: str, value: object) -> dict[str, object]:
    return {"op": op, "field": field, "value": value}


SECURITY, DRAFT, HR = (
    leaf("contains", "tags", "security"),
    leaf("eq", "status", "Draft"),
    leaf("eq", "department", "HR"),
)


def test_alternatives_of_an_earlier_turn_stay_alternatives() -> None:
    first = "either tagged security or in draft"
    assert said(plan(first)) == either(SECURITY, DRAFT)
    kept = {"op": "and", "of": [either(SECURITY, DRAFT), HR]}
    assert follow("only those of HR", first) == kept
    dropped = follow("those of HR", first, {"security … in draft": "ignore"})
    assert dropped == HR
    assert follow("and the final ones?", first) == leaf("eq", "status", "Final")


def test_what_is_excluded_now_is_wanted_no_longer() -> None:
    assert follow("those that are not drafts", "HR drafts") == {
        "op": "and",
        "of": [HR, leaf("ne", "status", "Draft")],
    }


def test_two_periods_of_an_earlier_turn_stay_alternatives() -> None:
    first = "published in 2021 or 2023"
    both = said(plan(first))
    assert isinstance(both, dict)
    assert both["op"] == "or"
    assert follow("only those of HR", first) == {"op": "and", "of": [both, HR]}


def test_a_kept_group_has_its_words_and_conditions() -> None:
    before = plan("either tagged security or in draft")
    asked = ask("only those of HR", previous=before.conditions, filter=whole(before))
    group, *_ = PLANNER.link(asked, HANDBOOK)
    assert (group.words, group.filter) == ("security … in draft", whole(before))
    after = plan("only those of HR", previous=before.conditions, filter=whole(before))
    assert [condition.field for condition in after.conditions] == ["tags", "status", "department"]


def test_a_wish_stays_a_wish() -> None:
    before = plan("guides, preferably official", {"official": "official is true"})
    after = plan("only those of HR", previous=before.conditions, filter=whole(before))
    assert {(c.field, c.hard) for c in after.conditions} == {
        ("category", True),
        ("official", False),
        ("department", True),
    }


def test_a_follow_up_without_a_subject_is_searched_for_with_the_turn_before() -> None:
    first = "How long is the leave that HR grants?"
    assert plan("and in 2024?", history=(first,)).query == f"{first} and in 2024?"
    assert "leave" not in plan("and parental benefits in 2024?", history=(first,)).query


class Thread:
    """Turns over one checkpointer; the model takes the first word offered for each key."""

    def __init__(self, make: Callable[..., Context]) -> None:
        self.make = make
        saver = InMemorySaver(serde=state_serializer())
        self.graph = build_graph().compile(checkpointer=saver)
        self.planner = Planner()

    async def say(self, question: str, reply: str = "{}") -> State:
        given: Any = {"kb": "company", "mode": Mode.AUTO, "keys": (), "caller": EVERYTHING}
        given |= {"history": (), "goal": "answer", "top": None, "question": question}
        context = self.make(planning=self.planner, chat=ScriptedChat([reply, reply]))
        config: Any = {"configurable": {"thread_id": "t"}}
        state: Any = await self.graph.ainvoke(given, config, context=context)
        return state  # type: ignore[no-any-return]  # the graph's state


def model_filter(state: State) -> Filter:
    return any_of(*(branch.filter for branch in state["branches"]))


async def test_alternatives_survive_in_a_thread(make_context: Callable[..., Context]) -> None:
    thread = Thread(make_context)
    first = await thread.say(
        "either tagged travel or of HR", '{"travel": "tags has", "HR": "department is"}'
    )
    group = model_filter(first)
    assert to_json(group)["op"] == "or"
    second = await thread.say("only the policies", '{"policies": "category is"}')
    assert to_json(model_filter(second)) == {
        "op": "and",
        "of": [to_json(group), leaf("eq", "category", "policy")],
    }
    assert second["plan"].model_calls == 1
    assert second["turns"][1].filter == model_filter(second)


async def test_a_thread_is_cleared(
    make_context: Callable[..., Context], store: MemoryStore
) -> None:
    thread = Thread(make_context)
    first = await thread.say("HR policy", '{"HR": "department is", "policy": "category is"}')
    assert len(first["turns"][0].conditions) == 2
    cleared = await thread.say("forget the filter")
    assert cleared["plan"].outcome is PlanOutcome.NO_FILTER
    later = await thread.say("what else is there on receipts?")
    assert (later["plan"].model_calls, later["plan"].conditions) == (0, ())


async def test_thanks_changes_nothing(
    make_context: Callable[..., Context], store: MemoryStore
) -> None:
    thread = Thread(make_context)
    first = await thread.say("HR policy", '{"HR": "department is", "policy": "category is"}')
    searches = len(store.queries)
    thanks = await thread.say("thanks, that helps!")
    assert (len(store.queries), thanks["hits"], thanks["plan"].conditions) == (searches, (), ())
    assert "[" not in thanks["answer"]
    assert thanks["turns"][1].conditions == first["turns"][0].conditions
    assert thanks["turns"][1].filter == first["turns"][0].filter


async def test_wishes_reach_the_state_and_the_plan(make_context: Callable[..., Context]) -> None:
    reply = '{"HR": "department is", "公开": "tags has"}'
    for question in ("HR documents, preferably 公开", "HR的文档，优先公开的"):
        state = await Thread(make_context).say(question, reply)
        wish = Condition(
            field="tags", op="contains", value="公开", words="公开", origin=Origin.MODEL, hard=False
        )
        assert state["boosts"] == (wish,)
        assert wish in state["plan"].conditions
        assert to_json(model_filter(state)) == leaf("eq", "department", "HR")


@pytest.mark.parametrize("question", ["recent HR documents", "HR最近的文档"])
async def test_recent_without_a_date_is_a_wish(
    make_context: Callable[..., Context], question: str
) -> None:
    state = await Thread(make_context).say(question, '{"HR": "department is"}')
    (wish,) = state["boosts"]
    assert (wish.field, wish.op, wish.value) == ("publish_date", "ge", "2025-03-15")
    assert wish.words in question
    assert to_json(model_filter(state)) == leaf("eq", "department", "HR")


def test_recent_beside_a_date_is_none() -> None:
    assert all(c.hard for c in plan("recent guides published in 2024").conditions)


@pytest.mark.parametrize(
    ("question", "before"),
    [
        ("and of 2023?", "HR documents from 2024"),
        ("what about 2023?", "HR documents from 2024"),
        ("那2023年的呢？", "人力资源部2024年的文档"),
    ],
)
def test_a_period_that_is_all_a_follow_up_says_needs_no_judgement(
    question: str, before: str
) -> None:
    asked = ask(question, history=(before,))
    judged = asked_of(asked, HANDBOOK, link(question, history=(before,)))
    assert not [words for words in judged if "2023" in words]
    assert said(plan(question, history=(before,))) == {
        "op": "and",
        "of": [
            {"op": "eq", "field": "department", "value": "HR"},
            {
                "op": "and",
                "of": [
                    {"op": "ge", "field": "published", "value": "2023-01-01"},
                    {"op": "lt", "field": "published", "value": "2024-01-01"},
                ],
            },
        ],
    }
