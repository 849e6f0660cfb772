"""The runtime's reading of Ollama's protocol, where no model is needed."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import ASGIApp

from agent.runtime.catalogue import canonical
from agent.runtime.config import RuntimeConfig
from agent.runtime.encoder import CuttingTokenizer, TooLong
from agent.runtime.protocol import (
    FOREVER,
    ApiError,
    ChatRequest,
    EmbedRequest,
    parse_body,
    parse_duration,
)
from agent.runtime.server import Activity, build_app

TOKEN = "secret-token"


def config(folder: Path, **changes: object) -> RuntimeConfig:
    base = {"data_dir": folder / "data", "cache_dir": folder / "cache"}
    return RuntimeConfig.model_validate({**base, **changes})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("", None),
        (0, timedelta(0)),
        ("0", timedelta(0)),
        (90, timedelta(seconds=90)),
        (1.5, timedelta(seconds=1.5)),
        ("5m", timedelta(minutes=5)),
        ("1h30m", timedelta(hours=1, minutes=30)),
        ("1.5h", timedelta(minutes=90)),
        ("250ms", timedelta(milliseconds=250)),
        ("45", timedelta(seconds=45)),
        (-1, FOREVER),
        ("-1m", FOREVER),
        (float("inf"), FOREVER),
        (10**18, FOREVER),
    ],
)
def test_durations(value: object, expected: timedelta | None) -> None:
    assert parse_duration(value) == expected


@pytest.mark.parametrize("value", ["5 m", "m", "5x", "5m!", "--", True, [], {}])
def test_what_is_no_duration(value: object) -> None:
    with pytest.raises(ValueError, match="duration"):
        parse_duration(value)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("model", "model:latest"),
        ("model:latest", "model:latest"),
        ("Model:1.5B", "model:1.5b"),
        (" model ", "model:latest"),
        ("library/model", "library/model:latest"),
        ("host:5000/model", "host:5000/model:latest"),
        ("/models/a.gguf", "/models/a.gguf:latest"),
    ],
)
def test_names_are_matched_as_ollama_does(name: str, expected: str) -> None:
    assert canonical(name) == expected
    assert canonical(expected) == expected


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "missing request body"),
        (b"  ", "missing request body"),
        (b"{", "invalid JSON"),
        (b"[" * 100_000, "invalid JSON"),
        (b"[]", "invalid request"),
        (b'"text"', "invalid request"),
        (b'{"model": 5}', "model"),
        (b'{"model": "m", "messages": [{"role": "king", "content": "x"}]}', "messages.0.role"),
        (b'{"model": "m", "format": "yaml"}', "format"),
        (b'{"model": "m", "keep_alive": "soon"}', "keep_alive"),
        (b'{"model": "m", "options": {"num_ctx": 0}}', "options.num_ctx"),
        (b'{"model": "m", "top_logprobs": 21}', "top_logprobs"),
    ],
)
def test_bad_bodies_are_answered_400(body: bytes, message: str) -> None:
    with pytest.raises(ApiError) as caught:
        parse_body(ChatRequest, body)
    assert caught.value.status == 400
    assert message in caught.value.message


def test_unknown_keys_and_nulls_pass() -> None:
    body = b'{"model": "m", "new_key": 1, "options": {"temperature": null, "num_gpu": 1}}'
    request = parse_body(ChatRequest, body)
    assert request.options is not None
    assert request.options.temperature is None


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (rb"a\ud800b", "a\N{REPLACEMENT CHARACTER}b"),
        (rb"\ud83d\ude00", "\N{GRINNING FACE}"),
        (b"a\xffb", "a\N{REPLACEMENT CHARACTER}b"),
        (rb"\u0000", "\0"),
    ],
)
def test_text_that_utf8_cannot_write_is_mended(written: bytes, read: str) -> None:
    body = b'{"model": "m", "input": ["' + written + b'"]}'
    assert parse_body(EmbedRequest, body).input == [read]


@given(st.lists(st.text()))
def test_any_text_arrives_as_it_was_sent(texts: list[str]) -> None:
    body = EmbedRequest(model="m", input=texts).model_dump_json().encode()
    assert parse_body(EmbedRequest, body).input == texts


class Letters:
    """A tokenizer of one token for each character, between a begin and an end."""

    def encode(self, text: str, **_options: Any) -> list[int]:
        return [1, *map(ord, text), 2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", [1, 2]), ("ab", [1, 97, 98, 2]), ("abcdef", [1, 97, 98, 2])],
)
def test_long_text_is_cut_before_its_end_token(text: str, expected: list[int]) -> None:
    cutting = CuttingTokenizer(Letters(), limit=4)
    assert cutting.encode(text) == expected
    assert cutting.tokens == len(expected)


def test_long_text_is_refused_when_it_may_not_be_cut() -> None:
    cutting = CuttingTokenizer(Letters(), limit=4)
    cutting.truncate = False
    assert cutting.encode("ab") == [1, 97, 98, 2]
    with pytest.raises(TooLong):
        cutting.encode("abc")


@pytest.fixture
def app(tmp_path: Path) -> ASGIApp:
    return build_app(config(tmp_path), TOKEN, Activity(), io.BytesIO())


@pytest.fixture
async def client(app: ASGIApp) -> AsyncIterator[httpx.AsyncClient]:
    """Talks to the application in this process; no weights are there."""
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app),
        base_url="http://runtime",
        headers={"Authorization": f"Bearer {TOKEN}"},
    ) as client:
        yield client


@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}]
)
@pytest.mark.parametrize("path", ["/api/version", "/api/tags", "/api/nothing"])
async def test_nothing_under_api_without_the_token(
    app: ASGIApp, headers: dict[str, str], path: str
) -> None:
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://runtime"
    ) as anyone:
        answer = await anyone.get(path, headers=headers)
        assert answer.status_code == 401
        assert answer.json() == {"error": "unauthorized"}
        assert (await anyone.get("/")).text == "Ollama is running"
        assert (await anyone.head("/")).status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "status", "error"),
    [
        ("chat", {"model": "nope"}, 404, "model 'nope' not found"),
        ("generate", {"model": "nope"}, 404, "model 'nope' not found"),
        ("embed", {"model": "nope", "input": "x"}, 404, "model 'nope' not found"),
        ("embeddings", {"model": "nope", "prompt": "x"}, 404, "model 'nope' not found"),
        ("show", {"model": "nope"}, 404, "model 'nope' not found"),
        ("chat", {"model": "qwen2.5-coder:1.5b"}, 404, "model 'qwen2.5-coder:1.5b' not found"),
        ("chat", {}, 400, "model is required"),
        (
            "chat",
            {"model": "use-multilingual-v3"},
            400,
            '"use-multilingual-v3" does not support chat',
        ),
        (
            "generate",
            {"model": "USE-multilingual-v3:latest"},
            400,
            '"USE-multilingual-v3:latest" does not support generate',
        ),
        ("embed", {"model": "use-multilingual-v3"}, 400, "input is required"),
    ],
)
async def test_errors_are_ollamas(
    client: httpx.AsyncClient, path: str, body: dict[str, object], status: int, error: str
) -> None:
    for stream in (True, False):
        answer = await client.post(f"/api/{path}", json={**body, "stream": stream})
        assert (answer.status_code, answer.json()) == (status, {"error": error})


async def test_routes_and_methods(client: httpx.AsyncClient) -> None:
    assert (await client.get("/api/nothing")).status_code == 404
    assert (await client.get("/api/chat")).status_code == 405
    assert (await client.post("/api/chat", content=b"{")).status_code == 400
    assert (await client.get("/api/version")).json()["pid"] == os.getpid()
    assert (await client.get("/api/ps")).json() == {"models": []}


async def test_built_in_encoder_is_listed_and_shown(client: httpx.AsyncClient) -> None:
    listed = (await client.get("/api/tags")).json()["models"]
    assert [m["name"] for m in listed] == ["use-multilingual-v3:latest"]
    shown = await client.post("/api/show", json={"model": "use-multilingual-v3"})
    assert shown.json()["capabilities"] == ["embedding"]


async def test_no_input_gives_no_vectors(client: httpx.AsyncClient) -> None:
    body = {"model": "use-multilingual-v3", "input": []}
    answer = await client.post("/api/embed", json=body)
    assert answer.json()["embeddings"] == []
    assert answer.json()["prompt_eval_count"] == 0


async def test_activity_knows_what_is_under_way(tmp_path: Path) -> None:
    activity = Activity()
    guarded = build_app(config(tmp_path), TOKEN, activity, io.BytesIO())
    blocked = asyncio.Event()

    async def receive() -> dict[str, Any]:
        await blocked.wait()
        return {"type": "http.disconnect"}

    async def send(_message: Any) -> None:
        """Nobody reads."""

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/chat",
        "headers": [(b"authorization", f"Bearer {TOKEN}".encode())],
        "query_string": b"",
    }
    task = asyncio.ensure_future(guarded(scope, receive, send))
    await asyncio.sleep(0)
    assert activity.under_way == 1
    assert activity.idle_seconds() == 0.0
    task.cancel()
    await asyncio.wait({task})
    assert activity.under_way == 0
