"""The HTTP application of the runtime: routes, and the token."""

from __future__ import annotations

import asyncio
import hmac
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import IO

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from agent.runtime.answering import (
    Chunk,
    awaited_answer,
    error_answer,
    json_answer,
    streamed_answer,
)
from agent.runtime.api import Api, merge, show, tag
from agent.runtime.catalogue import Catalogue, Kind
from agent.runtime.config import RuntimeConfig
from agent.runtime.embedding import Embedder
from agent.runtime.encoder import EncoderPool
from agent.runtime.host import Loaded, ModelHost
from agent.runtime.protocol import (
    FOREVER,
    PROTOCOL_VERSION,
    ApiError,
    ChatRequest,
    EmbeddingsRequest,
    EmbedRequest,
    GenerateRequest,
    ShowRequest,
    parse_body,
    timestamp,
)

# A long prompt is read for many seconds before the first token comes.
_NO_TIMEOUT = httpx.Timeout(None, connect=10.0)


class Activity:
    """Whether anybody uses the runtime: requests under way, and the time since the last one."""

    def __init__(self) -> None:
        self.under_way = 0
        self._last = time.monotonic()

    def touch(self) -> None:
        self._last = time.monotonic()

    def idle_seconds(self) -> float:
        return 0.0 if self.under_way else time.monotonic() - self._last


class Guard:
    """Lets nobody under `/api` without the token, and notes what is under way.

    Looking at what is loaded is no use of it: a status page must not keep the runtime up.
    """

    def __init__(self, app: ASGIApp, token: str, activity: Activity) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()
        self._activity = activity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["path"].startswith("/api") and not self._allowed(scope):
            await error_answer(401, "unauthorized")(scope, receive, send)
            return
        if scope["path"] == "/api/ps":
            await self._app(scope, receive, send)
            return
        self._activity.under_way += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._activity.under_way -= 1
            self._activity.touch()

    def _allowed(self, scope: Scope) -> bool:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        return len(given) == 1 and hmac.compare_digest(given[0], self._expected)


class Runtime:
    """The engines behind the endpoints, and their end."""

    def __init__(self, config: RuntimeConfig, log: IO[bytes]) -> None:
        keep = timedelta(minutes=config.idle_minutes) if config.idle_minutes else FOREVER
        threads, context = config.thread_count, config.context
        self.catalogue = Catalogue(config)
        self._pool = EncoderPool(workers=threads, log=log)
        self._chat = ModelHost(threads=threads, context=context, keep=keep, log=log)
        self._gguf = ModelHost(threads=threads, context=context, keep=keep, log=log)
        self._client = httpx.AsyncClient(timeout=_NO_TIMEOUT, trust_env=False)
        embedder = Embedder(self._pool, self._gguf, self._client)
        self.api = Api(self.catalogue, self._chat, embedder, self._client)

    def running(self) -> list[Chunk]:
        """The models in memory, as `/api/ps` lists them."""
        loaded = [host.loaded for host in (self._chat, self._gguf)]
        listed = [_running(item) for item in loaded if item is not None]
        if self._pool.running:
            built_in = [
                m for m in self.catalogue.models() if m.kind is Kind.EMBEDDING and m.path is None
            ]
            listed += [{**tag(m), "expires_at": timestamp(), "size_vram": 0} for m in built_in]
        return listed

    async def close(self) -> None:
        await self._chat.close()
        await self._gguf.close()
        await self._pool.close()
        await self._client.aclose()


class Endpoints:
    """One method per route."""

    def __init__(self, runtime: Runtime, activity: Activity) -> None:
        self._runtime = runtime
        self._api = runtime.api
        self._activity = activity

    def routes(self) -> list[Route]:
        get, post = ["GET"], ["POST"]
        return [
            Route("/", self.root, methods=get),
            Route("/api/version", self.version, methods=get),
            Route("/api/tags", self.tags, methods=get),
            Route("/api/ps", self.ps, methods=get),
            Route("/api/show", self.show, methods=post),
            Route("/api/chat", self.chat, methods=post),
            Route("/api/generate", self.generate, methods=post),
            Route("/api/embed", self.embed, methods=post),
            Route("/api/embeddings", self.embeddings, methods=post),
        ]

    async def root(self, _request: Request) -> Response:
        return PlainTextResponse("Ollama is running")

    async def version(self, _request: Request) -> Response:
        """Besides the version, what a client of the lock file needs to know it met the owner."""
        others = self._activity.under_way - 1
        return json_answer({"version": PROTOCOL_VERSION, "pid": os.getpid(), "under_way": others})

    async def tags(self, _request: Request) -> Response:
        models = await asyncio.to_thread(self._runtime.catalogue.models)
        return json_answer({"models": [tag(m) for m in models]})

    async def ps(self, _request: Request) -> Response:
        return json_answer({"models": self._runtime.running()})

    async def show(self, request: Request) -> Response:
        body = parse_body(ShowRequest, await request.body())
        return json_answer(show(self._api.model(body.model or body.name)))

    async def chat(self, request: Request) -> Response:
        body = parse_body(ChatRequest, await request.body())
        if body.stream is False:
            return awaited_answer(lambda: merge(self._api.chat(body)))
        return streamed_answer(lambda: self._api.chat(body))

    async def generate(self, request: Request) -> Response:
        body = parse_body(GenerateRequest, await request.body())
        if body.stream is False:
            return awaited_answer(lambda: merge(self._api.generate(body)))
        return streamed_answer(lambda: self._api.generate(body))

    async def embed(self, request: Request) -> Response:
        body = parse_body(EmbedRequest, await request.body())
        return awaited_answer(lambda: self._api.embed(body))

    async def embeddings(self, request: Request) -> Response:
        body = parse_body(EmbeddingsRequest, await request.body())
        return awaited_answer(lambda: self._api.embeddings(body))


def build_app(config: RuntimeConfig, token: str, activity: Activity, log: IO[bytes]) -> ASGIApp:
    """The application; engines start on first use and end with it. `log` takes their stderr."""
    runtime = Runtime(config, log)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await runtime.close()

    app = Starlette(
        routes=Endpoints(runtime, activity).routes(),
        lifespan=lifespan,
        exception_handlers={
            ApiError: _on_api_error,
            404: _on_missing_route,
            405: _on_wrong_method,
        },
    )
    return Guard(app, token, activity)


def _running(loaded: Loaded) -> Chunk:
    return {
        **tag(loaded.model),
        "expires_at": timestamp(loaded.expires),
        "size_vram": 0,
        "context_length": loaded.runner.context,
    }


async def _on_api_error(_request: Request, error: Exception) -> Response:
    if not isinstance(error, ApiError):
        raise error
    return error_answer(error.status, error.message)


async def _on_missing_route(_request: Request, _error: Exception) -> Response:
    return PlainTextResponse("404 page not found", 404)


async def _on_wrong_method(_request: Request, _error: Exception) -> Response:
    return PlainTextResponse("405 method not allowed", 405)
