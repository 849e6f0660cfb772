"""The HTTP service over a scripted model and a real Milvus Lite."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import httpx
import pytest
import uvicorn
from fastapi import Request
from langgraph.checkpoint.base import BaseCheckpointSaver

from agent.app import Agent
from agent.models.window import NoRoom
from agent.service.errors import headers_of, on_error
from agent.service.server import create_app
from agent.settings import Settings
from schemas.access import Principal
from schemas.errors import (
    FacetwiseError,
    ModelNotFound,
    ModelOutputCut,
    ModelUnavailable,
    RuntimeUnavailable,
    StoreUnavailable,
    UnknownKnowledgeBase,
)
from schemas.filters import EVERYTHING, Filter
from tests.ollama_server import OllamaScript, Stream, serving

pytestmark = pytest.mark.lite

DOCUMENTS = {
    "remote.md": "---\ndepartment: HR\ncategory: policy\n---\n\n"
    "Employees may work remotely on three days a week.\n",
    "travel.md": "---\ndepartment: Finance\ncategory: policy\n---\n\n"
    "The per diem for travel is 52 EUR a day.\n",
}


@pytest.fixture(scope="module")
def ollama() -> Iterator[OllamaScript]:
    with serving(OllamaScript()) as script:
        yield script


@pytest.fixture(scope="module")
def settings(
    ollama: OllamaScript, lite_settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> Settings:
    """A knowledge base `small` of two documents, embedded by the scripted server."""
    models = {"ollama_url": ollama.url, "chat": "small:1b", "embedding": "letters"}
    given = lite_settings.model_copy(
        update={"models": lite_settings.models.model_copy(update=models), "kb": "small"}
    )
    folder = tmp_path_factory.mktemp("documents")
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text)
    asyncio.run(_ingest(given, folder))
    return given


async def _ingest(settings: Settings, folder: Path) -> None:
    async with Agent(settings) as agent:
        report = await agent.ingest([folder])
        assert len(report.added) == len(DOCUMENTS), report


@contextmanager
def _serving(settings: Settings) -> Iterator[str]:
    config = uvicorn.Config(create_app(Agent(settings)), log_level="error")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def client(settings: Settings) -> Iterator[httpx.Client]:
    with _serving(settings) as url, httpx.Client(base_url=url, timeout=60) as client:
        yield client


HR = {"op": "eq", "field": "department", "value": "HR"}


def test_health(client: httpx.Client) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}


def test_knowledge_bases_and_their_schema(client: httpx.Client) -> None:
    assert "small" in client.get("/v1/kbs").json()["kbs"]
    fields = client.get("/v1/kbs/small/schema").json()["fields"]
    department = next(field for field in fields if field["name"] == "department")
    assert sorted(department["values"]) == ["Finance", "HR"]


def test_search_under_the_callers_filter(client: httpx.Client) -> None:
    body = {"question": "how many days", "mode": "manual", "filter": HR}
    found = client.post("/v1/search", json=body).json()
    assert [hit["doc_id"] for hit in found["hits"]] == ["remote.md"]
    assert found["filter"]["plan"] == "planned"
    assert found["filter"]["result"] == "matched"
    assert found["filter"]["conditions"][0]["origin"] == "caller"


def test_a_call_overrides_values_of_the_policy(client: httpx.Client) -> None:
    body = {"question": "how many days", "mode": "off"}
    both = client.post("/v1/search", json=body).json()
    assert (len(both["hits"]), both["problems"]) == (2, [])
    one = {"maxRetrievalResults": 1, "disabled-strategies": ["bosts"]}
    found = client.post("/v1/search", json={**body, "policy": one}).json()
    assert len(found["hits"]) == 1
    assert [problem["code"] for problem in found["problems"]] == ["unknown_strategy"]
    wrong = client.post("/v1/search", json={**body, "policy": {"top": 1}})
    assert wrong.status_code == 422


def test_a_plan_over_a_described_collection(client: httpx.Client) -> None:
    collection = {"name": "cars", "fields": [{"name": "price", "type": "int"}]}
    body = {"question": "hello", "collection": collection, "mode": "off"}
    plan = client.post("/v1/plan", json=body).json()
    assert plan["outcome"] == "no_filter"


def test_an_answer_as_json(client: httpx.Client, ollama: OllamaScript) -> None:
    ollama.replies = [Stream(("Three days a week. ", "[1", "] And [9] more."))]
    body = {"question": "How many days?", "mode": "manual", "filter": HR}
    answer = client.post("/v1/ask", json=body).json()
    assert answer["text"] == "Three days a week. [1] And  more."
    assert answer["cited"] == [1]
    assert answer["references"][0]["doc_id"] == "remote.md"
    assert answer["model"] == "small:1b"


def test_an_answer_streams_stages_then_text_then_filter_and_references(
    client: httpx.Client, ollama: OllamaScript
) -> None:
    ollama.replies = [Stream(("Three days. ", "[1]"))]
    body = {"question": "How many days?", "mode": "manual", "filter": HR, "stream": True}
    with client.stream("POST", "/v1/ask", json=body) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        frames = [frame for frame in response.read().decode().split("\n\n") if frame]
    kinds = [frame.split("\n")[0].removeprefix("event: ") for frame in frames]
    assert kinds[0] == "stage"
    assert kinds.index("plan") < kinds.index("text") < kinds.index("filter")
    assert kinds[-3:] == ["filter", "references", "done"]
    text = "".join(
        json.loads(frame.split("data: ")[1])
        for frame, kind in zip(frames, kinds, strict=True)
        if kind == "text"
    )
    assert text == "Three days. [1]"


def test_an_error_in_a_stream_is_its_last_event(client: httpx.Client) -> None:
    body = {"question": "q", "kb": "nowhere", "stream": True}
    with client.stream("POST", "/v1/ask", json=body) as response:
        last = response.read().decode().strip().split("\n\n")[-1]
    assert last.startswith("event: error")
    assert "nowhere" in last


@pytest.mark.parametrize(
    ("route", "body", "status", "words"),
    [
        ("/v1/search", {"question": "q", "kb": "nowhere"}, 404, "nowhere"),
        ("/v1/search", {"question": " "}, 400, "empty"),
        ("/v1/search", {"question": "q", "fliter": {}}, 422, "fliter"),
        ("/v1/search", {"question": "\ud800 owls"}, 422, "unicode"),
        ("/v1/ask", {"question": "q", "thread": "\ud800"}, 422, "thread"),
        ("/v1/search", {"question": "q", "mode": "magic"}, 422, "semi_auto"),
        (
            "/v1/search",
            {"question": "q", "top": 0},
            422,
            "top: Input should be greater than or equal to 1 (got 0)",
        ),
        (
            "/v1/search",
            {"question": "q", "polcy": {}},
            422,
            "unknown key 'polcy'; allowed: question, kb, kbs",
        ),
        (
            "/v1/search",
            {"question": "q", "filter": {"op": "like", "field": "department", "value": "x"}},
            422,
            "like",
        ),
        (
            "/v1/search",
            {"question": "q", "filter": {"op": "eq", "field": "dept", "value": "x"}},
            400,
            "department",
        ),
        ("/v1/plan", {"question": "q", "keys": ["dept"], "mode": "semi_auto"}, 400, "dept"),
    ],
)
def test_bad_input_is_named(
    client: httpx.Client, route: str, body: dict[str, object], status: int, words: str
) -> None:
    headers = {"content-type": "application/json"}
    response = client.post(route, content=json.dumps(body), headers=headers)
    assert response.status_code == status
    assert words in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ModelUnavailable("away"), 503),
        (StoreUnavailable("away"), 503),
        (RuntimeUnavailable("away"), 503),
        (ModelOutputCut("cut"), 503),
        (NoRoom("too long"), 500),
        (ModelNotFound("none"), 500),
        (UnknownKnowledgeBase("none"), 404),
    ],
)
def test_only_what_may_pass_is_worth_another_try(error: FacetwiseError, status: int) -> None:
    request = Request({"type": "http"})
    response = asyncio.run(on_error(request, error))
    assert response.status_code == status
    assert ("retry-after" in response.headers) == (status == 503) == error.retryable


def test_a_cut_answer_says_when_to_come_again(client: httpx.Client, ollama: OllamaScript) -> None:
    ollama.replies = [Stream(("Three days",), end=None)]
    body = {"question": "How many days?", "mode": "manual", "filter": HR}
    response = client.post("/v1/ask", json=body)
    assert response.status_code == 503
    assert response.headers["retry-after"] == "5"
    assert response.json()["error"]["code"] == "model_output_cut"


def test_an_error_may_know_better_when_to_come_again() -> None:
    error = ModelUnavailable("busy")
    error.retry_after_s = 30
    assert headers_of(error) == {"Retry-After": "30"}


@pytest.mark.parametrize(
    ("grants", "names"),
    [({}, ()), ({"other": EVERYTHING}, ()), ({"small": EVERYTHING}, ("small",))],
)
def test_what_was_not_granted_does_not_exist(
    settings: Settings, grants: dict[str, Filter], names: tuple[str, ...]
) -> None:
    principal = Principal(name="p", grants=grants)

    async def look() -> tuple[str, ...]:
        async with Agent(settings) as agent:
            if not names:
                for work in (
                    agent.describe("small", principal),
                    agent.documents("small", principal),
                    agent.document("remote.md", "small", principal),
                    agent.search("q", kb="small", mode="off", principal=principal),
                    agent.ask("q", kb="small", mode="off", principal=principal),
                ):
                    with pytest.raises(UnknownKnowledgeBase):
                        await work
            return await agent.kbs(principal)

    assert asyncio.run(look()) == names


def test_threads_of_two_principals_are_two_threads(
    settings: Settings, ollama: OllamaScript
) -> None:
    """Whatever characters their names and threads have."""

    async def talk() -> set[str]:
        async with Agent(settings) as agent:
            grants = {"small": EVERYTHING}
            for name, thread in (("a", "b\x1fc"), ("a\x1fb", "c")):
                ollama.replies = [Stream(("Answer [1]",))]
                principal = Principal(name=name, grants=grants)
                await agent.ask("days", mode="off", thread=thread, principal=principal)
            threaded = await agent._threaded()
            assert threaded.checkpointer
            saver = cast("BaseCheckpointSaver[str]", threaded.checkpointer)
            return {item.config["configurable"]["thread_id"] async for item in saver.alist(None)}

    assert asyncio.run(talk()) >= {'["a", "b\\u001fc"]', '["a\\u001fb", "c"]'}


def test_a_client_that_leaves_cancels_its_work(client: httpx.Client, ollama: OllamaScript) -> None:
    """The script would stream for ever; the service hangs up on it when its own client is gone."""
    ollama.replies = [Stream(("word ",) * 100_000)]
    body = {"question": "How many days?", "mode": "manual", "filter": HR, "stream": True}
    with client.stream("POST", "/v1/ask", json=body) as response:
        for line in response.iter_lines():
            if line.startswith("event: text"):
                break
    assert ollama.hung_up.wait(20)
