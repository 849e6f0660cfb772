"""Fakes that stand in for the outside: they do the thing in memory, they do not pretend it."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from agent.access.local import GrantedAccess
from agent.backends import Backends
from agent.ranking.chain import StrategyChain
from agent.ranking.packing import Packing
from agent.runtime.process import stop
from agent.sections import ModelSettings, PathSettings
from agent.settings import Settings
from graph.context import Budgets, Context
from graph.ports import Ask, Completion, Found, Listed, Message, Query
from schemas.access import LOCAL, Principal, Scope
from schemas.check import Bound, bind
from schemas.collection import Collection, Field, FieldType
from schemas.compile.predicate import to_predicate
from schemas.errors import FacetwiseError
from schemas.grouping import GroupCount, in_order, sort_key
from schemas.hits import Hit, Passage
from schemas.listing import Listing
from schemas.mentions import Form, FormMessage, Mention, Proposal
from schemas.plan import PlanOutcome

settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

TODAY = dt.date(2026, 3, 15)


@dataclass
class ScriptedChat:
    """Replies in order; an exception in the script is raised."""

    replies: list[str | Exception] = field(default_factory=list)
    seen: list[list[Message]] = field(default_factory=list)
    schemas: list[Mapping[str, Any] | None] = field(default_factory=list)
    name: str = "scripted"

    async def complete(
        self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None
    ) -> Completion:
        self.seen.append(list(messages))
        self.schemas.append(schema)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return Completion(text=reply, model=self.name)

    async def stream(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        self.seen.append(list(messages))
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        for word in reply.split(" "):
            yield f"{word} "


@dataclass
class ScriptedPlanning:
    """Hands out prepared proposals by question; asks the model only where a schema is given."""

    proposals: Mapping[str, Proposal] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None
    asked: list[Ask] = field(default_factory=list)

    def link(self, ask: Ask, collection: Collection) -> tuple[Mention, ...]:
        self.asked.append(ask)
        return ()

    def form(self, ask: Ask, collection: Collection, mentions: Sequence[Mention]) -> Form | None:
        if self.schema is None:
            return None
        messages = (FormMessage(role="user", content=ask.question),)
        return Form(messages=messages, reply_schema=dict(self.schema))

    def assemble(
        self,
        ask: Ask,
        collection: Collection,
        mentions: Sequence[Mention],
        reply: Mapping[str, Any] | None,
    ) -> Proposal:
        default = Proposal(outcome=PlanOutcome.NO_FILTER, query=ask.question)
        return self.proposals.get(ask.question, default)


@dataclass
class MemoryStore:
    """Catalog and Searcher over passages in memory; `leaky` ignores the scope, as a broken
    engine would."""

    collection: Collection
    stored: list[Passage]
    leaky: bool = False
    fault: FacetwiseError | None = None
    queries: list[Query] = field(default_factory=list)

    async def describe(self, kb: str, scope: Scope) -> Collection:
        return self.collection

    async def expression(self, filter_: Bound) -> str:
        return "" if not filter_.root.model_dump().get("of", True) else str(filter_.root.op)

    async def search(self, query: Query, scope: Scope) -> Found:
        self.queries.append(query)
        if self.fault is not None:
            raise self.fault
        words = set(query.text.casefold().split())
        hits = [
            Hit(passage=passage, score=len(words & set(passage.text.casefold().split())) / 100)
            for passage in self._matching(query.filter, scope)
        ]
        hits.sort(key=lambda hit: hit.score, reverse=True)
        return Found(hits=tuple(hits[: query.limit]), expression="memory")

    async def count(self, kb: str, filter_: Bound, scope: Scope) -> int:
        return len({passage.doc_id for passage in self._matching(filter_, scope)})

    async def listing(
        self, kb: str, filter_: Bound, scope: Scope, listing: Listing, shown: int
    ) -> Listed:
        found = self._matching(filter_, scope)
        total = len({passage.doc_id for passage in found})
        if listing.group is not None:
            groups = GroupCount(self.collection.field(listing.group), listing)
            for passage in found:
                groups.add(passage.metadata)
            return Listed(total=total, groups=groups.groups(), expression="memory")
        if listing.sort is not None and listing.sort.field is not None:
            field, falls = self.collection.field(listing.sort.field), listing.sort.descending
            values = {one.id: one.metadata.get(field.name) for one in found}
            found = in_order(
                found,
                lambda one: sort_key(values[one.id], field, descending=falls),
                descending=falls,
            )
        hits = tuple(Hit(passage=passage, score=1.0) for passage in found[:shown])
        return Listed(hits=hits, total=total, expression="memory")

    async def passages(self, kb: str, ids: Sequence[str], scope: Scope) -> tuple[Passage, ...]:
        everything = bind_all(self.collection)
        by_id = {passage.id: passage for passage in self._matching(everything, scope)}
        return tuple(by_id[one] for one in ids if one in by_id)

    def _matching(self, filter_: Bound, scope: Scope) -> list[Passage]:
        wanted = to_predicate(filter_)
        found = [passage for passage in self.stored if wanted(passage.metadata)]
        if self.leaky:
            return found
        seen = to_predicate(bind(scope.filter, self.collection), exact=True)
        return [passage for passage in found if seen(passage.metadata)]


class FirstSentences:
    """Writes the first sentence of every passage with its marker."""

    name = "first-sentences"

    async def write(
        self, question: str, passages: Sequence[Passage], notes: Sequence[str]
    ) -> AsyncIterator[str]:
        for number, passage in enumerate(passages, start=1):
            yield f"{passage.text.split('.')[0]}. [{number}] "


def bind_all(collection: Collection) -> Bound:
    from schemas.filters import EVERYTHING

    return bind(EVERYTHING, collection)


def as_reply(**keys: Any) -> str:
    return json.dumps(keys, ensure_ascii=False)


@pytest.fixture(scope="session")
def lite_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Settings of an embedded runtime that lives as long as the session; the small chat model."""
    data = tmp_path_factory.mktemp("facetwise")
    settings = Settings(
        paths=PathSettings(data=data),
        models=ModelSettings(chat="qwen2.5-coder:0.5b", ollama_url="http://127.0.0.1:9"),
    )
    yield settings
    stop(Backends(settings).runtime_config())


