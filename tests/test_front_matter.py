"""Front matter as people write it, well and badly."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.ingest.front_matter import FrontMatter, split_front_matter
from agent.ingest.written import Value, Written
from schemas.errors import IngestError

Plain = dict[str, str | list[str]]


def plain(front: FrontMatter) -> Plain:
    def shown(value: Value) -> str | list[str]:
        return value.text if isinstance(value, Written) else [item.text for item in value]

    return {name: shown(value) for name, value in front.fields.items()}


def block(yaml: str) -> FrontMatter:
    front, body = split_front_matter(f"---\n{yaml}\n---\nBody")
    assert body == "Body"
    return front


@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        ("title: A\nrole: hr-only", {"title": "A", "role": "hr-only"}),
        ("country: NO", {"country": "NO"}),
        ("version: 1.10", {"version": "1.10"}),
        ("code: 0123", {"code": "0123"}),
        ("start: 12:30:45", {"start": "12:30:45"}),
        ("day: 2024-1-5", {"day": "2024-1-5"}),
        ("day: 2024-13-45", {"day": "2024-13-45"}),
        ("day: 2024年1月5日", {"day": "2024年1月5日"}),
        ("on: yes", {"on": "yes"}),
        ("2024: plan", {"2024": "plan"}),
        ('"quoted key": x', {"quoted key": "x"}),
        ("a: null\nb: ~\nc:\nd: ''\ne: []\nf: {}", {}),
        ("a: 'null'", {"a": "null"}),
        ("tags: [a, 'b, c']", {"tags": ["a", "b, c"]}),
        ("tags:\n- a\n- b", {"tags": ["a", "b"]}),
        ("tags: [a, null, '']", {"tags": ["a"]}),
        ("tags: a, b", {"tags": "a, b"}),
        ("text: |\n  one\n  two", {"text": "one\ntwo"}),
        ("text: >\n  one\n  two", {"text": "one two"}),
        ("a:\n  b:\n    c: x\n  d: y", {"a.b.c": "x", "a.d": "y"}),
        (
            "by:\n- name: A\n  mail: m\n- name: B",
            {"by.name": ["A", "B"], "by.mail": ["m"]},
        ),
        ("a: [[x, y], [z]]", {"a": ["x", "y", "z"]}),
        ("a: &x [p, q]\nb: *x", {"a": ["p", "q"], "b": ["p", "q"]}),
        ("{a: 1, b: [2]}", {"a": "1", "b": ["2"]}),
        ("# only a comment", {}),
        ("title: A # note", {"title": "A"}),
        ("标题: 请假制度\n部门: 人力资源部", {"标题": "请假制度", "部门": "人力资源部"}),
    ],
)
def test_values_are_what_the_author_wrote(yaml: str, expected: Plain) -> None:
    front = block(yaml)
    assert plain(front) == expected
    assert front.notes == ()
    assert not front.doubtful


@pytest.mark.parametrize(
    ("yaml", "expected", "lines"),
    [
        (
            "a: x\nowner: @user-c\nglob: *.md",
            {"a": "x", "owner": "@user-c", "glob": "*.md"},
            [3, 4],
        ),
        ("title: a: b\nx: 1", {"title": "a: b", "x": "1"}, [2]),
        ("title: [Draft] Doc\nx: 1", {"title": "[Draft] Doc", "x": "1"}, [2]),
        ('title: "Right" side\nx: [p]', {"title": '"Right" side', "x": ["p"]}, [2]),
        ("标题：请假制度\n部门：人力资源部", {"标题": "请假制度", "部门": "人力资源部"}, [2, 3]),
        ("标题：请假制度\ndept: hr", {"标题": "请假制度", "dept": "hr"}, [2]),
        ("chan: #general", {}, [2]),
        ("score: .nan\nlow: -.INF", {}, [2, 3]),
    ],
)
def test_what_yaml_would_lose_is_recovered_and_noted(
    yaml: str, expected: Plain, lines: list[int]
) -> None:
    front = block(yaml)
    assert plain(front) == expected
    assert [note.line for note in front.notes] == lines


def test_a_name_given_twice_is_doubtful_in_any_spelling() -> None:
    front = block("Role: public\nx: 1\nrole: hr-only")
    assert front.doubtful == {"role"}
    assert [(note.field, note.line) for note in front.notes] == [("role", 4)]
    assert plain(front) == {"Role": "hr-only", "x": "1"}


def test_a_value_that_is_not_yaml_is_doubtful() -> None:
    assert block("role: @hr\nx: 1").doubtful == {"role"}


@pytest.mark.parametrize(
    ("yaml", "line"),
    [
        ("title: t\ntags: [a, b\nx: 1", 3),
        ("title: t\nmap:\n\tfoo: x", 4),
        ("a: 1\nnot a field\nb: 2", 3),
        ("? [a, b]\n: x", 2),
        ("a: " + "[" * 3000, 2),
        ("x: {a: 1", 2),
    ],
)
def test_broken_yaml_names_its_line(yaml: str, line: int) -> None:
    with pytest.raises(IngestError, match=f"line {line}"):
        block(yaml)


@pytest.mark.parametrize(
    "yaml",
    [
        "a: &x [*x]",
        "a: &a [x,x,x,x,x,x,x,x,x]\n"
        + "\n".join(
            f"{new}: &{new} [{','.join(['*' + old] * 9)}]"
            for old, new in [("a", "b"), ("b", "c"), ("c", "d")]
        )
        + "\ne: [*d, *d]",
        "a: " + "{b: " * 30 + "1" + "}" * 30,
    ],
)
def test_front_matter_made_to_explode_is_refused(yaml: str) -> None:
    with pytest.raises(IngestError, match="more than"):
        block(yaml)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "---",
        "---\n",
        "no front matter",
        "# Heading\n\n---\n\ntext\n\n---\n",
        "---\n\nProse: with a colon\nand more of it\n\n---\nrest",
        "---\nJust prose\n---\nrest",
        "---\n- a\n- b\n---\nrest",
    ],
)
def test_a_rule_stays_text(text: str) -> None:
    front, body = split_front_matter(text)
    assert (front, body) == (FrontMatter(), text)


def test_front_matter_that_is_not_closed_is_text_and_noted() -> None:
    text = "---\ntitle: t\nbody"
    front, body = split_front_matter(text)
    assert body == text
    assert "closes" in front.notes[0].message


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("---\ntitle: A\n---\n---\nrole: public\n---\nB", "---\nrole: public\n---\nB"),
        ("\n\n---\ntitle: A\n---\n\nB", "\nB"),
        ("---\ntitle: A\n...\nB", "B"),
        ("---\ntitle: A\n---", ""),
        ("---  \ntitle: A\n--- \nB", "B"),
        ("---\n\ntitle: A\n---\nB", "B"),
    ],
)
def test_only_the_first_block_is_front_matter(text: str, body: str) -> None:
    front, rest = split_front_matter(text)
    assert plain(front) == {"title": "A"}
    assert rest == body


def test_quotes_are_remembered() -> None:
    front = block("a: '1'\nb: \"1\"\nc: 1\nd: |\n  1")
    quoted = {
        name: value.quoted for name, value in front.fields.items() if isinstance(value, Written)
    }
    assert quoted == {"a": True, "b": True, "c": False, "d": True}


@settings(deadline=None)
@given(st.text(max_size=200), st.text(max_size=50))
def test_any_text_is_read_or_refused(inside: str, below: str) -> None:
    text = f"---\n{inside}\n---\n{below}"
    try:
        front, body = split_front_matter(text)
    except IngestError:
        return
    assert text.endswith(body)
    if not front.fields:
        return
    assert len(body) < len(text)


@settings(deadline=None)
@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), st.text(max_size=30)))
def test_quoted_text_comes_back_whole(values: dict[str, str]) -> None:
    kept = {
        name: text.strip() for name, text in values.items() if text.strip() and text.isprintable()
    }
    yaml = "\n".join(
        f"{name}: '{text.replace(chr(39), chr(39) * 2)}'" for name, text in kept.items()
    )
    assert plain(split_front_matter(f"---\n{yaml}\n---\n")[0]) == kept


@pytest.mark.parametrize(
    "text",
    [
        "---\naccess: secret\ntitle: x\nNo line closes it.\n",
        "---\naccess: secret\n ---\nThe closing line is indented.\n",
        "---\naccess: secret\n-----\nThe closing line is longer.\n",
        "----\naccess: secret\n----\nFour dashes.\n",
        "\u2014-\naccess: secret\n\u2014-\nAs a word processor corrects it.\n",
        "--- # internal\naccess: secret\n---\nA comment after the rule.\n",
        "---\naccess: #secret\n---\nA comment where the value is meant.\n",
        "---\naccess: .nan\n---\nA number that is none.\n",
    ],
)
def test_a_field_that_is_lost_with_its_block_or_value_is_doubtful(text: str) -> None:
    front, _ = split_front_matter(text)
    assert "access" in front.doubtful
    assert front.notes
    assert not front.fields


@pytest.mark.parametrize(
    "text",
    ["---\n\nProse below a rule.\n", "-----\nProse alone\n", "---\naccess: # later\n---\nx\n"],
)
def test_a_rule_or_a_remark_makes_nothing_doubtful(text: str) -> None:
    assert not split_front_matter(text)[0].doubtful
