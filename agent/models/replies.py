"""Replies read strictly: what breaks the schema, was cut off, or repeats the schema is no reply."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator

from agent.models.methods import Method
from graph.ports import Completion

log = logging.getLogger(__name__)

Schema = Mapping[str, Any]

_ECHOED = frozenset({"$defs", "$schema", "definitions", "properties"})
_THOUGHTS = re.compile(r"<think>.*?</think>", re.S)
_FEWEST_LETTERS = 3


def read_reply(reply: Completion, schema: Schema, method: Method) -> str | None:
    """The JSON text of a whole reply that follows the schema; None for any other."""
    text = reply.text
    if reply.done_reason == "length":
        return None
    if method is Method.PLAIN:
        return _last_object(_THOUGHTS.sub("", text), schema)
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return None
    if fits(value, schema):
        return text
    mended = _mended(value, schema)
    return None if mended is None else json.dumps(mended, ensure_ascii=False)


def fits(value: Any, schema: Schema) -> bool:
    """Whether a value follows the schema and says something: an empty object says nothing."""
    if value == {} and schema.get("properties"):
        return False
    return not _is_echo(value, schema) and Draft202012Validator(dict(schema)).is_valid(value)


def starts_as_json(text: str) -> bool:
    """Whether a reply that was cut off is the beginning of JSON rather than prose."""
    return text.lstrip()[:1] in ("", "{", "[")


def _is_echo(value: Any, schema: Schema) -> bool:
    """A schema where an object that follows it was wanted."""
    return isinstance(value, dict) and bool(
        _ECHOED & value.keys() - (schema.get("properties") or {}).keys()
    )


def _last_object(text: str, schema: Schema) -> str | None:
    found = [value for value in _objects(text) if fits(value, schema)]
    return json.dumps(found[-1], ensure_ascii=False) if found else None


def _objects(text: str) -> Iterator[Any]:
    """Whole JSON objects in a text. What stands inside brackets that were never closed is part
    of something cut off, whose meaning it need not have.
    """
    decoder = json.JSONDecoder()
    position = depth = 0
    while position < len(text):
        letter = text[position]
        if letter == "{" and depth == 0:
            try:
                value, position = decoder.raw_decode(text, position)
            except (json.JSONDecodeError, RecursionError):
                depth += 1
            else:
                yield value
                continue
        elif letter in "{[":
            depth += 1
        elif letter in "}]":
            depth = max(0, depth - 1)
        position += 1


def _mended(value: Any, schema: Schema) -> Any | None:
    """The value with close words in place of words that the schema does not offer; None where
    something else is wrong or a word is close to none or to several. Every change is logged.
    """
    properties = schema.get("properties")
    if not isinstance(value, dict) or not isinstance(properties, dict):
        return None
    mended = dict(value)
    for key, said in value.items():
        offered = (properties.get(key) or {}).get("enum")
        if not isinstance(said, str) or not isinstance(offered, list) or said in offered:
            continue
        close = [word for word in offered if isinstance(word, str) and _is_close(said, word)]
        if len(close) != 1:
            return None
        log.info("reply mended: %r means %r for %r", said, close[0], key)
        mended[key] = close[0]
    return mended if fits(mended, schema) else None


def _is_close(said: str, offered: str) -> bool:
    """The same but for case, spaces and signs between; or single words, one short for the other.
    Words of several parts are never shortened: `is` is no short form of `is not`.
    """
    one, other = _bare(said), _bare(offered)
    if one == other:
        return bool(one)
    short, long = sorted((said.strip().casefold(), offered.casefold()), key=len)
    if not (short.isalpha() and long.isalpha() and len(short) >= _FEWEST_LETTERS):
        return False
    letters = iter(long)
    return short[0] == long[0] and all(letter in letters for letter in short)


def _bare(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())
