"""semi_auto: the model sees the given keys, with the operators that are pinned to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent.planning.planner import Planner
from graph.context import Context
from schemas.errors import UsageError
from schemas.filters import Op
from schemas.plan import Key, Mode, PlanOutcome
from tests.conftest import ScriptedChat, as_reply
from tests.graph_runs import run
from tests.planning_cases import HANDBOOK, PLANNER, ask, link, plan, said


def leaf(op: str, field: str, value: object = None) -> dict[str, object]:
    return {"op": op, "field": field} | ({} if value is None else {"value": value})


ADAS = ("Ada Lovelace", "Ada Palmer")


@pytest.mark.parametrize(
    ("question", "field", "op", "expected"),
    [
        ("HR guides", "department", "eq", leaf("eq", "department", "HR")),
        ("HR or Finance", "department", "in", leaf("in", "department", ["HR", "Finance"])),
        (
            "not HR or Finance",
            "department",
            "not_in",
            leaf("not_in", "department", ["HR", "Finance"]),
        ),
        ("HR", "department", "not_in", leaf("not_in", "department", ["HR"])),
        ("by Ada", "authors", "in", leaf("in", "authors", [*ADAS])),
        (
            "by Ada",
            "authors",
            "contains",
            {"op": "or", "of": [leaf("contains", "authors", ada) for ada in ADAS]},
        ),
        (
            "by Ada",
            "authors",
            "not_contains",
            {"op": "and", "of": [leaf("not_contains", "authors", ada) for ada in ADAS]},
        ),
        ("without a department", "department", "empty", leaf("empty", "department")),
        ("published in 2024", "published", "eq", leaf("eq", "published", "2024")),
        ("published in 2024", "published", "le", leaf("le", "published", "2024-12-31")),
        ("published in 2024", "published", "gt", leaf("gt", "published", "2024-12-31")),
        ("published before 2024", "published", "le", leaf("le", "published", "2023-12-31")),
        ("published since 2024", "published", "gt", leaf("gt", "published", "2023-12-31")),
        ("2024年以前发布的", "published", "lt", leaf("lt", "published", "2024-01-01")),
        ("pages above 20", "pages", "ge", leaf("ge", "pages", 21)),
        ("official ones", "official", "ne", leaf("ne", "official", False)),
    ],
)
def test_a_pinned_operator_says_what_was_asked(
    question: str, field: str, op: str, expected: object
) -> None:
    keys = (Key(name=field, op=Op(op)),)
    assert said(plan(question, mode=Mode.SEMI_AUTO, keys=keys)) == expected


@pytest.mark.parametrize(
    ("question", "field", "op"),
    [
        ("not HR", "department", "eq"),
        ("HR guides", "department", "empty"),
        ("without a department", "department", "not_empty"),
        ("without a department", "department", "eq"),
        ("published before 2024", "published", "ge"),
        ("published since 2024", "published", "eq"),
        ("published in the last 30 days", "published", "eq"),
        ("pages above 20", "pages", "lt"),
    ],
)
def test_a_pinned_operator_never_says_the_opposite(question: str, field: str, op: str) -> None:
    keys = (Key(name=field, op=Op(op)),)
    proposal = plan(question, mode=Mode.SEMI_AUTO, keys=keys)
    assert proposal.outcome is PlanOutcome.NO_FILTER
    assert [(p.code, p.field, p.value) for p in proposal.problems] == [
        ("pinned_operator", field, op)
    ]


def test_neither_linker_nor_model_see_another_field() -> None:
    given: dict[str, Any] = {"mode": Mode.SEMI_AUTO, "keys": (Key(name="status"),)}
    asked = ask("final HR guides of 2024 by Guido", **given)
    mentions = link(asked.question, **given)
    assert {choice.field for mention in mentions for choice in mention.choices} == {"status"}
    form = PLANNER.form(asked, HANDBOOK, mentions)
    assert form is not None
    put = form.messages[-1].content
    assert all(f"- {name} " not in put for name in HANDBOOK.by_name if name != "status")


async def test_without_keys_semi_auto_has_nothing_to_ask(
    make_context: Callable[..., Context],
) -> None:
    context = make_context(planning=Planner(), chat=ScriptedChat())
    state = await run(context, "HR policy", mode=Mode.SEMI_AUTO, goal="plan")
    assert (state["plan"].outcome, state["plan"].model_calls) == (PlanOutcome.NO_FILTER, 0)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (Key(name="autor"), r"'autor'.*access, category, department"),
        (Key(name="pages", op=Op.STARTS_WITH), r"starts_with.*'pages'.*allowed: eq, ne, gt"),
    ],
)
async def test_a_wrong_key_is_an_error_before_anything_is_spent(
    make_context: Callable[..., Context], key: Key, words: str
) -> None:
    chat = ScriptedChat()
    with pytest.raises(UsageError, match=words):
        await run(make_context(planning=Planner(), chat=chat), mode=Mode.SEMI_AUTO, keys=(key,))
    assert chat.seen == []


async def test_the_pinned_operator_reaches_the_plan(make_context: Callable[..., Context]) -> None:
    chat = ScriptedChat([as_reply(HR="department not in")])
    keys = (Key(name="department", op=Op.NOT_IN),)
    context = make_context(planning=Planner(), chat=chat)
    state = await run(context, "HR policy", mode=Mode.SEMI_AUTO, keys=keys)
    assert [ref.doc_id for ref in state["hits"]] == ["d2", "d4"]
    assert state["plan"].text == "department is not HR"
