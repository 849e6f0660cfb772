"""Conditions that exclude nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from schemas.check import check
from schemas.collection import Collection
from schemas.compile.predicate import Row, to_predicate
from schemas.filters import Compare
from schemas.hits import Passage
from schemas.plan import Condition


class Wishes:
    """How many of the conditions hold of a passage; one that does not fit the collection of a
    knowledge base, such as one on a field that it has not, holds of nothing there.
    """

    def __init__(
        self, conditions: Sequence[Condition], collections: Mapping[str, Collection]
    ) -> None:
        self._count = len(conditions)
        self._tests = {
            kb: [test for one in conditions if (test := _test(one, collection))]
            for kb, collection in collections.items()
        }

    def of(self, passage: Passage) -> float:
        """The share that holds, in 0..1."""
        if not self._count:
            return 0.0
        tests = self._tests.get(passage.kb, [])
        return sum(test(passage.metadata) for test in tests) / self._count


def _test(condition: Condition, collection: Collection) -> Callable[[Row], bool] | None:
    wish = Compare.model_validate(
        {"op": condition.op, "field": condition.field, "value": condition.value}
    )
    bound = check(wish, collection).bound
    return None if bound is None else to_predicate(bound)
