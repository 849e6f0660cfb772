"""The filter algebra: comparisons, all, any, not.

A row is *missing* in a field that it does not have, or that holds null, an empty string or an
empty list. A comparison on a missing value is unknown; `empty` and `not_empty` always know.
`and`, `or` and `not` follow Kleene's three-valued logic, and a row matches only if the whole
filter is true. Dates are compared as half-open ranges: a day, month or year given as a value
means its whole period.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeGuard, assert_never

from pydantic import (
    BeforeValidator,
    JsonValue,
    ValidationError,
    field_serializer,
    field_validator,
    model_validator,
)

from schemas.bounds import BOUNDS, Bounds, Element, Value, text_of, value_of
from schemas.errors import FilterError
from schemas.model import Shape
from schemas.operators import Op, op_from

__all__ = [
    "BOUNDS",
    "EVERYTHING",
    "NOTHING",
    "AllOf",
    "AnyOf",
    "Bounds",
    "Compare",
    "Element",
    "Filter",
    "Not",
    "Op",
    "Value",
    "all_of",
    "any_of",
    "check_size",
    "dump_filter",
    "leaves",
    "parse_filter",
    "to_json",
    "walk",
]


class Compare(Shape):
    """One comparison. `value` is None for `empty` and `not_empty` only; lists become tuples."""

    op: Op
    field: str
    value: Value = None

    @field_validator("field")
    @classmethod
    def _field_is_sane(cls, name: str) -> str:
        if not name:
            raise ValueError("the field name is empty")
        return text_of(name, BOUNDS.field_length, "a field name")

    @field_validator("value", mode="plain")
    @classmethod
    def _value_is_sane(cls, value: object) -> Value:
        return value_of(value)

    @field_serializer("value")
    def _value_as_json(self, value: Value) -> JsonValue:
        return [*value] if isinstance(value, tuple) else value

    @model_validator(mode="before")
    @classmethod
    def _presence_has_no_value(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("op") in ("empty", "not_empty"):
            return {**data, "value": None}
        return data


class AllOf(Shape):
    """True if all parts are; the empty one is true."""

    op: Literal["and"] = "and"
    of: tuple[Filter, ...] = ()


class AnyOf(Shape):
    """True if some part is; the empty one is false."""

    op: Literal["or"] = "or"
    of: tuple[Filter, ...] = ()


class Not(Shape):
    op: Literal["not"] = "not"
    of: Filter


def _from_json(value: object) -> object:
    """Lets shapes with a filter in them be parsed from plain JSON, within the bounds."""
    if isinstance(value, Compare | AllOf | AnyOf | Not):
        return value
    try:
        return parse_filter(value)
    except FilterError as error:
        raise ValueError(str(error)) from error


Filter = Annotated[Compare | AllOf | AnyOf | Not, BeforeValidator(_from_json)]

AllOf.model_rebuild()
AnyOf.model_rebuild()
Not.model_rebuild()

EVERYTHING = AllOf()
NOTHING = AnyOf()

_JOINS = ("and", "or", "not")


def parse_filter(obj: object) -> Filter:
    """A filter from its JSON form (decoded), or a filter as it is.

    Operators may be written in any accepted spelling. Groups of one part are unwrapped where
    the filter is too deep otherwise. Raises FilterError naming the place, such as `of[1].value`.
    """
    if isinstance(obj, Compare | AllOf | AnyOf | Not):
        check_size(obj)
        return obj
    deep = _depth(obj, unwrap=False) > BOUNDS.depth
    if deep and _depth(obj, unwrap=True) > BOUNDS.depth:
        raise FilterError(f"the filter is nested deeper than {BOUNDS.depth} levels")
    return _parse(obj, "filter", unwrap=deep)


def _children(obj: object) -> Sequence[object]:
    if not isinstance(obj, Mapping):
        return ()
    match obj.get("of"):
        case list() | tuple() as parts:
            return parts
        case Mapping() as part:
            return (part,)
        case _:
            return ()


def _is_wrapper(obj: object) -> TypeGuard[Mapping[str, Any]]:
    return (
        isinstance(obj, Mapping)
        and set(obj) == {"op", "of"}
        and obj["op"] in ("and", "or")
        and isinstance(obj["of"], list | tuple)
        and len(obj["of"]) == 1
    )


def _depth(root: object, *, unwrap: bool) -> int:
    """Counted without recursion, so that no input can exhaust the stack."""
    deepest, nodes = 0, 0
    stack: list[tuple[object, int]] = [(root, 1)]
    while stack:
        obj, depth = stack.pop()
        wraps = _is_wrapper(obj)
        inner = unwrap and wraps
        nodes += not wraps
        if nodes > BOUNDS.nodes:
            raise FilterError(f"the filter has more than {BOUNDS.nodes} nodes")
        deepest = max(deepest, depth)
        stack.extend((child, depth if inner else depth + 1) for child in _children(obj))
    return deepest


def _parse(obj: object, at: str, *, unwrap: bool) -> Filter:
    while unwrap and _is_wrapper(obj):
        obj, at = obj["of"][0], f"{at}.of[0]"
    if isinstance(obj, Compare | AllOf | AnyOf | Not):
        return obj
    if not isinstance(obj, Mapping):
        raise FilterError(f"{at}: a filter is an object with `op`, not {obj!r}")
    word = obj.get("op")
    join = word.strip().casefold() if isinstance(word, str) else None
    if join in _JOINS or "of" in obj:
        return _parse_group(obj, join, at, unwrap=unwrap)
    return _parse_compare(obj, at)


def _parse_group(
    obj: Mapping[object, object], join: str | None, at: str, *, unwrap: bool
) -> Filter:
    if join not in _JOINS:
        raise FilterError(f"{at}.op: unknown join word {obj.get('op')!r}; allowed: and, or, not")
    _only_keys(obj, {"op", "of"}, at)
    parts = obj.get("of")
    if join == "not":
        return Not(of=_parse(parts, f"{at}.of", unwrap=unwrap))
    if not isinstance(parts, list | tuple):
        raise FilterError(f"{at}.of: {join!r} takes a list of filters, not {parts!r}")
    of = tuple(_parse(part, f"{at}.of[{i}]", unwrap=unwrap) for i, part in enumerate(parts))
    return AllOf(of=of) if join == "and" else AnyOf(of=of)


def _parse_compare(obj: Mapping[object, object], at: str) -> Compare:
    _only_keys(obj, {"op", "field", "value"}, at)
    try:
        op = op_from(obj.get("op"))
    except FilterError as error:
        raise FilterError(f"{at}.op: {error}; joins: and, or, not") from error
    field = obj.get("field")
    if not isinstance(field, str) or not field:
        raise FilterError(f"{at}.field: a field name is needed, not {field!r}")
    if op.takes_value and obj.get("value") is None:
        raise FilterError(f"{at}: {op} on field {field!r} needs a value")
    try:
        return Compare(op=op, field=field, value=obj.get("value") if op.takes_value else None)
    except ValidationError as error:
        why = error.errors()[0]["ctx"]["error"]
        raise FilterError(f"{at}: field {field[:80]!r}: {why}") from error


def _only_keys(obj: Mapping[object, object], allowed: set[str], at: str) -> None:
    foreign = [key for key in obj if key not in allowed]
    if foreign:
        raise FilterError(
            f"{at}: unknown key {foreign[0]!r}; allowed: {', '.join(sorted(allowed))}"
        )


def to_json(f: Filter) -> dict[str, JsonValue]:
    """The canonical JSON form; `value` is left out where it is None."""
    match f:
        case Compare(op=op, field=field, value=None):
            return {"op": op.value, "field": field}
        case Compare(op=op, field=field, value=value):
            items: JsonValue = [*value] if isinstance(value, tuple) else value
            return {"op": op.value, "field": field, "value": items}
        case AllOf() | AnyOf():
            return {"op": f.op, "of": [to_json(part) for part in f.of]}
        case Not(of=part):
            return {"op": "not", "of": to_json(part)}
        case _:
            assert_never(f)


def dump_filter(f: Filter) -> str:
    """Canonical JSON text: equal filters give equal texts, and `1`, `1.0` and `true` differ."""
    return json.dumps(to_json(f), ensure_ascii=False, separators=(",", ":"))


def walk(f: Filter) -> Iterator[Filter]:
    """Every node, a group before its parts."""
    stack: list[Filter] = [f]
    while stack:
        node = stack.pop()
        yield node
        match node:
            case AllOf(of=parts) | AnyOf(of=parts):
                stack.extend(reversed(parts))
            case Not(of=part):
                stack.append(part)
            case Compare():
                pass
            case _:
                assert_never(node)


def leaves(f: Filter) -> Iterator[Compare]:
    """The comparisons, from left to right."""
    return (node for node in walk(f) if isinstance(node, Compare))


def check_size(f: Filter) -> None:
    """Raise FilterError naming the bound if a filter made in code is too deep or too large."""
    nodes = 0
    stack: list[tuple[Filter, int]] = [(f, 1)]
    while stack:
        node, depth = stack.pop()
        nodes += 1
        if depth > BOUNDS.depth:
            raise FilterError(f"the filter is nested deeper than {BOUNDS.depth} levels")
        if nodes > BOUNDS.nodes:
            raise FilterError(f"the filter has more than {BOUNDS.nodes} nodes")
        match node:
            case AllOf(of=parts) | AnyOf(of=parts):
                stack.extend((part, depth + 1) for part in parts)
            case Not(of=part):
                stack.append((part, depth + 1))
            case Compare():
                pass
            case _:
                assert_never(node)


def all_of(*parts: Filter) -> Filter:
    """The conjunction, without a group around a single part and without parts that are true."""
    kept = tuple(part for part in parts if part != EVERYTHING)
    return kept[0] if len(kept) == 1 else AllOf(of=kept)


def any_of(*parts: Filter) -> Filter:
    """The disjunction, without a group around a single part and without parts that are false."""
    kept = tuple(part for part in parts if part != NOTHING)
    return kept[0] if len(kept) == 1 else AnyOf(of=kept)
