"""The model clients against a server that speaks Ollama's protocol, whole and broken."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from agent.models.chat import OllamaChat
from agent.models.embedding import OllamaEmbedder
from agent.models.transport import Budget, Endpoint
from graph.ports import Completion, Message
from schemas.errors import (
    ModelError,
    ModelNotFound,
    ModelOutputCut,
    ModelUnavailable,
    RuntimeUnavailable,
)
from tests.ollama_server import Fault, OllamaScript, Stream, serving

ASK = [Message("system", "rules"), Message("user", "question")]
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"a": {"enum": ["x"]}},
    "required": ["a"],
}
ONCE = Budget(attempts=1)


@pytest.fixture
def ollama() -> Iterator[OllamaScript]:
    with serving(OllamaScript()) as script:
        yield script


@asynccontextmanager
async def chat_at(url: str, budget: Budget = ONCE) -> AsyncIterator[OllamaChat]:
    chat = OllamaChat(Endpoint(url, "small:1b", "ollama"), budget=budget)
    try:
        yield chat
    finally:
        await chat.close()


async def completed(
    url: str, schema: dict[str, object] | None = None, budget: Budget = ONCE
) -> Completion:
    async with chat_at(url, budget) as chat:
        return await chat.complete(ASK, schema)


async def test_a_whole_reply_with_its_counts(ollama: OllamaScript) -> None:
    ollama.replies = [Stream(('{"a":', '"x"}'))]
    completion = await completed(ollama.url, SCHEMA)
    assert completion.text == '{"a":"x"}'
    assert (completion.prompt_tokens, completion.output_tokens) == (7, 3)
    sent = ollama.requests[0]
    assert sent["format"] == SCHEMA
    assert sent["options"]["temperature"] == 0
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]


CUT = Stream(("",), end={"done_reason": "length"})
LOADED = Stream((), end={"done_reason": "load"})
GOOD, PROSE = Stream(('{"a": "x"}',)), Stream(("prose",))


@pytest.mark.parametrize(
    "replies",
    [
        [GOOD],
        [LOADED, GOOD],
        [CUT, GOOD],
        [Fault(503, "busy"), GOOD],
        [PROSE, PROSE, GOOD],
        [Fault(400, "no format"), Fault(503, "busy"), CUT, GOOD],
        [PROSE, PROSE, PROSE],
    ],
    ids=["at once", "loaded", "cut", "busy", "ladder", "all of it", "never"],
)
async def test_every_request_is_counted(
    ollama: OllamaScript, replies: list[Stream | Fault]
) -> None:
    ollama.replies = [*replies]
    completion = await completed(ollama.url, SCHEMA, Budget(attempts=2))
    assert completion.calls == len(replies) == len(ollama.requests)


async def test_requests_without_a_reply_are_counted_too(ollama: OllamaScript) -> None:
    ollama.replies = [CUT, CUT]
    with pytest.raises(ModelOutputCut) as caught:
        await completed(ollama.url)
    assert caught.value.calls == 2


async def test_a_reply_that_reached_its_length_says_so(ollama: OllamaScript) -> None:
    ollama.replies = [Stream(("{",), end={"done_reason": "length"})] * 2
    assert (await completed(ollama.url)).done_reason == "length"


@pytest.mark.parametrize(
    ("reply", "error", "words"),
    [
        (Stream(('{"a": "x"',), end=None), ModelOutputCut, "before its reply was complete"),
        (b"\n\n", ModelOutputCut, "unreadable"),
        (b'{"error": "the model crashed"}\n', ModelError, "crashed"),
        (Fault(404, "model 'small:1b' not found"), ModelNotFound, "small:1b"),
        (Fault(500, "out of memory"), ModelError, "out of memory"),
        (Fault(503, "server busy"), ModelUnavailable, "503"),
    ],
    ids=["cut", "blank lines", "error line", "404", "500", "503"],
)
async def test_what_is_no_whole_reply_is_an_error_of_ours(
    ollama: OllamaScript,
    reply: Stream | Fault | bytes,
    error: type[ModelError],
    words: str,
) -> None:
    ollama.replies = [reply]
    with pytest.raises(error, match=words):
        await completed(ollama.url)


async def test_a_busy_server_is_asked_again_and_a_missing_model_is_not(
    ollama: OllamaScript,
) -> None:
    ollama.replies = [Fault(503, "busy"), Stream(("fine",))]
    assert (await completed(ollama.url, budget=Budget(attempts=2))).text == "fine"
    ollama.replies = [Fault(404, "gone"), Stream(("never read",))]
    with pytest.raises(ModelNotFound):
        await completed(ollama.url, budget=Budget(attempts=2))
    assert len(ollama.replies) == 1


async def test_nobody_at_the_address() -> None:
    with pytest.raises(ModelUnavailable, match=r"127\.0\.0\.1:9"):
        await completed("http://127.0.0.1:9")


async def test_the_embedded_runtime_is_called_by_its_name() -> None:
    embedder = OllamaEmbedder(Endpoint("http://127.0.0.1:9", "letters", "embedded"), budget=ONCE)
    with pytest.raises(RuntimeUnavailable) as caught:
        await embedder.embed_query("a")
    assert "again" in caught.value.remedy
    await embedder.close()


async def test_a_stream_comes_in_pieces(ollama: OllamaScript) -> None:
    ollama.replies = [Stream(("one ", "two"))]
    async with chat_at(ollama.url) as chat:
        assert [piece async for piece in chat.stream(ASK)] == ["one ", "two"]


async def test_a_cut_stream_is_no_answer(ollama: OllamaScript) -> None:
    ollama.replies = [Stream(("one ",), end=None)]
    async with chat_at(ollama.url) as chat:
        pieces = chat.stream(ASK)
        assert await anext(pieces) == "one "
        with pytest.raises(ModelOutputCut):
            await anext(pieces)


async def test_embeddings_keep_the_order_of_their_texts(ollama: OllamaScript) -> None:
    embedder = OllamaEmbedder(Endpoint(ollama.url, "letters", "ollama"), budget=ONCE)
    assert await embedder.embed_documents(["aab", "c"]) == [[2, 1, 0], [0, 0, 1]]
    assert await embedder.embed_documents([]) == []
    assert await embedder.dimension() == 3
    await embedder.close()
