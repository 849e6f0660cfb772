"""Scope AND filter, as one expression for the engine and one predicate for what comes back."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from agent.store.reading import every
from schemas.access import Scope
from schemas.check import Bound, bind
from schemas.collection import Collection, Field, FieldType
from schemas.compile.milvus import Dialect, split, to_milvus
from schemas.compile.predicate import to_predicate
from schemas.errors import FilterError
from schemas.filters import NOTHING, AllOf, Compare, Filter, Not, Op, leaves, walk

log = logging.getLogger(__name__)

Metadata = Mapping[str, JsonValue]


@dataclass(frozen=True)
class Guard:
    """`expression` finds every row that `keeps` keeps, and no other if `complete`; `closed`
    means that nothing may be seen, so that the engine need not be asked.
    """

    expression: str
    complete: bool
    keeps: Callable[[Metadata], bool]
    fields: frozenset[str]
    closed: bool = False


def guard(filter_: Bound, scope: Scope, dialect: Dialect) -> Guard:
    """The filter's own collection decides where its fields and those of the scope are stored.

    A scope that cannot be determined there (an unknown field, say) is false.
    """
    allowed = bound_scope(scope, filter_.collection)
    if allowed is None or filter_.root == NOTHING:
        return CLOSED
    asked = split(filter_, dialect)
    seen, whole = _scope_expression(allowed, dialect)
    in_scope = to_predicate(allowed, exact=True)
    matches = to_predicate(filter_)
    return Guard(
        expression=every(seen, asked.pushed),
        complete=whole and asked.rest is None,
        keeps=lambda row: in_scope(row) and matches(row),
        fields=frozenset(
            leaf.field for part in (allowed.root, filter_.root) for leaf in leaves(part)
        ),
    )


CLOSED = Guard("", True, lambda _: False, frozenset(), closed=True)
"""Nothing may be seen."""


def bound_scope(scope: Scope, collection: Collection) -> Bound | None:
    """None if nothing may be seen, also where the scope cannot be determined."""
    if scope.filter == NOTHING:
        return None
    try:
        return bind(scope.filter, collection, literal=True)
    except FilterError as error:
        log.warning(
            "scope on %r cannot be determined, nothing is shown: %s", collection.name, error
        )
        return None


def _scope_expression(scope: Bound, dialect: Dialect) -> tuple[str, bool]:
    """Exact where the columns allow it; else weaker, and the predicate decides."""
    parts: list[str] = []
    whole = True
    for part in _conjuncts(scope.root):
        piece = Bound(part, scope.collection)
        try:
            parts.append(to_milvus(piece, dialect, exact=True))
        except FilterError:
            whole = False
            if _folds_safely(part, scope.collection):
                parts.append(split(piece, dialect).pushed)
    return every(*parts), whole


def _conjuncts(f: Filter) -> Iterator[Filter]:
    if isinstance(f, AllOf):
        for part in f.of:
            yield from _conjuncts(part)
    else:
        yield f


def _folds_safely(f: Filter, collection: Collection) -> bool:
    """Whether all that matches exactly matches folded as well: equality, never negated."""
    return not any(isinstance(node, Not) for node in walk(f)) and all(
        _is_equality(leaf, collection.field(leaf.field)) for leaf in leaves(f)
    )


def _is_equality(leaf: Compare, field: Field) -> bool:
    if field.type is FieldType.STRING_LIST and leaf.op is Op.CONTAINS:
        return True
    return leaf.op in (Op.EQ, Op.IN) or field.type.element is not FieldType.STRING
