"""Several knowledge bases asked at once: one collection to plan for, one filter for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

from schemas.collection import Collection, Encoding, Field, Profile, Scalar
from schemas.filters import EVERYTHING, NOTHING, AllOf, AnyOf, Compare, Filter, Not, Op, leaves
from schemas.folding import fold
from schemas.plan import Problem

_TOP = 50


def united(collections: Sequence[Collection]) -> Collection:
    """The fields of all: of one name and type they are one field with the values of both. Where
    the types differ, the field is that of the first collection that has it.

    Columns are those of the first; a filter has to be bound to each collection by itself.
    """
    if len(collections) == 1:
        return collections[0]
    fields: dict[str, Field] = {}
    for field in (field for one in collections for field in one.fields):
        known = fields.get(field.name)
        if known is None:
            fields[field.name] = field
        elif known.type is field.type:
            fields[field.name] = _merged(known, field)
    return Collection(
        name=", ".join(one.name for one in collections),
        fields=tuple(fields.values()),
        description="\n".join(one.description for one in collections if one.description),
        version="+".join(one.version for one in collections),
    )


def fitted(f: Filter, union: Collection, collection: Collection) -> Filter:
    """The filter as it can be asked of one of the united collections.

    Documents of a collection without a field have no value there: a comparison with it is
    unknown, also when negated, and that the value is missing is true. A field of another type
    there is unknown altogether.
    """
    return _fitted(f, union, collection, negated=False)


def unfit(f: Filter, union: Collection, collections: Iterable[Collection]) -> tuple[Problem, ...]:
    """What the filter says that cannot be told in some of the united collections, once each."""
    named = dict.fromkeys(leaf.field for leaf in leaves(f) if leaf.op is not Op.EMPTY)
    found: list[Problem] = []
    for one in collections:
        for name in named:
            here, there = one.by_name.get(name), union.field(name)
            if here is None:
                found.append(
                    Problem(
                        code="field_not_in_kb",
                        message=f"field {name!r} is not in {one.name!r}; nothing there meets a"
                        " condition on it",
                        field=name,
                        value=one.name,
                        allowed=tuple(sorted(one.by_name)),
                    )
                )
            elif here.type is not there.type:
                found.append(
                    Problem(
                        code="field_type_differs",
                        message=f"field {name!r} is of type {here.type} in {one.name!r} and of type"
                        f" {there.type} elsewhere; nothing there meets a condition on it",
                        field=name,
                        value=one.name,
                        allowed=(here.type.value,),
                    )
                )
    return tuple(found)


def _fitted(f: Filter, union: Collection, c: Collection, *, negated: bool) -> Filter:
    match f:
        case Compare():
            return _leaf(f, union, c, negated=negated)
        case AllOf(of=parts):
            return AllOf(of=tuple(_fitted(part, union, c, negated=negated) for part in parts))
        case AnyOf(of=parts):
            return AnyOf(of=tuple(_fitted(part, union, c, negated=negated) for part in parts))
        case Not(of=part):
            return Not(of=_fitted(part, union, c, negated=not negated))
        case _:
            assert_never(f)


def _leaf(leaf: Compare, union: Collection, c: Collection, *, negated: bool) -> Filter:
    here = c.by_name.get(leaf.field)
    if here is not None and here.type is union.field(leaf.field).type:
        return leaf
    if here is None and leaf.op is Op.EMPTY:
        return EVERYTHING
    if here is None and leaf.op is Op.NOT_EMPTY:
        return NOTHING
    # What is unknown selects nothing: false under an even number of negations, true under an odd.
    return EVERYTHING if negated else NOTHING


def _merged(one: Field, other: Field) -> Field:
    values = _values(one, other)
    return one.model_copy(
        update={
            "description": one.description or other.description,
            "aliases": tuple(dict.fromkeys((*one.aliases, *other.aliases))),
            # A word for missing values that only some of them know is no value of the others.
            "default": one.default if one.default == other.default else "",
            "values": values,
            "synonyms": _synonyms(one.synonyms, other.synonyms),
            "profile": _profile(one.profile, other.profile, len(values)),
        }
    )


def _synonyms(
    one: Mapping[str, tuple[str, ...]], other: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    values = dict.fromkeys((*one, *other))
    return {
        value: tuple(dict.fromkeys((*one.get(value, ()), *other.get(value, ()))))
        for value in values
    }


def _values(one: Field, other: Field) -> tuple[Scalar, ...]:
    """Those of both; a writing of a value that is stored folded in both is no second value."""
    folded = _is_folded(one) and _is_folded(other)
    known: dict[Scalar, Scalar] = {}
    for value in (*one.values, *other.values):
        known.setdefault(fold(value) if folded and isinstance(value, str) else value, value)
    return tuple(known.values())


def _is_folded(field: Field) -> bool:
    return field.column is None or field.column.encoding is Encoding.FOLDED


def _profile(one: Profile | None, other: Profile | None, values: int) -> Profile | None:
    """None if nothing is known of one of them; the number of distinct values only where all of
    them are listed.
    """
    if one is None or other is None:
        return None
    counts: Counter[Scalar] = Counter(dict(one.top))
    counts.update(dict(other.top))
    complete = one.complete and other.complete
    lowest = [end.minimum for end in (one, other) if end.minimum is not None]
    highest = [end.maximum for end in (one, other) if end.maximum is not None]
    return Profile(
        rows=one.rows + other.rows,
        missing=one.missing + other.missing,
        distinct=values if complete else None,
        minimum=min(lowest, key=_rank) if lowest else None,
        maximum=max(highest, key=_rank) if highest else None,
        top=tuple(counts.most_common(_TOP)),
        complete=complete,
    )


def _rank(value: Scalar) -> tuple[bool, float, str]:
    """Numbers by size, days and times by their ISO writing."""
    return (True, 0.0, value) if isinstance(value, str) else (False, value, "")
