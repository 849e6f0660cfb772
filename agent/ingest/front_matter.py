"""The block of YAML at the top of a Markdown file.

Scalars are read as text, whatever YAML would make of them: `NO`, `1.10`, `007`, `12:30` and
`2024-1-5` stay what the author wrote, and the type of the field decides later. Nesting is
flattened with dots (`{review: {by: X}}` is `review.by`), also through lists of mappings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile

import yaml

from agent.ingest.written import Note, Value, Written, name_key
from schemas.errors import IngestError

_OPENING = re.compile(r"(?:[ \t]*\n)*---[ \t]*\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*$\n?", re.MULTILINE)
# what editors and typists make of the rule: dashes of any kind and number, or a comment after it
_NEARLY_OPENING = re.compile(r"(?:[ \t]*\n)*[-\u2010-\u2015]{2,}[ \t]*(?:#.*)?\n")
# a key at the margin; people who write Chinese often type the full-width colon
_ENTRY = re.compile(
    r"""(?P<key>"[^"\n]{1,80}"|'[^'\n]{1,80}'|[^\s\#\-\[\]{},&*!|>'"%@`:：][^:：#\n]{0,80}?)"""
    r"[ \t]*(?:(?P<wide>：)[ \t]*|:(?=[ \t\n]|$)[ \t]*)(?P<rest>.*)"
)
_CONTINUES = re.compile(r"[ \t]|-(?:[ \t]|$)|#|$")
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_NOT_NUMBERS = re.compile(r"[-+]?\.(?:nan|inf)", re.IGNORECASE)
_BROKEN_LIST = re.compile(r"\[[^\]]*$|\{[^}]*$|\[.*\]$|\{.*\}$|[|>][-+\d]*$")
_MAX_DEPTH = 20
_MAX_VALUES = 10_000

_Loader: type[yaml.BaseLoader] | type[yaml.CBaseLoader] = getattr(
    yaml, "CBaseLoader", yaml.BaseLoader
)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """`doubtful` are the keys (see `name_key`) of fields given twice or not written in valid
    YAML; what is read of them is a guess.
    """

    fields: Mapping[str, Value] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    doubtful: frozenset[str] = frozenset()


def split_front_matter(text: str) -> tuple[FrontMatter, str]:
    """The front matter and the body below it.

    A rule at the top that is not the start of front matter stays in the body. IngestError with
    the line for YAML that cannot be read, even entry by entry.
    """
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        nearly = opening or _NEARLY_OPENING.match(text)
        return (unread(keys_below(text, nearly.end())) if nearly else FrontMatter()), text
    block = text[opening.end() : closing.start()]
    read = _read(block, text.count("\n", 0, opening.end()))
    return (FrontMatter(), text) if read is None else (read, text[closing.end() :])


def keys_below(text: str, start: int) -> frozenset[str]:
    """The keys of the lines from an offset on that look like entries."""
    entries = takewhile(bool, map(_ENTRY.match, text[start:].split("\n")))
    return frozenset(name_key(entry["key"].strip("\"'")) for entry in entries if entry)


def unread(keys: frozenset[str]) -> FrontMatter:
    """Of a block that stays text: what it says of fields is not known, so it is doubtful."""
    if not keys:
        return FrontMatter()
    note = Note(
        "begins like front matter, but not with a line '---' or no line '---' closes it; "
        "it was read as text"
    )
    return FrontMatter(notes=(note,), doubtful=keys)


def _read(block: str, above: int) -> FrontMatter | None:
    """None if the block is not front matter. `above`: the lines above it."""
    reading = _Reading(block.split("\n"), above)
    try:
        root = yaml.compose(block, Loader=_Loader)
    except (yaml.YAMLError, RecursionError) as error:
        if not _looks_like_entries(reading.lines):
            return None
        reading.recover(error)
        return reading.done()
    match root:
        case None:
            return reading.done()
        case yaml.MappingNode():
            reading.mapping(root, "", 0)
            return reading.done()
        case _ if all(not line.strip() or _ENTRY.match(line) for line in reading.lines):
            reading.recover(None)
            return reading.done()
        case _:
            return None


def _looks_like_entries(lines: list[str]) -> bool:
    """A blank line or prose below the first rule means that it is only a rule."""
    first = next((line for line in lines if not line.startswith("#")), "")
    return _ENTRY.match(first) is not None


def _line_of(error: yaml.YAMLError | RecursionError, entry: str) -> int:
    """The line within an entry that an error is about."""
    mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    return min(mark.line, entry.count("\n")) if mark else 0


class _Reading:
    """Collects fields while walking over the nodes of a block."""

    def __init__(self, lines: list[str], above: int) -> None:
        self.lines = lines
        self._above = above
        self._fields: dict[str, Value] = {}
        self._spelling: dict[str, str] = {}
        self._notes: list[Note] = []
        self._doubtful: set[str] = set()
        self._values = 0

    def done(self) -> FrontMatter:
        return FrontMatter(self._fields, tuple(self._notes), frozenset(self._doubtful))

    def recover(self, error: yaml.YAMLError | RecursionError | None) -> None:
        """Read the block entry by entry, so that one odd value does not take all others."""
        for start, entry in self._entries(error):
            match = _ENTRY.match(entry)
            if match is None:
                continue
            if match["wide"] and "\n" not in entry:
                self._as_text(match, start, "a full-width colon")
                continue
            try:
                node = yaml.compose(entry, Loader=_Loader)
            except (yaml.YAMLError, RecursionError) as cause:
                if "\n" in entry or _BROKEN_LIST.match(match["rest"]):
                    raise self._broken(cause, start + _line_of(cause, entry)) from cause
                self._as_text(match, start, "not valid YAML")
                continue
            if isinstance(node, yaml.MappingNode):
                self._shift(node, start)

    def _entries(self, error: yaml.YAMLError | RecursionError | None) -> Iterator[tuple[int, str]]:
        start, entry = 0, list[str]()
        for index, line in enumerate(self.lines):
            if _ENTRY.match(line):
                if entry:
                    yield start, "\n".join(entry).rstrip()
                start, entry = index, [line]
            elif _CONTINUES.match(line):
                entry.append(line)
            else:
                raise self._broken(error, index) from error
        if entry:
            yield start, "\n".join(entry).rstrip()

    def _broken(self, error: yaml.YAMLError | RecursionError | None, index: int) -> IngestError:
        problem = "expected 'field: value'"
        if isinstance(error, yaml.MarkedYAMLError):
            problem = error.problem or error.context or problem
        shown = self.lines[index].strip()[:60]
        return IngestError(
            f"front matter, line {self._above + index + 1}: {problem}: {shown!r}",
            remedy="put the value in quotes, or begin the file with a blank line if this "
            "is not front matter",
        )

    def _as_text(self, match: re.Match[str], index: int, why: str) -> None:
        name = match["key"].strip("\"'")
        line = self._above + index + 1
        text = match["rest"].strip()
        if text:
            self._put(name, Written(text, quoted=not match["wide"], line=line), line)
        if not match["wide"]:
            self._doubtful.add(name_key(name))
        self._notes.append(Note(f"{why}: taken as the text {text!r}", name, line))

    def _shift(self, node: yaml.MappingNode, lines: int) -> None:
        self._above += lines
        self.mapping(node, "", 0)
        self._above -= lines

    def mapping(self, node: yaml.MappingNode, prefix: str, depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise IngestError(f"front matter is nested more than {_MAX_DEPTH} deep")
        for key, value in node.value:
            line = self._line(key)
            if not isinstance(key, yaml.ScalarNode) or not key.value.strip():
                raise IngestError(f"front matter, line {line}: a key must be a word")
            name = f"{prefix}{key.value.strip()}"
            match value:
                case yaml.MappingNode():
                    self.mapping(value, f"{name}.", depth + 1)
                case yaml.SequenceNode():
                    for dotted, items in self._list(value, name, depth + 1).items():
                        self._put(dotted, tuple(items), line)
                case _:
                    written = self._scalar(value, name)
                    if written is not None:
                        self._put(name, written, line)

    def _list(self, node: yaml.Node, name: str, depth: int) -> dict[str, list[Written]]:
        """Values of a list by field; lists in lists are joined, mappings add to the name."""
        if depth > _MAX_DEPTH:
            raise IngestError(f"front matter is nested more than {_MAX_DEPTH} deep")
        out: dict[str, list[Written]] = {}
        match node:
            case yaml.SequenceNode():
                parts = [(name, item) for item in node.value]
            case yaml.MappingNode():
                parts = [(f"{name}.{key.value}", item) for key, item in node.value]
            case _:
                written = self._scalar(node, name)
                return {} if written is None else {name: [written]}
        for part, item in parts:
            for dotted, items in self._list(item, part, depth + 1).items():
                out.setdefault(dotted, []).extend(items)
        return out

    def _scalar(self, node: yaml.Node, name: str) -> Written | None:
        self._values += 1
        if self._values > _MAX_VALUES:
            raise IngestError(f"front matter has more than {_MAX_VALUES} values")
        line = self._line(node)
        if isinstance(node, yaml.ScalarNode) and node.style:
            text = node.value.strip()
            return Written(text, quoted=True, line=line) if text else None
        if node.value in _NULLS:
            self._hint_at_comment(node, name, line)
            return None
        if _NOT_NUMBERS.fullmatch(node.value):
            self._notes.append(Note(f"{node.value} is no number; taken as missing", name, line))
            self._doubtful.add(name_key(name))
            return None
        return Written(node.value, line=line)

    def _hint_at_comment(self, node: yaml.Node, name: str, line: int) -> None:
        rest = self.lines[min(line - self._above, len(self.lines)) - 1][node.start_mark.column :]
        if rest.lstrip(" \t").startswith("#"):
            said = rest.strip()
            if not re.match(r"#+[ \t]", said):
                self._doubtful.add(name_key(name))  # `#internal` is rather a value than a remark
            self._notes.append(Note(f"is missing, because {said!r} is a comment", name, line))

    def _put(self, name: str, value: Value, line: int) -> None:
        key = name_key(name)
        before = self._spelling.get(key)
        if before is None:
            self._spelling[key] = name
            self._fields[name] = value
            return
        self._doubtful.add(key)
        self._fields[before] = value
        self._notes.append(Note("given twice; the last one counts", name, line))

    def _line(self, node: yaml.Node) -> int:
        return self._above + int(node.start_mark.line) + 1
