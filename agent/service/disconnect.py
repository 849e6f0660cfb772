"""A client that goes away cancels the work it caused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

from fastapi import Request

T = TypeVar("T")


class ClientGone(Exception):
    """Nobody is left to answer."""


async def unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Run `work`, cancelled as soon as the client hangs up; then raise ClientGone."""
    task = asyncio.create_task(work)
    watch = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientGone
    finally:
        for one in (task, watch):
            one.cancel()
        await asyncio.gather(task, watch, return_exceptions=True)


async def in_own_task(events: AsyncIterator[T]) -> AsyncIterator[T]:
    """The same events, made in a task that is cancelled once when their reader stops.

    A response's own task is cancelled at every await until it ends, which keeps what it was
    waiting for from cleaning up.
    """
    queue: asyncio.Queue[T | _End] = asyncio.Queue()

    async def pump() -> None:
        try:
            async for event in events:
                queue.put_nowait(event)
        finally:
            queue.put_nowait(_End())

    task = asyncio.create_task(pump())
    try:
        while not isinstance(event := await queue.get(), _End):
            yield event
        await task
    finally:
        task.cancel()


class _End:
    """No event follows."""


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
