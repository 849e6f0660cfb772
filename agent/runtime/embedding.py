"""Embeddings of a request, by whichever engine serves the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

from agent.runtime.catalogue import USE_DIMENSION, Model
from agent.runtime.encoder import EncoderPool
from agent.runtime.host import ModelHost, Turn
from agent.runtime.protocol import ApiError

_BATCH = 16


@dataclass(frozen=True)
class Embedded:
    """Unit vectors, shape (texts, dimensions), float32; `tokens` read in all."""

    vectors: NDArray[np.float32]
    tokens: int
    load_seconds: float = 0.0


class Embedder:
    """Gives texts to the built-in encoder, or to llama.cpp for a GGUF file."""

    def __init__(self, pool: EncoderPool, host: ModelHost, client: httpx.AsyncClient) -> None:
        self._pool = pool
        self._host = host
        self._client = client

    async def embed(
        self,
        model: Model,
        texts: Sequence[str],
        *,
        truncate: bool,
        keep_alive: timedelta | None = None,
    ) -> Embedded:
        if model.path is None:
            raw, tokens = await self._pool.encode(texts, truncate=truncate)
            vectors = np.frombuffer(raw, dtype="<f4").reshape(len(texts), USE_DIMENSION)
            return Embedded(vectors, tokens)
        async with self._host.turn(model, keep_alive=keep_alive) as turn:
            prompts = [await self._tokens(turn, text, truncate=truncate) for text in texts]
            # llama.cpp refuses a prompt without tokens; one token stands for nothing said.
            prompts = [prompt or [0] for prompt in prompts]
            rows = [
                row
                for first in range(0, len(prompts), _BATCH)
                for row in await self._rows(turn, prompts[first : first + _BATCH])
            ]
        vectors = _unit(np.array(rows, dtype=np.float32))
        return Embedded(vectors, sum(map(len, prompts)), turn.load_seconds)

    async def _tokens(self, turn: Turn, text: str, *, truncate: bool) -> list[int]:
        answer = await self._post(turn, "/tokenize", {"content": text, "add_special": True})
        ids: list[int] = answer["tokens"]
        limit = turn.runner.context
        if len(ids) <= limit:
            return ids
        if not truncate:
            raise ApiError(400, "the input length exceeds the context length")
        return [*ids[: limit - 1], ids[-1]]

    async def _rows(self, turn: Turn, prompts: list[list[int]]) -> list[list[float]]:
        answer = await self._post(turn, "/v1/embeddings", {"input": prompts})
        ordered = sorted(answer["data"], key=lambda item: int(item["index"]))
        return [item["embedding"] for item in ordered]

    async def _post(self, turn: Turn, path: str, payload: dict[str, Any]) -> dict[str, Any]:
        try:
            response = await self._client.post(
                turn.runner.url + path,
                json=payload,
                headers={"Authorization": f"Bearer {turn.runner.key}"},
            )
        except httpx.TransportError as error:
            await turn.runner.settled()
            raise ApiError(500, "llama runner process has terminated") from error
        answer: dict[str, Any] = response.json()
        if response.status_code != httpx.codes.OK:
            raise ApiError(response.status_code, str(answer["error"]["message"]))
        return answer


def shorten(vectors: NDArray[np.float32], dimensions: int | None) -> NDArray[np.float32]:
    """The first `dimensions` components, of unit length again."""
    if not dimensions or dimensions >= vectors.shape[1]:
        return vectors
    return _unit(vectors[:, :dimensions])


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """A vector without direction becomes the first axis: cosine needs one."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    first_axis = np.zeros_like(vectors)
    first_axis[:, 0] = 1.0
    safe = np.where(lengths > 0, lengths, 1.0)
    return np.ascontiguousarray(np.where(lengths > 0, vectors / safe, first_axis))
