"""Which strategies there are: the built-in ones, and those of installed packages."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points

from agent.ranking.boosts.boosts import Boosts
from agent.ranking.diversity import Diversity
from agent.ranking.duplicates import NearDuplicates
from agent.ranking.hard_filter import HardFilter
from agent.ranking.packing import Packing
from agent.ranking.rerank.bm25 import CandidateBm25
from agent.ranking.rerank.embedding import Embedder
from agent.ranking.reranking import Reranking
from agent.ranking.scoring import Scoring
from agent.ranking.similarity import Similarity
from agent.ranking.strategy import Strategy
from agent.sections import BoostSettings, RerankSettings
from schemas.plan import Problem

log = logging.getLogger(__name__)

GROUP = "facetwise.strategies"
"""Entry points of installed packages; each names a `StrategyFactory`."""


@dataclass(frozen=True)
class Tools:
    """What a strategy may be made from. `embedding` is the name of the embedding model, by which
    cosines are calibrated; `embedder` embeds texts with it.
    """

    embedding: str = ""
    embedder: Embedder | None = None
    rerank: RerankSettings = field(default_factory=RerankSettings)
    boosts: BoostSettings = field(default_factory=BoostSettings)
    tag_field: str = "tags"


StrategyFactory = Callable[[Tools], Strategy]

BUILT_IN: tuple[StrategyFactory, ...] = (
    lambda tools: Scoring(tools.embedding),
    lambda tools: HardFilter(),
    lambda tools: Similarity(),
    lambda tools: CandidateBm25(),
    lambda tools: Reranking(tools.rerank, tools.embedder),
    lambda tools: Boosts(tools.boosts, tools.rerank, tag_field=tools.tag_field),
    lambda tools: NearDuplicates(),
    lambda tools: Diversity(),
    lambda tools: Packing(),
)


@dataclass(frozen=True)
class Registered:
    """Strategies, and what is wrong with those that are missing."""

    strategies: tuple[Strategy, ...]
    problems: tuple[Problem, ...] = ()


def registered(tools: Tools, plugins: Iterable[EntryPoint] | None = None) -> Registered:
    """The built-in strategies and those of installed packages. One that cannot be made, is no
    strategy or takes a name that is taken is told and left out.
    """
    strategies = [make(tools) for make in BUILT_IN]
    problems: list[Problem] = []
    for plugin in entry_points(group=GROUP) if plugins is None else plugins:
        try:
            strategies.append(_made(plugin, tools, strategies))
        except Exception as error:  # a package of somebody else's may raise anything
            log.warning("strategy %r of %s cannot be used", plugin.name, GROUP, exc_info=error)
            problems.append(_broken(plugin, error))
    return Registered(tuple(strategies), tuple(problems))


def _made(plugin: EntryPoint, tools: Tools, others: Sequence[Strategy]) -> Strategy:
    factory = plugin.load()
    made = factory(tools)
    if not (
        isinstance(made, Strategy)
        and isinstance(made.name, str)
        and made.name
        and isinstance(made.stage, int)
    ):
        raise TypeError("it has to make an object with name, stage, supports and apply")
    if any(made.name == other.name for other in others):
        raise ValueError(f"the name {made.name!r} is taken")
    return made


def _broken(plugin: EntryPoint, error: Exception) -> Problem:
    return Problem(
        code="strategy_unusable",
        message=f"the ranking strategy {plugin.name!r} ({plugin.value}) cannot be used: "
        f"{type(error).__name__}: {error}",
        value=plugin.name,
    )
