"""What one run is handed: ports, who asks, when, and how much it may spend."""

from __future__ import annotations

import datetime as dt
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

from graph.ports import Access, Catalog, Chat, Enhancer, Planning, Plans, Ranker, Searcher, Writer
from graph.scouts import Scouts
from schemas.access import Principal, Scope
from schemas.collection import Collection, Field
from schemas.defaults import with_defaults
from schemas.enhanced import Enhancing
from schemas.hits import HitRef, Passage
from schemas.ladder import ACCESS_FIELDS
from schemas.loosen import ACTIONS, Action
from schemas.policy import Policy


@dataclass(frozen=True)
class Budgets:
    """Bounds of the run's loops: further calls about a wrong reply, loosening steps, and the
    number of hits below which loosening starts. Loosening measures `loosen_counts` filters at the
    most, makes only `loosen_actions` and leaves conditions on the fields `loosen_never` alone.
    Where nothing reaches the thresholds of the ranking, they are lowered once by
    `threshold_step`, but not below `threshold_floor`; a step of 0 leaves them.
    """

    repairs: int = 1
    loosen_steps: int = 4
    minimum_hits: int = 1
    loosen_counts: int = 24
    loosen_actions: tuple[Action, ...] = ACTIONS
    loosen_never: tuple[str, ...] = ACCESS_FIELDS
    threshold_step: float = 0.1
    threshold_floor: float = 0.3


@dataclass(frozen=True)
class Context:
    """Never checkpointed: a resumed run gets a fresh one, so scope is decided again.
    `model_digest` tells two models of one name apart, where that is known; without `plans`
    nothing is kept of a plan. `room` tells how many tokens a prompt may have; both are asked
    only where a model may be. Without an `enhancer` nothing is added to a question.
    """

    access: Access
    catalog: Catalog
    planning: Planning
    chat: Chat
    searcher: Searcher
    ranker: Ranker
    writer: Writer
    principal: Principal
    today: dt.date
    zone: str = ""
    plans: Plans | None = None
    model_digest: Callable[[], Awaitable[str]] | None = None
    room: Callable[[], Awaitable[int]] | None = None
    budgets: Budgets = field(default_factory=Budgets)
    search_after_failure: bool = True
    candidates: int = 50
    enhancer: Enhancer | None = None
    enhancing: Enhancing = field(default_factory=Enhancing)
    policy: Policy = field(default_factory=Policy)
    scouts: Scouts = field(default_factory=Scouts)
    passages: dict[tuple[str, str], Passage] = field(default_factory=dict)
    fields: dict[str, tuple[Field, ...]] = field(default_factory=dict)

    def scope(self, kb: str) -> Scope:
        return self.access.scope(self.principal, kb)

    def keep(self, passages: Iterable[Passage], collection: Collection) -> None:
        """Keep passages of one collection that have been found to lie in the scope."""
        self.passages.update({(passage.kb, passage.id): passage for passage in passages})
        self.fields[collection.name] = collection.fields

    def passage(self, ref: HitRef) -> Passage | None:
        """The kept passage; ids are told apart by knowledge base."""
        return self.passages.get((ref.kb, ref.id))

    def shown(self, passage: Passage) -> Passage:
        """The passage for people: missing values as their fields' defaults."""
        metadata = with_defaults(passage.metadata, self.fields.get(passage.kb, ()))
        return passage.model_copy(update={"metadata": metadata})