@pytest.fixture
def collection() -> Collection:
    """A small company's documents."""
    return Collection(
        name="company",
        fields=(
            Field(name="department", type=FieldType.STRING, values=("HR", "Finance", "研发中心")),
            Field(name="category", type=FieldType.STRING, values=("policy", "report")),
            Field(name="publish_date", type=FieldType.DATE),
            Field(name="tags", type=FieldType.STRING_LIST, values=("travel", "公开")),
            Field(name="access", type=FieldType.STRING, values=("public", "restricted")),
            Field(name="pages", type=FieldType.INT),
        ),
        version="1",
    )


def passage(number: int, text: str, **metadata: Any) -> Passage:
    return Passage(
        id=f"d{number}#0",
        doc_id=f"d{number}",
        kb="company",
        title=f"Document {number}",
        text=text,
        source=f"d{number}.md",
        whole=True,
        metadata=metadata,
    )


@pytest.fixture
def passages() -> list[Passage]:
    return [
        passage(
            1,
            "Remote work is allowed on three days. Ask your manager.",
            department="HR",
            category="policy",
            publish_date="2024-03-01",
            tags=["公开"],
            access="public",
        ),
        passage(
            2,
            "The per diem for travel is 52 EUR. Keep your receipts.",
            department="Finance",
            category="policy",
            publish_date="2024-05-10",
            tags=["travel"],
            access="public",
        ),
        passage(
            3,
            "The salary band E3 starts at 68,000 EUR. It is secret.",
            department="HR",
            category="report",
            publish_date="2025-01-15",
            access="restricted",
            pages=12,
        ),
        passage(4, "采集服务启动失败时先查看日志。", department="研发中心", access="public"),
    ]


@pytest.fixture
def store(collection: Collection, passages: list[Passage]) -> MemoryStore:
    return MemoryStore(collection, passages)


@pytest.fixture
def make_context(store: MemoryStore) -> Callable[..., Context]:
    """A context over the fakes; any part may be replaced."""

    def make(principal: Principal = LOCAL, **parts: Any) -> Context:
        given: dict[str, Any] = {
            "access": GrantedAccess(),
            "catalog": store,
            "planning": ScriptedPlanning(),
            "chat": ScriptedChat(),
            "searcher": store,
            "ranker": StrategyChain([Packing()]),
            "writer": FirstSentences(),
            "principal": principal,
            "today": TODAY,
            "budgets": Budgets(),
        }
        return Context(**(given | parts))

    return make
