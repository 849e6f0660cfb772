"""Calls to a model: which errors are outages, which are worth another try, what they are called."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

import httpx
from langchain_ollama import ChatOllama, OllamaEmbeddings
from ollama import ResponseError
from tenacity import (
    AsyncRetrying,
    retry_if_exception,
    stop_after_attempt,
    stop_after_delay,
    wait_random_exponential,
)

from schemas.errors import (
    FacetwiseError,
    ModelError,
    ModelNotFound,
    ModelUnavailable,
    RuntimeUnavailable,
)

T = TypeVar("T")

HTTP_NOT_FOUND = 404
HTTP_BUSY = (502, 503, 504)


class RequestRefused(ModelError):
    """The server rejects this request, or breaks on it; another form of it may be accepted."""


@dataclass(frozen=True)
class Endpoint:
    """A model at an address. `origin` is `ollama` or `embedded`."""

    url: str
    model: str
    origin: str
    headers: dict[str, str] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        return f"{self.model} ({self.origin})"


@dataclass(frozen=True)
class Budget:
    """How often and how long a call is tried again when its transport fails. A reply that does
    not come in time is not asked for again: the server may still be loading the model, and would
    begin anew.
    """

    attempts: int = 3
    seconds: float = 60.0


async def call(endpoint: Endpoint, budget: Budget, work: Callable[[], Awaitable[T]]) -> T:
    """Run `work`, again where the transport failed; raise errors of our tree only."""
    async for attempt in AsyncRetrying(
        retry=retry_if_exception(_is_transient),
        stop=stop_after_attempt(budget.attempts) | stop_after_delay(budget.seconds),
        wait=wait_random_exponential(multiplier=0.2, max=3),
        reraise=True,
    ):
        with attempt:
            try:
                return await work()
            except (httpx.TransportError, ConnectionError, ResponseError) as error:
                raise translate(error, endpoint) from error
    raise AssertionError("a retried call returns or raises")


def set_timeout(client: ChatOllama, timeout: httpx.Timeout) -> None:
    """For the calls from now on; langchain fixes it when the client is made."""
    if client._async_client is not None:
        client._async_client._client.timeout = timeout


async def close_client(client: ChatOllama | OllamaEmbeddings) -> None:
    """Close the HTTP clients of a langchain client, which has no way of its own to do so."""
    if client._async_client is not None:
        await client._async_client.close()  # type: ignore[no-untyped-call]  # untyped in ollama
    if client._client is not None:
        client._client.close()  # type: ignore[no-untyped-call]  # untyped in ollama


def translate(error: Exception, endpoint: Endpoint) -> FacetwiseError:
    """An error of the client as one of ours, in one line."""
    match error:
        case ResponseError(status_code=code) if code == HTTP_NOT_FOUND:
            return ModelNotFound(
                f"model {endpoint.model!r} is not at {endpoint.url}",
                remedy=f"ollama pull {endpoint.model}, or set models.chat / models.embedding",
            )
        case httpx.ReadTimeout():
            return ModelUnavailable(
                f"{endpoint} did not answer in time at {endpoint.url}",
                remedy="ask again in a minute: a large model loads slowly; or raise"
                " models.timeout_s",
            )
        case httpx.TransportError() | ConnectionError() if endpoint.origin == "embedded":
            return RuntimeUnavailable(
                f"the embedded runtime ended, or does not answer, while {endpoint.model!r} worked"
            )
        case ResponseError(status_code=code) if code in HTTP_BUSY:
            return ModelUnavailable(f"{endpoint.url} answers {code}: {error.error}")
        case ResponseError():
            return RequestRefused(f"{endpoint}: {error.error}")
        case _:
            return ModelUnavailable(f"no model answers at {endpoint.url} for {endpoint.model!r}")


def _is_transient(error: BaseException) -> bool:
    if isinstance(error.__cause__, httpx.ReadTimeout):
        return False
    return isinstance(error, FacetwiseError) and error.retryable
