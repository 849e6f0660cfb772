"""The outline of Markdown (CommonMark with tables), through markdown-it-py."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

from agent.ingest.outline import Heading, Lines, Outline, build

_BLOCKS = frozenset({"fence", "code_block", "table_open"})
_ATTRIBUTES = re.compile(r"\s*\{[#.][^}]*\}$")
_PARSER = MarkdownIt("commonmark").enable("table").disable("inline")


def outline(text: str) -> Outline:
    """Headings inside quotes and lists are text."""
    headings: list[Heading] = []
    blocks: list[tuple[int, int]] = []
    tokens = _PARSER.parse(text)
    for index, token in enumerate(tokens):
        if token.map is None:
            continue
        first, after = token.map
        if token.type in _BLOCKS:
            blocks.append((first, after))
        elif token.type == "heading_open" and token.level == 0:
            words = _ATTRIBUTES.sub("", " ".join(tokens[index + 1].content.split()))
            headings.append(Heading(int(token.tag[1:]), words, first, after))
    return build(Lines(text), headings, blocks)
