"""Chat with a running runtime, as unchanged clients of Ollama do it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import httpx
import psutil
import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_ollama import OllamaLLM
from pydantic import BaseModel, Field

from agent.runtime.config import RuntimeConfig
from agent.runtime.generation import Finish, Piece, chat_call, generate
from agent.runtime.llama import load_runner
from agent.runtime.process import RuntimeAddress, ensure_runtime, stop
from agent.runtime.protocol import ChatRequest, Message, Options
from agent.runtime.weights import ensure_weights
from schemas.errors import ModelError
from tests.runtime_clients import (
    CHAT,
    chat_model,
    embeddings,
    eventually,
    http,
    make_config,
    ollama_client,
    reach,
)

pytestmark = [pytest.mark.lite, pytest.mark.model]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RuntimeConfig]:
    config = make_config(tmp_path_factory.mktemp("runtime"))
    yield config
    stop(config)


@pytest.fixture
def address(shared: RuntimeConfig) -> RuntimeAddress:
    """Of a running runtime without a chat model."""
    return ensure_runtime(shared, weights=False)


@pytest.fixture
def chatting(shared: RuntimeConfig) -> RuntimeAddress:
    """Of the same runtime, with the small chat model on disk."""
    return ensure_runtime(shared)


class Condition(BaseModel):
    field: Literal["department", "year"]
    op: Literal["==", ">", "<"]
    value: int | str


class Filter(BaseModel):
    conditions: list[Condition] = Field(max_length=2)


def test_chat_of_an_unchanged_client(chatting: RuntimeAddress) -> None:
    answer = chat_model(chatting, validate_model_on_init=True).invoke("Say hello in one word.")
    assert answer.text
    assert answer.response_metadata["done"] is True
    assert answer.response_metadata["done_reason"] == "stop"
    assert answer.usage_metadata is not None
    assert answer.usage_metadata["output_tokens"] > 0
    assert answer.usage_metadata["input_tokens"] > 5


def test_streams_end_with_done(chatting: RuntimeAddress) -> None:
    chunks = list(chat_model(chatting).stream("Count from 1 to 5 in digits."))
    assert len(chunks) > 5
    assert "".join(c.text for c in chunks).count("3") >= 1

    async def later() -> int:
        return len([c async for c in chat_model(chatting).astream("Count from 1 to 5 in digits.")])

    assert asyncio.run(later()) > 5


@pytest.mark.parametrize("stream", [True, False])
def test_format_binds_the_answer(chatting: RuntimeAddress, stream: bool) -> None:
    question = "A filter for documents of the finance department after 2020, as JSON"
    model = chat_model(chatting, disable_streaming=not stream)
    structured = model.with_structured_output(Filter, method="json_schema")
    assert isinstance(structured.invoke(question), Filter)
    with http(chatting) as client:
        body = {
            "model": CHAT,
            "messages": [{"role": "user", "content": 'Give the JSON object {"a": 1}'}],
            "format": "json",
            "stream": False,
            "options": {"temperature": 0, "num_predict": 40},
        }
        content = client.post("/api/chat", json=body).json()["message"]["content"]
        assert isinstance(json.loads(content), dict)


def test_limits_stops_and_logprobs(chatting: RuntimeAddress) -> None:
    cut = chat_model(chatting, num_predict=3).invoke("Tell me a long story.")
    assert cut.response_metadata["done_reason"] == "length"
    stopped = chat_model(chatting, stop=["3"]).invoke("Count from 1 to 5 in digits: 1, 2, ")
    assert "3" not in stopped.text
    scored = chat_model(chatting, logprobs=True, top_logprobs=2, num_predict=2).invoke("Yes or no?")
    found = scored.response_metadata["logprobs"]
    assert len(found[0]["top_logprobs"]) == 2
    assert found[0]["logprob"] <= 0


def test_seeded_answers_repeat(chatting: RuntimeAddress) -> None:
    model = chat_model(chatting, temperature=1.0, seed=7, num_predict=12)
    assert model.invoke("Name an animal.").text == model.invoke("Name an animal.").text


def test_generate_of_an_unchanged_client(chatting: RuntimeAddress) -> None:
    fields = {**reach(chatting, CHAT), "num_predict": 8, "temperature": 0}
    client = OllamaLLM.model_validate(fields)
    assert client.invoke("What is the capital of France? One word.")
    with http(chatting) as plain:
        body = {
            "model": CHAT,
            "prompt": "def add(a, b):\n    return",
            "raw": True,
            "stream": False,
            "options": {"temperature": 0, "num_predict": 5},
        }
        assert "a + b" in plain.post("/api/generate", json=body).json()["response"]


@pytest.mark.parametrize(
    ("changes", "status_code", "error"),
    [
        ({"think": True}, 400, f'"{CHAT}" does not support thinking'),
        ({"tools": [{"type": "function"}]}, 400, f'"{CHAT}" does not support tools'),
        ({"messages": [{"role": "user", "content": "word " * 3000}]}, 400, "exceeds the available"),
        ({"format": {"$ref": "#/$defs/missing"}}, 400, "$defs/missing"),
    ],
)
def test_refusals(
    chatting: RuntimeAddress, changes: dict[str, object], status_code: int, error: str
) -> None:
    body = {"model": CHAT, "messages": [{"role": "user", "content": "hi"}], **changes}
    with http(chatting) as client:
        for stream in (True, False):
            answer = client.post("/api/chat", json={**body, "stream": stream})
            assert answer.status_code == status_code
            assert error in answer.json()["error"]


def test_model_is_loaded_listed_and_unloaded(chatting: RuntimeAddress) -> None:
    client = ollama_client(chatting)
    assert CHAT in {m.model for m in client.list().models}
    assert client.show(CHAT).capabilities == ["completion"]
    assert client.generate(CHAT).done_reason == "load"
    assert CHAT in {m.model for m in client.ps().models}
    assert client.generate(CHAT, keep_alive=0).done_reason == "unload"
    assert CHAT not in {m.model for m in client.ps().models}
    client.chat(CHAT, [{"role": "user", "content": "hi"}], options={"num_predict": 1})
    assert CHAT in {m.model for m in client.ps().models}
    client.chat(CHAT, [{"role": "user", "content": "hi"}], keep_alive=0)
    assert eventually(lambda: CHAT not in {m.model for m in client.ps().models})


def test_larger_context_is_loaded_when_asked_for(chatting: RuntimeAddress) -> None:
    client = ollama_client(chatting)
    long = [{"role": "user", "content": "word " * 1100 + "\nSay yes."}]
    answer = client.chat(CHAT, long, options={"num_ctx": 1536, "num_predict": 2})
    assert answer.prompt_eval_count is not None
    assert answer.prompt_eval_count > 1024


def endless(*, stream: bool = True) -> dict[str, Any]:
    """A request that takes many minutes: the schema does not let the model end early."""
    row = {"type": "array", "items": {"type": "integer"}, "minItems": 100}
    return {
        "model": CHAT,
        "messages": [{"role": "user", "content": "Write rows of numbers, as JSON."}],
        "format": {"type": "array", "items": row, "minItems": 500},
        "stream": stream,
        "options": {"num_predict": 8000, "num_ctx": 8192},
    }


@pytest.mark.parametrize("stream", [True, False])
def test_client_that_goes_away_cancels_its_generation(
    chatting: RuntimeAddress, stream: bool
) -> None:
    body = endless(stream=stream)
    with http(chatting) as client:
        client.post("/api/generate", json={"model": CHAT, "options": body["options"]})
        if stream:
            with client.stream("POST", "/api/chat", json=body) as response:
                assert json.loads(next(response.iter_lines()))["done"] is False
        else:
            with pytest.raises(httpx.ReadTimeout):
                client.post("/api/chat", json=body, timeout=1.0)
        assert eventually(lambda: client.get("/api/version").json()["under_way"] == 0)
        body |= {"stream": False, "options": {"num_predict": 2}}
        short = client.post("/api/chat", json=body)
        assert short.json()["eval_count"] == 2


def test_embedding_does_not_wait_for_generation(chatting: RuntimeAddress) -> None:
    body = endless()
    with http(chatting) as client, client.stream("POST", "/api/chat", json=body) as response:
        lines = response.iter_lines()
        assert json.loads(next(lines))["done"] is False
        assert len(embeddings(chatting).embed_query("meanwhile")) == 512
        assert json.loads(next(lines))["done"] is False


def test_llama_process_that_falls_over_is_an_error_then_loaded_again(
    chatting: RuntimeAddress,
) -> None:
    body = endless()
    with http(chatting) as client:
        with client.stream("POST", "/api/chat", json=body) as response:
            lines = response.iter_lines()
            assert json.loads(next(lines))["done"] is False
            for process in psutil.Process(chatting.pid).children():
                if "agent.runtime.llama" in process.cmdline():
                    process.kill()
            last = json.loads(list(lines)[-1])
        assert last == {"error": "llama runner process has terminated"}
        again = client.post(
            "/api/chat", json={**body, "stream": False, "options": {"num_predict": 1}}
        )
        assert again.json()["done"] is True


async def test_shared_beginning_of_prompts_is_read_once(tmp_path: Path) -> None:
    path = ensure_weights(make_config(tmp_path))
    system = Message(role="system", content="You answer briefly. " * 60)

    async def ask(question: str) -> Finish:
        request = ChatRequest(
            model=CHAT,
            messages=[system, Message(role="user", content=question)],
            options=Options(temperature=0, num_predict=4),
        )
        async with httpx.AsyncClient(timeout=120) as client:
            items = [item async for item in generate(client, runner, chat_call(request))]
        assert all(isinstance(item, Piece) for item in items[:-1])
        last = items[-1]
        assert isinstance(last, Finish)
        return last

    with (tmp_path / "log").open("wb") as log:
        runner = await load_runner(path, context=1024, threads=1, embedding=False, log=log)
        try:
            first = await ask("What is 2 + 2?")
            second = await ask("Which colour has the sky?")
        finally:
            await runner.stop()
    assert first.cached_tokens == 0
    assert second.cached_tokens > 0.9 * first.prompt_tokens


async def test_file_that_is_no_model_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF\x03\0\0\0" + bytes(100))
    with (tmp_path / "log").open("wb") as log, pytest.raises(ModelError, match="broken"):
        await load_runner(path, context=512, threads=1, embedding=False, log=log)


def test_messages_of_langchain_arrive(chatting: RuntimeAddress) -> None:
    messages = [
        SystemMessage("Whatever is said, answer with the single word: banana"),
        HumanMessage("What is your favourite fruit?"),
    ]
    assert "banana" in chat_model(chatting).invoke(messages).text.lower()
