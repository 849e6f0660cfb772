"""Dify's `metadata_condition` of an external knowledge base, in and out."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from schemas.collection import Collection
from schemas.compile.compat import compat_conditions
from schemas.compile.wire import (
    JOIN_KEYS,
    WireMode,
    export_value,
    flat_conditions,
    import_conditions,
    join_word,
    only_keys,
)
from schemas.errors import FilterError
from schemas.filters import EVERYTHING, Compare, Filter, Op
from schemas.operators import SPELLINGS

__all__ = ["WireMode", "export_condition", "import_condition"]


def import_condition(
    obj: object,
    mode: WireMode = WireMode.STRICT,
    collection: Collection | None = None,
) -> Filter:
    """The filter of `{"logical_operator", "conditions": [{"name", "comparison_operator",
    "value"}]}`; an absent one (None) is no filter. `name` may be a list of names.

    Raises FilterError naming the condition and what was allowed.
    """
    at = "metadata_condition"
    if obj is None:
        return EVERYTHING
    if not isinstance(obj, Mapping):
        raise FilterError(f"{at}: an object is needed, not {obj!r}")
    if mode is WireMode.RAGFLOW_COMPAT:
        return compat_conditions(obj, "conditions", collection, converted=True)
    only_keys(obj, (*JOIN_KEYS, "conditions"), at)
    return import_conditions(obj.get("conditions"), join_word(obj, at), f"{at}.conditions")


def export_condition(f: Filter) -> dict[str, JsonValue]:
    """A filter as `metadata_condition`. Raises FilterError on what cannot be said flat."""
    logic, conditions = flat_conditions(f, "Dify")
    return {
        "logical_operator": logic,
        "conditions": [_condition(c) for c in conditions],
    }


def _condition(c: Compare) -> JsonValue:
    condition: dict[str, JsonValue] = {"name": c.field, "comparison_operator": _operator(c)}
    return {**condition, "value": export_value(c)} if c.op.takes_value else condition


def _operator(c: Compare) -> str:
    """Dify tells texts (`is`) from numbers (`=`)."""
    if isinstance(c.value, str) and c.op in (Op.EQ, Op.NE):
        return "is" if c.op is Op.EQ else "is not"
    return SPELLINGS[c.op].wire
