"""The caller's filter beside the model's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graph.context import Budgets, Context
from schemas.access import Principal
from schemas.filters import AllOf, AnyOf, Compare, Filter, Op, parse_filter, to_json
from schemas.mentions import Proposal
from schemas.plan import Branch, Condition, Origin, Plan, PlanOutcome, ResultOutcome
from tests.conftest import MemoryStore, ScriptedPlanning
from tests.graph_runs import run
from tests.test_graph import OF_2019, proposal

HR = Compare(op=Op.EQ, field="department", value="HR")
FINANCE = Compare(op=Op.EQ, field="department", value="Finance")
POLICY = Compare(op=Op.EQ, field="category", value="policy")
BEFORE_2019 = Compare(op=Op.LT, field="publish_date", value="2019-01-01")


async def planned(make: Callable[..., Context], made: Proposal, caller: Filter) -> Plan:
    state = await run(make(planning=ScriptedPlanning({"q": made})), goal="plan", caller=caller)
    return state["plan"]


@pytest.mark.parametrize(
    ("model", "caller", "left"),
    [
        (AllOf(of=(HR, POLICY)), FINANCE, AllOf(of=(FINANCE, POLICY))),
        (HR, FINANCE, FINANCE),
        (AllOf(of=(HR, *OF_2019.of)), BEFORE_2019, AllOf(of=(BEFORE_2019, HR))),
        (AnyOf(of=(HR, POLICY)), FINANCE, AllOf(of=(FINANCE, AnyOf(of=(HR, POLICY))))),
    ],
    ids=["one of two", "the only one", "a whole range", "an alternative remains"],
)
async def test_what_contradicts_the_caller_is_left_out(
    make_context: Callable[..., Context], model: Filter, caller: Filter, left: Filter
) -> None:
    plan = await planned(make_context, proposal(model), caller)
    assert plan.outcome is PlanOutcome.PLANNED
    assert to_json(plan.filter) == to_json(left)


async def test_it_is_reported_with_its_words_and_the_whole_question_is_searched_for(
    make_context: Callable[..., Context],
) -> None:
    plan = await planned(make_context, proposal(AllOf(of=(HR, POLICY))), FINANCE)
    (problem,) = plan.problems
    assert (problem.code, problem.field) == ("conflicts_with_caller", "department")
    assert (problem.value, problem.words) == ("HR", "HR")
    assert "department is Finance" in problem.message
    assert plan.query == "q"
    model = [c.field for c in plan.conditions if c.origin is Origin.MODEL]
    assert model == ["category"]


async def test_what_the_caller_says_already_stays_and_is_not_loosened(
    make_context: Callable[..., Context], store: MemoryStore
) -> None:
    nowhere = Compare(op=Op.EQ, field="category", value="nothing")
    made = proposal(AllOf(of=(HR, nowhere)))
    state = await run(make_context(planning=ScriptedPlanning({"q": made})), caller=HR)
    assert state["plan"].problems == ()
    assert [(c.field, c.origin.value) for c in state["plan"].conditions] == [
        ("department", "caller"),
        ("department", "model"),
        ("category", "model"),
    ]
    assert state["result"] is ResultOutcome.LOOSENED
    assert [step.condition.field for step in state["steps"]] == ["category"]


async def test_a_branch_against_the_caller_is_dropped_whole(
    make_context: Callable[..., Context],
) -> None:
    both = Condition(field="department", op=Op.IN, value=["HR", "Finance"], words="HR … Finance")
    made = Proposal(
        outcome=PlanOutcome.PLANNED,
        query="work",
        branches=(Branch(query="work", filter=HR), Branch(query="work", filter=FINANCE)),
        conditions=(both,),
    )
    plan = await planned(make_context, made, FINANCE)
    assert [branch.filter for branch in plan.branches] == [FINANCE]
    (condition,) = (c for c in plan.conditions if c.origin is Origin.MODEL)
    assert (condition.op, condition.value) == (Op.EQ, "Finance")


async def test_a_contradiction_of_its_own_is_not_the_callers(
    make_context: Callable[..., Context],
) -> None:
    plan = await planned(make_context, proposal(AllOf(of=(HR, FINANCE))), POLICY)
    assert [problem.code for problem in plan.problems] == ["contradiction"]
    nothing = AllOf(of=(HR, FINANCE))
    plan = await planned(make_context, proposal(POLICY), nothing)
    assert [problem.code for problem in plan.problems] == ["contradiction"]
    assert "category" in plan.text


@pytest.mark.parametrize("steps", [0, 4])
async def test_a_condition_outside_the_scope_finds_nothing_of_it_and_tells_nothing_of_it(
    make_context: Callable[..., Context], steps: int
) -> None:
    restricted: Any = {"op": "eq", "field": "access", "value": "restricted"}
    reader = Principal(name="reader", grants={"*": parse_filter(restricted | {"value": "public"})})
    context = make_context(
        reader,
        planning=ScriptedPlanning({"q": proposal(parse_filter(restricted))}),
        budgets=Budgets(loosen_steps=steps),
    )
    state = await run(context)
    assert state["hits"] == ()
    assert "d3" not in {ref.doc_id for ref in state["nearest"]}
    assert state["result"] is ResultOutcome.NOTHING_MATCHED
    assert "access is restricted" in state["answer"]
    assert "public" not in state["answer"] + state["plan"].model_dump_json()
