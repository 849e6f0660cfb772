"""How state is written into checkpoints: only types that the state itself names come back."""

from __future__ import annotations

from enum import Enum
from typing import Any, get_args, get_type_hints, is_typeddict

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import BaseModel

from graph.state import State


def state_serializer() -> JsonPlusSerializer:
    """A serializer whose allowlist is derived from the state; other types are refused."""
    found: set[type] = set()
    _collect(State, found)
    return JsonPlusSerializer(
        allowed_msgpack_modules=[(cls.__module__, cls.__name__) for cls in found]
    )


def _collect(hint: Any, found: set[type]) -> None:
    if is_typeddict(hint):
        for inner in get_type_hints(hint).values():
            _collect(inner, found)
    elif isinstance(hint, type) and issubclass(hint, BaseModel) and hint not in found:
        found.add(hint)
        for field in hint.model_fields.values():
            _collect(field.annotation, found)
    elif isinstance(hint, type) and issubclass(hint, Enum):
        found.add(hint)
    for inner in get_args(hint):
        _collect(inner, found)
