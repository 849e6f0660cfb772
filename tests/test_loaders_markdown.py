"""Markdown and plain text with front matter, as people and other programs write it."""

from __future__ import annotations

import pytest

from agent.ingest.loaded import Markup
from agent.ingest.reading import Reading
from schemas.errors import IngestError
from tests.loading import Plain, document, messages, plain


@pytest.mark.parametrize(
    ("front", "expected", "noted"),
    [
        (
            "title: Budget\ndate: 2024-13-45\ndept: finance",
            {"title": "Budget", "date": "2024-13-45", "dept": "finance"},
            0,
        ),
        (
            'title: "Preface: right side"\nauthors: ["Team A"]\nowner: @user-c\nglob: *.md',
            {
                "title": "Preface: right side",
                "authors": ["Team A"],
                "owner": "@user-c",
                "glob": "*.md",
            },
            2,
        ),
        ("tags: billing, vpn, on-call", {"tags": "billing, vpn, on-call"}, 0),
        (
            "country: NO\nversion: 1.10\ncode: 0123\nstart: 12:30:45\nchan: #general",
            {"country": "NO", "version": "1.10", "code": "0123", "start": "12:30:45"},
            1,
        ),
        (
            "2024: plan\nrole: public\nrole: hr-only\nscore: .nan",
            {"2024": "plan", "role": "hr-only"},
            2,
        ),
        ("a: {b: 1, c: [x]}\nd:\n  e:\n    f: 2", {"a.b": "1", "a.c": ["x"], "d.e.f": "2"}, 0),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("file", [("a.md", "\n"), ("a.md", "\r\n"), ("a.txt", "\r")])
def test_odd_yaml_is_what_the_author_wrote(
    front: str, expected: Plain, noted: int, encoding: str, file: tuple[str, str]
) -> None:
    name, end = file
    text = f"---\n{front}\n---\nBody".replace("\n", end)
    loaded = document(name, text.encode(encoding))
    assert plain(loaded) == expected
    assert loaded.text == "Body"
    assert len(loaded.notes) == noted


def test_a_field_given_twice_is_doubtful_and_a_second_block_is_text() -> None:
    raw = b"---\nrole: public\nrole: hr-only\n---\n---\nrole: public\n---\nBody"
    loaded = document("a.md", raw)
    assert loaded.doubtful == {"role"}
    assert loaded.text == "---\nrole: public\n---\nBody"


@pytest.mark.parametrize(
    ("toml", "expected"),
    [
        (
            'title = "Leave: abroad"\nversion = 1.10\nday = 2024-01-05\nopen = true',
            {"title": "Leave: abroad", "version": "1.10", "day": "2024-01-05", "open": "true"},
        ),
        (
            "start = 12:30:00\nat = 2024-01-05T10:00:00Z",
            {"start": "12:30:00", "at": "2024-01-05T10:00:00Z"},
        ),
        ("n = 1_000 # thousand\nx = 0x1F\ne = 1e3", {"n": "1_000", "x": "0x1F", "e": "1e3"}),
        ("score = nan\nlow = -inf\nempty = ''\nnone = []", {}),
        (
            "tags = ['a', 'b, c']\nyears = [2023, 2024]",
            {"tags": ["a", "b, c"], "years": ["2023", "2024"]},
        ),
        ("[extra]\nteam = 'HR'\n[extra.deep]\nx = 1", {"extra.team": "HR", "extra.deep.x": "1"}),
        ("[[by]]\nname = 'A'\n[[by]]\nname = 'B'", {"by.name": ["A", "B"]}),
        ("n = 4\n[x]\nn = 0x5", {"n": "4", "x.n": "5"}),
        ('t = """\nn = 0x5\n"""\nn = 4', {"t": "n = 0x5", "n": "4"}),
        (
            "[taxonomies]\ntags = ['x']\n'quoted key' = 'y'",
            {"taxonomies.tags": ["x"], "taxonomies.quoted key": "y"},
        ),
    ],
)
def test_toml_front_matter(toml: str, expected: Plain) -> None:
    loaded = document("a.md", f"+++\n{toml}\n+++\nBody".encode())
    assert loaded.text == "Body"
    assert plain(loaded) == expected


@pytest.mark.parametrize(
    ("toml", "line"), [("a = 1\nb = oops", 3), ("a = 1\na = 2", 3), ("a = [1", 2)]
)
def test_broken_toml_names_its_line(toml: str, line: int) -> None:
    with pytest.raises(IngestError, match=rf"line [{line}-9]"):
        document("a.md", f"+++\n{toml}\n+++\nBody".encode())


@pytest.mark.parametrize("text", ["+++\nprose\n+++\nrest", "+++\na = 1\nrest", "---\nprose\n---\n"])
def test_a_rule_stays_text(text: str) -> None:
    loaded = document("a.md", text.encode())
    assert (loaded.text, loaded.fields) == (text, {})


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Leave policy\n\nThirty days.", "Leave policy"),
        ("\n\n请假制度\n\n三十天。", "请假制度"),
        ("Leave policy\nThirty days.", None),
        ("x" * 101 + "\n\nText", None),
        ("-----\n\nText", None),
        ("Only one line", None),
        ("Only one line\n\n", None),
    ],
)
def test_a_short_first_line_alone_is_the_title_of_plain_text(text: str, title: str | None) -> None:
    loaded = document("a.txt", text.encode())
    assert plain(loaded).get("title") == title
    assert loaded.markup is Markup.PLAIN
    assert loaded.text == text


