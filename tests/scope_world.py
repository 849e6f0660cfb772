"""Three knowledge bases whose fields differ, random requests over them, and an oracle of its own
for what a scope shows.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from agent.access.local import GrantedAccess
from agent.ranking.chain import StrategyChain
from agent.ranking.registry import Tools, registered
from graph.build import build_graph
from graph.context import Budgets, Context
from graph.explaining import counterfactuals
from graph.ports import Found, Listed, Query
from graph.state import State
from schemas.access import Principal, Scope
from schemas.check import Bound, bind
from schemas.collection import Collection, Field, FieldType, Profile, Scalar
from schemas.compile.predicate import to_predicate
from schemas.errors import FilterError
from schemas.filters import EVERYTHING, NOTHING, AllOf, AnyOf, Compare, Filter, Not, Op, leaves
from schemas.grouping import GroupCount
from schemas.hits import Hit, Passage
from schemas.listing import Listing, ListingKind
from schemas.loosen import ACTIONS
from schemas.mentions import Proposal
from schemas.plan import Branch, Condition, Mode, PlanOutcome
from schemas.policy import Overrides
from tests.conftest import TODAY, FirstSentences, ScriptedChat, ScriptedPlanning

COMMON = (
    Field(name="department", type=FieldType.STRING),
    Field(name="access", type=FieldType.STRING),
)
FIELDS: Mapping[str, tuple[Field, ...]] = {
    "alpha": (
        *COMMON,
        Field(name="year", type=FieldType.INT),
        Field(name="tags", type=FieldType.STRING_LIST),
    ),
    "beta": (
        *COMMON,
        Field(name="year", type=FieldType.INT),
        Field(name="owner", type=FieldType.STRING),
    ),
    "gamma": (*COMMON, Field(name="year", type=FieldType.STRING)),
}
DEPARTMENTS = ("HR", "hr", "Finance", "研发")
ACCESS = ("public", "restricted", "Public")
OWNERS = ("ann", "bob")
TAGS = ("a", "b", "c")
YEARS = (2020, 2021, 2022, 2023)
WORDS = ("travel", "holiday", "salary", "server", "report", "contract", "visit", "budget")
DOCUMENTS = 7
QUESTION = "what do travel and holiday reports say"


def token(kb: str, number: int) -> str:
    """A word that only the document's own text, title and id have."""
    return f"secret{kb}{number}x"


def passages_of(kb: str) -> tuple[Passage, ...]:
    rng = random.Random(kb)  # noqa: S311  # repeatable, not secret
    made: list[Passage] = []
    for number in range(DOCUMENTS):
        given: dict[str, Any] = {
            "department": rng.choice((*DEPARTMENTS, None)),
            "access": rng.choice((*ACCESS, None)),
            "year": str(rng.choice(YEARS)) if kb == "gamma" else rng.choice((*YEARS, None)),
        }
        if kb == "alpha":
            given["tags"] = rng.sample(TAGS, rng.randrange(3)) or None
        if kb == "beta":
            given["owner"] = rng.choice((*OWNERS, None))
        metadata = {name: value for name, value in given.items() if value is not None}
        count = rng.randint(1, 2)
        for index in range(count):
            words = " ".join(rng.choices(WORDS, k=14))
            made.append(
                Passage(
                    id=f"{number}#{index}",
                    doc_id=f"id-{token(kb, number)}",
                    kb=kb,
                    title=f"Title {token(kb, number)}",
                    text=f"About {token(kb, number)}: {words}. More of it follows here.",
                    chunk_index=index,
                    whole=count == 1,
                    metadata=metadata,
                )
            )
    return tuple(made)


ALL: Mapping[str, tuple[Passage, ...]] = {kb: passages_of(kb) for kb in FIELDS}


def is_true(f: Filter, row: Mapping[str, Any]) -> bool | None:
    """What a scope says of a row: values compared as written, None where one is missing."""
    match f:
        case Compare():
            return _holds(f, row.get(f.field))
        case Not(of=part):
            inner = is_true(part, row)
            return None if inner is None else not inner
        case AllOf(of=parts):
            told = [is_true(part, row) for part in parts]
            return False if False in told else None if None in told else True
        case AnyOf(of=parts):
            told = [is_true(part, row) for part in parts]
            return True if True in told else None if None in told else False


