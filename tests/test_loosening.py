"""Loosening in a run: which conditions give way, how far, within which bounds, and what is told."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.access.local import GrantedAccess
from agent.ranking.chain import StrategyChain
from agent.ranking.packing import Packing
from agent.ranking.similarity import Similarity
from graph.context import Budgets, Context
from graph.lowering import with_lower_thresholds
from graph.nearest import nearest
from graph.ports import Found, Query, Ranking, Wanted
from schemas.access import Principal, Scope
from schemas.check import Bound, bind
from schemas.collection import Collection, Field, FieldType, Profile
from schemas.compile.predicate import to_predicate
from schemas.facts import implies
from schemas.filters import (
    EVERYTHING,
    Filter,
    Op,
    all_of,
    any_of,
    leaves,
    parse_filter,
)
from schemas.hits import Hit
from schemas.mentions import Proposal
from schemas.plan import Branch, Condition, PlanOutcome, ResultOutcome
from schemas.policy import Overrides, Policy
from tests.conftest import (
    TODAY,
    FirstSentences,
    MemoryStore,
    ScriptedChat,
    ScriptedPlanning,
    passage,
)
from tests.graph_runs import run

COMPLETE = Profile(rows=5, complete=True)
LIBRARY = Collection(
    name="company",
    fields=(
        Field(name="department", type=FieldType.STRING, values=("HR", "Finance", "Legal")),
        Field(name="year", type=FieldType.INT, values=(2019, 2021, 2022, 2023), profile=COMPLETE),
        Field(name="author", type=FieldType.STRING, values=("user-e", "user-f")),
        Field(name="pages", type=FieldType.INT, values=(8, 40, 90)),
        Field(name="tags", type=FieldType.STRING_LIST, values=("draft", "final")),
        Field(name="access", type=FieldType.STRING, values=("public", "restricted")),
    ),
    version="1",
)
ROWS: tuple[dict[str, Any], ...] = (
    {"department": "HR", "year": 2023, "author": "user-e", "pages": 8, "access": "public"},
    {"department": "HR", "year": 2021, "author": "user-e", "pages": 40, "access": "restricted"},
    {"department": "Finance", "year": 2022, "author": "user-f", "pages": 40, "access": "public"},
    {"department": "Finance", "year": 2022, "author": "user-e", "pages": 90, "access": "public"},
    {"department": "Legal", "year": 2019, "tags": ["draft"], "pages": 8, "access": "public"},
)


@dataclass
class CountingStore(MemoryStore):
    """Notes which filters were counted."""

    counted: list[Bound] = field(default_factory=list)

    async def count(self, kb: str, filter_: Bound, scope: Scope) -> int:
        self.counted.append(filter_)
        return await super().count(kb, filter_, scope)


def shelf(rows: Sequence[dict[str, Any]] = ROWS) -> CountingStore:
    stored = [passage(n, f"Text {n} about rules.", **row) for n, row in enumerate(rows, start=1)]
    return CountingStore(LIBRARY, stored)


class Everything:
    """A ranker that keeps all hits as they come."""

    async def rank(self, wanted: Wanted, hits: Sequence[Hit]) -> Ranking:
        return Ranking(tuple(hits))


def proposal(*filters: Filter) -> Proposal:
    """A plan with one branch for each filter."""
    conditions = tuple(
        Condition(
            field=one.field,
            op=one.op,
            value=[*one.value] if isinstance(one.value, tuple) else one.value,
            words=str(one.value),
        )
        for filter_ in filters
        for one in leaves(filter_)
    )
    return Proposal(
        outcome=PlanOutcome.PLANNED,
        query="rules",
        branches=tuple(Branch(query="rules", filter=filter_) for filter_ in filters),
        conditions=conditions,
    )


def context_of(
    store: MemoryStore, plan: Proposal, scope: Filter = EVERYTHING, **parts: Any
) -> Context:
    given: dict[str, Any] = {
        "access": GrantedAccess(),
        "catalog": store,
        "planning": ScriptedPlanning({"q": plan, "什么": plan}),
        "chat": ScriptedChat(),
        "searcher": store,
        "ranker": Everything(),
        "writer": FirstSentences(),
        "principal": Principal(name="reader", grants={"company": scope}),
        "today": TODAY,
    }
    return Context(**(given | parts))


def leaf(name: str, op: str, value: Any = None) -> Filter:
    return parse_filter({"field": name, "op": op, "value": value})


HR, OF_2024 = leaf("department", "eq", "HR"), leaf("year", "eq", 2024)


@pytest.mark.parametrize(
    ("filter_", "steps", "found"),
    [
        (
            all_of(HR, OF_2024),
            [("nearest", "year", "no HR document of 2024; showing 2023")],
            {"d1"},
        ),
        (
            all_of(leaf("department", "eq", "Sales"), leaf("year", "eq", 2015)),
            [
                ("drop", "department", "Sales"),
                ("nearest", "year", "no Sales document of 2015; showing 2019"),
            ],
            {"d5"},
        ),
        (
            all_of(HR, leaf("pages", "gt", 50)),
            [("nearest", "pages", "showing pages is at least 40")],
            {"d2"},
        ),
        (leaf("department", "eq", "Sales"), [("drop", "department", "was dropped")], None),
        (
            all_of(leaf("author", "contains", "user-f"), leaf("year", "eq", 2023)),
            [("nearest", "year", "showing 2022")],
            {"d3"},
        ),
        (
            all_of(leaf("author", "contains", "user-d"), leaf("pages", "gt", 30)),
            [("drop", "author", "author contains user-d")],
            {"d2", "d3", "d4"},
        ),
        (
            all_of(leaf("department", "ne", "Legal"), leaf("year", "eq", 2019)),
            [("nearest", "year", "showing 2021")],
            {"d2"},
        ),
        (
            all_of(leaf("department", "not_in", ["HR", "Finance", "Legal"])),
            [("drop", "department", "was dropped")],
            None,
        ),
    ],
    ids=[
        "the nearest year",
        "two conditions, each as little as will do",
        "the bound moved",
        "a lone condition",
        "the named author stays",
        "only the author helps",
        "the exclusion stays",
        "only the exclusion is there",
    ],
)
async def test_the_smallest_change_that_helps_is_made_and_told(
    filter_: Filter, steps: list[tuple[str, str, str]], found: set[str] | None
) -> None:
    state = await run(context_of(shelf(), proposal(filter_)))
    told = [(step.action, step.condition.field, step.words) for step in state["steps"]]
    assert len(told) == len(steps)
    for (action, name, words), (wanted, of, part) in zip(told, steps, strict=True):
        assert (action, name) == (wanted, of)
        assert part in words
        assert words in state["answer"]
    assert state["result"] is ResultOutcome.LOOSENED
    if found is not None:
        assert {ref.doc_id for ref in state["hits"]} == found
        assert {step.found for step in state["steps"]} == {len(found)}


async def test_it_is_told_in_chinese_where_the_question_is() -> None:
    state = await run(context_of(shelf(), proposal(all_of(HR, OF_2024))), "什么")
    assert [step.words for step in state["steps"]] == ["没有2024年的HR文档，改为显示2023年"]
    assert state["answer"].startswith(
        "没有完全符合条件的文档（没有2024年的HR文档，改为显示2023年）"
    )


async def test_each_branch_is_loosened_for_itself() -> None:
    branches = (all_of(HR, OF_2024), leaf("department", "eq", "Sales"))
    state = await run(context_of(shelf(), proposal(*branches)))
    assert [(step.action, step.condition.value) for step in state["steps"]] == [
        ("nearest", 2024),
        ("drop", "Sales"),
    ]
    assert state["branches"][0].filter == all_of(HR, leaf("year", "eq", 2023))
    assert state["branches"][1].filter == EVERYTHING


async def test_what_some_documents_meet_becomes_a_wish_and_ranks_them_first() -> None:
    store = shelf()
    of_2023 = all_of(HR, leaf("year", "eq", 2023))
    budgets = Budgets(minimum_hits=2, loosen_actions=("boost", "drop"))
    state = await run(context_of(store, proposal(of_2023), budgets=budgets))
    assert [(step.action, step.condition.field) for step in state["steps"]] == [("boost", "year")]
    assert "only 1 HR document of 2023" in state["steps"][0].words
    (wish,) = state["boosts"]
    assert (wish.field, wish.op, wish.value, wish.hard) == ("year", Op.EQ, 2023, False)
    assert {ref.doc_id for ref in state["hits"]} == {"d1", "d2"}


async def test_no_other_value_stands_in_for_one_that_some_documents_have() -> None:
    """Of 2022 there are enough, but then the one of 2023 would be lost."""
    budgets = Budgets(minimum_hits=2, loosen_actions=("nearest", "drop"))
    state = await run(context_of(shelf(), proposal(leaf("year", "eq", 2023)), budgets=budgets))
    assert [step.action for step in state["steps"]] == ["drop"]
    assert "d1" in {ref.doc_id for ref in state["hits"]}


@pytest.mark.parametrize(
    ("budgets", "steps"),
    [
        (Budgets(loosen_steps=0), 0),
        (Budgets(loosen_counts=0), 0),
        (Budgets(loosen_counts=1), 0),
        (Budgets(loosen_steps=1), 0),
        (Budgets(loosen_steps=2), 2),
        (Budgets(loosen_actions=()), 0),
        (Budgets(loosen_never=("YEAR",)), 0),
    ],
    ids=["no steps", "no counts", "one count", "one step", "two", "no change allowed", "kept"],
)
async def test_what_is_not_allowed_or_costs_too_much_is_not_done(
    budgets: Budgets, steps: int
) -> None:
    store = shelf()
    nowhere = all_of(leaf("department", "eq", "Sales"), leaf("year", "eq", 2015))
    state = await run(context_of(store, proposal(nowhere), budgets=budgets))
    assert len(state["steps"]) == steps
    assert len(store.counted) <= budgets.loosen_counts
    if not steps:
        assert state["result"] is ResultOutcome.NOTHING_MATCHED
        assert state["hits"] == ()


async def test_where_nothing_helps_the_nearest_within_scope_and_caller_is_shown() -> None:
    store = shelf()
    store.leaky = True
    caller = leaf("department", "in", ["HR", "Finance"])
    scope = leaf("access", "eq", "public")
    plan = proposal(leaf("access", "eq", "restricted"))
    state = await run(context_of(store, plan, scope), caller=caller)
    assert state["result"] is ResultOutcome.NOTHING_MATCHED
    assert (state["hits"], state["steps"]) == ((), ())
    assert {ref.doc_id for ref in state["nearest"]} == {"d1", "d3", "d4"}
    assert "The nearest outside these conditions: Document " in state["answer"]
    assert "[1]" not in state["answer"]
    assert not {"Document 2", "Document 5"} & set(re.findall(r"Document \d", state["answer"]))


class Forgetful(CountingStore):
    """A store whose searches forget the filter, but not the scope."""

    async def search(self, query: Query, scope: Scope) -> Found:
        return await super().search(replace(query, filter=bind(EVERYTHING, LIBRARY)), scope)


async def test_what_is_nearest_is_held_against_the_callers_filter_once_more() -> None:
    store = Forgetful(LIBRARY, shelf().stored)
    context = context_of(store, proposal(leaf("access", "eq", "nobody")))
    planned = await run(context, caller=HR, goal="plan")
    found = await nearest(planned, context)
    assert {ref.doc_id for ref in found} == {"d1", "d2"}


async def test_who_may_see_nothing_is_told_nothing_and_nothing_is_counted() -> None:
    store = shelf()
    store.leaky = True
    plan = proposal(all_of(HR, OF_2024))
    for scope in (any_of(), parse_filter({"field": "access", "op": "in", "value": []})):
        state = await run(context_of(store, plan, scope))
        assert (state["hits"], state["nearest"], state["steps"]) == ((), (), ())
        assert "Document" not in state["answer"]


@dataclass
class Strict:
    """A ranker that keeps what its thresholds let through."""

    similarity: float
    asked: list[Overrides | None] = field(default_factory=list)

    async def rank(self, wanted: Wanted, hits: Sequence[Hit]) -> Ranking:
        self.asked.append(wanted.policy)
        policy = Policy(similarity_threshold=0.7).with_(wanted.policy)
        kept = tuple(h for h in hits if self.similarity >= policy.similarity_threshold)
        removed = {"similarity": len(hits) - len(kept)}
        return Ranking(kept or tuple(hits[:2]), fallback=not kept, removed=removed)


@pytest.mark.parametrize(
    ("similarity", "budgets", "outcome", "rankings"),
    [
        (0.8, Budgets(), ResultOutcome.MATCHED, 1),
        (0.65, Budgets(), ResultOutcome.LOOSENED, 2),
        (0.4, Budgets(), ResultOutcome.FALLBACK, 2),
        (0.4, Budgets(threshold_step=0.4), ResultOutcome.LOOSENED, 2),
        (0.4, Budgets(threshold_step=0.4, threshold_floor=0.6), ResultOutcome.FALLBACK, 2),
        (0.65, Budgets(threshold_step=0), ResultOutcome.FALLBACK, 1),
        (0.65, Budgets(threshold_floor=0.7), ResultOutcome.FALLBACK, 1),
    ],
)
async def test_where_thresholds_leave_nothing_they_are_lowered_once(
    similarity: float, budgets: Budgets, outcome: ResultOutcome, rankings: int
) -> None:
    ranker = Strict(similarity)
    context = context_of(shelf(), proposal(HR), ranker=ranker, budgets=budgets)
    state = await run(context, policy=Overrides(max_retrieval_results=9))
    assert state["result"] is outcome
    assert len(ranker.asked) == rankings
    assert all(one is not None and one.max_retrieval_results == 9 for one in ranker.asked)
    lowered = [step.action for step in state["steps"]]
    assert lowered == (["threshold"] if outcome is ResultOutcome.LOOSENED else [])
    if lowered:
        (step,) = state["steps"]
        assert step.words.startswith("nothing reached a similarity of 0.7; showing from 0.")
        assert state["answer"].startswith("Nothing is close enough to the question (nothing")


@pytest.mark.parametrize(("similarity", "kept"), [(0.8, 1), (0.6, 1), (0.4, 0)])
async def test_the_thresholds_of_the_real_chain_are_lowered(similarity: float, kept: int) -> None:
    policy = Policy(fallback_top_k=0)
    chain = StrategyChain([Similarity(), Packing()], policy=policy)
    one = Hit(passage=passage(1, "Something else."), score=0.5, scores={"similarity": similarity})
    wanted = Wanted(question="travel rules", query="travel rules", filter=EVERYTHING, today=TODAY)
    context = context_of(shelf(), proposal(HR), ranker=chain, policy=policy)
    ranking, steps = await with_lower_thresholds(
        await chain.rank(wanted, [one]), wanted, [one], context
    )
    assert len(ranking.hits) == kept
    assert [step.action for step in steps] == (["threshold"] if similarity == 0.6 else [])


@pytest.mark.parametrize(
    "policy",
    [
        {"knowledge_profiles": {"lenient": {"min_confidence_threshold": 0.1}}},
        {"type_specific_rules": {"minutes": {"min_confidence_threshold": 0.1}}},
    ],
)
async def test_lowering_makes_no_base_and_no_type_of_document_stricter(
    policy: dict[str, Any],
) -> None:
    ranker = Strict(0.65)
    context = context_of(shelf(), proposal(HR), ranker=ranker, policy=Policy(**policy))
    both = {"company": LIBRARY, "lenient": LIBRARY}
    wanted = Wanted(question="q", query="q", filter=EVERYTHING, today=TODAY, collections=both)
    hits = [Hit(passage=passage(1, "Something else."), score=0.5)]
    await with_lower_thresholds(await ranker.rank(wanted, hits), wanted, hits, context)
    lowered = ranker.asked[-1]
    assert lowered is not None
    assert lowered.similarity_threshold == 0.6
    assert lowered.min_confidence_threshold is None


async def test_a_threshold_below_the_floor_already_is_never_raised() -> None:
    ranker = Strict(0.1)
    context = context_of(shelf(), proposal(HR), ranker=ranker)
    await run(context, policy=Overrides(similarity_threshold=0.2))
    assert len(ranker.asked) == 1


LEAVES = st.sampled_from(
    [
        HR,
        OF_2024,
        leaf("department", "eq", "Sales"),
        leaf("department", "ne", "HR"),
        leaf("year", "ge", 2023),
        leaf("year", "eq", 2022),
        leaf("author", "eq", "user-d"),
        leaf("author", "eq", "user-e"),
        leaf("pages", "gt", 95),
        leaf("pages", "lt", 10),
        leaf("tags", "contains", "final"),
        leaf("tags", "empty"),
        leaf("access", "eq", "restricted"),
        leaf("access", "eq", "public"),
        any_of(HR, leaf("pages", "gt", 300)),
    ]
)
FILTERS = st.lists(LEAVES, max_size=4).map(lambda parts: all_of(*parts))


@settings(max_examples=60)
@given(
    branches=st.lists(FILTERS, min_size=1, max_size=2),
    scope=FILTERS,
    caller=FILTERS,
    budgets=st.builds(
        Budgets,
        loosen_steps=st.integers(0, 4),
        loosen_counts=st.integers(0, 30),
        minimum_hits=st.integers(0, 3),
    ),
)
def test_scope_caller_and_budgets_hold_whatever_is_loosened(
    branches: list[Filter],
    scope: Filter,
    caller: Filter,
    budgets: Budgets,
) -> None:
    store = shelf()
    context = context_of(store, proposal(*branches), scope, budgets=budgets)
    state = asyncio.run(run(context, caller=caller))
    assert len(state["steps"]) <= budgets.loosen_steps
    assert len(store.counted) <= budgets.loosen_counts
    allowed = to_predicate(bind(all_of(scope, caller), LIBRARY))
    rows = {one.id: one.metadata for one in store.stored}
    shown = [*state["hits"], *state["found"], *state["nearest"]]
    assert all(allowed(rows[ref.id]) for ref in shown)
    asked = [query.filter.root for query in store.queries] + [one.root for one in store.counted]
    inside = bind(caller, LIBRARY)
    assert all(implies(Bound(root, LIBRARY), inside) for root in asked)
    for title in (one.title for one in store.stored if not allowed(one.metadata)):
        assert title not in state["answer"]
    assert not ({step.condition.field for step in state["steps"]} & {"access"})
    if state["steps"]:
        assert len(state["found"]) >= min(budgets.minimum_hits, 1)


@dataclass
class TwoShelves(CountingStore):
    """Two knowledge bases over the same fields; which one a passage is in says its `kb`."""

    async def describe(self, kb: str, scope: Scope) -> Collection:
        return self.collection.model_copy(update={"name": kb})

    async def search(self, query: Query, scope: Scope) -> Found:
        found = await super().search(query, scope)
        return replace(found, hits=tuple(h for h in found.hits if h.passage.kb == query.kb))

    async def count(self, kb: str, filter_: Bound, scope: Scope) -> int:
        hits = await self.search(Query(kb, "", filter_), scope)
        return len({hit.passage.doc_id for hit in hits.hits})


async def test_counts_are_those_of_all_knowledge_bases_that_may_be_seen() -> None:
    """The nearest year of the second base is nearer, but nothing of the third may be seen."""
    one, two = (
        passage(1, "Text 1.", department="HR", year=2019),
        passage(2, "Text 2.", department="HR", year=2021).model_copy(update={"kb": "archive"}),
    )
    three = passage(3, "Text 3.", department="HR", year=2023).model_copy(update={"kb": "vault"})
    grants = {"company": EVERYTHING, "archive": EVERYTHING}
    context = context_of(
        TwoShelves(LIBRARY, [one, two, three]),
        proposal(all_of(HR, OF_2024)),
        principal=Principal(name="reader", grants=grants),
    )
    state = await run(context, kbs=("company", "archive", "vault"))
    assert [step.words for step in state["steps"]] == ["no HR document of 2024; showing 2021"]
    assert [(ref.kb, ref.doc_id) for ref in state["hits"]] == [("archive", "d2")]


async def test_ranking_is_told_the_callers_filter_too() -> None:
    seen: list[Filter] = []

    class Noting(Everything):
        async def rank(self, wanted: Wanted, hits: Sequence[Hit]) -> Ranking:
            seen.append(wanted.filter)
            return await super().rank(wanted, hits)

    caller = leaf("access", "eq", "public")
    await run(context_of(shelf(), proposal(HR), ranker=Noting()), caller=caller)
    assert seen == [all_of(caller, HR)]
