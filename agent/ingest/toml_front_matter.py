"""The block of TOML between lines of `+++` at the top of a file, as Hugo and Zola write it.

As in YAML, values stay what the author wrote: `1.10` keeps its zero and a day its spelling.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping

from agent.ingest.front_matter import FrontMatter
from agent.ingest.written import Value, Written
from schemas.errors import IngestError

_OPENING = re.compile(r"(?:[ \t]*\n)*\+\+\+[ \t]*\n")
_CLOSING = re.compile(r"^\+\+\+[ \t]*$\n?", re.MULTILINE)
_LINE = re.compile(r"\(at line (\d+), column \d+\)")
_ENTRY = re.compile(r"""[ \t]*(?:[\w.-]+|"[^"\n]*"|'[^'\n]*')[ \t]*=|[ \t]*\[""")
_PLAIN = re.compile(r"""(?P<key>[\w-]+)[ \t]*=[ \t]*(?P<value>[-+\w:.]+)[ \t]*(?:\#.*)?""")
_MAX_VALUES = 10_000


class _Number(str):
    """A number as it stands in the file."""


def split_toml(text: str) -> tuple[FrontMatter, str] | None:
    """The front matter and the body; None if the text does not begin with such a block.
    IngestError with the line for TOML that cannot be read.
    """
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return None
    block = text[opening.end() : closing.start()]
    if not any(_ENTRY.match(line) for line in block.split("\n")):
        return None
    above = text.count("\n", 0, opening.end())
    spellings = _spellings(block.split("\n"), above)
    fields: dict[str, Value] = {}
    for name, items in _flat(_parse(block, above), ""):
        match items:
            case Written():
                fields[name] = _as_spelt(items, *spellings.get(name, ("", 0)))
            case list() if items:
                fields[name] = tuple(items)
        if len(fields) > _MAX_VALUES:
            raise IngestError(f"front matter has more than {_MAX_VALUES} values")
    return FrontMatter(fields), text[closing.end() :]


def _spellings(rows: list[str], above: int) -> dict[str, tuple[str, int]]:
    """Values above the first table as they stand in the file, with their lines."""
    found: dict[str, tuple[str, int]] = {}
    for line, row in enumerate(rows, above + 1):
        if row.lstrip().startswith("["):
            break
        if match := _PLAIN.fullmatch(row.strip()):
            found.setdefault(match["key"], (match["value"], line))
    return found


def _as_spelt(written: Written, spelt: str, line: int) -> Written:
    """A day or number in its own spelling, unless that stood in a text of several lines."""
    if written.quoted or not spelt:
        return written
    try:
        same = _scalar(tomllib.loads(f"x = {spelt}", parse_float=_Number)["x"]) == written
    except tomllib.TOMLDecodeError:
        return written
    return Written(spelt, line=line) if same else written


def _parse(block: str, above: int) -> Mapping[str, object]:
    try:
        # whole numbers too: `0x1F` and `1_000` are what tomllib makes of them
        return tomllib.loads(block, parse_float=_Number)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        match = _LINE.search(str(error))
        line = above + (int(match[1]) if match else 1)
        reason = _LINE.sub("", str(error)).strip()
        raise IngestError(
            f"front matter, line {line}: {reason}", remedy="put the value in quotes"
        ) from error


def _flat(
    table: Mapping[str, object], prefix: str
) -> Iterator[tuple[str, Written | list[Written] | None]]:
    for key, value in table.items():
        name = f"{prefix}{key.strip()}"
        match value:
            case dict():
                yield from _flat(value, f"{name}.")
            case list():
                lists: dict[str, list[Written]] = {}
                for dotted, item in _items(value, name):
                    lists.setdefault(dotted, []).append(item)
                yield from lists.items()
            case _:
                yield name, _scalar(value)


def _items(values: list[object], name: str) -> Iterator[tuple[str, Written]]:
    """Lists in lists are joined, tables in lists add to the name."""
    for value in values:
        match value:
            case list():
                yield from _items(value, name)
            case dict():
                for key, inner in value.items():
                    yield from _items([inner], f"{name}.{key}")
            case _:
                written = _scalar(value)
                if written is not None:
                    yield name, written


def _scalar(value: object) -> Written | None:
    match value:
        case _Number():
            return None if value.strip("+-") in {"nan", "inf"} else Written(str(value))
        case bool():
            return Written("true" if value else "false")
        case str():
            text = value.strip()
            return Written(text, quoted=True) if text else None
        case _:
            return Written(str(value))