def _holds(leaf: Compare, value: Any) -> bool | None:
    if leaf.op is Op.EMPTY:
        return value is None
    if value is None:
        return None
    match leaf.op:
        case Op.EQ:
            return bool(value == leaf.value)
        case Op.NE:
            return bool(value != leaf.value)
        case Op.IN:
            return value in (leaf.value or ())  # type: ignore[operator]  # a tuple
        case Op.CONTAINS:
            return leaf.value in value
        case _:
            raise AssertionError(leaf.op)


def shown(kb: str, scope: Scope) -> tuple[Passage, ...]:
    """The passages that lie in the scope; none where it names a field that is not there."""
    names = {each.name for each in FIELDS[kb]}
    if any(leaf.field not in names for leaf in leaves(scope.filter)):
        return ()
    return tuple(one for one in ALL[kb] if is_true(scope.filter, one.metadata))


def leaf(op: Op, name: str, value: Any = None) -> Filter:
    return Compare(op=op, field=name, value=value)


SCOPE_LEAVES = st.one_of(
    st.builds(leaf, st.sampled_from((Op.EQ, Op.NE)), st.just("access"), st.sampled_from(ACCESS)),
    st.builds(leaf, st.just(Op.EQ), st.just("department"), st.sampled_from(DEPARTMENTS)),
    st.builds(
        leaf,
        st.just(Op.IN),
        st.just("department"),
        st.lists(st.sampled_from(DEPARTMENTS), min_size=1, max_size=3).map(tuple),
    ),
    st.builds(leaf, st.just(Op.EMPTY), st.sampled_from(("access", "department"))),
    st.builds(leaf, st.just(Op.CONTAINS), st.just("tags"), st.sampled_from(TAGS)),
    st.builds(leaf, st.just(Op.EQ), st.just("owner"), st.sampled_from(OWNERS)),
)
SCOPES = st.one_of(
    st.just(EVERYTHING),
    st.just(NOTHING),
    st.recursive(
        SCOPE_LEAVES,
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=2).map(lambda of: AllOf(of=tuple(of))),
            st.lists(inner, min_size=1, max_size=2).map(lambda of: AnyOf(of=tuple(of))),
            inner.map(lambda of: Not(of=of)),
        ),
        max_leaves=3,
    ),
)
CALLER_LEAVES = st.one_of(
    st.builds(
        leaf, st.sampled_from((Op.EQ, Op.NE)), st.just("department"), st.sampled_from(DEPARTMENTS)
    ),
    st.builds(leaf, st.just(Op.EQ), st.just("access"), st.sampled_from(ACCESS)),
)
MODEL_LEAVES = st.one_of(
    CALLER_LEAVES,
    st.builds(
        leaf,
        st.sampled_from((Op.EQ, Op.GE, Op.LT, Op.NE)),
        st.just("year"),
        st.sampled_from((*YEARS, 2035)),
    ),
    st.builds(leaf, st.just(Op.EQ), st.just("owner"), st.sampled_from((*OWNERS, "eve"))),
    st.builds(leaf, st.just(Op.CONTAINS), st.just("tags"), st.sampled_from(TAGS)),
    st.builds(leaf, st.just(Op.EMPTY), st.sampled_from(("owner", "year"))),
)
FILTERS = st.one_of(
    MODEL_LEAVES,
    st.lists(MODEL_LEAVES, min_size=2, max_size=3).map(lambda of: AllOf(of=tuple(of))),
    st.lists(MODEL_LEAVES, min_size=2, max_size=2).map(lambda of: AnyOf(of=tuple(of))),
    MODEL_LEAVES.map(lambda of: Not(of=of)),
)
BRANCHES = st.lists(
    st.builds(
        Branch,
        query=st.sampled_from(("travel", "holiday report", "", QUESTION)),
        filter=FILTERS,
        kb=st.sampled_from((None, None, None, *FIELDS)),
    ),
    min_size=1,
    max_size=3,
)
LISTINGS = st.one_of(
    st.none(),
    st.none(),
    st.builds(Listing, kind=st.sampled_from((ListingKind.LIST, ListingKind.COUNT))),
    st.just(Listing(kind=ListingKind.GROUP, group="department")),
)
POLICIES = st.one_of(
    st.none(),
    st.builds(
        Overrides,
        enabled=st.sampled_from((None, None, False)),
        similarity_threshold=st.sampled_from((None, 0.05, 0.9)),
        min_confidence_threshold=st.sampled_from((None, 0.0, 0.9)),
        min_document_length=st.sampled_from((None, 0, 500)),
        max_retrieval_results=st.sampled_from((None, 1, 20)),
        rerank_enabled=st.sampled_from((None, True)),
        reranker=st.sampled_from((None, "rule", "six_factor", "embedding", "cross_encoder")),
        max_per_source=st.sampled_from((None, 1)),
        fallback_enabled=st.sampled_from((None, False, True)),
        fallback_top_k=st.sampled_from((None, 0, 9)),
        boosts_enabled=st.sampled_from((None, False)),
    ),
)
STRATEGIES = tuple(one.name for one in registered(Tools(), ()).strategies)


