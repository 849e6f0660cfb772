"""Embeddings of questions, each made once."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Protocol

REMEMBERED = 64


class QueryEmbedder(Protocol):
    @property
    def name(self) -> str: ...

    async def embed_query(self, text: str) -> list[float]: ...


class Questions:
    """Remembers the last embeddings: loosening asks for the same one again and again, and several
    knowledge bases ask for it at once.
    """

    def __init__(self, embedder: QueryEmbedder) -> None:
        self._embedder = embedder
        self._known: OrderedDict[str, list[float]] = OrderedDict()
        self._begun: dict[tuple[asyncio.AbstractEventLoop, str], asyncio.Task[list[float]]] = {}

    async def vector(self, text: str) -> list[float]:
        """Raises what the embedder raises."""
        if text not in self._known:
            self._known[text] = await self._made(text)
        self._known.move_to_end(text)
        vector = self._known[text]
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return vector

    async def _made(self, text: str) -> list[float]:
        key = (asyncio.get_running_loop(), text)
        if key not in self._begun:
            task = asyncio.create_task(self._embed(text))
            self._begun[key] = task
            task.add_done_callback(lambda _: self._begun.pop(key))
        # One who gives up does not take it from the others.
        return await asyncio.shield(self._begun[key])

    async def _embed(self, text: str) -> list[float]:
        return await self._embedder.embed_query(text)
