"""The nodes before the search: introspect, link, plan, validate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from jsonschema import Draft202012Validator
from langgraph.graph import END
from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.context import Context
from graph.ports import Ask, Completion, Message
from graph.stages import stage, tell
from graph.state import FRESH, State
from schemas.check import bind, check
from schemas.collection import Collection
from schemas.compile.text import to_text
from schemas.errors import ModelOutputCut
from schemas.facts import is_contradiction
from schemas.filters import EVERYTHING, Filter, all_of, any_of, leaves
from schemas.language import language_of
from schemas.mentions import Form, Proposal
from schemas.normalise import normalise
from schemas.plan import Branch, Condition, Mode, Origin, Plan, PlanOutcome, Problem

PLANNING_MODES = (Mode.AUTO, Mode.SEMI_AUTO)


async def introspect(
    state: State, runtime: Runtime[Context]
) -> Command[Literal["link", "validate"]]:
    """Learn the collection and check what the caller fixed, before anything else is spent."""
    with stage("introspect", {}) as watch:
        collection = await described(state, runtime)
        bind(state.get("caller", EVERYTHING), collection)
        _check_keys(state, collection)
    plans = state["mode"] in PLANNING_MODES
    return Command(goto="link" if plans else "validate", update={**FRESH, "timings": watch.timings})


async def link(state: State, runtime: Runtime[Context]) -> State:
    """Find the words of the question that may carry conditions."""
    with stage("link", state) as watch:
        collection = await described(state, runtime)
        mentions = runtime.context.planning.link(asked(state, runtime.context), collection)
    return {"mentions": mentions, "timings": watch.timings}


async def plan(state: State, runtime: Runtime[Context]) -> State:
    """Have the model judge the mentions: one call, and further ones only about a wrong reply."""
    with stage("plan", state) as watch:
        context = runtime.context
        collection = await described(state, runtime)
        ask = asked(state, context)
        form = context.planning.form(ask, collection, state["mentions"])
        reply, calls, problems = await _filled(form, context)
        if form is not None and reply is None:
            proposal = Proposal(outcome=PlanOutcome.FAILED, query=state["question"])
        else:
            proposal = context.planning.assemble(ask, collection, state["mentions"], reply)
    return {
        "proposal": proposal,
        "model_calls": calls,
        "model_problems": problems,
        "timings": watch.timings,
    }


async def validate(
    state: State, runtime: Runtime[Context]
) -> Command[Literal["search", "answer", "__end__"]]:
    """Check the proposal against the collection and make it the plan."""
    with stage("validate", state) as watch:
        collection = await described(state, runtime)
        made = await _plan(state, collection, runtime.context)
    made = made.model_copy(update={"timings_ms": watch.timings})
    tell("plan", made.model_dump(mode="json"))
    return Command(
        goto=_after_plan(state, made, runtime.context),
        update={
            "plan": made,
            "branches": _model_branches(state, made),
            "timings": watch.timings,
        },
    )


async def described(state: State, runtime: Runtime[Context]) -> Collection:
    """The collection as this principal may know it (the catalog caches it)."""
    context = runtime.context
    return await context.catalog.describe(state["kb"], context.scope(state["kb"]))


def asked(state: State, context: Context) -> Ask:
    """What planning is told of this turn and of the thread before it."""
    turns = [turn for turn in state.get("turns", []) if turn.kb == state["kb"]]
    return Ask(
        question=state["question"],
        today=context.today,
        mode=state["mode"],
        keys=state.get("keys", ()),
        history=(*state.get("history", ()), *(turn.question for turn in turns)),
        previous=turns[-1].conditions if turns else (),
    )


async def _filled(
    form: Form | None, context: Context
) -> tuple[Mapping[str, Any] | None, int, tuple[Problem, ...]]:
    """The model's reply to the form, how many calls it took, and what was wrong with it."""
    if form is None:
        return None, 0, ()
    messages = [Message(message.role, message.content) for message in form.messages]
    problems: list[Problem] = []
    for calls in range(1, context.budgets.repairs + 2):
        try:
            completion = await context.chat.complete(messages, form.reply_schema)
        except ModelOutputCut as error:
            problems.append(Problem(code="reply_cut", message=str(error)))
            continue
        reply, problem = _read(completion, form)
        if problem is None:
            return reply, calls, tuple(problems)
        problems.append(problem)
        messages = [
            *messages,
            Message("assistant", completion.text or "{}"),
            Message("user", f"That reply was wrong: {problem.message}. Reply again."),
        ]
    return None, context.budgets.repairs + 1, tuple(problems)


