"""Models that are looked for when they are first needed: many runs need none of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from graph.ports import Chat, Completion, Message, Writer
from schemas.hits import Passage


class Embedder(Protocol):
    async def embed_query(self, text: str) -> list[float]: ...

    async def embed_documents(self, texts: Sequence[str]) -> list[list[float]]: ...


class DeferredChat:
    """The Chat port under a name known before the model is found."""

    def __init__(self, name: str, find: Callable[[], Awaitable[Chat]]) -> None:
        self.name = name
        self._find = find

    async def complete(
        self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None
    ) -> Completion:
        return await (await self._find()).complete(messages, schema)

    async def stream(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        async for piece in (await self._find()).stream(messages):
            yield piece


class DeferredEmbedder:
    """Embeds questions and documents under a name known before the model is found."""

    def __init__(self, name: str, find: Callable[[], Awaitable[Embedder]]) -> None:
        self.name = name
        self._find = find

    async def embed_query(self, text: str) -> list[float]:
        return await (await self._find()).embed_query(text)

    async def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        return await (await self._find()).embed_documents(texts)


class DeferredWriter:
    """The Writer port; its name is that of the writer found, once it has written."""

    def __init__(self, find: Callable[[], Awaitable[Writer]]) -> None:
        self.name = ""
        self._find = find

    async def write(
        self, question: str, passages: Sequence[Passage], notes: Sequence[str]
    ) -> AsyncIterator[str]:
        writer = await self._find()
        self.name = writer.name
        async for piece in writer.write(question, passages, notes):
            yield piece
