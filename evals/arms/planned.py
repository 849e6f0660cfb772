"""The planner as it is shipped, and the same without a model."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import prompts
from evals.arms.arm import Attempt, as_trace
from evals.fingerprints import PLANNING
from evals.suites import Case
from evals.watched import WatchedAgent
from graph.ports import Completion, Message
from schemas.errors import (
    FacetwiseError,
    FilterError,
    ModelError,
    ModelNotFound,
    ModelUnavailable,
    WeightsUnavailable,
)
from schemas.filters import any_of
from schemas.normalise import normalise
from schemas.plan import Plan, PlanOutcome

PLANNED = "planned"
LINK_ONLY = "link_only"
OUTAGES = (ModelUnavailable, ModelNotFound, WeightsUnavailable)


class FirstChoice:
    """Stands where a model would: to each question of a form it gives the first answer allowed,
    which is how linking alone reads the words.
    """

    name = "none"

    async def complete(
        self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None
    ) -> Completion:
        asked = (schema or {}).get("properties", {})
        reply = {key: one["enum"][0] for key, one in asked.items()}
        return Completion(text=json.dumps(reply, ensure_ascii=False), model=self.name)

    async def stream(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        yield (await self.complete(messages)).text


class PlannedArm:
    """`Agent.plan` over the case's collection. With `model_free`, the agent's model is no model,
    and what it is asked counts as no call.
    """

    code = PLANNING

    def __init__(self, agent: WatchedAgent, *, model_free: bool = False) -> None:
        self._agent = agent
        self._model_free = model_free
        self.name = LINK_ONLY if model_free else PLANNED
        self.model = None if model_free else agent.settings.models.chat
        self.prompt_versions: Mapping[str, str] = (
            {} if model_free else {"plan": prompts.version("plan")}
        )

    async def attempt(self, case: Case) -> Attempt:
        self._agent.watched.taken()
        began = time.perf_counter()
        try:
            plan = await self._plan(case)
        except OUTAGES:
            raise
        except (ModelError, FilterError) as error:
            # The suite was checked before: a filter that cannot be compiled is the planner's.
            ms = (time.perf_counter() - began) * 1000
            return self._failed(error, ms)
        ms = (time.perf_counter() - began) * 1000
        return self._attempt(plan, ms)

    async def _plan(self, case: Case) -> Plan:
        where: dict[str, Any] = (
            {"collection": case.collection} if case.kb is None else {"kb": case.kb}
        )
        return await self._agent.plan(
            case.question, history=case.history, today=case.today, **where
        )

    def _attempt(self, plan: Plan, ms: float) -> Attempt:
        calls = self._agent.watched.taken()
        dumped = plan.model_dump(mode="json")
        kept = ("branches", "conditions", "problems", "text", "timings_ms")
        return Attempt(
            filter=normalise(any_of(*(branch.filter for branch in plan.branches))),
            outcome=plan.outcome,
            invalid=plan.outcome is PlanOutcome.FAILED,
            model=self.model if plan.model_calls else None,
            model_calls=0 if self._model_free else plan.model_calls,
            prompt_tokens=sum(call.prompt_tokens for call in calls),
            output_tokens=sum(call.output_tokens for call in calls),
            ms=round(ms, 1),
            detail={name: dumped[name] for name in kept},
            calls=tuple(as_trace(call) for call in calls),
        )

    def _failed(self, error: FacetwiseError, ms: float) -> Attempt:
        calls = self._agent.watched.taken()
        return Attempt(
            outcome=PlanOutcome.FAILED,
            invalid=True,
            model=self.model,
            model_calls=0 if self._model_free else max(1, sum(call.requests for call in calls)),
            ms=round(ms, 1),
            detail={"error": f"{type(error).__name__}: {error}"},
            calls=tuple(as_trace(call) for call in calls),
        )
