"""A server that speaks Ollama's protocol from a script: whole replies, cut streams, faults."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route


@dataclass(frozen=True)
class Stream:
    """Pieces of a chat reply; `end` is the last line, None for a stream that is cut."""

    pieces: tuple[str, ...]
    end: dict[str, Any] | None = field(default_factory=lambda: {"done_reason": "stop"})
    thoughts: str = ""


@dataclass(frozen=True)
class Fault:
    status: int
    error: str


class Drop:
    """The connection ends in the middle of the reply's HTTP body."""


@dataclass(frozen=True)
class Late:
    """Nothing is said for so long."""

    seconds: float


Reply = Stream | Fault | bytes | Drop | Late


@dataclass
class OllamaScript:
    """Chat replies are taken in order; embeddings count the `letters` of a text.
    `/api/show` knows a model only where a `context` is given.
    `hung_up` is set when a client leaves in the middle of a stream.
    """

    models: tuple[str, ...] = ("small:1b", "letters:latest")
    replies: list[Reply] = field(default_factory=list)
    context: int | None = None
    capabilities: tuple[str, ...] = ("completion",)
    digest: str = "0" * 64
    letters: str = "abc"
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""
    hung_up: threading.Event = field(default_factory=threading.Event)

    async def tags(self, request: Request) -> Response:
        listed = [{"name": one, "model": one, "digest": self.digest} for one in self.models]
        return JSONResponse({"models": listed})

    async def show(self, request: Request) -> Response:
        if self.context is None:
            return JSONResponse({"error": "not found"}, 404)
        info = {"general.architecture": "tiny", "tiny.context_length": self.context}
        return JSONResponse({"model_info": info, "capabilities": list(self.capabilities)})

    async def chat(self, request: Request) -> Response:
        self.requests.append(await request.json())
        match self.replies.pop(0):
            case Fault(status=status, error=error):
                return JSONResponse({"error": error}, status)
            case bytes() as raw:
                return Response(raw, media_type="application/x-ndjson")
            case Drop():
                headers = {"content-length": "1000"}
                return StreamingResponse(self._half(), headers=headers)
            case Late(seconds=seconds):
                await asyncio.sleep(seconds)
                return StreamingResponse(self._lines(Stream(("late",))))
            case Stream() as stream:
                return StreamingResponse(self._lines(stream), media_type="application/x-ndjson")

    async def embed(self, request: Request) -> Response:
        body = await request.json()
        self.requests.append(body)
        vectors = [[float(text.count(letter)) for letter in self.letters] for text in body["input"]]
        return JSONResponse({"model": body["model"], "embeddings": vectors})

    async def _half(self) -> AsyncIterator[bytes]:
        yield self._line("", done=False)[:40]
        raise ConnectionResetError

    async def _lines(self, stream: Stream) -> AsyncIterator[bytes]:
        if stream.thoughts:
            yield self._line("", thinking=stream.thoughts, done=False)
        try:
            for piece in stream.pieces:
                yield self._line(piece, done=False)
                await asyncio.sleep(0.001)
        except (asyncio.CancelledError, GeneratorExit):
            self.hung_up.set()
            raise
        if stream.end is not None:
            yield self._line("", done=True, prompt_eval_count=7, eval_count=3, **stream.end)

    def _line(self, content: str, thinking: str = "", **more: Any) -> bytes:
        message = {"role": "assistant", "content": content}
        message |= {"thinking": thinking} if thinking else {}
        line = {"model": "small:1b", "created_at": "2026-01-01T00:00:00Z", "message": message}
        return json.dumps(line | more).encode() + b"\n"


@contextmanager
def serving(script: OllamaScript) -> Iterator[OllamaScript]:
    """Serve on a free loopback port for the time of the block."""
    app = Starlette(
        routes=[
            Route("/api/tags", script.tags),
            Route("/api/show", script.show, methods=["POST"]),
            Route("/api/chat", script.chat, methods=["POST"]),
            Route("/api/embed", script.embed, methods=["POST"]),
        ]
    )
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="off")
    listener = config.bind_socket()
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    script.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        yield script
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
