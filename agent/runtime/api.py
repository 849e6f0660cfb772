"""Ollama's endpoints: what each request means, apart from how it travels."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from datetime import timedelta
from typing import Any

import httpx

from agent.runtime.catalogue import Catalogue, Kind, Model, canonical
from agent.runtime.embedding import Embedded, Embedder, shorten
from agent.runtime.generation import Call, Finish, Piece, chat_call, generate, generate_call
from agent.runtime.host import ModelHost, Turn
from agent.runtime.protocol import (
    ApiError,
    ChatRequest,
    EmbeddingsRequest,
    EmbedRequest,
    GenerateRequest,
    Generation,
    model_not_found,
    not_supported,
    timestamp,
)

Chunk = dict[str, Any]
_NANO = 1_000_000_000


class Api:
    """`client` reaches the servers of the loaded models."""

    def __init__(
        self,
        catalogue: Catalogue,
        chat: ModelHost,
        embedder: Embedder,
        client: httpx.AsyncClient,
    ) -> None:
        self._catalogue = catalogue
        self._chat = chat
        self._embedder = embedder
        self._client = client

    def model(self, name: str) -> Model:
        if not name.strip():
            raise ApiError(400, "model is required")
        found = self._catalogue.find(name)
        if found is None:
            raise model_not_found(name)
        return found

    async def chat(self, request: ChatRequest) -> AsyncGenerator[Chunk]:
        """Chunks as Ollama streams them; the last has `done` true."""
        model = self._generating(request, "chat")
        if request.tools:
            raise not_supported(request.model, "tools")
        if any(m.images for m in request.messages):
            raise not_supported(request.model, "images")
        call = chat_call(request) if request.messages else None
        async with aclosing(self._generate(model, request, call, _chat_text)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[Chunk]:
        """As `chat`, with the text under `response`."""
        model = self._generating(request, "generate")
        if request.suffix:
            raise not_supported(request.model, "insert")
        if request.images:
            raise not_supported(request.model, "images")
        if request.template:
            raise not_supported(request.model, "another template")
        call = generate_call(request) if request.prompt else None
        async with aclosing(self._generate(model, request, call, _plain_text)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def embed(self, request: EmbedRequest) -> Chunk:
        begun = time.monotonic_ns()
        model = self._embedding(request.model)
        if request.input is None:
            raise ApiError(400, "input is required")
        texts = [request.input] if isinstance(request.input, str) else request.input
        found = await self._vectors(
            model, texts, truncate=request.truncate is not False, keep_alive=request.keep_alive
        )
        vectors: Any = shorten(found.vectors, request.dimensions) if found else []
        return {
            "model": request.model,
            "embeddings": vectors,
            "total_duration": time.monotonic_ns() - begun,
            "load_duration": int(found.load_seconds * _NANO) if found else 0,
            "prompt_eval_count": found.tokens if found else 0,
        }

    async def embeddings(self, request: EmbeddingsRequest) -> Chunk:
        model = self._embedding(request.model)
        found = await self._vectors(
            model,
            [request.prompt] if request.prompt else [],
            truncate=True,
            keep_alive=request.keep_alive,
        )
        return {"embedding": found.vectors[0] if found else []}

    async def _vectors(
        self, model: Model, texts: list[str], *, truncate: bool, keep_alive: timedelta | None
    ) -> Embedded | None:
        if not texts:
            return None
        return await self._embedder.embed(model, texts, truncate=truncate, keep_alive=keep_alive)

    def _generating(self, request: Generation, what: str) -> Model:
        model = self.model(request.model)
        if model.kind is not Kind.CHAT:
            raise not_supported(request.model, what)
        if request.think:
            raise not_supported(request.model, "thinking")
        return model

    def _embedding(self, name: str) -> Model:
        model = self.model(name)
        if model.kind is not Kind.EMBEDDING:
            raise not_supported(name, "embeddings")
        return model

    async def _generate(
        self,
        model: Model,
        request: Generation,
        call: Call | None,
        text: _TextKey,
    ) -> AsyncGenerator[Chunk]:
        begun = time.monotonic_ns()
        if call is None:
            yield await self._load_only(model, request, text)
            return
        num_ctx = request.options.num_ctx if request.options else None
        async with (
            self._chat.turn(model, num_ctx=num_ctx, keep_alive=request.keep_alive) as turn,
            aclosing(generate(self._client, turn.runner, call)) as items,
        ):
            async for item in items:
                yield _chunk(request.model, item, text, begun, turn)

    async def _load_only(self, model: Model, request: Generation, text: _TextKey) -> Chunk:
        base = {"model": request.model, "created_at": timestamp(), **text("")}
        if request.keep_alive == timedelta(0):
            if self._chat.loaded and self._chat.loaded.model == model:
                await self._chat.unload()
            return {**base, "done": True, "done_reason": "unload"}
        num_ctx = request.options.num_ctx if request.options else None
        async with self._chat.turn(model, num_ctx=num_ctx, keep_alive=request.keep_alive):
            return {**base, "done": True, "done_reason": "load"}


class _TextKey:
    """Where a chunk carries its text: under `message` for chat, `response` for generate."""

    def __init__(self, *, chat: bool) -> None:
        self._chat = chat

    def __call__(self, text: str) -> Chunk:
        if self._chat:
            return {"message": {"role": "assistant", "content": text}}
        return {"response": text}


_chat_text = _TextKey(chat=True)
_plain_text = _TextKey(chat=False)


def _chunk(name: str, item: Piece | Finish, text: _TextKey, begun: int, turn: Turn) -> Chunk:
    base: Chunk = {"model": name, "created_at": timestamp()}
    match item:
        case Piece():
            logprobs = {"logprobs": item.logprobs} if item.logprobs else {}
            return {**base, **text(item.text), "done": False, **logprobs}
        case Finish():
            return {
                **base,
                **text(""),
                "done": True,
                "done_reason": item.reason,
                "total_duration": time.monotonic_ns() - begun,
                "load_duration": int(turn.load_seconds * _NANO),
                "prompt_eval_count": item.prompt_tokens,
                "prompt_eval_duration": int(item.prompt_ms * 1_000_000),
                "eval_count": item.output_tokens,
                "eval_duration": int(item.output_ms * 1_000_000),
            }


async def merge(chunks: AsyncIterator[Chunk]) -> Chunk:
    """One answer from a stream: all texts and log-probabilities in the last chunk."""
    texts: list[str] = []
    logprobs: list[Any] = []
    last: Chunk = {}
    async for last in chunks:
        texts.append(last["message"]["content"] if "message" in last else last["response"])
        logprobs.extend(last.get("logprobs", []))
    text = "".join(texts)
    merged = (
        {**last, "message": {**last["message"], "content": text}}
        if "message" in last
        else {
            **last,
            "response": text,
        }
    )
    return {**merged, "logprobs": logprobs} if logprobs else merged


def tag(model: Model) -> Chunk:
    """A model as `/api/tags` lists it."""
    name = canonical(model.name) if ":" not in model.name else model.name
    return {
        "name": name,
        "model": name,
        "modified_at": timestamp(model.modified),
        "size": model.size,
        "digest": model.digest,
        "details": details(model),
    }


def details(model: Model) -> Chunk:
    return {
        "parent_model": "",
        "format": "gguf" if model.path else "npz",
        "family": model.family,
        "families": [model.family],
        "parameter_size": model.parameter_size,
        "quantization_level": model.quantization,
    }


def show(model: Model) -> Chunk:
    return {
        "modelfile": "",
        "parameters": "",
        "template": "",
        "license": "",
        "modified_at": timestamp(model.modified),
        "details": details(model),
        "model_info": {
            "general.architecture": model.family,
            f"{model.family}.context_length": model.context,
        },
        "capabilities": [model.kind.value],
    }
