"""Failures that others have reported of local models, one row each, against a scripted server.

A row's replies are served in order; `expected` looks at what became of them.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agent.models.chat import OllamaChat
from agent.models.methods import Method
from agent.models.transport import Budget, Endpoint
from agent.models.written import ModelWriter
from graph.context import Context
from graph.ports import Message
from schemas.errors import ModelOutputCut, ModelUnavailable
from schemas.hits import Passage
from schemas.plan import Plan, PlanOutcome
from tests.conftest import ScriptedPlanning
from tests.graph_runs import run
from tests.ollama_server import Drop, Fault, Late, OllamaScript, Reply, Stream, serving

ASK = (Message("system", "rules"), Message("user", "policies of HR"))
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"HR": {"enum": ["dept", "year", "ignore"]}},
    "required": ["HR"],
    "additionalProperties": False,
}
GOOD = '{"HR": "dept"}'
FULL = {"done_reason": "length"}
LOADED = {"done_reason": "load"}

Make = Callable[..., Context]
Case = Callable[[OllamaScript, Make], Awaitable[None]]


@pytest.fixture
def ollama() -> Iterator[OllamaScript]:
    with serving(OllamaScript()) as script:
        yield script


def says(text: str, **more: Any) -> Stream:
    return Stream((text,), **more)


@asynccontextmanager
async def chat_at(script: OllamaScript, **more: Any) -> Any:
    chat = OllamaChat(Endpoint(script.url, "small:1b", "ollama"), **more)
    try:
        yield chat
    finally:
        await chat.close()


async def plan_of(script: OllamaScript, make: Make, *replies: Reply, **more: Any) -> Plan:
    """A plan made by the real graph whose form has the schema above."""
    script.replies = list(replies)
    async with chat_at(script, **more) as chat:
        context = make(chat=chat, planning=ScriptedPlanning(schema=SCHEMA))
        made: Plan = (await run(context, goal="plan"))["plan"]
    assert not script.replies, "replies were left over"
    return made


def formats(script: OllamaScript) -> list[object]:
    """What each request wanted: the schema, json, or nothing."""
    return [
        "schema" if body.get("format") == SCHEMA else body.get("format") for body in script.requests
    ]


def passage(number: int, tokens: int) -> Passage:
    text = " ".join(f"word{i % 10}" for i in range(tokens // 2))
    return Passage(
        id=f"p{number}", doc_id=f"p{number}", kb="k", title=f"T{number}", text=text, source="s"
    )


async def answer_of(script: OllamaScript, passages: list[Passage], context: int = 2048) -> str:
    async with chat_at(script, context=context) as chat:
        writer = ModelWriter(chat, context=context)
        return "".join([piece async for piece in writer.write("Which per diem?", passages, ())])


async def rules_survive_long_context(script: OllamaScript, make: Make) -> None:
    script.replies = [says("It is 52 EUR."), says("It is 52 EUR [1].")]
    answer = await answer_of(script, [passage(number, 1000) for number in range(1, 4)])
    assert answer == "It is 52 EUR [1]."
    for body in script.requests:
        system, user = body["messages"]
        assert system["role"] == "system"
        assert "Use only what the passages say" in system["content"]
        assert user["content"].endswith("Question: Which per diem?")
        assert "[3]" not in user["content"]
        assert len(user["content"]) / 4 < body["options"]["num_ctx"] == 2048


async def format_is_ignored_when_thinking_is_off(script: OllamaScript, make: Make) -> None:
    script.context, script.capabilities = 8192, ("completion", "thinking")
    prose = says("Here is the filter: field dept equals hr")
    script.replies = [prose, says(GOOD, thoughts="hm"), says(GOOD, thoughts="hm")]
    async with chat_at(script) as chat:
        assert (await chat.complete(ASK, SCHEMA)).text == GOOD
        assert await chat.method() is Method.THINKING
        await chat.complete(ASK, SCHEMA)
    assert [body["think"] for body in script.requests] == [False, True, True]
    assert formats(script) == ["schema"] * 3
    failed = await plan_of(script, make, prose, prose, prose, prose, prose)
    assert failed.outcome is PlanOutcome.FAILED
    assert {problem.code for problem in failed.problems} == {"reply_not_json"}


async def budget_is_spent_on_thinking(script: OllamaScript, make: Make) -> None:
    spent = says("", thoughts="so " * 200, end=FULL)
    script.replies = [spent, says(GOOD)]
    async with chat_at(script) as chat:
        assert (await chat.complete(ASK, SCHEMA)).text == GOOD
    first, second = (body["options"]["num_predict"] for body in script.requests)
    assert second > first
    failed = await plan_of(script, make, spent, spent, spent, spent)
    assert failed.outcome is PlanOutcome.FAILED
    assert {problem.code for problem in failed.problems} == {"reply_cut"}
    assert "spent all its tokens" in failed.problems[0].message
    script.replies = [spent, spent]
    async with chat_at(script) as chat:
        with pytest.raises(ModelOutputCut, match="spent all its tokens"):
            [piece async for piece in chat.stream(ASK)]


async def cut_json_is_never_closed(script: OllamaScript, make: Make) -> None:
    cut = says('{"HR": "d', end=FULL)
    failed = await plan_of(script, make, cut, cut, cut, cut)
    assert failed.outcome is PlanOutcome.FAILED
    assert {problem.code for problem in failed.problems} == {"reply_cut"}
    assert failed.filter.model_dump() == {"op": "and", "of": ()}
    inner = says('My reply: {"and": [{"HR": "dept"}, {"HR": "ye')
    failed = await plan_of(script, make, *[inner] * 4)
    assert failed.outcome is PlanOutcome.FAILED
    assert {problem.code for problem in failed.problems} == {"reply_not_json"}
    script.replies = [inner, inner, inner]
    async with chat_at(script) as chat:
        assert (await chat.complete(ASK, SCHEMA)).text == inner.pieces[0]
        assert await chat.method() is None


async def schema_is_echoed(script: OllamaScript, make: Make) -> None:
    echo = says(json.dumps({"$defs": {"C": {"type": "object"}}, **SCHEMA}))
    loose = {"type": "object"}
    script.replies = [echo, echo, says(f"Sure.\n```json\n{GOOD}\n```\nDone.")]
    async with chat_at(script) as chat:
        assert (await chat.complete(ASK, loose)).text == GOOD
        assert await chat.method() is Method.PLAIN
    failed = await plan_of(script, make, echo, echo, echo, echo)
    assert failed.outcome is PlanOutcome.FAILED
    assert {problem.code for problem in failed.problems} == {"reply_off_schema"}


async def server_breaks_on_the_schema(script: OllamaScript, make: Make) -> None:
    for broken in (Fault(500, "llama runner terminated"), Fault(400, "invalid format"), Drop()):
        script.requests = []
        script.replies = [broken, says("{}"), says(GOOD), says(GOOD)]
        async with chat_at(script) as chat:
            assert (await chat.complete(ASK, SCHEMA)).text == GOOD
            assert (await chat.complete(ASK, SCHEMA)).text == GOOD
        assert formats(script) == ["schema", "json", None, None]
        asked = script.requests[1]["messages"][-1]["content"]
        assert asked.startswith("policies of HR")
        assert json.dumps(SCHEMA, ensure_ascii=False) in asked
    optional = SCHEMA | {"required": []}
    script.replies = [says("{}"), says("{}"), says(GOOD)]
    async with chat_at(script) as chat:
        assert (await chat.complete(ASK, optional)).text == GOOD


async def nothing_parsed_is_a_problem(script: OllamaScript, make: Make) -> None:
    failed = await plan_of(script, make, says("null"), says("[]"), says("None"), says("null"))
    assert failed.outcome is PlanOutcome.FAILED
    assert failed.problems
    assert (await plan_of(script, make, says(GOOD))).outcome is PlanOutcome.NO_FILTER


async def model_is_only_loaded(script: OllamaScript, make: Make) -> None:
    for end in (LOADED, {"done_reason": "unload"}):
        script.replies = [Stream((), end=end), says(GOOD), Stream((), end=end), says("yes [1]")]
        async with chat_at(script) as chat:
            assert (await chat.complete(ASK[:1], SCHEMA)).text == GOOD
            assert [piece async for piece in chat.stream(ASK[:1])] == ["yes [1]"]
        for body in script.requests:
            assert any(one["role"] == "user" and one["content"] for one in body["messages"])
        script.replies = [Stream((), end=end)] * 4
        async with chat_at(script) as chat:
            with pytest.raises(ModelOutputCut, match="generated nothing, twice"):
                await chat.complete(ASK, SCHEMA)
            with pytest.raises(ModelOutputCut, match="generated nothing, twice"):
                [piece async for piece in chat.stream(ASK)]


async def model_loads_longer_than_the_timeout(script: OllamaScript, make: Make) -> None:
    budget = Budget(attempts=3)
    script.replies = [Late(0.3), Late(1.0), says("never asked")]
    async with chat_at(script, timeout_s=0.25, budget=budget) as chat:
        assert (await chat.complete(ASK)).text == "late"
        with pytest.raises(ModelUnavailable, match="in time") as caught:
            await chat.complete(ASK)
    assert len(script.replies) == 1
    assert "timeout_s" in caught.value.remedy
    assert {body["keep_alive"] for body in script.requests} == {"30m"}


async def enum_is_not_respected(script: OllamaScript, make: Make) -> None:
    said = '{"HR": "department"}'
    made = await plan_of(script, make, says(said))
    assert (made.outcome, made.model_calls) == (PlanOutcome.NO_FILTER, 1)
    (mend,) = made.problems
    assert (mend.code, mend.value) == ("reply_mended", "department")
    assert mend.message == "'HR': 'department' was read as 'HR': 'dept'"
    script.replies = [says(said), says('{"HR": "ag"}')]
    async with chat_at(script) as chat:
        assert (await chat.complete(ASK, SCHEMA)).text == said
        assert await chat.method() is Method.SCHEMA
        assert (await chat.complete(ASK, SCHEMA)).text == '{"HR": "ag"}'
    several = SCHEMA | {"properties": {"HR": {"enum": ["departed", "department"]}}}
    script.replies = [says('{"HR": "dept"}')] * 3
    async with chat_at(script) as chat:
        await chat.complete(ASK, several)
        assert await chat.method() is None


ROWS: dict[str, Case] = {
    "OL-02": rules_survive_long_context,
    "OL-03": format_is_ignored_when_thinking_is_off,
    "OL-05": budget_is_spent_on_thinking,
    "OL-06": cut_json_is_never_closed,
    "OL-08": schema_is_echoed,
    "OL-10": server_breaks_on_the_schema,
    "OL-11": nothing_parsed_is_a_problem,
    "OL-12": model_is_only_loaded,
    "OL-14": model_loads_longer_than_the_timeout,
    "OL-15": enum_is_not_respected,
}


@pytest.mark.parametrize("row", ROWS)
async def test_it_behaves_as_expected(
    row: str, ollama: OllamaScript, make_context: Callable[..., Context]
) -> None:
    await ROWS[row](ollama, make_context)
