"""A reranking server from a script: it scores texts by their letters, or misbehaves."""

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


@dataclass
class RerankScript:
    """A `body` is sent as it is; else each text scores the share of letters `a` in it, times
    `scale`. `late` seconds pass before, and `trickle` seconds before each of ten spaces that
    begin the reply.
    """

    status: int = 200
    body: bytes | None = None
    late: float = 0.0
    trickle: float = 0.0
    scale: float = 1.0
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    url: str = ""

    def reset(self) -> None:
        """As when it was made, but for its address."""
        vars(self).update(vars(RerankScript(url=self.url)))

    async def tei(self, request: Request) -> Response:
        """Best first, as text-embeddings-inference answers."""
        texts = (await self._note(request))["texts"]
        scores: list[dict[str, Any]] = [
            {"index": i, "score": self._score(text)} for i, text in enumerate(texts)
        ]
        return self._reply(sorted(scores, key=lambda one: -one["score"]))

    async def jina(self, request: Request) -> Response:
        asked = await self._note(request)
        scores: list[dict[str, Any]] = [
            {"index": i, "relevance_score": self._score(text), "document": {"text": text}}
            for i, text in enumerate(asked["documents"])
        ]
        scores.sort(key=lambda one: -one["relevance_score"])
        return self._reply({"model": "any", "results": scores[: asked["top_n"]], "usage": {}})

    async def _note(self, request: Request) -> dict[str, Any]:
        asked: dict[str, Any] = await request.json()
        self.requests.append(asked)
        self.keys.append(request.headers.get("authorization"))
        await asyncio.sleep(self.late)
        return asked

    def _score(self, text: str) -> float:
        return self.scale * text.count("a") / max(1, len(text))

    async def _trickling(self, usual: Any) -> AsyncIterator[bytes]:
        for _ in range(10):
            await asyncio.sleep(self.trickle)
            yield b" "
        yield json.dumps(usual).encode()

    def _reply(self, usual: Any) -> Response:
        if self.trickle:
            return StreamingResponse(self._trickling(usual), self.status)
        if self.body is None:
            return JSONResponse(usual, self.status)
        return Response(self.body, self.status, media_type="application/json")


@contextmanager
def serving(script: RerankScript) -> Iterator[RerankScript]:
    """Serve /tei and /jina on a free loopback port for the time of the block."""
    app = Starlette(
        routes=[
            Route("/tei", script.tei, methods=["POST"]),
            Route("/jina", script.jina, methods=["POST"]),
        ]
    )
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="off")
    listener = config.bind_socket()
    listener.listen()
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
