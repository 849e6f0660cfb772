"""Replies read strictly: what breaks the schema, was cut off, or repeats the schema is no reply.

A slip that has one mend only breaks nothing: who asked mends it, and tells.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator

from agent.models.methods import Method
from graph.json_objects import json_objects
from graph.mending import mended
from graph.ports import Completion

Schema = Mapping[str, Any]

_ECHOED = frozenset({"$defs", "$schema", "definitions", "properties"})
_THOUGHTS = re.compile(r"<think>.*?</think>", re.S)


def read_reply(reply: Completion, schema: Schema, method: Method) -> str | None:
    """The JSON text, as the model wrote it, of a whole reply that follows the schema or needs no
    more than mending; None for any other.
    """
    text = reply.text
    if reply.done_reason == "length":
        return None
    if method is Method.PLAIN:
        return _last_object(_THOUGHTS.sub("", text), schema)
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return None
    return text if fits(value, schema) else None


def fits(value: Any, schema: Schema) -> bool:
    """Whether a value, mended, follows the schema and says something: an empty object says
    nothing.
    """
    if (value == {} and schema.get("properties")) or _is_echo(value, schema):
        return False
    return Draft202012Validator(dict(schema)).is_valid(mended(value, schema)[0])


def starts_as_json(text: str) -> bool:
    """Whether a reply that was cut off is the beginning of JSON rather than prose."""
    return text.lstrip()[:1] in ("", "{", "[")


def _is_echo(value: Any, schema: Schema) -> bool:
    """A schema where an object that follows it was wanted."""
    return isinstance(value, dict) and bool(
        _ECHOED & value.keys() - (schema.get("properties") or {}).keys()
    )


def _last_object(text: str, schema: Schema) -> str | None:
    found = [value for value in json_objects(text) if fits(value, schema)]
    return json.dumps(found[-1], ensure_ascii=False) if found else None
