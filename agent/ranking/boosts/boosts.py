"""Stage 27: what is wished for comes a little further to the front."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.ranking.boosts.wishes import Wishes
from agent.ranking.boosts.words import overlap, pagerank
from agent.ranking.rerank.authority import Authority
from agent.ranking.rerank.freshness import Freshness
from agent.ranking.strategy import RankingContext
from agent.sections import BoostSettings, RerankSettings
from schemas.hits import Hit


class Boosts:
    """Adds to the scores of hits what they have of what is wished for: soft conditions, tags and
    entities of the question, pagerank, freshness, authority. Each addition is kept as
    `boost.<name>`; what a document lacks adds nothing, and no hit is taken away.

    Together they add `rag.boosts.limit` at the most, in proportion where they would add more. So a
    hit never passes one whose score is higher by more than that: with the default of 0.1 and
    weighted fusion, one with a cosine higher by 0.21.
    """

    name = "boosts"
    stage = 27

    def __init__(
        self, settings: BoostSettings, rerank: RerankSettings, *, tag_field: str = "tags"
    ) -> None:
        self._settings = settings
        self._rerank = rerank
        self._tag_field = tag_field

    def supports(self, context: RankingContext) -> bool:
        return context.policy.boosts_enabled

    async def apply(self, context: RankingContext, hits: Sequence[Hit]) -> Sequence[Hit]:
        shares = Shares(context, self._settings, self._rerank, self._tag_field)
        boosted: list[tuple[float, Hit]] = []
        level = float("inf")
        for hit in hits:
            # Scores behind the reranked hits, or of another branch, may be on another scale: what
            # comes later is taken to be no better, so that only boosts change the order.
            level = min(level, hit.score)
            added = self._added(shares.of(hit))
            boosted.append((level + sum(added.values()), _with_boosts(hit, added)))
        boosted.sort(key=lambda pair: -pair[0])
        return [hit for _, hit in boosted]

    def _added(self, shares: Mapping[str, float]) -> dict[str, float]:
        weights = self._settings.model_dump(include=set(shares))
        added = {name: weights[name] * share for name, share in shares.items()}
        total = sum(added.values())
        if total > self._settings.limit:
            added = {name: part * self._settings.limit / total for name, part in added.items()}
        return {name: part for name, part in added.items() if part}


class Shares:
    """How far each wish holds of a hit, in 0..1."""

    def __init__(
        self,
        context: RankingContext,
        settings: BoostSettings,
        rerank: RerankSettings,
        tag_field: str,
    ) -> None:
        self._wanted = wanted = context.wanted
        self._pageranks = settings.pageranks
        self._tag_field = tag_field
        self._wishes = Wishes(wanted.boosts, wanted.collections)
        self._fresh = Freshness(wanted.collections, wanted.today, rerank.date_field)
        self._authority = Authority(wanted.collections, rerank.authority, rerank.official_field)

    def of(self, hit: Hit) -> dict[str, float]:
        passage, wanted = hit.passage, self._wanted
        metadata = passage.metadata
        return {
            "wishes": self._wishes.of(passage),
            "tags": overlap(wanted.tags, metadata.get(self._tag_field)),
            "entities": overlap(wanted.entities, metadata.get("entities")),
            "pagerank": pagerank(metadata.get("pagerank"), self._pageranks.get(passage.kb, 0.0)),
            "freshness": self._fresh.of(passage) or 0.0,
            "authority": self._authority.of(passage),
        }


def _with_boosts(hit: Hit, added: Mapping[str, float]) -> Hit:
    """The score stays within 0..1 where it was."""
    if not added:
        return hit
    score = max(hit.score, min(1.0, hit.score + sum(added.values())))
    named = {f"boost.{name}": part for name, part in added.items()}
    return hit.model_copy(update={"score": score, "scores": {**hit.scores, **named}})
