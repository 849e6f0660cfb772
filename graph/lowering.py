"""One more ranking with lower thresholds, where they took everything away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graph.context import Context
from graph.loosening import THRESHOLD
from graph.ports import Ranking, Wanted
from schemas.answers import Step
from schemas.filters import Op
from schemas.hits import Hit
from schemas.ladder_words import told_threshold
from schemas.language import language_of
from schemas.plan import Condition
from schemas.policy import Overrides, Policy

_BY_THRESHOLDS = ("similarity", "hard_filter")
"""The strategies that compare with thresholds, by name."""


async def with_lower_thresholds(
    ranking: Ranking, wanted: Wanted, hits: Sequence[Hit], context: Context
) -> tuple[Ranking, tuple[Step, ...]]:
    """The ranking as it is, unless its thresholds left nothing and lower ones leave something;
    then that one, with the step that tells of it.
    """
    emptied = bool(hits) and (ranking.fallback or not ranking.hits)
    if not emptied or not any(ranking.removed.get(name) for name in _BY_THRESHOLDS):
        return ranking, ()
    mildest = _mildest(wanted, context)
    lower = _lower(mildest, wanted.policy, context)
    if lower is None:
        return ranking, ()
    second = await context.ranker.rank(replace(wanted, policy=lower), hits)
    if second.fallback or not second.hits:
        return ranking, ()
    old, new = mildest.similarity_threshold, lower.similarity_threshold or 0.0
    step = Step(
        action=THRESHOLD,
        condition=Condition(field="similarity", op=Op.GE, value=old),
        found=len(second.hits),
        words=told_threshold(old, new, language_of(wanted.question)),
    )
    return second, (step,)


def _mildest(wanted: Wanted, context: Context) -> Policy:
    """The policy with the lowest of each threshold that any knowledge base asked, or rule for a
    type of document, has: lowering never makes one of them stricter.
    """
    names = [*wanted.collections] or [""]
    bases = [context.policy.for_kb(name).with_(wanted.policy) for name in names]
    each = [*bases, *(base.for_type(kind) for base in bases for kind in base.type_specific_rules)]
    return bases[0].model_copy(
        update={
            "similarity_threshold": min(one.similarity_threshold for one in each),
            "min_confidence_threshold": min(one.min_confidence_threshold for one in each),
        }
    )


def _lower(policy: Policy, given: Overrides | None, context: Context) -> Overrides | None:
    """The overrides of the call with lower thresholds; None where they are as low as they may."""
    step, floor = context.budgets.threshold_step, context.budgets.threshold_floor
    lower = {
        name: round(max(floor, old - step), 4)
        for name, old in (
            ("similarity_threshold", policy.similarity_threshold),
            ("min_confidence_threshold", policy.min_confidence_threshold),
        )
        if step > 0 and old > floor
    }
    if "similarity_threshold" not in lower:
        return None
    return (given or Overrides()).model_copy(update=lower)
