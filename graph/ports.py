"""What the graph needs of the outside, named by the graph.

`scope` is a parameter of every port that touches documents: a port must apply it itself, and
the graph checks every hit against it again.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import JsonValue

from schemas.access import Principal, Scope
from schemas.check import Bound
from schemas.collection import Collection
from schemas.enhanced import Enhanced, Enhancing
from schemas.filters import EVERYTHING, Filter
from schemas.hits import Hit, Passage
from schemas.listing import Group, Listing
from schemas.mentions import Form, Mention, Proposal
from schemas.plan import Condition, Key, Mode, Problem
from schemas.policy import Overrides


class Access(Protocol):
    """Decides outside the model what a principal may see."""

    def scope(self, principal: Principal, kb: str) -> Scope: ...


class Catalog(Protocol):
    """Describes collections: fields, types, value profiles; only values visible in the scope."""

    async def describe(self, kb: str, scope: Scope) -> Collection: ...

    async def expression(self, filter_: Bound) -> str:
        """What the engine is given of a filter; empty only for no filter."""
        ...


@dataclass(frozen=True)
class Ask:
    """What planning knows of a turn. `history` are earlier user turns, oldest first;
    `previous` the conditions in force in the thread, and `filter` how they are joined. `room`
    is how many tokens the form may have, by the guess of `graph.tokens`; None: any number.
    """

    question: str
    today: dt.date
    mode: Mode = Mode.AUTO
    keys: tuple[Key, ...] = ()
    history: tuple[str, ...] = ()
    previous: tuple[Condition, ...] = ()
    filter: Filter = EVERYTHING
    room: int | None = None


class Planning(Protocol):
    """Finds mentions, makes the form for the model, and turns its reply into conditions. Pure."""

    def link(self, ask: Ask, collection: Collection) -> tuple[Mention, ...]: ...

    def form(self, ask: Ask, collection: Collection, mentions: Sequence[Mention]) -> Form | None:
        """The one question put to the model; None where there is nothing to judge. One that
        cannot be made short enough for `ask.room` is as short as it can be.
        """
        ...

    def assemble(
        self,
        ask: Ask,
        collection: Collection,
        mentions: Sequence[Mention],
        reply: Mapping[str, Any] | None,
    ) -> Proposal: ...


class Plans(Protocol):
    """Proposals by key, kept from one run to the next; it may forget any of them."""

    def get(self, key: str) -> Proposal | None: ...

    def put(self, key: str, proposal: Proposal) -> None: ...


@dataclass(frozen=True)
class Message:
    role: str
    content: str


@dataclass(frozen=True)
class Completion:
    """A whole reply; a stream cut before its end never becomes one. Counts are tokens; `calls`
    is how many requests to the model it took.
    """

    text: str
    model: str
    prompt_tokens: int = 0
    output_tokens: int = 0
    done_reason: str = "stop"
    calls: int = 1


class Chat(Protocol):
    """A chat model."""

    @property
    def name(self) -> str: ...

    async def complete(
        self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None
    ) -> Completion: ...

    def stream(self, messages: Sequence[Message]) -> AsyncIterator[str]: ...


@dataclass(frozen=True)
class Query:
    """One filtered search; an empty text lists what matches, in the order of the documents.
    `terms` are further words for the full text leg: keywords, a translation.
    """

    kb: str
    text: str
    filter: Bound
    limit: int = 50
    terms: str = ""


@dataclass(frozen=True)
class Found:
    """Hits best first, the expression that the engine saw, and milliseconds by part."""

    hits: tuple[Hit, ...]
    expression: str
    timings_ms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Listed:
    """The first documents of a listing, each as its first passage, in the order asked for;
    `total` counts all that match, `groups` are all groups, in no order.
    """

    hits: tuple[Hit, ...] = ()
    total: int = 0
    groups: tuple[Group, ...] = ()
    expression: str = ""


class Searcher(Protocol):
    """Filtered search and look-up over one store."""

    async def search(self, query: Query, scope: Scope) -> Found: ...

    async def count(self, kb: str, filter_: Bound, scope: Scope) -> int:
        """How many visible documents match."""
        ...

    async def listing(
        self, kb: str, filter_: Bound, scope: Scope, listing: Listing, shown: int
    ) -> Listed:
        """All visible documents that match, counted exactly; the first `shown` of them."""
        ...

    async def passages(self, kb: str, ids: Sequence[str], scope: Scope) -> tuple[Passage, ...]:
        """The visible ones of these passages, in the order asked for."""
        ...


@dataclass(frozen=True)
class Ranking:
    """Hits kept, best first; `removed` counts what each step took away. `fallback`: everything
    was taken away, and the hits are the nearest of what was found, not evidence. `problems` are
    steps that failed and were left out; `statistics` what the steps tell of themselves.
    """

    hits: tuple[Hit, ...]
    fallback: bool = False
    removed: Mapping[str, int] = field(default_factory=dict)
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    statistics: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True)
class Wanted:
    """What ranking knows of a turn. `query` is the text that was searched for, `filter` caller
    AND model; `boosts` are wishes that exclude nothing; `keywords`, `tags` and `entities` are
    what enhancement found in the question; `top` and `policy` are the caller's, for this call.
    """

    question: str
    query: str
    filter: Filter
    today: dt.date
    boosts: tuple[Condition, ...] = ()
    keywords: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    top: int | None = None
    policy: Overrides | None = None
    collections: Mapping[str, Collection] = field(default_factory=dict)


@dataclass(frozen=True)
class Worded:
    """A question as enhancement sees it: `query` is the text that will be searched for,
    `mentions` what planning found in it.
    """

    question: str
    query: str
    mentions: tuple[Mention, ...] = ()


class Enhancer(Protocol):
    """Adds words to a question, and labels it with values of the collection."""

    async def enhance(self, worded: Worded, collection: Collection, wanted: Enhancing) -> Enhanced:
        """A part that fails is told in the result and left out; it raises for none of them."""
        ...


class Ranker(Protocol):
    """Orders and cuts what a search found."""

    async def rank(self, wanted: Wanted, hits: Sequence[Hit]) -> Ranking: ...


class Writer(Protocol):
    """Writes an answer from numbered passages, with markers [n]."""

    @property
    def name(self) -> str: ...

    def write(
        self, question: str, passages: Sequence[Passage], notes: Sequence[str]
    ) -> AsyncIterator[str]: ...
