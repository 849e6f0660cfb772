"""What the wire formats of RAGFlow and Dify have in common: flat lists of conditions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

from pydantic import JsonValue

from schemas.errors import FilterError
from schemas.filters import (
    EVERYTHING,
    AllOf,
    AnyOf,
    Compare,
    Element,
    Filter,
    Not,
    Op,
    all_of,
    any_of,
    check_size,
    parse_filter,
)
from schemas.normalise import normalise
from schemas.operators import op_from


class WireMode(StrEnum):
    """`strict` is the filter language's own meaning; `ragflow_compat` what RAGFlow does with
    the same request.
    """

    STRICT = "strict"
    RAGFLOW_COMPAT = "ragflow_compat"


NAME_KEYS = ("name", "key")
OPERATOR_KEYS = ("comparison_operator", "op", "operator")
JOIN_KEYS = ("logic", "logical_operator")

_PLACEHOLDER = re.compile(r"\{\{[^{}]*\}\}|\{(sys|env)\.\w+\}|\{[\w:]+@[\w.]+\}")
_COMMA = re.compile(r"[,，]")


def import_conditions(conditions: object, join: str, at: str) -> Filter:
    """The filter of a list of conditions; no conditions are no filter, whatever the join word.

    Raises FilterError naming the condition and what was allowed.
    """
    items = condition_list(conditions, at)
    if not items:
        return EVERYTHING
    parts = [import_condition(item, f"{at}[{i}]") for i, item in enumerate(items)]
    found = all_of(*parts) if join == "and" else any_of(*parts)
    check_size(found)
    return found


def condition_list(conditions: object, at: str) -> Sequence[object]:
    if not isinstance(conditions, list | tuple):
        raise FilterError(f"{at}: a list of conditions is needed, not {conditions!r}")
    return conditions


def one_of(obj: Mapping[object, object], keys: Sequence[str], at: str) -> object:
    """The value under whichever of these keys is there; two of them are an error."""
    found = [key for key in keys if obj.get(key) is not None]
    if len(found) > 1:
        raise FilterError(f"{at}: only one of {', '.join(keys)} may be given")
    return obj[found[0]] if found else None


def join_word(obj: Mapping[object, object], at: str) -> str:
    """`and` or `or`, `and` if there is none. Raises FilterError on any other word."""
    word = one_of(obj, JOIN_KEYS, at)
    if word is None:
        return "and"
    folded = word.strip().casefold() if isinstance(word, str) else word
    if folded not in ("and", "or"):
        raise FilterError(f"{at}: unknown join word {word!r}; allowed: and, or")
    return str(folded)


def only_keys(obj: Mapping[object, object], allowed: Sequence[str], at: str) -> None:
    foreign = [key for key in obj if key not in allowed]
    if foreign:
        raise FilterError(f"{at}: unknown key {foreign[0]!r}; allowed: {', '.join(allowed)}")


def import_condition(obj: object, at: str) -> Filter:
    """One condition. A list of names asks for any of the fields, negatively for all of them."""
    if not isinstance(obj, Mapping):
        raise FilterError(f"{at}: a condition is an object, not {obj!r}")
    only_keys(obj, (*NAME_KEYS, *OPERATOR_KEYS, "value"), at)
    names = names_of(obj, at)
    try:
        op = op_from(one_of(obj, OPERATOR_KEYS, at))
    except FilterError as error:
        raise FilterError(f"{at} on {names[0]!r}: {error}") from error
    where = f"{at}: {op} on {names[0]!r}"
    value = value_of(op, obj.get("value"), where) if op.takes_value else None
    parts = [parse_filter({"op": op.value, "field": name, "value": value}) for name in names]
    return all_of(*parts) if op.is_negative or op is Op.EMPTY else any_of(*parts)


def names_of(obj: Mapping[object, object], at: str) -> Sequence[str]:
    given = one_of(obj, NAME_KEYS, at)
    names = given if isinstance(given, list | tuple) else [given]
    if not names or not all(isinstance(name, str) and name for name in names):
        raise FilterError(f"{at}: `name` is a field name or a list of them, not {given!r}")
    return [str(name) for name in names]


def value_of(op: Op, value: object, where: str) -> Element | list[Element]:
    """The value of a condition; commas make a list of a string where a list is asked for."""
    if value is None:
        raise FilterError(f"{where} needs a value")
    given = value if isinstance(value, list | tuple) else [value]
    items = [_element(item, where) for item in given]
    if op.takes_list:
        return _members(value, items, where)
    if len(items) != 1:
        raise FilterError(f"{where} takes one value, not {len(items)}")
    return items[0]


def _element(item: object, where: str) -> Element:
    if isinstance(item, str) and _PLACEHOLDER.search(item):
        raise FilterError(f"{where}: the variable in {item!r} has no value")
    if not isinstance(item, str | int | float | bool):
        raise FilterError(f"{where}: {item!r} is no string, number or boolean")
    return item


def _members(value: object, items: list[Element], where: str) -> list[Element]:
    if not isinstance(value, str):
        return items
    pieces = [piece.strip() for piece in _COMMA.split(value)]
    members: list[Element] = [piece for piece in pieces if piece]
    if not members:
        raise FilterError(f"{where} needs a value")
    return members


def flat_conditions(f: Filter, target: str) -> tuple[str, Sequence[Compare]]:
    """Join word and comparisons of a filter that is a flat group.

    Raises FilterError on nesting, on negations that no operator says, and on `or` of nothing.
    """
    for candidate in (f, normalise(f)):
        match candidate:
            case Compare():
                return "and", (_sayable(candidate, target),)
            case AllOf(of=parts) | AnyOf(of=parts) if all(isinstance(p, Compare) for p in parts):
                if isinstance(candidate, AnyOf) and not parts:
                    raise FilterError(f"{target} cannot say a filter that nothing matches")
                compares = tuple(_sayable(p, target) for p in parts if isinstance(p, Compare))
                return candidate.op, compares
            case AllOf() | AnyOf() | Not():
                continue
    raise FilterError(f"{target} has no nested conditions: one list, joined by `and` or `or`")


def _sayable(c: Compare, target: str) -> Compare:
    for item in c.value if isinstance(c.value, tuple) else (c.value,):
        if isinstance(item, str) and _PLACEHOLDER.search(item):
            raise FilterError(f"{target} would take {item!r} on {c.field!r} for a variable")
    return c


def export_value(c: Compare, *, as_text: bool = False) -> JsonValue:
    """A value as JSON; RAGFlow itself only ever compares strings."""
    if isinstance(c.value, tuple):
        return [_written(item) if as_text else item for item in c.value]
    return _written(c.value) if as_text and c.value is not None else c.value


def _written(item: Element) -> str:
    return str(item).lower() if isinstance(item, bool) else str(item)
