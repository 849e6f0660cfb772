"""A place for one loaded model: loads it on first use, one request at a time, unloads it idle."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import IO

from agent.runtime.catalogue import Kind, Model
from agent.runtime.llama import LlamaRunner, load_runner
from agent.runtime.protocol import FOREVER, ApiError

_MAX_WAITING = 512


@dataclass(frozen=True)
class Loaded:
    model: Model
    runner: LlamaRunner
    expires: datetime


@dataclass(frozen=True)
class Turn:
    """The right to use the runner; `load_seconds` is what loading it took for this turn."""

    runner: LlamaRunner
    load_seconds: float


class ModelHost:
    """`keep` is how long a model stays loaded when a request does not say."""

    def __init__(self, *, threads: int, context: int, keep: timedelta, log: IO[bytes]) -> None:
        self._threads = threads
        self._context = context
        self._keep = keep
        self._log = log
        self._turns = asyncio.Lock()
        self._waiting = 0
        self._loaded: Loaded | None = None
        self._expiry: asyncio.Task[None] | None = None

    @property
    def loaded(self) -> Loaded | None:
        return self._loaded if self._loaded and self._loaded.runner.alive else None

    @asynccontextmanager
    async def turn(
        self, model: Model, *, num_ctx: int | None = None, keep_alive: timedelta | None = None
    ) -> AsyncIterator[Turn]:
        """Wait for one's turn, with `model` loaded. Raise `ApiError` 503 if too many wait."""
        if self._waiting >= _MAX_WAITING:
            raise ApiError(503, "server busy, please try again.  maximum pending requests exceeded")
        self._waiting += 1
        try:
            await self._turns.acquire()
        finally:
            self._waiting -= 1
        try:
            yield await self._ready(model, num_ctx)
        finally:
            self._turns.release()
            self._stay(keep_alive)

    async def unload(self) -> None:
        """Free the model once nobody uses it."""
        async with self._turns:
            await self._drop()

    async def close(self) -> None:
        """Free the model now, whoever uses it."""
        if self._expiry is not None:
            self._expiry.cancel()
        await self._drop()

    async def _ready(self, model: Model, num_ctx: int | None) -> Turn:
        if self._expiry is not None:
            self._expiry.cancel()
        wanted = min(max(self._context, num_ctx or 0), model.context)
        loaded = self.loaded
        if loaded and loaded.model == model and loaded.runner.context >= wanted:
            return Turn(loaded.runner, 0.0)
        await self._drop()
        if model.path is None:
            raise ApiError(500, f"model '{model.name}' has no weights file")
        clock = asyncio.get_running_loop().time
        begun = clock()
        runner = await load_runner(
            model.path,
            context=wanted,
            threads=self._threads,
            embedding=model.kind is Kind.EMBEDDING,
            log=self._log,
        )
        self._loaded = Loaded(model, runner, expires=_until(self._keep))
        return Turn(runner, clock() - begun)

    def _stay(self, keep_alive: timedelta | None) -> None:
        if self._loaded is None:
            return
        keep = self._keep if keep_alive is None else keep_alive
        self._loaded = Loaded(self._loaded.model, self._loaded.runner, expires=_until(keep))
        if self._expiry is not None:
            self._expiry.cancel()
        self._expiry = asyncio.create_task(self._expire(keep)) if keep < FOREVER else None

    async def _expire(self, keep: timedelta) -> None:
        await asyncio.sleep(keep.total_seconds())
        async with self._turns:
            # From here on the task must not be cancelled by the next turn: it waits for the lock.
            self._expiry = None
            await self._drop()

    async def _drop(self) -> None:
        loaded, self._loaded = self._loaded, None
        if loaded is not None:
            await loaded.runner.stop()


def _until(keep: timedelta) -> datetime:
    return datetime.now(UTC) + keep
