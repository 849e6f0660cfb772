"""Chunks: where they are cut, what they carry."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.ingest.loaded import Markup
from agent.ingest.restructured import is_restructured
from agent.ingest.splitting import Splitter, outline
from schemas.drafts import ChunkDraft


def split(
    text: str, size: int = 800, overlap: int = 200, title: str = ""
) -> tuple[ChunkDraft, ...]:
    return Splitter(size, overlap).split(text, outline(text), title)


def assert_covers(text: str, chunks: tuple[ChunkDraft, ...]) -> None:
    covered: set[int] = set()
    for chunk in chunks:
        assert text[chunk.start : chunk.end] == chunk.text
        assert chunk.text.strip() == chunk.text != ""
        covered.update(range(chunk.start, chunk.end))
    assert all(index in covered for index, sign in enumerate(text) if not sign.isspace())


PIECES = st.sampled_from(
    [
        "# One\n",
        "## Two\n",
        "Title\n=====\n",
        "Sub\n---\n",
        "```\ncode\n\nmore\n```\n",
        "::\n\n  lit\n\n",
        ".. code:: py\n\n   x = 1\n\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "+---+\n| x |\n+---+\n",
        "=== ===\na   b\n=== ===\n\n",
        "- item\n",
        "> quote\n",
        "一句话。又一句！",
        "A sentence. Another one? ",
        "word ",
        "x" * 50,
        *("\n", "\n\n", "  ", "\r\n", "\r", "\u2028", "\f", "\0", "\ufeff"),
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=40).map("".join)), st.data())
def test_chunks_cover_any_text(text: str, data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 120))
    overlap = data.draw(st.integers(0, size - 1))
    chunks = split(text, size, overlap)
    assert_covers(text, chunks)
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert all(len(chunk.text) < 2 * size for chunk in chunks)
    assert [chunk.start for chunk in chunks] == sorted(chunk.start for chunk in chunks)
    shared = [a.end - b.start for a, b in pairwise(chunks)]
    assert all(count <= overlap for count in shared)
    assert chunks == split(text, size, overlap)


def test_a_short_text_is_one_chunk_with_its_heading() -> None:
    text = "# Only title\nshort body"
    (chunk,) = split(text, title="Handbook")
    assert chunk.text == text
    assert chunk.heading == ("Only title",)
    assert chunk.embed_text == "Handbook\nOnly title\nshort body"


def test_a_long_section_is_cut_and_every_part_has_its_path() -> None:
    text = "# A\n\n## B\n\n" + "One sentence of some words. " * 1800 + "\n\n## C\n\nend"
    chunks = split(text)
    assert_covers(text, chunks)
    assert max(len(chunk.text) for chunk in chunks) <= 800
    assert {chunk.heading for chunk in chunks} == {("A", "B"), ("A", "C")}
    long = [chunk for chunk in chunks if chunk.heading == ("A", "B")]
    assert len(long) > 50
    assert all(chunk.embed_text.startswith("A > B\n") for chunk in long)
    assert all(a.end > b.start for a, b in pairwise(long))
    assert all(chunk.text.startswith("One sentence") for chunk in long[1:])


def test_the_title_is_not_said_twice() -> None:
    (chunk,) = split("# Guide\n\n## Setup\n\ntext", title="Guide")
    assert chunk.embed_text == "Guide\nSetup\ntext"
    assert chunk.heading == ("Guide", "Setup")


def test_chinese_is_cut_at_the_ends_of_sentences() -> None:
    text = "员工每年有十五天年假，需要提前两周申请。" * 100
    chunks = split(text, 200, 50)
    assert_covers(text, chunks)
    assert all(chunk.text.startswith("员工") and chunk.text.endswith("。") for chunk in chunks)
    assert all(len(chunk.text) <= 200 for chunk in chunks)


def test_code_stays_whole_up_to_twice_the_size() -> None:
    code = "```python\n" + "x = 1  # a line of code\n\n" * 55 + "```"
    assert 800 < len(code) < 1600
    text = "# A\n\n" + "Prose. " * 100 + "\n\n" + code + "\n\n" + "More prose. " * 100
    chunks = split(text)
    assert_covers(text, chunks)
    assert sum(code in chunk.text for chunk in chunks) == 1
    assert all("x = 1" not in chunk.text or code in chunk.text for chunk in chunks)


def test_code_beyond_that_is_cut_at_lines() -> None:
    code = "```\n" + "a line of code, thirty signs..\n" * 100 + "```"
    chunks = split(code)
    assert_covers(code, chunks)
    assert len(chunks) > 3
    assert all(len(chunk.text) <= 800 for chunk in chunks)
    assert all(chunk.text.startswith(("a line", "```")) for chunk in chunks)


def test_a_table_stays_whole() -> None:
    rows = "".join(f"| row {index} | some value |\n" for index in range(40))
    text = "Prose. " * 110 + "\n\n| a | b |\n|---|---|\n" + rows + "\nEnd."
    chunks = split(text)
    assert sum("row 0 " in chunk.text and "row 39 " in chunk.text for chunk in chunks) == 1


def test_signs_of_headings_in_code_are_no_headings() -> None:
    text = "# Real\n\n```sh\n# comment\n```\n\n    # indented\n\ntext\n\n> # quoted\n"
    assert outline(text).headings == ("Real",)


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("# A\na\n## B\nb\n# C\nc", [("A",), ("A", "B"), ("C",)]),
        ("A\n=\na\n\nB\n-\nb", [("A",), ("A", "B")]),
        ("intro\n\n# A\na", [(), ("A",)]),
        ("### Deep\nx\n# High\ny", [("Deep",), ("High",)]),
        ("# A #\nx", [("A",)]),
        ("# 安装 {#install}\nx", [("安装",)]),
        ("#\nx", [()]),
        ("text only", [()]),
        ("", []),
    ],
)
def test_sections_of_markdown(text: str, paths: list[tuple[str, ...]]) -> None:
    assert not is_restructured(text)
    assert [section.path for section in outline(text).sections] == paths


RST = """\
Introduction
============

