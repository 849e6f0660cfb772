"""Whole JSON objects in a text that holds more than JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"?')


def json_objects(text: str) -> Iterator[Any]:
    """The objects that stand in a text, from left to right. What stands inside brackets that
    were never closed is part of something cut off, whose meaning it need not have.
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
        elif letter == '"' and depth and (string := _STRING.match(text, position)):
            position = string.end()
            continue
        elif letter in "{[":
            depth += 1
        elif letter in "}]":
            depth = max(0, depth - 1)
        position += 1
