"""Names and literals of an expression; the one place where text is quoted."""

from __future__ import annotations

import re

from schemas.errors import FilterError

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYWORDS = frozenset(
    (
        "and",
        "or",
        "not",
        "in",
        "like",
        "is",
        "null",
        "exists",
        "true",
        "false",
        "iso",
        "interval",
        "threshold",
        "between",
        "text_match",
        "phrase_match",
        "minimum_should_match",
        "match_any",
        "match_all",
        "match_least",
        "match_most",
        "match_exact",
        "random_sample",
        "element_filter",
        "array_contains",
        "array_contains_all",
        "array_contains_any",
        "array_length",
        "json_contains",
        "json_contains_all",
        "json_contains_any",
        "st_equals",
        "st_touches",
        "st_overlaps",
        "st_crosses",
        "st_contains",
        "st_intersects",
        "st_within",
        "st_dwithin",
        "st_isvalid",
    )
)
_MISREAD = re.compile(r'["\\]|\]\[')
_ESCAPED = re.compile(r'[\\"\n\r\t]')
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})

DYNAMIC = "$meta"


def quote(text: str) -> str:
    """A string literal; all but quotes, backslashes, line ends and tabs stands as it is."""
    return f'"{text.translate(_ESCAPES) if _ESCAPED.search(text) else text}"'


def literal(value: str | int | float | bool) -> str:
    match value:
        case str():
            return quote(value)
        case bool():
            return "true" if value else "false"
        case float():
            return repr(value + 0.0)
        case int():
            return str(value)


def literal_list(values: list[str]) -> str:
    """A list of literals that are already written."""
    return f"[{', '.join(values)}]"


def is_identifier(name: str) -> bool:
    return bool(_IDENTIFIER.fullmatch(name)) and name.casefold() not in _KEYWORDS


def identifier(name: str) -> str:
    """The name of a column; raises FilterError on one that the grammar does not take."""
    if not is_identifier(name):
        raise FilterError(
            f"column {name!r} cannot stand in an expression; "
            "allowed: letters, digits and _, not a keyword"
        )
    return name


def json_path(name: str, keys: tuple[str, ...]) -> str:
    """A path into a JSON column or, below `$meta`, a dynamic field."""
    if not keys:
        raise FilterError(f"column {name!r} holds JSON; a path into it is needed")
    root = name if name == DYNAMIC else identifier(name)
    return root + "".join(f"[{quote(key)}]" for key in keys)


def is_plain_path(keys: tuple[str, ...]) -> bool:
    """Whether servers read the path as it is meant. They cut it at each `][`, also in a key (a
    key of these two signs ends the process of some), and do not undo escapes in keys.
    """
    return all(key and key.isprintable() and not _MISREAD.search(key) for key in keys)


def like_text(text: str) -> str:
    """The text as a pattern in which `%`, `_` and `\\` stand for themselves."""
    return re.sub(r"([\\%_])", r"\\\1", text)


def is_plain(text: str) -> bool:
    """Whether a text needs no escapes in a pattern."""
    return not re.search(r"[\\%_]", text)


def plain_runs(text: str) -> list[str]:
    """The longest pieces of a text that need no escapes."""
    return [run for run in re.split(r"[\\%_]+", text) if run]


def after_prefix(prefix: str) -> str | None:
    """The least text above all that start with the prefix; None if there is none."""
    for i in range(len(prefix) - 1, -1, -1):
        code = ord(prefix[i]) + 1
        if 0xD800 <= code <= 0xDFFF:
            code = 0xE000
        if code <= 0x10FFFF:
            return prefix[:i] + chr(code)
    return None
