"""How answers travel: JSON objects, lines of JSON, errors, and clients that go away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from agent.runtime.protocol import ApiError, encode
from schemas.errors import FacetwiseError

Chunk = dict[str, Any]


def json_answer(value: Mapping[str, Any], status: int = 200) -> Response:
    return Response(encode(value), status, media_type="application/json; charset=utf-8")


def error_answer(status: int, message: str) -> Response:
    return json_answer({"error": message}, status)


def awaited_answer(result: Callable[[], Awaitable[Mapping[str, Any]]]) -> Response:
    """One JSON object, computed while the client waits."""

    async def work(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = json_answer(await result())
        except (ApiError, FacetwiseError) as error:
            response = _failure(error)
        await response(scope, receive, send)

    return _Cancelling(work)


def streamed_answer(start: Callable[[], AsyncGenerator[Chunk]]) -> Response:
    """Lines of JSON as they come. What fails before the first has its own status; what fails
    later is a last line `{"error": ...}`.
    """

    async def work(scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(start()) as chunks:
            try:
                first = await anext(chunks)
            except (ApiError, FacetwiseError) as error:
                await _failure(error)(scope, receive, send)
                return
            await _send_stream(send, first, chunks)

    return _Cancelling(work)


async def _send_stream(send: Send, first: Chunk, rest: AsyncGenerator[Chunk]) -> None:
    headers = [(b"content-type", b"application/x-ndjson")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await _send_line(send, first)
    try:
        async for chunk in rest:
            await _send_line(send, chunk)
    except (ApiError, FacetwiseError) as error:
        await _send_line(send, {"error": str(error)})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _send_line(send: Send, chunk: Mapping[str, Any]) -> None:
    body = encode(chunk) + b"\n"
    await send({"type": "http.response.body", "body": body, "more_body": True})


def _failure(error: ApiError | FacetwiseError) -> Response:
    return error_answer(error.status if isinstance(error, ApiError) else 500, str(error))


class _Cancelling(Response):
    """Runs `work`, which sends the answer, and cancels it when the client goes away."""

    def __init__(self, work: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        super().__init__()
        self._work = work

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        work = asyncio.ensure_future(self._work(scope, receive, send))
        gone = asyncio.create_task(_until_gone(receive))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            work.cancel()
            gone.cancel()
            await asyncio.wait({work, gone})
        if not work.cancelled():
            work.result()


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
