"""What the steps of one run tell of themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from agent.ranking.strategy import RERANK, Strategy
from schemas.hits import Hit
from schemas.plan import Problem


@dataclass(frozen=True)
class Step:
    """One strategy over the hits of `kb`, or over all of them where that is empty. `scores` are
    those of a reranker by passage; a step with a `fault` was left out.
    """

    name: str
    stage: int
    kb: str
    before: int
    after: int
    ms: float
    dropped: tuple[Hit, ...] = ()
    scores: tuple[tuple[str, float], ...] = ()
    fault: str = ""

    @property
    def emptied(self) -> bool:
        return self.before > 0 and self.after == 0

    @property
    def problem(self) -> Problem:
        """Of a step that failed."""
        code = "rerank_degraded" if self.stage == RERANK else "strategy_failed"
        return Problem(
            code=code,
            message=f"the ranking step {self.name!r} failed and was left out, the order before it "
            f"stays: {self.fault}",
            value=self.name,
        )

    def as_json(self) -> dict[str, JsonValue]:
        told: dict[str, JsonValue] = {"strategy": self.name, "stage": self.stage}
        if self.kb:
            told["kb"] = self.kb
        told |= {
            "in": self.before,
            "out": self.after,
            "removed": self.before - self.after,
            "ms": self.ms,
        }
        if self.fault:
            told["fault"] = self.fault
        return told


def step_of(
    strategy: Strategy, kb: str, before: Sequence[Hit], after: Sequence[Hit], ms: float
) -> Step:
    kept = {(hit.passage.kb, hit.passage.id) for hit in after}
    return Step(
        name=strategy.name,
        stage=strategy.stage,
        kb=kb,
        before=len(before),
        after=len(after),
        ms=ms,
        dropped=tuple(hit for hit in before if (hit.passage.kb, hit.passage.id) not in kept),
        scores=tuple((hit.passage.id, round(hit.score, 6)) for hit in after)
        if strategy.stage == RERANK
        else (),
    )


@dataclass
class Journal:
    """The steps of one run, in the order in which they ended."""

    steps: list[Step] = field(default_factory=list)

    @property
    def removed(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for step in self.steps:
            found[step.name] = found.get(step.name, 0) + step.before - step.after
        return found

    @property
    def timings_ms(self) -> dict[str, float]:
        found: dict[str, float] = {}
        for step in self.steps:
            found[step.name] = round(found.get(step.name, 0.0) + step.ms, 3)
        return found

    @property
    def faults(self) -> tuple[Problem, ...]:
        return tuple(dict.fromkeys(step.problem for step in self.steps if step.fault))

    @property
    def emptied(self) -> tuple[Step, ...]:
        """The steps that took away all there was."""
        return tuple(step for step in self.steps if step.emptied)

    def as_json(self, *, fallback: bool) -> dict[str, JsonValue]:
        """`dropped`: by passage, the strategy that took it away; `dropped_scores`: the scores
        that the passage had then.
        """
        dropped = [(step.name, hit) for step in self.steps for hit in step.dropped]
        return {
            "strategies": [step.as_json() for step in self.steps],
            "dropped": {hit.passage.id: name for name, hit in dropped},
            "dropped_scores": {hit.passage.id: dict(hit.scores) for _, hit in dropped},
            "rerank_scores": {id_: score for step in self.steps for id_, score in step.scores},
            "emptied_by": [step.name for step in self.emptied],
            "fallback": fallback,
        }