@dataclass(frozen=True)
class Request:
    """One question as it comes in, and how the run is set up."""

    kbs: tuple[str, ...]
    grants: Mapping[str, Filter]
    caller: Filter
    branches: tuple[Branch, ...]
    listing: Listing | None
    goal: str
    top: int | None
    policy: Overrides | None
    off: frozenset[str]
    budgets: Budgets

    @property
    def principal(self) -> Principal:
        return Principal(name="reader", grants=self.grants)

    @property
    def proposal(self) -> Proposal:
        conditions = tuple(
            Condition(field=one.field, op=one.op, value=_plain(one.value), words=str(one.value))
            for branch in self.branches
            for one in leaves(branch.filter)
        )
        return Proposal(
            outcome=PlanOutcome.PLANNED,
            query=self.branches[0].query,
            branches=self.branches,
            conditions=conditions,
            listing=self.listing,
        )

    def visible(self, kb: str) -> tuple[Passage, ...]:
        return shown(kb, self.principal.scope(kb)) if kb in self.kbs else ()


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def requests(kbs: Sequence[str] = tuple(FIELDS)) -> st.SearchStrategy[Request]:
    return st.builds(
        Request,
        kbs=st.lists(st.sampled_from(kbs), min_size=1, max_size=3, unique=True).map(tuple),
        grants=st.dictionaries(st.sampled_from(("*", *kbs)), SCOPES, min_size=1),
        caller=st.one_of(st.just(EVERYTHING), st.just(EVERYTHING), CALLER_LEAVES),
        branches=BRANCHES.map(tuple),
        listing=LISTINGS,
        goal=st.sampled_from(("search", "answer")),
        top=st.sampled_from((None, 1, 30)),
        policy=POLICIES,
        off=st.frozensets(st.sampled_from(STRATEGIES), max_size=4),
        budgets=st.builds(
            Budgets,
            loosen_steps=st.integers(0, 4),
            minimum_hits=st.sampled_from((1, 2, 6)),
            loosen_actions=st.sets(st.sampled_from(ACTIONS), min_size=1).map(
                lambda some: tuple(action for action in ACTIONS if action in some)
            ),
            loosen_never=st.just(()),
        ),
    )


