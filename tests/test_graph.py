"""The way of a question through the nodes, with scripted planning and models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agent.cli.printing import search_text
from agent.results import answer_of, result_of
from graph.build import build_graph
from graph.context import Budgets, Context
from graph.ports import Ranking, Wanted
from graph.serde import state_serializer
from schemas.access import Principal
from schemas.errors import FilterError, ModelOutputCut, StoreUnavailable
from schemas.filters import EVERYTHING, AllOf, Compare, Filter, Op, parse_filter
from schemas.hits import Hit
from schemas.mentions import Proposal
from schemas.plan import Branch, Condition, Key, Mode, PlanOutcome, Problem, ResultOutcome
from tests.conftest import MemoryStore, ScriptedChat, ScriptedPlanning, as_reply
from tests.graph_runs import run

HR = Compare(op=Op.EQ, field="department", value="HR")
OF_2019 = AllOf(
    of=(
        Compare(op=Op.GE, field="publish_date", value="2019-01-01"),
        Compare(op=Op.LT, field="publish_date", value="2020-01-01"),
    )
)
SCHEMA = {
    "type": "object",
    "properties": {"use": {"enum": ["wanted", "ignore"]}},
    "required": ["use"],
    "additionalProperties": False,
}


def proposal(filter_: Filter, query: str = "work", **more: Any) -> Proposal:
    conditions = tuple(
        Condition(field=leaf.field, op=leaf.op, value=leaf.value, words=str(leaf.value))
        for leaf in (filter_.of if isinstance(filter_, AllOf) else (filter_,))
        if isinstance(leaf, Compare)
    )
    return Proposal(
        outcome=PlanOutcome.PLANNED,
        query=query,
        branches=(Branch(query=query, filter=filter_),),
        conditions=conditions,
        **more,
    )


async def test_a_planned_filter_reaches_the_search_and_the_answer_cites_what_it_found(
    make_context: Callable[..., Context], store: MemoryStore
) -> None:
    context = make_context(planning=ScriptedPlanning({"q": proposal(HR)}))
    state = await run(context)
    assert state["plan"].outcome is PlanOutcome.PLANNED
    assert state["result"] is ResultOutcome.MATCHED
    assert {ref.doc_id for ref in state["hits"]} == {"d1", "d3"}
    assert "[1]" in state["answer"]
    assert store.queries[0].text == "work"


async def test_the_state_holds_no_passage_text(make_context: Callable[..., Context]) -> None:
    state = await run(make_context(planning=ScriptedPlanning({"q": proposal(HR)})))
    state.pop("answer")
    state.pop("turns")
    assert "salary band" not in repr(state)


@pytest.mark.parametrize("leaky", [False, True])
async def test_scope_holds_even_where_the_engine_leaks(
    make_context: Callable[..., Context], store: MemoryStore, leaky: bool
) -> None:
    store.leaky = leaky
    public = Compare(op=Op.EQ, field="access", value="public")
    reader = Principal(name="reader", grants={"company": public})
    state = await run(make_context(reader, planning=ScriptedPlanning({"q": proposal(HR)})))
    assert [ref.doc_id for ref in state["hits"]] == ["d1"]


@pytest.mark.parametrize(
    "grants",
    [
        {},
        {"other": EVERYTHING},
        {"company": Compare(op=Op.EQ, field="clearance", value="top")},
        {"company": Compare(op=Op.EQ, field="access", value="Public")},
    ],
    ids=["no grant", "another base", "a field that does not exist", "compared exactly"],
)
async def test_what_was_not_granted_is_not_found(
    make_context: Callable[..., Context], store: MemoryStore, grants: dict[str, Filter]
) -> None:
    store.leaky = True
    state = await run(make_context(Principal(name="stranger", grants=grants)))
    assert state["hits"] == ()
    assert state["result"] is ResultOutcome.NOTHING_MATCHED


async def test_the_callers_filter_holds_beside_the_models(
    make_context: Callable[..., Context], store: MemoryStore
) -> None:
    caller = Compare(op=Op.EQ, field="category", value="policy")
    context = make_context(planning=ScriptedPlanning({"q": proposal(HR)}))
    state = await run(context, caller=caller)
    assert [ref.doc_id for ref in state["hits"]] == ["d1"]
    assert {condition.origin for condition in state["plan"].conditions} == {"caller", "model"}


@pytest.mark.parametrize("mode", [Mode.MANUAL, Mode.OFF])
async def test_without_the_model_only_the_callers_filter_counts(
    make_context: Callable[..., Context], mode: Mode
) -> None:
    planning = ScriptedPlanning({"q": proposal(HR)})
    state = await run(
        make_context(planning=planning),
        mode=mode,
        caller=Compare(op=Op.EQ, field="department", value="Finance"),
    )
    assert [ref.doc_id for ref in state["hits"]] == ["d2"]
    assert planning.asked == []
    assert state["plan"].model_calls == 0


async def test_a_callers_filter_that_does_not_fit_is_an_error_before_any_search(
    make_context: Callable[..., Context], store: MemoryStore
) -> None:
    with pytest.raises(FilterError, match=r"unknown field 'autor'.*department"):
        await run(make_context(), caller=Compare(op=Op.EQ, field="autor", value="x"))
    assert store.queries == []


async def test_a_key_that_is_no_field_is_an_error(make_context: Callable[..., Context]) -> None:
    with pytest.raises(FilterError, match="nope"):
        await run(make_context(), mode=Mode.SEMI_AUTO, keys=(Key(name="nope"),))


async def test_loosening_drops_the_condition_that_costs_most_and_says_so(
    make_context: Callable[..., Context],
) -> None:
    both = AllOf(of=(HR, *OF_2019.of))
    context = make_context(planning=ScriptedPlanning({"q": proposal(both)}))
    state = await run(context)
    assert state["result"] is ResultOutcome.LOOSENED
    assert [step.condition.field for step in state["steps"]] == ["publish_date"]
    assert state["steps"][0].found == 2
    assert {ref.doc_id for ref in state["hits"]} == {"d1", "d3"}
    assert "publish date" in state["answer"]
    assert state["answer"].startswith("No document meets all conditions")


async def test_loosening_never_touches_the_caller_or_the_scope(
    make_context: Callable[..., Context], store: MemoryStore
) -> None:
    store.leaky = True
    public = Compare(op=Op.EQ, field="access", value="public")
    caller = Compare(op=Op.EQ, field="category", value="report")
    context = make_context(
        Principal(name="reader", grants={"*": public}),
        planning=ScriptedPlanning({"q": proposal(AllOf(of=(HR, *OF_2019.of)))}),
    )
    state = await run(context, caller=caller)
    assert state["hits"] == ()
    assert state["result"] is ResultOutcome.NOTHING_MATCHED
    assert "Nothing" in state["answer"]


async def test_loosening_changes_nothing_where_its_budget_is_too_small_to_help(
    make_context: Callable[..., Context], store: MemoryStore
) -> None:
    nowhere = AllOf(
        of=tuple(
            parse_filter({"op": "eq", "field": name, "value": value})
            for name, value in (("department", "X"), ("category", "Y"), ("access", "Z"))
        )
    )
    context = make_context(
        planning=ScriptedPlanning({"q": proposal(nowhere)}), budgets=Budgets(loosen_steps=1)
    )
    state = await run(context)
    assert state["steps"] == ()
    assert state["result"] is ResultOutcome.NOTHING_MATCHED


@pytest.mark.parametrize(
    ("replies", "outcome", "calls"),
    [
        ([as_reply(use="wanted")], PlanOutcome.PLANNED, 1),
        (["Sure! Here is your filter", as_reply(use="wanted")], PlanOutcome.PLANNED, 2),
        ([as_reply(use="maybe"), as_reply(use="wanted")], PlanOutcome.PLANNED, 2),
        ([ModelOutputCut("cut"), as_reply(use="wanted")], PlanOutcome.PLANNED, 2),
        (["", "null"], PlanOutcome.FAILED, 2),
        (["[]", '{"use": "wanted", "extra": 1}'], PlanOutcome.FAILED, 2),
    ],
    ids=["right", "prose", "off schema", "cut", "empty and null", "list and extra key"],
)
async def test_a_wrong_reply_is_asked_again_once_and_then_the_plan_has_failed(
    make_context: Callable[..., Context],
    replies: list[str | Exception],
    outcome: PlanOutcome,
    calls: int,
) -> None:
    chat = ScriptedChat(list(replies))
    planning = ScriptedPlanning({"q": proposal(HR)}, schema=SCHEMA)
    state = await run(make_context(planning=planning, chat=chat))
    assert state["plan"].outcome is outcome
    assert state["plan"].model_calls == calls
    assert chat.schemas == [SCHEMA] * calls
    assert len(state["plan"].problems) == calls - (outcome is PlanOutcome.PLANNED)


@pytest.mark.parametrize(("room", "fails"), [(1000, False), (3, True)])
async def test_a_question_that_does_not_fit_is_not_put_and_the_plan_says_why(
    make_context: Callable[..., Context], room: int, fails: bool
) -> None:
    async def tokens() -> int:
        return room

    chat = ScriptedChat([as_reply(use="wanted")])
    planning = ScriptedPlanning({"q": proposal(HR)}, schema=SCHEMA)
    plan = (await run(make_context(planning=planning, chat=chat, room=tokens)))["plan"]
    assert len(chat.seen) == plan.model_calls == (not fails)
    assert plan.outcome is (PlanOutcome.FAILED if fails else PlanOutcome.PLANNED)
    assert [problem.code for problem in plan.problems] == ["no_room"] * fails
    if fails:
        assert "room for 3; ask less at once, or raise models.context" in plan.problems[0].message


async def test_a_failed_plan_searches_in_scope_and_says_that_nothing_was_filtered(
    make_context: Callable[..., Context],
) -> None:
    planning = ScriptedPlanning(schema=SCHEMA)
    public = Compare(op=Op.EQ, field="access", value="public")
    reader = Principal(name="reader", grants={"*": public})
    state = await run(make_context(reader, planning=planning, chat=ScriptedChat(["?", "?"])))
    assert state["plan"].outcome is PlanOutcome.FAILED
    assert {ref.doc_id for ref in state["hits"]} == {"d1", "d2", "d4"}
    assert "not filtered" in state["answer"]


async def test_a_failed_plan_may_stop_the_run(
    make_context: Callable[..., Context], store: MemoryStore
) -> None:
    context = make_context(
        planning=ScriptedPlanning(schema=SCHEMA),
        chat=ScriptedChat(["?", "?"]),
        search_after_failure=False,
    )
    state = await run(context)
    assert store.queries == []
    assert state["hits"] == ()
    assert "No reliable filter" in state["answer"]


async def test_a_proposal_that_does_not_fit_the_collection_fails_and_filters_nothing(
    make_context: Callable[..., Context],
) -> None:
    invented = Compare(op=Op.EQ, field="author", value="x")
    state = await run(make_context(planning=ScriptedPlanning({"q": proposal(invented)})))
    assert state["plan"].outcome is PlanOutcome.FAILED
    assert state["plan"].problems[0].code == "unknown_field"
    assert state["plan"].conditions == ()


async def test_thanks_is_not_a_question(
    make_context: Callable[..., Context], store: MemoryStore
) -> None:
    thanks = Proposal(outcome=PlanOutcome.NOT_A_QUESTION, query="thanks")
    state = await run(make_context(planning=ScriptedPlanning({"thanks": thanks})), "thanks")
    assert store.queries == []
    assert state["plan"].outcome is PlanOutcome.NOT_A_QUESTION


async def test_branches_are_searched_apart_and_interleaved(
    make_context: Callable[..., Context], store: MemoryStore
) -> None:
    finance = Compare(op=Op.EQ, field="department", value="Finance")
    made = Proposal(
        outcome=PlanOutcome.PLANNED,
        query="work",
        branches=(Branch(query="work", filter=HR), Branch(query="travel", filter=finance)),
    )
    state = await run(make_context(planning=ScriptedPlanning({"q": made})))
    assert [ref.doc_id for ref in state["hits"]] == ["d1", "d2", "d3"]
    assert [query.text for query in store.queries] == ["work", "travel"]


async def test_a_contradiction_is_told_and_never_searched_for(
    make_context: Callable[..., Context], store: MemoryStore
) -> None:
    both = AllOf(of=(HR, Compare(op=Op.EQ, field="department", value="Finance")))
    planning = ScriptedPlanning({"q": proposal(both)})
    state = await run(make_context(planning=planning, budgets=Budgets(loosen_steps=0)))
    assert [query.filter.root for query in store.queries] == [EVERYTHING]
    assert {ref.doc_id for ref in state["nearest"]} <= {"d1", "d2", "d3", "d4"}
    assert [problem.code for problem in state["plan"].problems] == ["contradiction"]
    assert state["result"] is ResultOutcome.NOTHING_MATCHED


@pytest.mark.parametrize(("goal", "has_hits"), [("plan", False), ("search", True)])
async def test_a_run_stops_at_its_goal(
    make_context: Callable[..., Context], goal: str, has_hits: bool
) -> None:
    state = await run(make_context(), goal=goal)
    assert bool(state["hits"]) is has_hits
    assert state["answer"] == ""


async def test_a_store_that_is_gone_raises_its_error(
    make_context: Callable[..., Context], store: MemoryStore
) -> None:
    store.fault = StoreUnavailable("the store does not answer")
    with pytest.raises(StoreUnavailable):
        await run(make_context())


async def test_a_thread_remembers_questions_and_conditions_and_nothing_else(
    make_context: Callable[..., Context],
) -> None:
    planning = ScriptedPlanning({"first": proposal(HR)})
    saver = InMemorySaver(serde=state_serializer())
    graph = build_graph().compile(checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "t"}}
    base = {"kb": "company", "mode": Mode.AUTO, "keys": (), "caller": EVERYTHING, "history": ()}
    for question in ("first", "second"):
        given: Any = base | {"question": question, "goal": "answer", "top": None}
        await graph.ainvoke(given, config, context=make_context(planning=planning))
    assert planning.asked[1].history == ("first",)
    assert [condition.field for condition in planning.asked[1].previous] == ["department"]
    snapshot = await graph.aget_state(config)
    assert isinstance(snapshot.values["turns"][0].conditions[0], Condition)
    assert snapshot.values["proposal"] is not None
    assert snapshot.values["proposal"].outcome is PlanOutcome.NO_FILTER


async def test_a_resumed_run_decides_the_scope_again(
    make_context: Callable[..., Context], store: MemoryStore
) -> None:
    """Interrupted before the answer, resumed by somebody who may see less."""
    saver = InMemorySaver(serde=state_serializer())
    graph = build_graph().compile(checkpointer=saver, interrupt_before=["answer"])
    config: Any = {"configurable": {"thread_id": "t"}}
    given: Any = {
        "question": "q",
        "kb": "company",
        "mode": Mode.OFF,
        "keys": (),
        "caller": HR,
        "history": (),
        "goal": "answer",
        "top": None,
    }
    await graph.ainvoke(given, config, context=make_context())
    public = Compare(op=Op.EQ, field="access", value="public")
    reader = make_context(Principal(name="reader", grants={"*": public}))
    state = await graph.ainvoke(None, config, context=reader)
    assert "Remote work" in state["answer"]
    assert "salary" not in state["answer"]


class Far:
    """A ranker to which nothing is near enough."""

    async def rank(self, wanted: Wanted, hits: Sequence[Hit]) -> Ranking:
        return Ranking(tuple(hits[:2]), fallback=True, problems=(OUT_OF_ORDER,))


OUT_OF_ORDER = Problem(code="rerank_degraded", message="the ranking step 'rerank' failed")


@pytest.mark.parametrize(
    ("filter_", "question", "words"),
    [
        (EVERYTHING, "q", "Nothing relevant was found in 'company'. The nearest: "),
        (HR, "q", "Nothing relevant was found in 'company' (department is HR). The nearest: "),
        (HR, "问题", "在“company”中没有找到相关内容（department 为 HR）。最接近的文档：《"),
    ],
)
async def test_what_is_only_nearest_is_named_and_no_answer_is_written_from_it(
    make_context: Callable[..., Context], filter_: Filter, question: str, words: str
) -> None:
    planning = ScriptedPlanning({question: proposal(filter_)} if filter_ is HR else {})
    context = replace(make_context(planning=planning), ranker=Far())
    state = await run(context, question)
    assert state["result"] is ResultOutcome.FALLBACK
    assert state["answer"].startswith(words)
    assert "[1]" not in state["answer"]
    answer = answer_of(question, state, context, None)
    assert (answer.model, answer.cited) == (None, ())
    assert answer.problems == (OUT_OF_ORDER,)
    found = await run(context, question, goal="search")
    result = result_of(question, found, context)
    assert result.problems == (OUT_OF_ORDER,)
    shown = search_text(result)
    assert "Note: the ranking step 'rerank' failed" in shown
    assert "Nothing is close enough to the question; the nearest:" in shown