def _read(completion: Completion, form: Form) -> tuple[Mapping[str, Any] | None, Problem | None]:
    if completion.done_reason == "length":
        return None, Problem(code="reply_cut", message="it was cut off before its end")
    try:
        reply = json.loads(completion.text)
    except json.JSONDecodeError as error:
        return None, Problem(code="reply_not_json", message=f"it is not JSON ({error.msg})")
    for fault in Draft202012Validator(dict(form.reply_schema)).iter_errors(reply):
        where = "/".join(map(str, fault.absolute_path)) or "the reply"
        return None, Problem(code="reply_off_schema", message=f"{where}: {fault.message[:200]}")
    return reply, None


async def _plan(state: State, collection: Collection, context: Context) -> Plan:
    caller = normalise(state.get("caller", EVERYTHING))
    proposal = state.get("proposal") or Proposal(
        outcome=PlanOutcome.NO_FILTER,
        query=state["question"],
        branches=(Branch(query=state["question"]),),
    )
    problems = (*state.get("model_problems", ()), *proposal.problems)
    outcome = proposal.outcome
    branches = proposal.branches or (Branch(query=proposal.query),)
    faults = tuple(
        problem for branch in branches for problem in check(branch.filter, collection).problems
    )
    conditions = proposal.conditions
    if faults or outcome is PlanOutcome.FAILED:
        outcome, conditions, problems = PlanOutcome.FAILED, (), (*problems, *faults)
        branches = (Branch(query=state["question"]),)
    elif state["mode"] not in PLANNING_MODES and caller != EVERYTHING:
        outcome = PlanOutcome.PLANNED
    branches = tuple(
        branch.model_copy(update={"filter": normalise(all_of(caller, branch.filter))})
        for branch in branches
    )
    problems = (*problems, *_contradictions(branches, collection))
    effective = normalise(any_of(*(branch.filter for branch in branches)))
    called = bool(state.get("model_calls"))
    return Plan(
        outcome=outcome,
        mode=state["mode"],
        query=branches[0].query,
        filter=branches[0].filter,
        branches=branches,
        conditions=(*_said_by_caller(caller), *conditions),
        problems=problems,
        text=""
        if effective == EVERYTHING
        else to_text(effective, collection, language_of(state["question"])),
        expression=await _expression(branches[0].filter, collection, context),
        model=context.chat.name if called else None,
        model_calls=state.get("model_calls", 0),
    )


def _contradictions(branches: tuple[Branch, ...], collection: Collection) -> list[Problem]:
    """Said before any search: no document can meet such a filter."""
    return [
        Problem(
            code="contradiction",
            message=f"no document can meet this: {to_text(branch.filter, collection)}",
        )
        for branch in branches
        if is_contradiction(bind(branch.filter, collection))
    ]


async def _expression(filter_: Filter, collection: Collection, context: Context) -> str:
    return await context.catalog.expression(bind(filter_, collection))


def _said_by_caller(caller: Filter) -> tuple[Condition, ...]:
    return tuple(
        Condition(field=leaf.field, op=leaf.op, value=plain(leaf.value), origin=Origin.CALLER)
        for leaf in leaves(caller)
    )


def plain(value: Any) -> Any:
    """A value of a comparison as JSON has it: lists, not tuples."""
    return list(value) if isinstance(value, tuple) else value


def _model_branches(state: State, made: Plan) -> tuple[Branch, ...]:
    """What loosening may touch: the branches without the caller's part."""
    proposal = state.get("proposal")
    if proposal is None or made.outcome is PlanOutcome.FAILED or not proposal.branches:
        return tuple(branch.model_copy(update={"filter": EVERYTHING}) for branch in made.branches)
    return tuple(
        branch.model_copy(update={"filter": normalise(branch.filter)})
        for branch in proposal.branches
    )


def _after_plan(
    state: State, made: Plan, context: Context
) -> Literal["search", "answer", "__end__"]:
    if state.get("goal", "answer") == "plan":
        return END  # type: ignore[return-value]  # the constant is "__end__"
    if made.outcome is PlanOutcome.NOT_A_QUESTION:
        return "answer"
    if made.outcome is PlanOutcome.FAILED and not context.search_after_failure:
        return "answer"
    return "search"


def _check_keys(state: State, collection: Collection) -> None:
    """Keys of semi_auto have to be fields."""
    for key in state.get("keys", ()):
        collection.field(key.name)
