"""The chain of strategies between search and answer."""

from __future__ import annotations

from collections.abc import Sequence

from agent.ranking.merging import merged
from agent.ranking.running import run
from agent.ranking.statistics import Journal
from agent.ranking.strategy import DIVERSITY, DUPLICATES, PACKING, RankingContext, Strategy
from graph.ports import Ranking, Wanted
from schemas.hits import Hit
from schemas.plan import Problem
from schemas.policy import Overrides, Policy


class StrategyChain:
    """The Ranker port: strategies by stage.

    The hits of each knowledge base go through the stages before diversity under its own policy,
    and are then brought together. Where everything is taken away, the first `fallback_top_k` of
    the hits given are returned, marked as such. `problems` are told with every ranking: what was
    wrong before there was one, such as a plug-in that could not be loaded.
    """

    def __init__(
        self,
        strategies: Sequence[Strategy],
        *,
        policy: Policy | None = None,
        problems: Sequence[Problem] = (),
    ) -> None:
        self._policy = policy or Policy()
        self._strategies = sorted(strategies, key=lambda strategy: strategy.stage)
        self._problems = tuple(problems)

    async def rank(self, wanted: Wanted, hits: Sequence[Hit]) -> Ranking:
        kbs = tuple(dict.fromkeys(hit.passage.kb for hit in hits))
        overall = self._of_call(self._policy.for_kb(kbs[0]) if len(kbs) == 1 else None, wanted)
        context = RankingContext(wanted, overall)
        journal = Journal()
        kept = await self._judged(context, hits, kbs, journal)
        kept = await run(self._from(DIVERSITY), context, kept, journal)
        fell_back = bool(hits) and not kept and overall.fallback_enabled
        if fell_back:
            nearest = hits[: overall.fallback_top_k]
            kept = await run(self._from(PACKING), context, nearest, Journal())
        return Ranking(
            tuple(kept),
            fallback=fell_back,
            removed=journal.removed,
            timings_ms=journal.timings_ms,
            problems=(
                *self._problems,
                *self._unknown(wanted.policy),
                *journal.faults,
                *_emptied(journal, hits, kept, fell_back),
            ),
            statistics=journal.as_json(fallback=fell_back) if overall.statistics_enabled else {},
        )

    async def _judged(
        self, context: RankingContext, hits: Sequence[Hit], kbs: Sequence[str], journal: Journal
    ) -> Sequence[Hit]:
        """The stages before diversity, for each knowledge base apart."""
        steps = [one for one in self._strategies if one.stage < DIVERSITY]
        if len(kbs) < 2:
            return await run(steps, context, hits, journal)
        groups: list[Sequence[Hit]] = []
        ways: set[tuple[str, ...]] = set()
        for kb in kbs:
            own = RankingContext(
                context.wanted, self._of_call(self._policy.for_kb(kb), context.wanted)
            )
            group = [hit for hit in hits if hit.passage.kb == kb]
            seen = len(journal.steps)
            groups.append(await run(steps, own, group, journal, kb=kb))
            done = (step.name for step in journal.steps[seen:] if not step.fault)
            ways.add((own.policy.reranker, *done))
        together = merged(hits, groups, comparable=len(ways) == 1)
        again = [one for one in steps if one.stage == DUPLICATES]
        return await run(again, context, together, journal)

    def _unknown(self, call: Overrides | None) -> tuple[Problem, ...]:
        """What a call switches off that is not there."""
        names = [strategy.name for strategy in self._strategies]
        known = {*names, *(problem.value for problem in self._problems)}
        asked = (call.disabled_strategies if call else None) or ()
        return tuple(
            Problem(
                code="unknown_strategy",
                message=f"disabled_strategies: {name!r} is no ranking strategy, nothing was "
                f"switched off by it; allowed: {', '.join(names)}",
                value=name,
            )
            for name in asked
            if name not in known
        )

    def _of_call(self, policy: Policy | None, wanted: Wanted) -> Policy:
        """With the values of this call."""
        own = (policy or self._policy).with_(wanted.policy)
        if wanted.top is not None:
            own = own.with_(Overrides(max_retrieval_results=wanted.top))
        return own

    def _from(self, stage: int) -> Sequence[Strategy]:
        return [one for one in self._strategies if one.stage >= stage]


def _emptied(
    journal: Journal, hits: Sequence[Hit], kept: Sequence[Hit], fell_back: bool
) -> tuple[Problem, ...]:
    """Which step is to blame, where nothing that was found is left."""
    if not hits or (kept and not fell_back):
        return ()
    return tuple(
        Problem(
            code="all_removed",
            message=f"the ranking step {step.name!r} took away the last {step.before} of "
            f"{len(hits)} passages" + (f" of {step.kb!r}" if step.kb else ""),
            value=step.name,
        )
        for step in journal.emptied
    )