@dataclass
class World:
    """Catalog and Searcher over all knowledge bases; `leaky` forgets the scope, and now and then
    which knowledge base was asked.
    """

    stored: Mapping[str, Sequence[Passage]]
    leaky: bool = False
    queries: list[Query] = field(default_factory=list)

    async def describe(self, kb: str, scope: Scope) -> Collection:
        seen = list({one.doc_id: one.metadata for one in self._seen(kb, scope)}.values())
        return Collection(name=kb, fields=tuple(_described(f, seen) for f in FIELDS[kb]))

    async def expression(self, filter_: Bound) -> str:
        return ""

    async def search(self, query: Query, scope: Scope) -> Found:
        self.queries.append(query)
        words = {*query.text.split(), *query.terms.split()}
        hits = []
        for one in self._matching(query.kb, query.filter, scope):
            share = len(words & set(one.text.split())) / max(1, len(words))
            scores = {"dense": share, "bm25": share, "fused": share}
            hits.append(Hit(passage=one, score=share, scores=scores))
        hits.sort(key=lambda hit: (-hit.score, hit.passage.id))
        return Found(tuple(hits[: query.limit]), "")

    async def count(self, kb: str, filter_: Bound, scope: Scope) -> int:
        return len({one.doc_id for one in self._matching(kb, filter_, scope)})

    async def listing(
        self, kb: str, filter_: Bound, scope: Scope, listing: Listing, shown: int
    ) -> Listed:
        found: dict[str, Passage] = {}
        for one in self._matching(kb, filter_, scope):
            found.setdefault(one.doc_id, one)
        groups = ()
        if listing.group is not None:
            counts = GroupCount(filter_.collection.field(listing.group), listing)
            for one in found.values():
                counts.add(one.metadata)
            groups = counts.groups()
        hits = tuple(Hit(passage=one, score=1.0) for one in found.values())
        return Listed(hits[:shown], len(found), groups)

    async def passages(self, kb: str, ids: Sequence[str], scope: Scope) -> tuple[Passage, ...]:
        by_id = {one.id: one for one in self._seen(kb, scope)}
        return tuple(by_id[id_] for id_ in ids if id_ in by_id)

    def _matching(self, kb: str, filter_: Bound, scope: Scope) -> list[Passage]:
        wanted = to_predicate(filter_)
        others = [o for name in self.stored if name != kb for o in self.stored[name]]
        found = [one for one in self._seen(kb, scope) if wanted(one.metadata)]
        return [*others, *found] if self.leaky else found

    def _seen(self, kb: str, scope: Scope) -> list[Passage]:
        if self.leaky:
            return list(self.stored[kb])
        try:
            bound = bind(scope.filter, Collection(name=kb, fields=FIELDS[kb]), literal=True)
        except FilterError:
            return []
        seen = to_predicate(bound, exact=True)
        return [one for one in self.stored[kb] if seen(one.metadata)]


def _described(one: Field, rows: Sequence[Mapping[str, Any]]) -> Field:
    values: dict[Scalar, None] = {}
    for row in rows:
        value = row.get(one.name)
        values.update(dict.fromkeys(value if isinstance(value, list) else [value]))
    known = tuple(sorted((v for v in values if v is not None), key=str))
    profile = Profile(rows=len(rows), distinct=len(known), complete=True)
    return one.model_copy(update={"values": known, "profile": profile})


class FlatEmbedder:
    """Vectors of two dimensions by the length of a text."""

    async def embed_query(self, text: str) -> list[float]:
        return [1.0, len(text) / 100]

    async def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        return [await self.embed_query(text) for text in texts]


def context_of(request: Request, catalog: Any, searcher: Any) -> Context:
    strategies = registered(Tools(embedder=FlatEmbedder()), ()).strategies
    return Context(
        access=GrantedAccess(),
        catalog=catalog,
        planning=ScriptedPlanning({QUESTION: request.proposal}),
        chat=ScriptedChat(),
        searcher=searcher,
        ranker=StrategyChain([one for one in strategies if one.name not in request.off]),
        writer=FirstSentences(),
        principal=request.principal,
        today=TODAY,
        budgets=request.budgets,
    )


@dataclass(frozen=True)
class Outcome:
    """What a run leaves, with what each condition costs."""

    state: State
    costs: tuple[Mapping[str, Any], ...]
    context: Context


async def run(request: Request, catalog: Any, searcher: Any | None = None) -> Outcome:
    context = context_of(request, catalog, catalog if searcher is None else searcher)
    given: dict[str, Any] = {
        "question": QUESTION,
        "kb": request.kbs[0],
        "kbs": request.kbs,
        "mode": Mode.AUTO,
        "keys": (),
        "caller": request.caller,
        "history": (),
        "goal": request.goal,
        "top": request.top,
        "policy": request.policy,
    }
    try:
        state: Any = await build_graph().compile().ainvoke(given, context=context)  # type: ignore[arg-type]  # a TypedDict
        return Outcome(state, await counterfactuals(state, context), context)
    finally:
        await context.scouts.close()
