"""Stage 30: no document crowds out the others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import assert_never

from agent.ranking.strategy import DIVERSITY, RankingContext
from schemas.filters import AllOf, AnyOf, Compare, Filter, Not, Op
from schemas.hits import Hit

DOCUMENT_FIELDS = frozenset(("doc_id", "source"))


class Diversity:
    """Round robin over documents, best document first: A1 B1 C1 A2 B2, at most `max_per_source`
    passages of each. What is over comes behind in its old order, for places that stay free.
    """

    name = "diversity"
    stage = DIVERSITY

    def supports(self, context: RankingContext) -> bool:
        """Not where one document is asked for: then its passages compete with nobody's."""
        return context.policy.diversity_enabled and not fixes_a_document(context.wanted.filter)

    async def apply(self, context: RankingContext, hits: Sequence[Hit]) -> Sequence[Hit]:
        by_document: dict[tuple[str, str], list[Hit]] = {}
        for hit in hits:
            by_document.setdefault((hit.passage.kb, hit.passage.doc_id), []).append(hit)
        groups = [group[: _most(context, group)] for group in by_document.values()]
        first = [hit for one in zip_longest(*groups) for hit in one if hit is not None]
        chosen = {(hit.passage.kb, hit.passage.id) for hit in first}
        rest = [hit for hit in hits if (hit.passage.kb, hit.passage.id) not in chosen]
        return [*first, *rest]


def fixes_a_document(filter_: Filter) -> bool:
    """Whether a filter lets passages of one document through and no others."""
    match filter_:
        case Compare(op=Op.EQ, field=field):
            return field in DOCUMENT_FIELDS
        case Compare(op=Op.IN, field=field, value=tuple(values)):
            return field in DOCUMENT_FIELDS and len(values) == 1
        case AllOf(of=parts):
            return any(fixes_a_document(part) for part in parts)
        case Compare() | AnyOf() | Not():
            return False
        case _ as never:
            assert_never(never)


def _most(context: RankingContext, group: Sequence[Hit]) -> int:
    return context.policy.for_document(group[0].passage.metadata).max_per_source
