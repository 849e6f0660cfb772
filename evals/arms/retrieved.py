"""Rankings: what is found under a planned filter, under the right one, and without any."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pydantic import Field as Attribute
from pydantic import JsonValue

from evals.arms.arm import as_trace
from evals.arms.bm25 import BM25, Bm25Index
from evals.arms.plain import PLAIN, PlainArm
from evals.arms.planned import LINK_ONLY, PLANNED
from evals.corpora import Row
from evals.suites import Case
from evals.watched import WatchedAgent
from schemas.access import LOCAL
from schemas.answers import SearchResult
from schemas.filters import EVERYTHING, Filter, any_of
from schemas.model import Shape
from schemas.normalise import normalise
from schemas.plan import Mode, ResultOutcome

UNFILTERED, GOLD, METADATA_IN_TEXT = "unfiltered", "gold", "metadata_in_text"
DEPTH = 50
"""Places of the full-text ranking; documents found by several passages count once."""


class Retrieved(Shape):
    """The ranking that the search gives, before the chain of strategies, best first: ids of
    documents, or values of the field by which the suite names them. `filter` is that of the
    plan, `effective` the one that was searched under in the end.
    """

    ranked: tuple[str, ...]
    filter: Filter = EVERYTHING
    effective: Filter = EVERYTHING
    outcome: str = ""
    loosened: bool = False
    model_calls: int = 0
    ms: float = 0.0
    detail: Mapping[str, JsonValue] = Attribute(default_factory=dict)
    calls: tuple[Mapping[str, JsonValue], ...] = ()


class RetrievalArm(Protocol):
    """One way of ranking passages for a case."""

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str | None: ...

    async def retrieve(self, case: Case) -> Retrieved: ...


class SearchArm:
    """`Agent.search` over a knowledge base; its name says under which filter. `plain` plans by
    one plain call first. `id_field` is the field whose values the suite's relevant ids are;
    None for ids of documents.
    """

    def __init__(
        self, name: str, agent: WatchedAgent, kb: str, *, id_field: str | None = None
    ) -> None:
        self.name = name
        self.model = agent.settings.models.chat if name in (PLANNED, PLAIN) else None
        self._agent = agent
        self._kb = kb
        self._id_field = id_field

    async def retrieve(self, case: Case) -> Retrieved:
        self._agent.watched.taken()
        began = time.perf_counter()
        result = await self._agent.search(
            case.question,
            kb=self._kb,
            today=case.today,
            history=case.history,
            explain=True,
            **await self._how(case),
        )
        ms = (time.perf_counter() - began) * 1000
        calls = self._agent.watched.taken()
        plan = result.plan
        return Retrieved(
            ranked=await self._ranked(result),
            filter=normalise(any_of(*(branch.filter for branch in plan.branches))),
            effective=result.filter.filter,
            outcome=plan.outcome,
            loosened=result.filter.result is ResultOutcome.LOOSENED,
            model_calls=sum(call.requests for call in calls) if self.model else 0,
            ms=round(ms, 1),
            detail={
                "queries": [branch.query for branch in plan.branches],
                "result": result.filter.result.value,
                "loosened": [step.words for step in result.filter.loosened],
                "timings_ms": dict(result.timings_ms),
            },
            calls=tuple(as_trace(call) for call in calls),
        )

    async def _how(self, case: Case) -> dict[str, Any]:
        match self.name:
            case "planned" | "link_only":
                return {}
            case "gold":
                return {"mode": Mode.MANUAL, "filter": case.gold.first.filter}
            case "plain":
                attempt = await PlainArm(self._agent).attempt(case)
                return {"mode": Mode.MANUAL, "filter": attempt.filter}
            case _:
                return {"mode": Mode.OFF}

    async def _ranked(self, result: SearchResult) -> tuple[str, ...]:
        explained: Any = result.explain or {}
        found = explained.get("found", [])
        ids = [str(one["id"]) for one in found]
        searcher = (await self._agent.store()).searcher
        passages = await searcher.passages(self._kb, ids, LOCAL.scope(self._kb))
        units = (named(p.doc_id, p.metadata, self._id_field) for p in passages)
        return tuple(dict.fromkeys(units))


class Bm25Arm:
    """Full text alone, over passages in memory."""

    name = BM25
    model = None

    def __init__(self, rows: Sequence[Row], *, id_field: str | None = None) -> None:
        self._index = Bm25Index(rows)
        self._id_field = id_field

    async def retrieve(self, case: Case) -> Retrieved:
        began = time.perf_counter()
        rows = self._index.search(case.question, DEPTH)
        ms = (time.perf_counter() - began) * 1000
        units = (named(row.doc_id, row.metadata, self._id_field) for row in rows)
        return Retrieved(ranked=tuple(dict.fromkeys(units)), ms=round(ms, 1))


def named(doc_id: str, metadata: Mapping[str, JsonValue], id_field: str | None) -> str:
    """What the suite calls a document."""
    return doc_id if id_field is None else str(metadata.get(id_field))


RETRIEVAL_ARMS = (PLANNED, UNFILTERED, GOLD, BM25, METADATA_IN_TEXT, PLAIN, LINK_ONLY)
DEFAULT_ARMS = (UNFILTERED, GOLD, BM25, METADATA_IN_TEXT)
