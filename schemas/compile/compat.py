"""What RAGFlow makes of a list of conditions, said in the filter language.

Where its behaviour depends on the values in its index (a substring test for `in`, negations
that one of several values satisfies), the known values of the collection are used.
"""

from __future__ import annotations

from collections.abc import Mapping

from schemas.collection import Collection, Field
from schemas.compile.wire import (
    JOIN_KEYS,
    NAME_KEYS,
    OPERATOR_KEYS,
    condition_list,
    names_of,
    one_of,
    value_of,
)
from schemas.errors import FilterError
from schemas.filters import NOTHING, Compare, Element, Filter, Op, all_of, any_of, parse_filter
from schemas.folding import fold
from schemas.operators import SPELLINGS
from schemas.storage import is_enumerated

_NATIVE: Mapping[str, Op] = {spelling.wire: op for op, spelling in SPELLINGS.items()}

_CONVERTED: Mapping[str, str] = {"is": "=", "not is": "≠", ">=": "≥", "<=": "≤", "!=": "≠"}
"""The only other spellings that RAGFlow knows, and in `metadata_condition` only."""


def compat_conditions(
    body: Mapping[object, object],
    key: str,
    collection: Collection | None,
    *,
    converted: bool = False,
) -> Filter:
    """No conditions match nothing; any join word but `and` means `or`; a condition with an
    operator that RAGFlow does not know matches nothing. Raises FilterError on other shapes.
    """
    conditions = condition_list(body.get(key) or [], key)
    if not conditions:
        return NOTHING
    parts = [
        _condition(item, f"{key}[{i}]", collection, converted) for i, item in enumerate(conditions)
    ]
    word = one_of(body, JOIN_KEYS, key)
    return all_of(*parts) if word in (None, "and") else any_of(*parts)


def _condition(obj: object, at: str, collection: Collection | None, converted: bool) -> Filter:
    if not isinstance(obj, Mapping):
        raise FilterError(f"{at}: a condition is an object, not {obj!r}")
    name = names_of({key: obj[key] for key in NAME_KEYS if key in obj}, at)[0]
    word = str(one_of(obj, OPERATOR_KEYS, at))
    op = _NATIVE.get(_CONVERTED.get(word, word) if converted else word)
    if op is None:
        return _nothing(name)
    if not op.takes_value:
        return _nothing(name) if op is Op.EMPTY else Compare(op=op, field=name)
    value = value_of(op, obj.get("value"), f"{at}: {word} on {name!r}")
    field = collection.by_name.get(name) if collection is not None else None
    if not op.takes_list and not isinstance(value, str):
        return _nothing(name)
    return _meant(op, name, value, obj.get("value"), field)


def _nothing(name: str) -> Compare:
    return Compare(op=Op.IN, field=name, value=())


def _meant(
    op: Op, name: str, value: Element | list[Element], raw: object, field: Field | None
) -> Filter:
    plain = parse_filter({"op": op.value, "field": name, "value": value})
    if field is None or not is_enumerated(field):
        return plain
    match op:
        case Op.IN | Op.NOT_IN if isinstance(raw, str):
            inside = [v for v in field.values if fold(str(v)) in fold(raw)]
            return Compare(op=op, field=name, value=tuple(inside))
        case Op.NE | Op.NOT_CONTAINS if field.type.is_list:
            others = [v for v in field.values if not _is_hit(op, str(v), str(value))]
            return Compare(op=Op.IN, field=name, value=tuple(others))
        case _:
            return plain


def _is_hit(op: Op, known: str, asked: str) -> bool:
    if op is Op.NE:
        return fold(known) == fold(asked)
    return fold(asked) in fold(known)
