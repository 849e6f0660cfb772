"""What looks like front matter of other kinds, or in a place where it is none, stays text.

Its fields are told to be doubtful: who writes `department: hr` below a comment believes that the
document has that field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile
from json import JSONDecodeError, JSONDecoder

from agent.ingest.front_matter import FrontMatter, keys_below, unread
from agent.ingest.written import name_key

_TOML = re.compile(r"\s{0,200}\+\+\+[ \t]*\n")
_TOML_ENTRY = re.compile(r"""[ \t]*(?P<key>[\w-]{1,80}|"[^"\n]{1,80}"|'[^'\n]{1,80}')[ \t]*=""")
_ABOVE = re.compile(
    r"(?:\s{0,200}<!--(?:(?!-->).){0,4000}-->[ \t]*\n|\s{0,200}%(?:YAML[ \t]+\d|TAG[ \t])[^\n]*\n)+"
    r"\s{0,200}---[ \t]*\n",
    re.DOTALL,
)
_JSON = re.compile(r"\s{0,200}(?=\{\s{0,200}\")")
_JSON_ENTRY = re.compile(r"""[ \t]*(?:\{[ \t]*)?"(?P<key>[^"\n]{1,80})"[ \t]*:|[ \t]*\{[ \t]*$""")


def unread_front_matter(text: str) -> FrontMatter:
    """An unclosed block of TOML, YAML below a comment or a directive, an object of JSON."""
    if match := _TOML.match(text):
        entries = takewhile(bool, map(_TOML_ENTRY.match, text[match.end() :].split("\n")))
        return unread(_keys(entry["key"] for entry in entries if entry))
    if match := _ABOVE.match(text):
        return unread(keys_below(text, match.end()))
    if match := _JSON.match(text):
        return unread(_json_keys(text, match.end()))
    return FrontMatter()


def _json_keys(text: str, start: int) -> frozenset[str]:
    try:
        value, _ = JSONDecoder(strict=False).raw_decode(text, start)
    except (JSONDecodeError, RecursionError):
        entries = takewhile(bool, map(_JSON_ENTRY.match, text[start:].split("\n")))
        return _keys(entry["key"] for entry in entries if entry and entry["key"])
    return _keys(value)


def _keys(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name_key(name.strip("\"'")) for name in names)