See :pep:`20`::

  literal
  # no heading
  ----

Naming
------

Text.

Deeper
~~~~~~

.. code-block:: python

   x = 1


   y = 2

Again
-----

=====  =====
A      B
=====  =====
1      2
=====  =====

+---+---+
| a | b |
+---+---+

References
==========

.. [1] x
"""


def test_sections_of_restructured_text() -> None:
    assert is_restructured(RST)
    found = outline(RST)
    assert [section.path for section in found.sections] == [
        ("Introduction",),
        ("Introduction", "Naming"),
        ("Introduction", "Naming", "Deeper"),
        ("Introduction", "Again"),
        ("References",),
    ]
    blocks = [RST[block.start : block.end] for block in found.blocks]
    assert [block.split("\n")[0].strip() for block in blocks] == [
        "literal",
        ".. code-block:: python",
        "=====  =====",
        "+---+---+",
    ]
    assert blocks[1].endswith("y = 2\n")


def test_an_overline_is_part_of_its_heading() -> None:
    text = "=====\nTitle\n=====\n\n.. note:: x\n\nPart\n====\n\ny\n"
    found = outline(text)
    assert [section.path for section in found.sections] == [("Title",), ("Title", "Part")]
    assert found.sections[0].start == 0


def test_a_heading_without_text_goes_with_what_follows() -> None:
    chunks = split("# A\n\n## B\n\ntext\n\n## Empty\n\n# C\n\nmore")
    assert [chunk.heading for chunk in chunks] == [("A", "B"), ("C",)]
    assert chunks[0].text.startswith("# A")
    assert "Empty" in chunks[1].text
    assert "Empty" in chunks[1].embed_text


def test_a_heading_alone_is_kept() -> None:
    (chunk,) = split("# Alone")
    assert (chunk.text, chunk.heading) == ("# Alone", ("Alone",))
    assert chunk.embed_text == "Alone"


@pytest.mark.parametrize("text", ["", " \n\t\n", "\n\n"])
def test_no_text_makes_no_chunks(text: str) -> None:
    assert split(text) == ()


LONG_TABLE = "| name | price |\n|------|-------|\n" + "".join(
    f"| item {number} | {number} |\n" for number in range(60)
)
LONG_CODE = "```python\n" + "".join(f"line_{number} = {number}\n" for number in range(80)) + "```\n"
LONG_GRID = "+------+\n| name |\n+======+\n" + "".join(f"| {n:04} |\n+------+\n" for n in range(60))
LITERAL = "Title\n=====\n\nSome text::\n\n  x\n\n"


@pytest.mark.parametrize(
    ("text", "head"),
    [
        (f"# T\n\nintro\n\n{LONG_TABLE}\nend", "| name | price |\n|------|-------|"),
        (f"# T\n\n{LONG_CODE}\nend", "```python"),
        (f"{LITERAL}{LONG_GRID}\nend", "+------+\n| name |\n+======+"),
    ],
)
def test_each_window_of_a_long_block_is_embedded_with_its_head(text: str, head: str) -> None:
    chunks = split(text, 200, 40)
    assert_covers(text, chunks)
    start, end = text.index(head), text.rindex("end")
    inside = [c for c in chunks if start + len(head) < c.start < end - 4]
    assert len(inside) >= 4
    assert all(f"{head}\n{chunk.text}" in chunk.embed_text for chunk in inside)
    assert all(head not in chunk.text for chunk in inside)
    assert all(len(chunk.text) <= 200 for chunk in chunks)


def test_blocks_up_to_twice_the_size_stay_whole() -> None:
    code = "```\n" + "x = 1\n\n" * 40 + "```"
    text = f"# T\n\n{'Some words. ' * 20}\n\n{code}\n\nafter"
    assert any(code in chunk.text for chunk in split(text, 200, 40))


def test_plain_text_has_no_markup() -> None:
    text = "# no heading\n\n```\nno code\n\n| a | b |\n|---|---|\n" + "word " * 100
    outlined = outline(text, Markup.PLAIN)
    assert (outlined.headings, outlined.blocks) == ((), ())
    chunks = Splitter(100, 20).split(text, outlined)
    assert_covers(text, chunks)
    assert all(chunk.heading == () for chunk in chunks)
    assert chunks[0].embed_text.startswith("# no heading")


@given(st.lists(st.text("ab \n", max_size=80), min_size=1, max_size=6), st.integers(10, 60))
def test_a_chunk_knows_its_page(parts: list[str], size: int) -> None:
    text, pages = "", []
    for part in parts:
        pages.append(len(text))
        text += part
    for chunk in Splitter(size, size // 4).split(text, outline(text), pages=pages):
        page = chunk.metadata["page"]
        assert isinstance(page, int)
        assert pages[page - 1] <= chunk.start
        assert page == len(pages) or chunk.start < pages[page]


@pytest.mark.parametrize(
    ("text", "size", "count"),
    [
        ("# Only title\nshort body", 800, 1),
        ("# A\n" + "One sentence here. " * 2700 + "\n# B\nx", 800, 2),
    ],
)
def test_every_chunk_has_its_place(text: str, size: int, count: int) -> None:
    chunks = split(text, size, 200)
    assert len(chunks) >= count
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert all(chunk.heading in (("Only title",), ("A",), ("B",)) for chunk in chunks)
    assert all(chunk.heading[0] in chunk.embed_text for chunk in chunks)
    assert all(len(chunk.text) <= size for chunk in chunks)
    assert len({id(chunk.metadata) for chunk in chunks}) == len(chunks)
