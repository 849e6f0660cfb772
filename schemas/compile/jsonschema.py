"""A collection's filters as a JSON Schema, for models that answer under one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from pydantic import JsonValue

from schemas.collection import Collection, Field, FieldType
from schemas.filters import BOUNDS
from schemas.operators import EQUALITY, ORDERING, TEXTUAL, Op, allowed_ops
from schemas.storage import is_enumerated

_VALUES = 100
"""Fields with more known values than this are left open."""

_DATE = r"^\d{4}(-\d{2}(-\d{2})?|-Q[1-4]|-W\d{2})?$"
_TIME = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(Z|[+-]\d{2}:\d{2})$"

Schema = dict[str, JsonValue]


def to_jsonschema(c: Collection) -> Schema:
    """The schema of flat filters: one `and` or `or` of comparisons, with no `$ref`.

    An answer that fits it is the JSON form of a filter. Known values are enumerated where they
    are complete and few.
    """
    leaves: list[JsonValue] = [leaf for field in c.fields for leaf in _leaves(field)]
    items: Schema = {"anyOf": leaves} if leaves else {"not": {}}
    conditions: Schema = {"type": "array", "items": items, "maxItems": 20}
    return _object({"op": {"enum": ["and", "or"]}, "of": conditions}, ("op", "of"))


def _object(properties: Schema, required: tuple[str, ...]) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _leaves(field: Field) -> Iterator[JsonValue]:
    allowed = allowed_ops(field.type)
    element, text = _element(field), _text()
    whole = [op for op in allowed if op in EQUALITY or (field.type.is_list and _is_member(op))]
    yield _leaf(field, whole, element)
    yield _leaf(field, [op for op in allowed if op.takes_list], _list(element))
    ordered = [op for op in allowed if op in ORDERING]
    parts = [op for op in allowed if op in TEXTUAL and op not in whole]
    if field.type.element is FieldType.STRING:
        yield _leaf(field, [*ordered, *parts], text)
    elif ordered:
        yield _leaf(field, ordered, element)
    yield _leaf(field, [op for op in allowed if not op.takes_value], None)


def _is_member(op: Op) -> bool:
    return op in (Op.CONTAINS, Op.NOT_CONTAINS)


def _leaf(field: Field, ops: list[Op], value: Schema | None) -> Schema:
    properties: Schema = {
        "op": {"enum": [op.value for op in ops]},
        "field": {"const": field.name},
    }
    if value is None:
        return _object(properties, ("op", "field"))
    return _object({**properties, "value": value}, ("op", "field", "value"))


def _list(element: Schema) -> Schema:
    return {"type": "array", "items": element, "minItems": 1, "maxItems": 50}


def _text() -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": BOUNDS.string_length}


def _element(field: Field) -> Schema:
    match field.type.element:
        case FieldType.STRING if is_enumerated(field) and len(field.values) <= _VALUES:
            return {"enum": list(field.values)}
        case FieldType.STRING:
            return _text()
        case FieldType.INT:
            return {"type": "integer"}
        case FieldType.NUMBER:
            return {"type": "number"}
        case FieldType.BOOL:
            return {"type": "boolean"}
        case FieldType.DATE:
            return {"type": "string", "pattern": _DATE}
        case FieldType.DATETIME:
            return {"anyOf": [{"type": "string", "pattern": p} for p in (_DATE, _TIME)]}
        case FieldType.STRING_LIST | FieldType.INT_LIST:
            raise AssertionError("an element is never a list")
        case _ as never:
            assert_never(never)
