"""A few results kept in memory, those used last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class Kept(Generic[V]):
    """The `size` results used last; a size of 0 keeps none."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._results: OrderedDict[Hashable, V] = OrderedDict()

    def get(self, key: Hashable) -> V | None:
        found = self._results.get(key)
        if found is not None:
            self._results.move_to_end(key)
        return found

    def put(self, key: Hashable, result: V) -> None:
        self._results[key] = result
        self._results.move_to_end(key)
        while len(self._results) > self._size:
            self._results.popitem(last=False)
