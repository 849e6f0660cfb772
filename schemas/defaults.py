"""The words that missing values are shown as, and what a filter on such a word means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

from pydantic import JsonValue

from schemas.collection import Collection, Field
from schemas.filters import AllOf, AnyOf, Compare, Element, Filter, Not, Op, all_of, any_of
from schemas.folding import fold, is_blank

_SAME = frozenset({Op.EQ, Op.IN})
_OTHER = frozenset({Op.NE, Op.NOT_IN})


def is_missing(value: JsonValue) -> bool:
    """None, blank text and an empty list; whatever else is stored is a value."""
    return value is None or value == [] or (isinstance(value, str) and is_blank(value))


def with_defaults(
    metadata: Mapping[str, JsonValue], fields: Iterable[Field]
) -> dict[str, JsonValue]:
    """Metadata for people: a missing value as its field's default, where there is one.

    Never for filters, which tell missing values from all others.
    """
    words = {field.name: field.default for field in fields if field.default}
    shown = dict(metadata)
    shown.update({name: word for name, word in words.items() if is_missing(shown.get(name))})
    return shown


def without_defaults(f: Filter, c: Collection) -> Filter:
    """The filter with `empty` and `not_empty` in place of comparisons with a default.

    Where a field also has the default as a stored value, both are meant.
    """
    if not any(field.default for field in c.fields):
        return f
    match f:
        case Compare():
            field = c.by_name.get(f.field)
            return f if field is None or not field.default else _leaf(f, field)
        case AllOf(of=parts):
            return AllOf(of=tuple(without_defaults(part, c) for part in parts))
        case AnyOf(of=parts):
            return AnyOf(of=tuple(without_defaults(part, c) for part in parts))
        case Not(of=part):
            return Not(of=without_defaults(part, c))
        case _:
            assert_never(f)


def _leaf(leaf: Compare, field: Field) -> Filter:
    items = leaf.value if isinstance(leaf.value, tuple) else (leaf.value,)
    word = fold(field.default)
    others = tuple(item for item in items if item is not None and not _is_word(item, word))
    if len(others) == len(items):
        return leaf
    if any(_is_word(value, word) for value in field.values):
        others = tuple(item for item in items if item is not None)
    if leaf.op in _SAME or (leaf.op is Op.CONTAINS and field.type.is_list):
        return any_of(*_rest(leaf, others), Compare(op=Op.EMPTY, field=leaf.field))
    if leaf.op in _OTHER or (leaf.op is Op.NOT_CONTAINS and field.type.is_list):
        return all_of(*_rest(leaf, others), Compare(op=Op.NOT_EMPTY, field=leaf.field))
    return leaf


def _rest(leaf: Compare, others: tuple[Element, ...]) -> tuple[Filter, ...]:
    if not others:
        return ()
    value = others if leaf.op.takes_list else others[0]
    return (Compare(op=leaf.op, field=leaf.field, value=value),)


def _is_word(value: object, word: str) -> bool:
    return isinstance(value, str) and fold(value) == word
