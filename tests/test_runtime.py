"""The background process as its clients see it: started, used, killed, found again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import httpx
import ollama
import platformdirs
import psutil
import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_ollama import ChatOllama, OllamaEmbeddings, OllamaLLM
from pydantic import BaseModel, Field
from pymilvus import MilvusClient

from agent.runtime.config import RuntimeConfig
from agent.runtime.generation import Finish, Piece, chat_call, generate
from agent.runtime.llama import load_runner
from agent.runtime.lock import LockRecord, ProcessMark, read_record, write_record
from agent.runtime.process import RuntimeAddress, ensure_runtime, status, stop
from agent.runtime.protocol import ChatRequest, Message, Options
from agent.runtime.weights import ensure_weights
from schemas.errors import ModelError, RuntimeUnavailable

pytestmark = pytest.mark.lite

CHAT = "qwen2.5-coder:0.5b"
EMBEDDING = "use-multilingual-v3"
PATIENCE_SECONDS = 60
MODELS = Path(os.environ.get("FACETWISE_TEST_MODELS", platformdirs.user_cache_dir("facetwise")))


def make_config(folder: Path, **changes: object) -> RuntimeConfig:
    base = {"data_dir": folder / "data", "cache_dir": MODELS, "chat_model": CHAT, "context": 1024}
    return RuntimeConfig.model_validate({**base, **changes})


def eventually(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.05)
    return False


@pytest.fixture
def config(tmp_path: Path) -> Iterator[RuntimeConfig]:
    """Of a runtime that the test starts itself."""
    config = make_config(tmp_path)
    yield config
    stop(config)


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


def reach(address: RuntimeAddress, model: str) -> dict[str, Any]:
    """Connection settings of an unchanged client; connections are not kept, so none stays open."""
    limits = httpx.Limits(max_keepalive_connections=0)
    kwargs = {"headers": address.headers, "limits": limits}
    return {"model": model, "base_url": address.ollama_url, "client_kwargs": kwargs}


def embeddings(address: RuntimeAddress) -> OllamaEmbeddings:
    return OllamaEmbeddings.model_validate(reach(address, EMBEDDING))


def chat_model(address: RuntimeAddress, **changes: object) -> ChatOllama:
    fields = {**reach(address, CHAT), "temperature": 0, "num_predict": 60}
    return ChatOllama.model_validate({**fields, **changes})


def ollama_client(address: RuntimeAddress) -> ollama.Client:
    limits = httpx.Limits(max_keepalive_connections=0)
    return ollama.Client(address.ollama_url, headers=address.headers, limits=limits)


def http(address: RuntimeAddress) -> httpx.Client:
    return httpx.Client(base_url=address.ollama_url, headers=address.headers, timeout=120)


def owner_of(config: RuntimeConfig) -> LockRecord:
    record = read_record(config.record_path)
    assert record is not None
    return record


def fill(address: RuntimeAddress) -> None:
    client = MilvusClient(address.milvus_uri)
    client.create_collection("notes", dimension=2)
    client.insert("notes", [{"id": n, "vector": [1.0, float(n)]} for n in range(5)])
    client.close()


def count(address: RuntimeAddress) -> int:
    client = MilvusClient(address.milvus_uri)
    client.load_collection("notes")
    rows = client.query("notes", filter="id >= 0", output_fields=["id"])
    client.close()
    return len(rows)


def test_second_call_finds_the_first_runtime(config: RuntimeConfig) -> None:
    assert status(config) is None
    first = ensure_runtime(config, weights=False)
    assert ensure_runtime(config, weights=False) == first
    found = status(config)
    assert found is not None
    assert found.address == first
    assert found.answers
    assert found.memory > 0
    assert stop(config)
    assert status(config) is None
    assert not stop(config)


def test_nothing_is_left_after_stop(config: RuntimeConfig) -> None:
    address = ensure_runtime(config, weights=False)
    embeddings(address).embed_query("a worker is up")
    family = [psutil.Process(address.pid), *psutil.Process(address.pid).children(recursive=True)]
    assert len(family) >= 3
    stop(config)
    assert eventually(lambda: not any(p.is_running() for p in family))
    record = owner_of(config)
    assert (record.owner, record.milvus) == (None, None)


def test_two_terminals_at_the_same_moment(config: RuntimeConfig) -> None:
    code = (
        "import sys\n"
        "from agent.runtime.config import RuntimeConfig\n"
        "from agent.runtime.process import ensure_runtime\n"
        "config = RuntimeConfig.model_validate_json(sys.argv[1])\n"
        "print(ensure_runtime(config, weights=False))"
    )
    command = [sys.executable, "-c", code, config.model_dump_json()]
    terminals = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path.cwd())
        for _ in range(3)
    ]
    answers = {terminal.communicate(timeout=PATIENCE_SECONDS)[0] for terminal in terminals}
    assert len(answers) == 1
    assert str(owner_of(config).http_port) in answers.pop()


def test_killed_runtime_is_replaced_at_the_same_address(config: RuntimeConfig) -> None:
    first = ensure_runtime(config, weights=False)
    fill(first)
    milvus = owner_of(config).milvus
    assert milvus is not None
    os.kill(first.pid, signal.SIGKILL)
    assert eventually(lambda: status(config) is None)
    second = ensure_runtime(config, weights=False)
    assert second.pid != first.pid
    assert milvus.process() is None
    assert (second.ollama_url, second.milvus_uri, second.token) == (
        first.ollama_url,
        first.milvus_uri,
        first.token,
    )
    assert count(second) == 5


def test_orphan_of_a_killed_runtime_is_ended(config: RuntimeConfig) -> None:
    ensure_runtime(config, weights=False)
    stop(config)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as orphan:
        left = owner_of(config).model_copy(update={"milvus": ProcessMark.of(orphan.pid)})
        write_record(config.record_path, left)
        ensure_runtime(config, weights=False)
        assert orphan.wait(timeout=PATIENCE_SECONDS) == -signal.SIGTERM


def test_milvus_that_falls_over_is_started_again(config: RuntimeConfig) -> None:
    address = ensure_runtime(config, weights=False)
    fill(address)
    before = owner_of(config).milvus
    assert before is not None
    os.kill(before.pid, signal.SIGKILL)
    assert eventually(lambda: owner_of(config).milvus not in (before, None))
    assert ensure_runtime(config, weights=False) == address
    assert count(address) == 5


def test_idle_runtime_ends_when_the_last_client_of_milvus_has_gone(tmp_path: Path) -> None:
    config = make_config(tmp_path, idle_minutes=0.05)
    code = (
        "import sys\n"
        "from pymilvus import MilvusClient\n"
        "print('ready', flush=True)\n"
        "client = MilvusClient(sys.stdin.readline().strip())\n"
        "print(client.list_collections(), flush=True)\n"
        "sys.stdin.read()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], text=True, bufsize=1, **pipes) as client:
        assert client.stdin is not None
        assert client.stdout is not None
        assert client.stdout.readline() == "ready\n"
        address = ensure_runtime(config, weights=False)
        client.stdin.write(f"{address.milvus_uri}\n")
        assert client.stdout.readline() == "[]\n"
        time.sleep(5)
        assert owner_of(config).alive(), "ended under a connected client"
    assert eventually(lambda: not owner_of(config).alive())
    assert owner_of(config).owner is None


def test_another_version_or_other_settings_replace_it(config: RuntimeConfig) -> None:
    first = ensure_runtime(config, weights=False)
    write_record(config.record_path, owner_of(config).model_copy(update={"version": "0.0.1"}))
    second = ensure_runtime(config, weights=False)
    other = config.model_copy(update={"context": 4096})
    third = ensure_runtime(other, weights=False)
    assert len({first.pid, second.pid, third.pid}) == 3
    assert {first.ollama_url, second.ollama_url} == {third.ollama_url}


def test_failure_to_start_says_why(config: RuntimeConfig) -> None:
    config.data_dir.mkdir()
    config.milvus_dir.write_text("not a directory")
    with pytest.raises(RuntimeUnavailable, match=r"Milvus Lite ended with code") as caught:
        ensure_runtime(config, weights=False)
    assert str(config.log_path) in caught.value.remedy
    assert status(config) is None


def test_only_the_loopback_is_listened_on(address: RuntimeAddress) -> None:
    family = [psutil.Process(address.pid), *psutil.Process(address.pid).children(recursive=True)]
    listening = {
        connection.laddr.ip.removeprefix("::ffff:")
        for process in family
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening == {"127.0.0.1"}


def test_embeddings_of_an_unchanged_client(address: RuntimeAddress) -> None:
    client = embeddings(address)
    texts = ["a black cat", "财务报告", "", "   ", "a dark kitten", "financial report"]
    vectors = client.embed_documents(texts)
    assert {len(v) for v in vectors} == {512}
    for vector in vectors:
        assert sum(x * x for x in vector) == pytest.approx(1.0, abs=1e-4)

    def similar(a: int, b: int) -> float:
        return sum(x * y for x, y in zip(vectors[a], vectors[b], strict=True))

    assert similar(0, 4) > similar(0, 5)
    assert similar(1, 5) > similar(1, 4)
    assert client.embed_query("a black cat") == pytest.approx(vectors[0], abs=1e-5)
    assert asyncio.run(client.aembed_query("x")) == pytest.approx(client.embed_query("x"))


def test_order_is_kept_in_a_large_batch(address: RuntimeAddress) -> None:
    texts = [f"document number {n} about subject {n * 7}" for n in range(150)]
    together = embeddings(address).embed_documents(texts)
    for n in (0, 31, 32, 33, 64, 149):
        assert embeddings(address).embed_query(texts[n]) == pytest.approx(together[n], abs=1e-4)


def test_embed_options(address: RuntimeAddress) -> None:
    long = "word " * 9000
    with http(address) as client:
        cut = client.post("/api/embed", json={"model": EMBEDDING, "input": long})
        assert len(cut.json()["embeddings"][0]) == 512
        assert cut.json()["prompt_eval_count"] == 4096
        body = {"model": EMBEDDING, "input": ["short", long], "truncate": False}
        refused = client.post("/api/embed", json=body)
        assert refused.status_code == 400
        assert refused.json() == {"error": "the input length exceeds the context length"}
        body = {"model": EMBEDDING, "input": "a cat", "dimensions": 16}
        short = client.post("/api/embed", json=body).json()["embeddings"][0]
        assert len(short) == 16
        assert sum(x * x for x in short) == pytest.approx(1.0, abs=1e-4)
        old = client.post("/api/embeddings", json={"model": EMBEDDING, "prompt": "a cat"})
        assert len(old.json()["embedding"]) == 512


def test_embedding_worker_that_falls_over_is_replaced(address: RuntimeAddress) -> None:
    client = embeddings(address)
    before = client.embed_query("again")
    workers = [
        process
        for process in psutil.Process(address.pid).children()
        if "agent.runtime.encoder" in process.cmdline()
    ]
    assert workers
    for worker in workers:
        worker.kill()
        worker.wait(PATIENCE_SECONDS)
    assert client.embed_query("again") == before


def test_missing_model_is_a_404_to_unchanged_clients(address: RuntimeAddress) -> None:
    with pytest.raises(ollama.ResponseError, match="model 'nope' not found") as caught:
        chat_model(address, model="nope").invoke("hello")
    assert caught.value.status_code == 404
    with pytest.raises(ValueError, match="nope"):
        chat_model(address, model="nope", validate_model_on_init=True)


class Condition(BaseModel):
    field: Literal["department", "year"]
    op: Literal["==", ">", "<"]
    value: int | str


class Filter(BaseModel):
    conditions: list[Condition] = Field(max_length=2)


@pytest.mark.model
def test_chat_of_an_unchanged_client(chatting: RuntimeAddress) -> None:
    answer = chat_model(chatting, validate_model_on_init=True).invoke("Say hello in one word.")
    assert answer.text
    assert answer.response_metadata["done"] is True
    assert answer.response_metadata["done_reason"] == "stop"
    assert answer.usage_metadata is not None
    assert answer.usage_metadata["output_tokens"] > 0
    assert answer.usage_metadata["input_tokens"] > 5


@pytest.mark.model
def test_streams_end_with_done(chatting: RuntimeAddress) -> None:
    chunks = list(chat_model(chatting).stream("Count from 1 to 5 in digits."))
    assert len(chunks) > 5
    assert "".join(c.text for c in chunks).count("3") >= 1

    async def later() -> int:
        return len([c async for c in chat_model(chatting).astream("Count from 1 to 5 in digits.")])

    assert asyncio.run(later()) > 5


@pytest.mark.model
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


@pytest.mark.model
def test_limits_stops_and_logprobs(chatting: RuntimeAddress) -> None:
    cut = chat_model(chatting, num_predict=3).invoke("Tell me a long story.")
    assert cut.response_metadata["done_reason"] == "length"
    stopped = chat_model(chatting, stop=["3"]).invoke("Count from 1 to 5 in digits: 1, 2, ")
    assert "3" not in stopped.text
    scored = chat_model(chatting, logprobs=True, top_logprobs=2, num_predict=2).invoke("Yes or no?")
    found = scored.response_metadata["logprobs"]
    assert len(found[0]["top_logprobs"]) == 2
    assert found[0]["logprob"] <= 0


@pytest.mark.model
def test_seeded_answers_repeat(chatting: RuntimeAddress) -> None:
    model = chat_model(chatting, temperature=1.0, seed=7, num_predict=12)
    assert model.invoke("Name an animal.").text == model.invoke("Name an animal.").text


@pytest.mark.model
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


@pytest.mark.model
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


@pytest.mark.model
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


@pytest.mark.model
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


@pytest.mark.model
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


@pytest.mark.model
def test_embedding_does_not_wait_for_generation(chatting: RuntimeAddress) -> None:
    body = endless()
    with http(chatting) as client, client.stream("POST", "/api/chat", json=body) as response:
        lines = response.iter_lines()
        assert json.loads(next(lines))["done"] is False
        assert len(embeddings(chatting).embed_query("meanwhile")) == 512
        assert json.loads(next(lines))["done"] is False


@pytest.mark.model
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


@pytest.mark.model
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


@pytest.mark.model
async def test_file_that_is_no_model_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF\x03\0\0\0" + bytes(100))
    with (tmp_path / "log").open("wb") as log, pytest.raises(ModelError, match="broken"):
        await load_runner(path, context=512, threads=1, embedding=False, log=log)


@pytest.mark.model
def test_messages_of_langchain_arrive(chatting: RuntimeAddress) -> None:
    messages = [
        SystemMessage("Whatever is said, answer with the single word: banana"),
        HumanMessage("What is your favourite fruit?"),
    ]
    assert "banana" in chat_model(chatting).invoke(messages).text.lower()


@pytest.mark.model
def test_gguf_file_serves_as_embedding_model(tmp_path: Path) -> None:
    path = ensure_weights(make_config(tmp_path))
    config = make_config(tmp_path, embedding_model=str(path), context=512)
    address = ensure_runtime(config, weights=False)
    try:
        client = OllamaEmbeddings.model_validate(reach(address, str(path)))
        texts = ["a black cat", "", "a dark kitten", "the annual budget of the ministry"] * 5
        vectors = client.embed_documents(texts)
        assert vectors[0] == pytest.approx(vectors[4], abs=1e-3)
        assert vectors[19] == pytest.approx(vectors[3], abs=1e-3)
        for vector in vectors:
            assert sum(x * x for x in vector) == pytest.approx(1.0, abs=1e-4)
        with http(address) as plain:
            long = {"model": str(path), "input": "word " * 1000}
            assert plain.post("/api/embed", json=long).json()["prompt_eval_count"] == 512
            refused = plain.post("/api/embed", json={**long, "truncate": False})
            assert refused.json() == {"error": "the input length exceeds the context length"}
            listed = plain.get("/api/ps").json()["models"]
            assert [m["name"] for m in listed] == [f"{path}:latest"]
    finally:
        stop(config)
