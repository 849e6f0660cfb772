"""Values of front matter as their author wrote them."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Written:
    """A scalar. `quoted`: the author marked it as text. `line` counts from 1 in the file."""

    text: str
    quoted: bool = False
    line: int = 0

    def __reduce__(self) -> tuple[type[Written], tuple[str, bool, int]]:
        """Half the time and size of how a data class with slots is pickled."""
        return type(self), (self.text, self.quoted, self.line)


Value = Written | tuple[Written, ...]
"""One value, or a list of them; never an empty list."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something that was read, but perhaps not as its author meant it."""

    message: str
    field: str | None = None
    line: int | None = None


@lru_cache(maxsize=4096)  # the rows of a table ask for few names very often
def name_key(name: str) -> str:
    """Two spellings of a field's name are one field if their keys are equal."""
    return unicodedata.normalize("NFKC", name).casefold().strip()


def display(value: Value) -> str:
    """A value in one line, for messages and for keeping what could not be read."""
    if isinstance(value, Written):
        return value.text
    return ", ".join(item.text for item in value)
