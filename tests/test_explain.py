"""Listings on their way through the graph, and what an explained search tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from agent.cli.explained import WIDTH, explained_text, padded, width, wrapped
from agent.cli.printing import plan_text, search_text
from agent.explained import EXPLAINED, explained
from agent.results import answer_of, events_of, result_of
from graph.context import Context
from graph.explaining import counterfactuals
from graph.ports import Listed
from schemas.access import Principal, Scope
from schemas.answers import EventKind, SearchResult
from schemas.check import Bound
from schemas.collection import Collection
from schemas.filters import EVERYTHING, AllOf, Compare, Filter, Op
from schemas.listing import Group, Listing, ListingKind, Sort
from schemas.mentions import Proposal
from schemas.plan import Branch, Condition, Mode, PlanOutcome, ResultOutcome
from tests.conftest import MemoryStore, ScriptedPlanning
from tests.graph_runs import run

HR = Compare(op=Op.EQ, field="department", value="HR")
POLICY = Compare(op=Op.EQ, field="category", value="policy")
OF_2019 = AllOf(
    of=(
        Compare(op=Op.GE, field="publish_date", value="2019-01-01"),
        Compare(op=Op.LT, field="publish_date", value="2020-01-01"),
    )
)
PUBLIC = Principal(
    name="reader", grants={"company": Compare(op=Op.EQ, field="access", value="public")}
)


@pytest.fixture
def listing_context(
    make_context: Callable[..., Context],
) -> Callable[..., Context]:
    def make(
        proposal: Proposal, principal: Principal | None = None, question: str = "q"
    ) -> Context:
        parts: dict[str, Any] = {
            "planning": ScriptedPlanning({question: proposal}),
        }
        return make_context(principal, **parts) if principal else make_context(**parts)

    return make


def proposed(listing: Listing | None, *filters: Filter, words: Sequence[str] = ("HR",)) -> Proposal:
    filter_ = (
        AllOf(of=tuple(filters)) if len(filters) > 1 else filters[0] if filters else EVERYTHING
    )
    conditions = tuple(
        Condition(field=leaf.field, op=leaf.op, value=leaf.value, words=word)
        for leaf, word in zip(filters, words, strict=False)
        if isinstance(leaf, Compare)
    )
    return Proposal(
        outcome=PlanOutcome.PLANNED if filters else PlanOutcome.NO_FILTER,
        query="work",
        branches=(Branch(query="work", filter=filter_),),
        conditions=conditions,
        listing=listing,
    )


async def test_a_list_is_answered_without_a_search(
    listing_context: Callable[..., Context], store: MemoryStore
) -> None:
    context = listing_context(proposed(Listing(), HR))
    state = await run(context)
    assert store.queries == []
    assert state["result"] is ResultOutcome.MATCHED
    answer = answer_of("q", state, context, None)
    assert answer.text == (
        "There are 2 documents (department is HR), by publish date, newest first:\n"
        "1. Document 3 (2025-01-15) [1]\n"
        "2. Document 1 (2024-03-01) [2]"
    )
    assert answer.total == 2
    assert answer.cited == (1, 2)
    assert [reference.doc_id for reference in answer.references] == ["d3", "d1"]
    assert answer.model is None
    done = [event for event in events_of(answer) if event.kind is EventKind.DONE]
    assert isinstance(done[0].data, dict)
    assert done[0].data["total"] == 2


@pytest.mark.parametrize("leaky", [False, True])
async def test_scope_and_caller_hold_for_a_listing(
    listing_context: Callable[..., Context], store: MemoryStore, leaky: bool
) -> None:
    store.leaky = leaky
    state = await run(listing_context(proposed(Listing(), HR), PUBLIC), caller=POLICY)
    assert [ref.doc_id for ref in state["hits"]] == ["d1"]
    assert "Document 3" not in state["answer"]


async def test_none_is_an_answer_and_nothing_is_loosened(
    listing_context: Callable[..., Context],
) -> None:
    count = Listing(kind=ListingKind.COUNT)
    state = await run(listing_context(proposed(count, HR, *OF_2019.of)))
    assert state["result"] is ResultOutcome.NOTHING_MATCHED
    assert state["steps"] == ()
    assert state["answer"].startswith("There are 0 matching documents (department is HR and")


async def test_sorted_limited_and_cut(listing_context: Callable[..., Context]) -> None:
    newest = Listing(sort=Sort(field="publish_date"), limit=1)
    state = await run(listing_context(proposed(newest)))
    assert state["answer"] == (
        "Of 4 documents, the newest by publish date:\n1. Document 3 (2025-01-15) [1]"
    )
    everything = Listing(sort=Sort(field="pages"))
    state = await run(listing_context(proposed(everything)), top=2)
    assert state["answer"] == (
        "There are 4 documents; the first 2, by pages, highest first:\n"
        "1. Document 3 (pages 12) [1]\n2. Document 1 (no pages) [2]"
    )


async def test_groups_are_cut_where_fewer_are_asked_for(
    listing_context: Callable[..., Context],
) -> None:
    first = Listing(kind=ListingKind.GROUP, group="department", sort=Sort(), limit=2)
    rows = ["  2  HR", "  1  Finance"]
    state = await run(listing_context(proposed(first)))
    assert state["answer"].splitlines() == [
        "4 documents by department (the first 2 of 3 groups):",
        *rows,
    ]
    every = first.model_copy(update={"limit": None})
    state = await run(listing_context(proposed(every), question="部门"), "部门", top=2)
    assert state["answer"].splitlines() == [
        "共 4 份文档，按 department 统计（共 3 组，列出前 2 组）：",
        *rows,
    ]


async def test_where_only_the_caller_sets_conditions_a_count_is_read_all_the_same(
    listing_context: Callable[..., Context], store: MemoryStore
) -> None:
    count = Listing(kind=ListingKind.COUNT)
    planned = proposed(count, HR)
    state = await run(listing_context(planned), mode=Mode.MANUAL, caller=POLICY)
    assert state["tally"] is not None
    assert state["plan"].filter == POLICY
    assert store.queries == []
    state = await run(listing_context(planned), mode=Mode.OFF, caller=POLICY)
    assert state["tally"] is None


async def test_groups_as_a_table(listing_context: Callable[..., Context]) -> None:
    most = Listing(kind=ListingKind.GROUP, group="department", sort=Sort(), limit=1)
    context = listing_context(proposed(most))
    state = await run(context, goal="search")
    result = result_of("q", state, context)
    assert result.groups == (
        Group(value="HR", count=2),
        Group(value="Finance", count=1),
        Group(value="研发中心", count=1),
    )
    assert result.text.splitlines()[0] == "HR has the most documents: 2 of 4. By department:"
    years = Listing(kind=ListingKind.GROUP, group="publish_date", unit="year")
    state = await run(listing_context(proposed(years)))
    assert state["answer"].splitlines()[1:] == ["  2  2024", "  1  2025", "  1  no publish date"]


@dataclass
class Several:
    """Catalog and Searcher over one store for each knowledge base."""

    stores: Mapping[str, MemoryStore]

    async def describe(self, kb: str, scope: Scope) -> Collection:
        return await self.stores[kb].describe(kb, scope)

    async def expression(self, filter_: Bound) -> str:
        return ""

    async def listing(
        self, kb: str, filter_: Bound, scope: Scope, listing: Listing, shown: int
    ) -> Listed:
        return await self.stores[kb].listing(kb, filter_, scope, listing, shown)


async def test_knowledge_bases_are_listed_and_counted_together(
    make_context: Callable[..., Context], store: MemoryStore
) -> None:
    other = MemoryStore(
        store.collection.model_copy(update={"name": "other"}),
        [
            one.model_copy(
                update={
                    "kb": "other",
                    "title": f"Other {one.doc_id}",
                    "metadata": {**one.metadata, "publish_date": f"2024-1{number}-01"},
                }
            )
            for number, one in enumerate(store.stored[:3])
        ],
    )
    both = Several({"company": store, "other": other})
    newest = Listing(sort=Sort(field="publish_date"))
    groups = Listing(kind=ListingKind.GROUP, group="department")
    planning = ScriptedPlanning({"q": proposed(newest, HR), "g": proposed(groups)})
    context = make_context(planning=planning, catalog=both, searcher=both)
    state = await run(context, kbs=("company", "other"))
    assert [(ref.kb, ref.doc_id) for ref in state["hits"]] == [
        ("company", "d3"),
        ("other", "d3"),
        ("other", "d1"),
        ("company", "d1"),
    ]
    tally = (await run(context, "g", kbs=("company", "other")))["tally"]
    assert tally is not None
    assert tally.total == 7
    assert [(one.value, one.count) for one in tally.groups] == [
        ("HR", 4),
        ("Finance", 2),
        ("研发中心", 1),
    ]


async def test_chinese_questions_get_chinese_answers(
    listing_context: Callable[..., Context],
) -> None:
    question = "有多少份文档"
    count = proposed(Listing(kind=ListingKind.COUNT), HR)
    state = await run(listing_context(count, question=question), question)
    assert state["answer"].splitlines()[0] == "共有 2 份文档（department 为 HR）："
    none = proposed(Listing(kind=ListingKind.COUNT), HR, *OF_2019.of)
    state = await run(listing_context(none, question=question), question)
    assert "共 0 份" in state["answer"]


async def test_a_condition_that_the_caller_rules_out_is_searched_for(
    listing_context: Callable[..., Context], store: MemoryStore
) -> None:
    finance = Compare(op=Op.EQ, field="department", value="Finance")
    state = await run(listing_context(proposed(Listing(), HR)), caller=finance)
    assert state["plan"].listing is None
    assert [query.text for query in store.queries] == ["q"]


async def test_conditions_are_told_by_what_they_cost(
    listing_context: Callable[..., Context],
) -> None:
    context = listing_context(proposed(None, HR, POLICY, words=("HR", "policies")))
    found = await counterfactuals(await run(context, goal="search"), context)
    assert found == (
        {
            "condition": "department is HR",
            "fields": ["department"],
            "words": "HR",
            "documents": 1,
            "documents_without": 2,
            "more": 1,
        },
        {
            "condition": "category is policy",
            "fields": ["category"],
            "words": "policies",
            "documents": 1,
            "documents_without": 2,
            "more": 1,
        },
    )


async def test_what_is_told_of_conditions_stays_in_scope_and_beside_the_caller(
    listing_context: Callable[..., Context],
) -> None:
    context = listing_context(proposed(None, HR, POLICY), PUBLIC)
    found = await counterfactuals(await run(context, goal="search"), context)
    assert [(one["condition"], one["more"]) for one in found] == [
        ("department is HR", 1),
        ("category is policy", 0),
    ]
    context = listing_context(proposed(None, HR, POLICY))
    found = await counterfactuals(await run(context, goal="search", caller=POLICY), context)
    assert [one["condition"] for one in found] == ["department is HR"]


async def test_without_conditions_nothing_is_counted(
    listing_context: Callable[..., Context],
) -> None:
    context = listing_context(proposed(None))
    assert await counterfactuals(await run(context, goal="search"), context) == ()


async def test_what_was_found_says_what_became_of_it(
    listing_context: Callable[..., Context],
) -> None:
    context = listing_context(proposed(None, HR))
    state = await run(context, goal="search")
    state["hits"] = state["hits"][:1]
    state["statistics"] = {
        "strategies": [{"strategy": "near_duplicates", "in": 2, "out": 1, "removed": 1, "ms": 0.1}],
        "dropped": {state["found"][1].id: "near_duplicates"},
        "rerank_scores": {state["found"][1].id: 0.25},
    }
    told: Mapping[str, Any] = explained(state, context, [])
    assert [(one["rank"], one["kept"], one["removed_by"]) for one in told["found"]] == [
        (1, 1, None),
        (2, None, "near_duplicates"),
    ]
    assert told["found"][1]["scores"]["rerank"] == 0.25
    assert told["expression"] == "memory"
    assert {"filter", "model", "search", "rerank"} <= set(told["stages_ms"])
    assert len(told["found"]) <= EXPLAINED


EXPLAIN: Mapping[str, Any] = {
    "expression": '(department == "hr") and (published >= 19000) and ' * 4 + "(enabled == true)",
    "found": [
        {
            "rank": rank,
            "id": str(rank),
            "kb": "company",
            "title": "采集服务启动失败故障处理与日志查看的完整说明"
            if rank % 2
            else "Travel policy " * 9,
            "heading": ["Hotels"],
            "score": 0.5,
            "scores": {
                "dense": 0.5,
                "bm25": 12.0,
                "fused": 0.61,
                "similarity": 0.7,
                "boost.tag": 0.1,
            }
            | ({f"extra_{n}": 1.0 for n in range(8)} if rank == 3 else {}),
            "kept": rank if rank < 3 else None,
            "removed_by": "near_duplicates" if rank == 3 else None,
            "metadata": {},
        }
        for rank in range(1, 21)
    ],
    "found_total": 50,
    "removed": {"near_duplicates": 1},
    "strategies": [
        {"strategy": "near_duplicates", "stage": 28, "in": 50, "out": 49, "removed": 1, "ms": 1.0},
        {"strategy": "rerank", "in": 49, "out": 49, "removed": 0, "ms": 1.0, "fault": "timed out"},
    ],
    "problems": ["the ranking step 'rerank' failed and was left out"],
    "enhanced": {"keywords": ["per diem", "travel"]},
    "counterfactuals": [
        {"condition": "author is Ada", "documents": 3, "documents_without": 40, "more": 37},
        {"condition": "year is 2024", "documents": 3, "documents_without": 3, "more": 0},
    ],
    "stages_ms": {"filter": 3.0, "model": 812.0, "search": 12.5, "rerank": 1.0},
    "timings_ms": {"plan": 812.0, "search": 12.5, "search.dense": 4.0, "rank.near_duplicates": 0.5},
}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_explanation_fits_into_a_hundred_columns(language: Any) -> None:
    lines = explained_text(EXPLAIN, language)
    assert max(width(line) for line in lines) <= WIDTH
    text = "\n".join(lines)
    for part in ("near_duplicates", "timed out", "per diem", "enabled == true", "812.0", "37"):
        assert part in text


def test_an_explanation_names_what_each_condition_costs() -> None:
    assert "  without author is Ada: 37 more documents" in explained_text(EXPLAIN, "en")
    assert "  without year is 2024: no more documents" in explained_text(EXPLAIN, "en")
    assert "  去掉 author is Ada：多 37 份文档" in explained_text(EXPLAIN, "zh")


def test_lines_count_wide_characters_as_two() -> None:
    assert width("采集ab") == 6
    assert padded("采集服务", 5) == "采集…"
    assert padded("采集服务", 6) == "采集… "
    lines = list(wrapped("采" * 120, "> ", "  "))
    assert [width(line) for line in lines] == [100, 100, 46]


async def test_a_listing_is_printed_as_its_answer(listing_context: Callable[..., Context]) -> None:
    context = listing_context(proposed(Listing(sort=Sort(field="pages"), limit=2), HR))
    state = await run(context, goal="search")
    result: SearchResult = result_of("q", state, context, explained(state, context, []))
    assert result.text in search_text(result)
    assert "Found, best first" not in search_text(result)
    assert "list; in order of pages, descending; first 2" in plan_text(result.plan)


def test_without_statistics_nothing_is_guessed_about_what_became_of_a_passage() -> None:
    one = {**EXPLAIN["found"][1], "kept": None, "removed_by": None}
    lines = explained_text({**EXPLAIN, "found": [one], "strategies": []}, "en")
    assert "not among the first" not in "\n".join(lines)
    assert "- not shown" in "\n".join(lines)