def test_the_type_map_tells_the_encoding() -> None:
    raw = "标题\n\n内容很短".encode("gb18030")
    loaded = document("a.txt", raw, Reading(encoding="gb18030"))
    assert (loaded.text, loaded.notes) == ("标题\n\n内容很短", ())
    with pytest.raises(IngestError, match="not valid ascii"):
        document("a.txt", raw, Reading(encoding="ascii"))
    with pytest.raises(IngestError, match="no encoding"):
        document("a.txt", raw, Reading(encoding="klingon"))


def test_a_guess_is_noted() -> None:
    text = "员工可以每周远程办公两天，需要经理批准。"
    loaded = document("a.txt", text.encode("gb18030"))
    assert loaded.text == text
    assert "gb18030" in messages(loaded)


def test_few_foreign_letters_in_a_large_file_are_found() -> None:
    text = "plain line\n" * 20_000 + "员工可以每周远程办公两天，需要经理批准。\n"
    loaded = document("a.txt", text.encode("gb18030"))
    assert loaded.text == text


@pytest.mark.parametrize(
    "text",
    [
        "+++\nrole = 'hr'\ndate = 2024-01-05\n\nBody",
        "%YAML 1.2\n---\nrole: hr\ndate: 2024-01-05\n---\nBody",
        "<!-- © Acme\n2024 -->\n---\nrole: hr\ndate: 2024-01-05\n---\nBody",
        "<!-- a -->\n\n<!-- b -->\n\n---\nrole: hr\ndate: 2024-01-05\n---\nBody",
        '{\n  "role": "hr",\n  "date": "2024-01-05"\n}\n\nBody',
        '{"role": "hr", "date": {"a": 1}}\nBody',
        '{\n  "role": "hr",\n  "date": 2024-01-05\n}\nBody',
    ],
)
def test_what_looks_like_front_matter_but_is_none_is_told_and_doubtful(text: str) -> None:
    loaded = document("a.md", text.encode())
    assert (loaded.text, plain(loaded)) == (text, {})
    assert loaded.doubtful == {"role", "date"}
    assert "read as text" in messages(loaded)


@pytest.mark.parametrize(
    "text",
    [
        "+++\n\nBody",
        "%YAML is a directive.\n---\nrole: hr",
        "<!-- a comment -->\n\n# Title\n\nrole: hr",
        "<!-- a comment -->\n---\n\nBody",
        "{ not: json }\nBody",
        "[a](b)\n{: .class}",
    ],
)
def test_other_beginnings_are_text(text: str) -> None:
    loaded = document("a.md", text.encode())
    assert (loaded.text, loaded.notes, loaded.doubtful) == (text, (), frozenset())
