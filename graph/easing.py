"""Which conditions of one filter give way, and how far: measured, never guessed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from schemas.collection import Collection
from schemas.filters import Filter, all_of, dump_filter
from schemas.ladder import Tier, ladder, tier
from schemas.loosen import ACTIONS, Action, Rung, Unit, units

Measure = Callable[[Filter], Awaitable[int]]


class Counts:
    """Counts of documents by filter, each measured once; at most so many are measured."""

    def __init__(self, measure: Measure, most: int) -> None:
        self._measure = measure
        self._left = most
        self._known: dict[str, int] = {}

    async def of(self, filter_: Filter) -> int | None:
        """None where nothing more may be measured."""
        name = dump_filter(filter_)
        if name not in self._known:
            if self._left <= 0:
                return None
            self._left -= 1
            self._known[name] = await self._measure(filter_)
        return self._known[name]


@dataclass(frozen=True)
class Eased:
    """The weaker filter, the changes that led to it, and how many documents match it."""

    filter: Filter
    rungs: tuple[Rung, ...]
    before: int
    found: int


@dataclass(frozen=True)
class Easing:
    """Looks for the smallest change to a filter that lets `minimum` documents match."""

    collection: Collection
    counts: Counts
    minimum: int
    allowed: Sequence[Action]
    kept: Sequence[str]
    most: int
    units: tuple[Unit, ...]
    before: int

    async def eased(self) -> Eased | None:
        """None where no change that is allowed helps, within the budget. What was excluded gives
        way after what was wanted, and what names somebody or something last of that.
        """
        tiers = {unit: tier(unit, self.collection, self.kept) for unit in self.units}
        for rank in (Tier.WANTED, Tier.NAMED, Tier.EXCLUDED):
            pool = sorted((u for u in self.units if tiers[u] <= rank), key=lambda u: -tiers[u])
            fresh = [unit for unit in pool if tiers[unit] is rank]
            if not fresh or not await self._enough(self._with(dict.fromkeys(pool))):
                continue
            for chosen in await self._culprits(fresh, pool):
                found = await self._least(chosen)
                if found is not None and len(found.rungs) <= self.most:
                    return found
        return None

    async def _culprits(self, fresh: Sequence[Unit], pool: Sequence[Unit]) -> list[list[Unit]]:
        """The unit that gives way alone: of those without which enough match, the one whose
        change is smallest, of equal ones that without which most match. All of the pool where
        no single one helps.
        """
        if len(pool) == 1:
            return [list(pool)]
        counts = await asyncio.gather(*(self.counts.of(self._with({u: None})) for u in fresh))
        freed = [
            (count, unit)
            for count, unit in zip(counts, fresh, strict=True)
            if count is not None and count >= self.minimum
        ]
        freed.sort(key=lambda one: -one[0])
        eased: list[tuple[int, Unit]] = []
        for _, unit in freed:
            found = await self._least([unit])
            if found is not None:
                eased.append((ACTIONS.index(found.rungs[0].action), unit))
            if found is not None and found.rungs[0].action == ACTIONS[0]:
                break
        alone = [[unit] for _, unit in sorted(eased, key=lambda one: one[0])]
        return alone or [list(pool)]

    async def _least(self, chosen: Sequence[Unit]) -> Eased | None:
        """The smallest changes to these units that let enough match, one unit after another.
        Those of them that need no change keep what they ask for.
        """
        changes: dict[Unit, Rung | None] = dict.fromkeys(chosen)
        for unit in chosen:
            if len(chosen) > 1 and await self._enough(self._with(_less(changes, unit))):
                del changes[unit]
                continue
            rung = await self._rung(unit, changes)
            if rung is None:
                return None
            changes[unit] = rung
        rungs = [rung for rung in changes.values() if rung is not None]
        rungs = [await self._wished(rung, changes) for rung in rungs]
        weaker = self._with(changes)
        found = await self.counts.of(weaker)
        return Eased(weaker, tuple(rungs), self.before, found or 0)

    async def _rung(self, unit: Unit, changes: Mapping[Unit, Rung | None]) -> Rung | None:
        for rung in ladder(unit, self.collection, self.allowed):
            if rung.action == "nearest" and self.before:
                continue
            if rung.is_soft or await self._enough(self._with({**changes, unit: rung})):
                return rung
        return None

    async def _wished(self, rung: Rung, changes: Mapping[Unit, Rung | None]) -> Rung:
        """A condition that none of the documents now found meets is no wish any more."""
        if rung.action != "boost" or "drop" not in self.allowed:
            return rung
        met = await self.counts.of(self._with(_less(changes, rung.unit)))
        return Rung("drop", rung.unit) if met == 0 else rung

    async def _enough(self, filter_: Filter) -> bool:
        count = await self.counts.of(filter_)
        return count is not None and count >= self.minimum

    def _with(self, changes: Mapping[Unit, Rung | None]) -> Filter:
        """The filter with units changed; None: without them."""
        parts: list[Filter] = []
        for unit in self.units:
            if unit not in changes:
                parts += unit.parts
            elif (rung := changes[unit]) is not None:
                parts += [part for one in units(rung.filter) for part in one.parts]
        return all_of(*parts)


def _less(changes: Mapping[Unit, Rung | None], unit: Unit) -> dict[Unit, Rung | None]:
    return {one: rung for one, rung in changes.items() if one != unit}
