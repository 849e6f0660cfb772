"""Plans that were made before, in memory."""

from __future__ import annotations

from collections import OrderedDict

from schemas.mentions import Proposal


class PlanCache:
    """Implements graph.ports.Plans: the `size` plans used last; a size of 0 keeps none."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[str, Proposal] = OrderedDict()

    def get(self, key: str) -> Proposal | None:
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def put(self, key: str, proposal: Proposal) -> None:
        self._kept[key] = proposal
        self._kept.move_to_end(key)
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)
