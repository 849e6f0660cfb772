"""Embeddings of a running runtime, as unchanged clients of Ollama ask for them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import ollama
import psutil
import pytest
from langchain_ollama import OllamaEmbeddings

from agent.runtime.config import RuntimeConfig
from agent.runtime.process import RuntimeAddress, ensure_runtime, stop
from agent.runtime.weights import ensure_weights
from tests.runtime_clients import (
    EMBEDDING,
    PATIENCE_SECONDS,
    chat_model,
    embeddings,
    http,
    make_config,
    reach,
)

pytestmark = pytest.mark.lite


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
