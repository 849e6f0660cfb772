"""Prompts that have to fit into a model's window, and what is learnt of a model on the way."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.models.chat import FACTS_AGE_S, OllamaChat
from agent.models.methods import REST, Method
from agent.models.transport import Endpoint
from agent.models.window import NoRoom, fitted
from graph.ports import Message
from graph.tokens import prompt_tokens
from tests.ollama_server import OllamaScript, Stream, serving

SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"a": {"enum": ["x"]}},
    "required": ["a"],
    "additionalProperties": False,
}
GOOD, PROSE = Stream(('{"a": "x"}',)), Stream(("no JSON at all",))

TEXTS = st.text(max_size=200)
EXCHANGES = st.lists(st.tuples(TEXTS, TEXTS), max_size=8)


@pytest.fixture
def ollama() -> Iterator[OllamaScript]:
    with serving(OllamaScript(context=2048)) as script:
        yield script


def talk(exchanges: list[tuple[str, str]], last: str = "question") -> list[Message]:
    said = [Message("system", "rules")]
    for question, reply in exchanges:
        said += [Message("user", question), Message("assistant", reply)]
    return [*said, Message("user", last)]


@given(EXCHANGES, st.integers(0, 2000))
def test_rules_the_last_exchange_and_the_question_stay(
    exchanges: list[tuple[str, str]], room: int
) -> None:
    messages = talk(exchanges)
    least = talk(exchanges[-1:])
    if prompt_tokens(least) > room:
        with pytest.raises(NoRoom, match="tokens"):
            fitted(messages, room)
        return
    kept = fitted(messages, room)
    assert prompt_tokens(kept) <= room
    assert kept[0] == messages[0]
    count = len(kept) - 1
    assert list(kept[1:]) == messages[len(messages) - count :]
    if len(kept) < len(messages):
        assert prompt_tokens(talk(exchanges[-(count // 2) - 1 :])) > room


async def test_no_more_is_sent_than_the_model_can_read(ollama: OllamaScript) -> None:
    chat = OllamaChat(Endpoint(ollama.url, "small:1b", "ollama"), context=8192)
    ollama.replies = [Stream(("fine",))]
    await chat.complete(talk([(f"example {i} " * 40, "reply") for i in range(30)]))
    (sent,) = ollama.requests
    assert sent["options"]["num_ctx"] == 2048
    read = sum(len(message["content"]) for message in sent["messages"]) / 4
    assert read + sent["options"]["num_predict"] <= 2048
    assert sent["messages"][0]["content"] == "rules"
    assert sent["messages"][-1]["content"] == "question"
    with pytest.raises(NoRoom) as caught:
        await chat.complete([Message("user", "词" * 3000)])
    assert "models.context" in caught.value.remedy
    assert len(ollama.requests) == 1
    await chat.close()


async def test_what_works_is_remembered_for_the_weights_it_worked_with(
    ollama: OllamaScript,
) -> None:
    clock = [0.0]
    chat = OllamaChat(
        Endpoint(ollama.url, "small:1b", "ollama"), now=lambda: clock[0], context=2048
    )
    ollama.replies = [PROSE, GOOD, GOOD]
    for _ in range(2):
        assert (await chat.complete(talk([]), SCHEMA)).text == GOOD.pieces[0]
    assert [one.get("format") for one in ollama.requests] == [SCHEMA, "json", "json"]
    ollama.digest = "1" * 64
    clock[0] += FACTS_AGE_S + 1
    ollama.replies = [GOOD]
    await chat.complete(talk([]), SCHEMA)
    assert await chat.method() is Method.SCHEMA
    await chat.close()


async def test_one_bad_reply_of_an_obedient_model_is_left_to_be_repaired(
    ollama: OllamaScript,
) -> None:
    chat = OllamaChat(Endpoint(ollama.url, "small:1b", "ollama"), context=2048)
    ollama.replies = [GOOD, PROSE, PROSE, GOOD, GOOD]
    texts = [(await chat.complete(talk([]), SCHEMA)).text for _ in range(4)]
    assert texts == [GOOD.pieces[0], PROSE.pieces[0], GOOD.pieces[0], GOOD.pieces[0]]
    assert [one.get("format") for one in ollama.requests] == [
        SCHEMA,
        SCHEMA,
        SCHEMA,
        "json",
        SCHEMA,
    ]
    await chat.close()


async def test_a_model_that_follows_nothing_seldom_costs_more_than_one_call(
    ollama: OllamaScript,
) -> None:
    chat = OllamaChat(Endpoint(ollama.url, "small:1b", "ollama"), context=2048)
    ollama.replies = [*[PROSE] * (4 + REST), GOOD]
    for _ in range(1 + REST):
        await chat.complete(talk([]), SCHEMA)
    assert len(ollama.replies) == 2
    assert (await chat.complete(talk([]), SCHEMA)).text == GOOD.pieces[0]
    assert await chat.method() is Method.JSON
    await chat.close()
