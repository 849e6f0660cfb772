"""What of a stored passage is embedded. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agent.store.analysis import index_text

_UNDERLINE = re.compile(r"\s*([=\-~^\"'*+#.:])\1+\s*")


def embedded_text(title: str, heading: Sequence[str], text: str, terms: str) -> str:
    """Title and headings, words given for the document, and the text without the heading lines
    that it begins with.

    What of this there was is told by `terms`, the index terms of what was embedded before; where
    they tell nothing, the whole text stands below the headings.
    """
    path = heading[1:] if tuple(heading[:1]) == (title,) else heading
    head = [line for line in (title, " > ".join(path)) if line]
    bodies = list(_bodies(text, len(heading)))
    for body in bodies:
        words = _between(index_text("\n".join(head)), terms, index_text(body))
        if words is not None:
            return "\n".join([*head, *words, body]).strip()
    return "\n".join([*head, bodies[0]]).strip()


def _between(head: str, terms: str, body: str) -> list[str] | None:
    """One line of the terms that stand between those of head and body, or none; None if the
    terms are no such text.
    """
    outer = [part for part in (head, body) if part]
    if terms == " ".join(outer):
        return []
    begins, ends = f"{head} " if head else "", f" {body}" if body else ""
    middle = terms.removeprefix(begins).removesuffix(ends)
    return [middle] if f"{begins}{middle}{ends}" == terms and middle else None


def _bodies(text: str, headings: int) -> Iterator[str]:
    """The text without none, one … of its first lines, each time without the underline of a
    heading that would come first.
    """
    lines = text.splitlines(keepends=True)
    yield text.strip()
    for left_out in range(1, min(len(lines), 4 * headings) + 1):
        rest = lines[left_out:]
        while rest and (not rest[0].strip() or _UNDERLINE.fullmatch(rest[0])):
            rest = rest[1:]
        yield "".join(rest).strip()
