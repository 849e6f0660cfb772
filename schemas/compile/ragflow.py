"""RAGFlow's filters, in and out: `meta_data_filter` and `metadata_condition`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
    one_of,
    only_keys,
)
from schemas.errors import FilterError
from schemas.filters import EVERYTHING, Compare, Filter
from schemas.operators import SPELLINGS, op_from
from schemas.plan import Key, Mode

__all__ = [
    "MetaDataFilter",
    "WireMode",
    "export_condition",
    "export_filter",
    "import_condition",
    "import_filter",
]

_METHODS: Mapping[str, Mode] = {
    "disabled": Mode.OFF,
    "auto": Mode.AUTO,
    "semi_auto": Mode.SEMI_AUTO,
    "manual": Mode.MANUAL,
}


@dataclass(frozen=True)
class MetaDataFilter:
    """A `meta_data_filter`: who sets the conditions, those that are set, and the fields the
    model may use in `semi_auto`.
    """

    mode: Mode
    filter: Filter = EVERYTHING
    keys: tuple[Key, ...] = ()


def import_condition(
    obj: object,
    mode: WireMode = WireMode.STRICT,
    collection: Collection | None = None,
) -> Filter:
    """The filter of `metadata_condition`: `{"logic", "conditions": [{"name",
    "comparison_operator", "value"}]}`. The collection only serves `ragflow_compat`.

    Raises FilterError naming the condition and what was allowed.
    """
    at = "metadata_condition"
    body = _object(obj, at)
    if mode is WireMode.RAGFLOW_COMPAT:
        return compat_conditions(body, "conditions", collection, converted=True)
    only_keys(body, (*JOIN_KEYS, "conditions"), at)
    return import_conditions(body.get("conditions"), join_word(body, at), f"{at}.conditions")


def import_filter(
    obj: object,
    mode: WireMode = WireMode.STRICT,
    collection: Collection | None = None,
) -> MetaDataFilter:
    """A `meta_data_filter`: `{"method", "logic", "manual": [{"key", "op", "value"}],
    "semi_auto": [...]}`. An empty object is RAGFlow's way of having none.

    Raises FilterError naming the condition and what was allowed.
    """
    at = "meta_data_filter"
    body = _object(obj, at)
    if not body:
        return MetaDataFilter(Mode.OFF)
    only_keys(body, ("method", "manual", "semi_auto", *JOIN_KEYS), at)
    method = _METHODS.get(str(body.get("method")))
    if method is None:
        allowed = ", ".join(_METHODS)
        raise FilterError(f"{at}: unknown method {body.get('method')!r}; allowed: {allowed}")
    if method is Mode.SEMI_AUTO:
        return MetaDataFilter(method, keys=_keys(body.get("semi_auto"), f"{at}.semi_auto"))
    if method is not Mode.MANUAL:
        return MetaDataFilter(method)
    if mode is WireMode.RAGFLOW_COMPAT:
        return MetaDataFilter(method, compat_conditions(body, "manual", collection))
    found = import_conditions(body.get("manual"), join_word(body, at), f"{at}.manual")
    return MetaDataFilter(method, found)


def _object(obj: object, at: str) -> Mapping[object, object]:
    if not isinstance(obj, Mapping):
        raise FilterError(f"{at}: an object is needed, not {obj!r}")
    return obj


def _keys(given: object, at: str) -> tuple[Key, ...]:
    if not isinstance(given, list | tuple) or not given:
        raise FilterError(f"{at}: a list of field names is needed, not {given!r}")
    return tuple(_key(item, f"{at}[{i}]") for i, item in enumerate(given))


def _key(item: object, at: str) -> Key:
    if isinstance(item, str) and item:
        return Key(name=item)
    body = _object(item, at)
    only_keys(body, ("key", "name", "op"), at)
    name = one_of(body, ("key", "name"), at)
    if not isinstance(name, str) or not name:
        raise FilterError(f"{at}: `key` is a field name, not {name!r}")
    op = body.get("op")
    return Key(name=name, op=None if op in (None, "") else op_from(op))


def export_condition(f: Filter, mode: WireMode = WireMode.STRICT) -> dict[str, JsonValue]:
    """A filter as `metadata_condition`. In `ragflow_compat` all values are strings, because
    RAGFlow finds nothing for others. Raises FilterError on what cannot be said flat.
    """
    logic, conditions = flat_conditions(f, "RAGFlow")
    return {
        "logic": logic,
        "conditions": [
            _written(c, {"name": c.field, "comparison_operator": SPELLINGS[c.op].wire}, mode)
            for c in conditions
        ],
    }


def export_filter(f: Filter, mode: WireMode = WireMode.STRICT) -> dict[str, JsonValue]:
    """A filter as a manual `meta_data_filter`. Raises FilterError on what cannot be said flat."""
    logic, conditions = flat_conditions(f, "RAGFlow")
    return {
        "method": "manual",
        "logic": logic,
        "manual": [
            _written(c, {"key": c.field, "op": SPELLINGS[c.op].wire}, mode) for c in conditions
        ],
    }


def _written(c: Compare, condition: dict[str, JsonValue], mode: WireMode) -> JsonValue:
    if not c.op.takes_value:
        return condition
    return {**condition, "value": export_value(c, as_text=mode is WireMode.RAGFLOW_COMPAT)}
