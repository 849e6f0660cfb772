"""The nodes before the search: introspect, link, plan, validate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from langgraph.graph import END
from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.caller import CONFLICT, added, beside_caller
from graph.context import Context
from graph.plan_key import plan_key
from graph.ports import Ask
from graph.replying import filled
from graph.scouting import send_scouts
from graph.shelves import Shelf, bound_on, joined, kbs_of, shelves_of, union_of
from graph.stages import stage, tell
from graph.state import FRESH, State
from graph.tokens import prompt_tokens
from schemas.check import bind, check
from schemas.collection import Collection
from schemas.compile.text import to_text
from schemas.errors import FilterError
from schemas.facts import is_contradiction
from schemas.filters import EVERYTHING, Filter, all_of, any_of, leaves
from schemas.language import language_of
from schemas.listing import Listing
from schemas.mentions import Form, Proposal
from schemas.normalise import normalise
from schemas.operators import OPERATOR_TYPES, allowed_ops
from schemas.plan import Branch, Condition, Mode, Origin, Plan, PlanOutcome, Problem
from schemas.united import unfit

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
        key = ""
        if form is not None and context.plans is not None:
            key = await plan_key(state, ask, form, collection, context)
        known = context.plans.get(key) if key and context.plans else None
        if known is not None:
            return {"proposal": known, "cached": True, "timings": watch.timings}
        form, problems = await _fitting(form, ask, state, collection, context)
        reply, calls = None, 0
        if not problems:
            if form is not None:
                await send_scouts(state, context)
            reply, calls, problems = await filled(form, context)
        if form is not None and reply is None:
            proposal = Proposal(outcome=PlanOutcome.FAILED, query=state["question"])
        else:
            proposal = context.planning.assemble(ask, collection, state["mentions"], reply)
        if key and context.plans and _may_be_kept(proposal, collection):
            context.plans.put(key, proposal)
    return {
        "proposal": proposal,
        "model_calls": calls,
        "model_problems": problems,
        "timings": watch.timings,
    }


async def _fitting(
    form: Form | None, ask: Ask, state: State, collection: Collection, context: Context
) -> tuple[Form | None, tuple[Problem, ...]]:
    """The form, as short as the model's window wants it; a problem where it cannot be."""
    if form is None or context.room is None:
        return form, ()
    room = await context.room()
    if prompt_tokens(form.messages) <= room:
        return form, ()
    form = context.planning.form(replace(ask, room=room), collection, state["mentions"])
    needed = prompt_tokens(form.messages) if form is not None else 0
    if needed <= room:
        return form, ()
    message = (
        f"the question and what it may mean need about {needed} tokens, and the model's window"
        f" has room for {room}; ask less at once, or raise models.context if the model has it"
    )
    return form, (Problem(code="no_room", message=message, value=needed),)


async def validate(
    state: State, runtime: Runtime[Context]
) -> Command[Literal["enhance", "listing", "answer", "__end__"]]:
    """Check the proposal against the collection and make it the plan."""
    with stage("validate", state) as watch:
        context = runtime.context
        collection = await described(state, runtime)
        proposal = _checked(state, collection, context)
        made = await _plan(state, proposal, await shelves_of(state, context), context)
    made = made.model_copy(update={"timings_ms": watch.timings})
    tell("plan", made.model_dump(mode="json"))
    return Command(
        goto=_after_plan(state, made, context),
        update={
            "proposal": proposal,
            "plan": made,
            "branches": _model_branches(state, proposal, collection),
            "boosts": tuple(c for c in proposal.conditions if not c.hard),
            "timings": watch.timings,
        },
    )


async def described(state: State, runtime: Runtime[Context]) -> Collection:
    """The collection as this principal may know it; of several knowledge bases, their union."""
    return union_of(await shelves_of(state, runtime.context))


def asked(state: State, context: Context) -> Ask:
    """What planning is told of this turn and of the thread before it."""
    turns = [turn for turn in state.get("turns", []) if turn.kb == ", ".join(kbs_of(state))]
    return Ask(
        question=state["question"],
        today=context.today,
        mode=state["mode"],
        keys=state.get("keys", ()),
        history=(*state.get("history", ()), *(turn.question for turn in turns)),
        previous=turns[-1].conditions if turns else (),
        filter=turns[-1].filter if turns else EVERYTHING,
    )


