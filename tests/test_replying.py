"""Replies that are right, can be mended, or are asked for again in part."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.context import Budgets, Context
from graph.json_objects import json_objects
from graph.ports import Completion
from graph.replying import filled, read
from schemas.mentions import Form, FormMessage
from tests.conftest import ScriptedChat, as_reply

USES = ("department is", "department is not", "ignore")
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"HR team": {"enum": [*USES]}, "2024": {"enum": ["since", "ignore"]}},
    "required": ["HR team", "2024"],
    "additionalProperties": False,
}
FORM = Form(
    messages=(FormMessage(role="user", content="?"),), reply_schema=SCHEMA, prompt_version="1"
)
RIGHT = {"HR team": "department is", "2024": "since"}


def said(text: str) -> Completion:
    return Completion(text=text, model="scripted")


@pytest.mark.parametrize(
    "reply",
    [
        {"hr team": "department is", "2024": "since"},
        {"HR_team": "department is", "2024": "since"},
        {"HR teams": "Department Is", "2024": "Since "},
        {"HR team": "department_is", "2024": "sinse"},
        {"HR team": "dept is", "2024": "since"},
    ],
)
def test_a_slip_with_one_right_mend_is_mended_and_told(reply: dict[str, str]) -> None:
    found = read(said(json.dumps(reply)), SCHEMA)
    assert (found.good, found.fault) == (RIGHT, None)
    assert {problem.code for problem in found.mended} == {"reply_mended"}


@pytest.mark.parametrize(
    ("reply", "good"),
    [
        ({"HR team": "department", "2024": "since"}, {"2024": "since"}),
        ({"HR team": "category is", "2024": "since"}, {"2024": "since"}),
        ({"HR team": "department is", "2024": "before"}, {"HR team": "department is"}),
        ({"HR team": None, "2024": "since"}, {"2024": "since"}),
        ({"HR team": "department is"}, {"HR team": "department is"}),
        (RIGHT | {"author": "ignore"}, RIGHT),
        ([RIGHT], {}),
        (None, {}),
    ],
    ids=[
        "two are close",
        "none is close",
        "the other way",
        "null",
        "missing",
        "not asked",
        "a list",
        "nothing",
    ],
)
def test_what_could_be_mended_in_two_ways_is_not(reply: Any, good: dict[str, str]) -> None:
    found = read(said(json.dumps(reply)), SCHEMA)
    assert found.fault is not None
    assert found.fault.code == "reply_off_schema"
    assert found.good == good


def test_of_several_objects_in_a_text_the_last_right_one_counts() -> None:
    draft = as_reply(**{"HR team": "ignore", "2024": "ignore"})
    text = f"Example: ```json\n{draft}\n``` Final: ```json\n{json.dumps(RIGHT)}\n``` Done {{."
    assert read(said(text), SCHEMA).good == RIGHT


@pytest.mark.parametrize("text", ["", "no filter", "{", '{"HR team": "depart', "Sure: {}"])
def test_a_text_without_a_right_object_is_a_fault(text: str) -> None:
    found = read(said(text), SCHEMA)
    assert found.fault is not None
    assert found.fault.code == "reply_not_json"


def test_an_empty_reply_is_called_empty() -> None:
    fault = read(said(" \n"), SCHEMA).fault
    assert fault is not None
    assert fault.message == "it is empty"


def test_what_stands_inside_of_what_was_cut_off_does_not_count() -> None:
    inner = json.dumps(RIGHT)
    for cut in (f'{{"and": [{inner}, {{"HR te', f'My reply: {{"not": {inner}', f"[{inner}, "):
        found = read(said(cut), SCHEMA)
        assert (found.good, found.fault and found.fault.code) == ({}, "reply_not_json")
    deep = "[" * 100_000
    assert read(said(deep), SCHEMA).fault is not None


SIGNS = st.text(st.sampled_from('{}[]",:\\\n a'), max_size=6)


@given(
    st.recursive(SIGNS, lambda inner: st.dictionaries(SIGNS, inner, max_size=3), max_leaves=5),
    st.data(),
)
def test_no_beginning_of_an_object_yields_one(value: object, data: st.DataObject) -> None:
    text = json.dumps({"outer": value}, ensure_ascii=False)
    assert [*json_objects(f"so: {text} done")] == [{"outer": value}]
    assert [*json_objects(text[: data.draw(st.integers(0, len(text) - 1))])] == []


def test_a_cut_reply_is_none_even_where_it_is_whole_by_chance() -> None:
    cut = Completion(text=json.dumps(RIGHT), model="scripted", done_reason="length")
    found = read(cut, SCHEMA)
    assert found.fault is not None
    assert found.fault.code == "reply_cut"


async def test_only_the_wrong_part_is_asked_for_again(
    make_context: Callable[..., Context],
) -> None:
    chat = ScriptedChat([as_reply(**{"HR team": "maybe", "2024": "since"}), as_reply(**RIGHT)])
    chat.replies[1] = as_reply(**{"HR team": "department is"})
    reply, calls, problems = await filled(FORM, make_context(chat=chat))
    assert (reply, calls) == (RIGHT, 2)
    assert [problem.code for problem in problems] == ["reply_off_schema"]
    again = chat.schemas[1]
    assert again is not None
    assert list(again["properties"]) == again["required"] == ["HR team"]
    assert "maybe" in chat.seen[1][-1].content
    assert '"HR team" only' in chat.seen[1][-1].content


@pytest.mark.parametrize(("repairs", "calls"), [(0, 1), (1, 2), (3, 4)])
async def test_calls_end_with_their_budget(
    make_context: Callable[..., Context], repairs: int, calls: int
) -> None:
    chat = ScriptedChat(["?"] * 5)
    context = make_context(chat=chat, budgets=Budgets(repairs=repairs))
    reply, made, problems = await filled(FORM, context)
    assert (reply, made, len(problems)) == (None, calls, calls)
