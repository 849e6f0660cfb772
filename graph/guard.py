"""The last look at every hit: a passage outside the scope goes no further, whoever sent it."""

from __future__ import annotations

from collections.abc import Callable

from schemas.access import Scope
from schemas.check import bind
from schemas.collection import Collection
from schemas.compile.predicate import to_predicate
from schemas.errors import FilterError
from schemas.filters import NOTHING
from schemas.hits import Passage


def guard(scope: Scope, collection: Collection) -> Callable[[Passage], bool]:
    """Whether a passage lies within the scope, compared exactly.

    A scope that does not fit the collection (an unknown field, a value of another type) cannot
    be decided, and what cannot be decided is false.
    """
    if scope.filter == NOTHING:
        return lambda passage: False
    try:
        holds = to_predicate(bind(scope.filter, collection, literal=True), exact=True)
    except FilterError:
        return lambda passage: False
    return lambda passage: holds(passage.metadata)
