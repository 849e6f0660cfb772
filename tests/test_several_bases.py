"""A question to several knowledge bases: who may, what is merged how, what is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from agent.app import Agent
from agent.cli.session import parse_kbs
from agent.requests import AskOptions, read_options
from agent.results import found_documents, references
from agent.sections import PathSettings
from agent.service.models import SearchRequest
from agent.settings import Settings
from graph.context import Budgets
from graph.ports import Found, Query
from graph.searching import count_all
from graph.shelves import joined
from schemas.access import LOCAL, Principal, Scope
from schemas.errors import FilterError, UnknownKnowledgeBase, UsageError
from schemas.filters import EVERYTHING, Compare, Filter, Op
from schemas.hits import Hit
from schemas.plan import Branch
from tests.scope_world import ALL, Request, World, run

KBS = ("alpha", "beta", "gamma")
HR = Compare(op=Op.EQ, field="department", value="HR")
OWNED = Compare(op=Op.EQ, field="owner", value="ann")
RECENT = Compare(op=Op.GE, field="year", value=2022)


def request(filter_: Filter = EVERYTHING, **given: Any) -> Request:
    parts: dict[str, Any] = {
        "kbs": KBS,
        "grants": LOCAL.grants,
        "caller": EVERYTHING,
        "branches": (Branch(query="travel", filter=filter_),),
        "listing": None,
        "goal": "search",
        "top": None,
        "policy": None,
        "off": frozenset(),
        "budgets": Budgets(loosen_steps=0, threshold_step=0),
    }
    return Request(**(parts | given))


@dataclass
class Scored(World):
    """Knows the scores of passages by knowledge base and id; the others are not found."""

    scores: Mapping[tuple[str, str], float] = field(default_factory=dict)

    async def search(self, query: Query, scope: Scope) -> Found:
        self.queries.append(query)
        hits = [
            Hit(passage=one, score=score)
            for one in self._matching(query.kb, query.filter, scope)
            if (score := self.scores.get((one.kb, one.id))) is not None
        ]
        return Found(tuple(sorted(hits, key=lambda hit: -hit.score)), f"of {query.kb}")


async def test_each_is_searched_in_its_own_scope_and_by_its_own_fields() -> None:
    world = World(ALL)
    grants = {"alpha": EVERYTHING, "beta": HR}
    outcome = await run(request(grants=grants), world)
    assert [query.kb for query in world.queries if query.text == "travel"] == list(KBS)
    for query in world.queries:
        assert query.filter.collection.name == query.kb
    found = outcome.state["found"]
    assert {ref.kb for ref in found} == {"alpha", "beta"}
    hr = {p.id for p in ALL["beta"] if p.metadata.get("department") == "HR"}
    assert {ref.id for ref in found if ref.kb == "beta"} == hr


async def test_equal_ids_of_two_bases_are_two_passages() -> None:
    outcome = await run(request(), World(ALL))
    found = outcome.state["found"]
    assert {(ref.kb, ref.id) for ref in found} == {(kb, p.id) for kb in KBS for p in ALL[kb]}
    assert len({ref.id for ref in found}) < len(found)
    shown = references(found, outcome.context)
    assert all(ref.kb in ref.title for ref in shown)
    assert len(shown) == len(found)


async def test_bases_are_merged_by_score_and_branches_are_interleaved() -> None:
    scores = {("alpha", "0#0"): 0.9, ("beta", "0#0"): 0.95, ("alpha", "1#0"): 0.5}
    world = Scored(ALL, scores=scores)
    outcome = await run(request(), world)
    assert [(ref.kb, ref.id) for ref in outcome.state["found"]] == [
        ("beta", "0#0"),
        ("alpha", "0#0"),
        ("alpha", "1#0"),
    ]
    assert outcome.state["expression"] == "(of alpha) or (of beta) or (of gamma)"
    branches = (Branch(query="one", kb="alpha"), Branch(query="two", kb="beta"))
    outcome = await run(request(branches=branches), world)
    assert [(ref.kb, ref.id) for ref in outcome.state["found"]] == [
        ("beta", "0#0"),
        ("alpha", "0#0"),
        ("alpha", "1#0"),
    ]


async def test_a_field_that_one_of_them_lacks_finds_nothing_there_and_is_told() -> None:
    outcome = await run(request(OWNED), World(ALL))
    assert {ref.kb for ref in outcome.state["found"]} == {"beta"}
    told = [(p.code, p.field, p.value) for p in outcome.state["plan"].problems]
    assert told == [
        ("field_not_in_kb", "owner", "alpha"),
        ("field_not_in_kb", "owner", "gamma"),
    ]


async def test_a_field_of_another_type_finds_nothing_there_and_is_told() -> None:
    outcome = await run(request(RECENT), World(ALL))
    assert {ref.kb for ref in outcome.state["found"]} == {"alpha", "beta"}
    assert [p.code for p in outcome.state["plan"].problems] == ["field_type_differs"]


async def test_a_field_that_none_of_them_has_is_an_error() -> None:
    with pytest.raises(FilterError, match="unknown field 'owner' in 'alpha, gamma'"):
        await run(request(kbs=("alpha", "gamma"), caller=OWNED), World(ALL))


async def test_counts_are_sums() -> None:
    outcome = await run(request(), World(ALL))
    hr = {p.doc_id for kb in KBS for p in ALL[kb] if p.metadata.get("department") in ("HR", "hr")}
    assert await count_all(outcome.state, outcome.context, HR) == len(hr)
    owned = {p.doc_id for p in ALL["beta"] if p.metadata.get("owner") == "ann"}
    assert await count_all(outcome.state, outcome.context, OWNED) == len(owned) > 0


async def test_hits_are_counted_by_document() -> None:
    outcome = await run(request(), World(ALL))
    documents = found_documents(outcome.state["found"], outcome.context)
    passages = [p for kb in KBS for p in ALL[kb]]
    assert {d.doc_id: d.hits for d in documents} == {
        p.doc_id: sum(one.doc_id == p.doc_id for one in passages) for p in passages
    }
    assert [d.score for d in documents] == sorted((d.score for d in documents), reverse=True)
    titles = {p.doc_id: p.title for p in passages}
    assert all(d.title == titles[d.doc_id] for d in documents)


async def test_one_base_that_fails_fails_the_search() -> None:
    """Half an answer would look like a whole one."""

    @dataclass
    class Failing(World):
        async def search(self, query: Query, scope: Scope) -> Found:
            if query.kb == "beta":
                raise UnknownKnowledgeBase("gone")
            return await super().search(query, scope)

    with pytest.raises(UnknownKnowledgeBase):
        await run(request(), Failing(ALL))


async def test_a_passage_of_another_base_is_not_taken_for_one_of_the_base_asked() -> None:
    @dataclass
    class Mixed(World):
        async def search(self, query: Query, scope: Scope) -> Found:
            strays = [Hit(passage=one, score=0.9) for one in ALL["beta"]]
            return Found(tuple(strays), "")

    outcome = await run(request(kbs=("alpha",)), Mixed(ALL))
    assert outcome.state["found"] == ()


@pytest.fixture
def agent(tmp_path: Any) -> Agent:
    return Agent(Settings(paths=PathSettings(data=tmp_path), kb="default"))


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({}, ("default",)),
        ({"kb": "a"}, ("a",)),
        ({"kbs": ("a", "b", "a")}, ("a", "b")),
        ({"kb": "a", "kbs": ("a",)}, ("a",)),
    ],
)
def test_which_bases_are_asked(agent: Agent, given: Any, asked: tuple[str, ...]) -> None:
    assert agent.asked(AskOptions(**given)) == asked


def test_two_ways_to_name_them_at_once(agent: Agent) -> None:
    with pytest.raises(UsageError, match=r"both kb \('a'\) and kbs \(a, b\)"):
        agent.asked(AskOptions(kb="a", kbs=("a", "b")))


async def test_each_has_to_be_granted(agent: Agent) -> None:
    reader = Principal(name="reader", grants={"a": EVERYTHING})
    with pytest.raises(UnknownKnowledgeBase, match="unknown knowledge base 'b'"):
        await agent.search("q", principal=reader, kbs=("a", "b"))


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (None, ()),
        (["a"], ("a",)),
        (["a", "b"], ("a", "b")),
        (["a, b", "c,a,"], ("a", "b", "c")),
    ],
)
def test_names_on_the_command_line(given: list[str] | None, names: tuple[str, ...]) -> None:
    assert parse_kbs(given) == names


def test_a_body_may_name_several() -> None:
    body = SearchRequest.model_validate({"question": "q", "kbs": ["a", "b"]})
    assert body.options()["kbs"] == ("a", "b")


def test_expressions_are_told_once() -> None:
    assert joined(["", "a", "a"]) == "a"
    assert joined(["a", "b"]) == "(a) or (b)"
    assert joined([]) == ""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"top": 0}, r"top: .*greater than or equal to 1 \(got 0\)"),
        ({"tpo": 3}, r"'tpo'; allowed: kb, kbs, .*top"),
        ({"policy": {"reranker": "magic"}}, r"policy\.reranker: .*'rule'.*\(got 'magic'\)"),
        ({"policy": {"similarity_treshold": 1}}, r"'similarity_treshold'; allowed: .*_threshold"),
    ],
)
def test_a_bad_option_is_named_with_its_value_and_what_is_allowed(
    options: dict[str, object], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        read_options(options)
