"""A filter checked against a collection: known fields, allowed operators, values of the type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from schemas.coercion import coerce
from schemas.collection import Collection, Field
from schemas.defaults import without_defaults
from schemas.errors import FilterError
from schemas.filters import AllOf, AnyOf, Compare, Filter, Not, check_size, leaves
from schemas.operators import OPERATOR_TYPES, allowed_ops
from schemas.plan import Problem
from schemas.storage import storage_notes


@dataclass(frozen=True)
class Bound:
    """A filter that fits its collection, with values in the types of the fields.

    Dates in `root` are ISO days, times ISO times in UTC, periods half-open pairs. `notes` say
    where the columns of the collection can answer less than the filter asks.
    """

    root: Filter
    collection: Collection
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Checked:
    """All that is wrong with a filter, or the bound filter if nothing is."""

    problems: tuple[Problem, ...]
    bound: Bound | None


def check(f: Filter, c: Collection, *, literal: bool = False) -> Checked:
    """Check every comparison; nothing is dropped, and one problem is enough for no bound filter.

    A comparison with the word that a field's missing values are shown as asks for missing
    values, unless `literal`: scopes are, since a word for display may not decide on access.
    """
    try:
        check_size(f)
    except FilterError as error:
        return Checked((Problem(code="too_large", message=str(error)),), None)
    problems: list[Problem] = []
    root = _bound(f if literal else without_defaults(f, c), c, problems)
    if problems:
        return Checked(tuple(problems), None)
    notes = dict.fromkeys(
        note for leaf in leaves(root) for note in storage_notes(leaf, c.field(leaf.field))
    )
    return Checked((), Bound(root=root, collection=c, notes=tuple(notes)))


def bind(f: Filter, c: Collection, *, literal: bool = False) -> Bound:
    """The bound filter; raises FilterError with all problems in one message."""
    checked = check(f, c, literal=literal)
    if checked.bound is None:
        raise FilterError("; ".join(problem.message for problem in checked.problems))
    return checked.bound


def _bound(f: Filter, c: Collection, problems: list[Problem]) -> Filter:
    match f:
        case Compare():
            return _bound_leaf(f, c, problems)
        case AllOf(of=parts):
            return AllOf(of=tuple(_bound(part, c, problems) for part in parts))
        case AnyOf(of=parts):
            return AnyOf(of=tuple(_bound(part, c, problems) for part in parts))
        case Not(of=part):
            return Not(of=_bound(part, c, problems))
        case _:
            assert_never(f)


def _bound_leaf(leaf: Compare, c: Collection, problems: list[Problem]) -> Filter:
    field = c.by_name.get(leaf.field)
    if field is None:
        problems.append(_unknown_field(leaf, c))
    elif leaf.op not in OPERATOR_TYPES[field.type]:
        problems.append(_operator_not_allowed(leaf, field))
    else:
        try:
            return coerce(leaf, field)
        except FilterError as error:
            problems.append(_bad_value(leaf, field, str(error)))
    return leaf


def _unknown_field(leaf: Compare, c: Collection) -> Problem:
    known = tuple(sorted(c.by_name))
    return Problem(
        code="unknown_field",
        message=f"unknown field {leaf.field!r} in {c.name!r}; "
        f"known fields: {', '.join(known) or 'none'}",
        field=leaf.field,
        allowed=known,
    )


def _operator_not_allowed(leaf: Compare, field: Field) -> Problem:
    allowed = tuple(op.value for op in allowed_ops(field.type))
    return Problem(
        code="operator_not_allowed",
        message=f"{leaf.op} is not allowed on field {leaf.field!r} of type {field.type}; "
        f"allowed: {', '.join(allowed)}",
        field=leaf.field,
        value=leaf.op.value,
        allowed=allowed,
    )


def _bad_value(leaf: Compare, field: Field, why: str) -> Problem:
    value = list(leaf.value) if isinstance(leaf.value, tuple) else leaf.value
    code = "value_missing" if value is None else "bad_value"
    return Problem(
        code=code,
        message=f"field {leaf.field!r} of type {field.type}: {why}",
        field=leaf.field,
        value=value,
    )
