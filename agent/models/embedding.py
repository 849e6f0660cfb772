"""Embeddings through langchain-ollama."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import httpx
from langchain_ollama import OllamaEmbeddings

from agent.models.transport import Budget, Endpoint, call, close_client
from schemas.errors import ModelError


class OllamaEmbedder:
    """Embeds documents and questions; vectors are lists of floats, all of one length."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        timeout_s: float = 300.0,
        connect_timeout_s: float = 3.0,
        keep_alive: str = "30m",
        parallel: int = 2,
        budget: Budget | None = None,
    ) -> None:
        self.endpoint = endpoint
        self._budget = budget or Budget()
        self._turn = asyncio.Semaphore(parallel)
        self._client = OllamaEmbeddings(
            model=endpoint.model,
            base_url=endpoint.url,
            client_kwargs={
                "headers": endpoint.headers,
                "timeout": httpx.Timeout(timeout_s, connect=connect_timeout_s),
                "trust_env": False,
            },
        )
        self._dimension: int | None = None

    async def close(self) -> None:
        await close_client(self._client)

    @property
    def name(self) -> str:
        return self.endpoint.model

    async def dimension(self) -> int:
        """The length of this model's vectors, asked once."""
        if self._dimension is None:
            self._dimension = len(await self.embed_query("dimension"))
        return self._dimension

    async def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector per text, in order."""
        if not texts:
            return []

        async def once() -> list[list[float]]:
            return await self._client.aembed_documents(list(texts))

        async with self._turn:
            vectors = await call(self.endpoint, self._budget, once)
        if len(vectors) != len(texts):
            raise ModelError(f"{self.endpoint}: {len(texts)} texts gave {len(vectors)} vectors")
        return vectors

    async def embed_query(self, text: str) -> list[float]:
        return (await self.embed_documents([text]))[0]