def _checked(state: State, collection: Collection, context: Context) -> Proposal:
    """The proposal as far as it fits the collection and the caller's filter. One that does not
    fit the collection has failed: nothing is left of it but its problems.
    """
    question = state["question"]
    proposal = state.get("proposal") or Proposal(outcome=PlanOutcome.NO_FILTER, query=question)
    if state["mode"] is Mode.MANUAL:
        read = context.planning.assemble(asked(state, context), collection, (), None)
        proposal = proposal.model_copy(update={"listing": read.listing})
    faults = _faults(proposal, collection)
    if faults or proposal.outcome is PlanOutcome.FAILED:
        return Proposal(
            outcome=PlanOutcome.FAILED,
            query=question,
            branches=(Branch(query=question),),
            problems=(*proposal.problems, *faults),
        )
    if not proposal.branches:
        whole = Branch(query=proposal.query)
        proposal = proposal.model_copy(update={"branches": (whole,)})
    return beside_caller(proposal, _caller(state), collection, question)


def _faults(proposal: Proposal, collection: Collection) -> tuple[Problem, ...]:
    return tuple(
        problem
        for branch in proposal.branches
        for problem in check(branch.filter, collection).problems
    )


def _may_be_kept(proposal: Proposal, collection: Collection) -> bool:
    return proposal.outcome is not PlanOutcome.FAILED and not _faults(proposal, collection)


def _caller(state: State) -> Filter:
    return normalise(state.get("caller", EVERYTHING))


async def _plan(
    state: State, proposal: Proposal, shelves: Mapping[str, Shelf], context: Context
) -> Plan:
    caller, outcome, collection = _caller(state), proposal.outcome, union_of(shelves)
    if state["mode"] not in PLANNING_MODES and caller != EVERYTHING:
        outcome = PlanOutcome.PLANNED
    branches = tuple(
        branch.model_copy(update={"filter": normalise(all_of(caller, branch.filter))})
        for branch in proposal.branches
    )
    problems = (*state.get("model_problems", ()), *proposal.problems)
    problems = (*problems, *_contradictions(branches, collection))
    effective = normalise(any_of(*(branch.filter for branch in branches)))
    described = [shelf.collection for shelf in shelves.values()]
    problems = (*problems, *unfit(all_of(caller, effective), collection, described))
    cached = state.get("cached", False)
    asked_model = cached or bool(state.get("model_calls"))
    return Plan(
        outcome=outcome,
        mode=state["mode"],
        query=branches[0].query,
        filter=branches[0].filter,
        branches=branches,
        conditions=(*_said_by_caller(caller), *proposal.conditions),
        problems=problems,
        text=""
        if effective == EVERYTHING
        else to_text(effective, collection, language_of(state["question"])),
        expression=await _expression(branches[0].filter, shelves, context),
        model=context.chat.name if asked_model else None,
        model_calls=state.get("model_calls", 0),
        cached=cached,
        listing=_listing(proposal),
    )


def _listing(proposal: Proposal) -> Listing | None:
    """None where a condition was left out: its words are a subject again, to be searched for."""
    left_out = any(problem.code == CONFLICT for problem in proposal.problems)
    return None if left_out else proposal.listing


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


async def _expression(filter_: Filter, shelves: Mapping[str, Shelf], context: Context) -> str:
    """What the engine is given; of several knowledge bases, each different one."""
    union = union_of(shelves)
    told = [
        await context.catalog.expression(bound_on(shelf, union, filter_))
        for shelf in shelves.values()
    ]
    return joined(told)


def _said_by_caller(caller: Filter) -> tuple[Condition, ...]:
    return tuple(
        Condition(field=leaf.field, op=leaf.op, value=plain(leaf.value), origin=Origin.CALLER)
        for leaf in leaves(caller)
    )


def plain(value: Any) -> Any:
    """A value of a comparison as JSON has it: lists, not tuples."""
    return list(value) if isinstance(value, tuple) else value


def _model_branches(state: State, proposal: Proposal, collection: Collection) -> tuple[Branch, ...]:
    """What loosening may touch: the branches without the caller's part."""
    caller = _caller(state)
    return tuple(
        branch.model_copy(update={"filter": normalise(added(branch.filter, caller, collection))})
        for branch in proposal.branches
    )


def _after_plan(
    state: State, made: Plan, context: Context
) -> Literal["enhance", "listing", "answer", "__end__"]:
    if state.get("goal", "answer") == "plan":
        return END  # type: ignore[return-value]  # the constant is "__end__"
    if made.outcome is PlanOutcome.NOT_A_QUESTION:
        return "answer"
    if made.outcome is PlanOutcome.FAILED and not context.search_after_failure:
        return "answer"
    return "enhance" if made.listing is None else "listing"


def _check_keys(state: State, collection: Collection) -> None:
    """Keys of semi_auto have to be fields, with operators that their types allow."""
    for key in state.get("keys", ()):
        field = collection.field(key.name)
        if key.op is not None and key.op not in OPERATOR_TYPES[field.type]:
            allowed = ", ".join(allowed_ops(field.type))
            raise FilterError(
                f"{key.op} cannot be pinned on field {key.name!r} of type {field.type}; "
                f"allowed: {allowed}"
            )
