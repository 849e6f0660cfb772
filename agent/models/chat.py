"""Chat through langchain-ollama: one client for Ollama and for the embedded runtime."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import httpx
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
)
from langchain_ollama import ChatOllama
from ollama import ResponseError

from agent.models.transport import Budget, Endpoint, call, close_client, translate
from graph.ports import Completion, Message
from schemas.errors import ModelError, ModelOutputCut

PLAN_TOKENS = 512
ANSWER_TOKENS = 768


class OllamaChat:
    """The Chat port. `parallel` calls run at once, further ones wait their turn."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        context: int = 4096,
        keep_alive: str = "30m",
        timeout_s: float = 300.0,
        temperature: float = 0.1,
        parallel: int = 1,
        budget: Budget | None = None,
    ) -> None:
        self.endpoint = endpoint
        self._budget = budget or Budget()
        self._turn = asyncio.Semaphore(parallel)
        self._client = ChatOllama(
            model=endpoint.model,
            base_url=endpoint.url,
            num_ctx=context,
            keep_alive=keep_alive,
            client_kwargs={"headers": endpoint.headers, "timeout": timeout_s},
        )
        self._temperature = temperature

    async def close(self) -> None:
        await close_client(self._client)

    @property
    def name(self) -> str:
        return self.endpoint.model

    async def complete(
        self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None
    ) -> Completion:
        """A whole reply at temperature 0, as `schema` has it. ModelOutputCut if it ends early."""

        async def once() -> Completion:
            try:
                reply = await self._client.ainvoke(
                    _to_langchain(messages),
                    format=dict(schema) if schema else None,
                    options={**self._options(0.0), "num_predict": PLAN_TOKENS},
                )
            except ValueError as error:  # an empty stream, or a line that is not JSON
                raise ModelOutputCut(f"{self.endpoint}: unreadable reply: {error}") from error
            return self._completion(reply)

        async with self._turn:
            return await call(self.endpoint, self._budget, once)

    async def stream(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        """Pieces of a reply as they come; ModelOutputCut after the last piece if it was cut."""
        done = False
        async with self._turn:
            try:
                async for chunk in self._client.astream(
                    _to_langchain(messages),
                    options={**self._options(self._temperature), "num_predict": ANSWER_TOKENS},
                ):
                    done = done or _is_done(chunk)
                    if chunk.content:
                        yield str(chunk.content)
            except (httpx.TransportError, ConnectionError, ResponseError) as error:
                raise translate(error, self.endpoint) from error
            except ValueError as error:
                raise ModelError(f"{self.endpoint}: unreadable reply: {error}") from error
        if not done:
            raise ModelOutputCut(f"{self.endpoint} stopped in mid-sentence")

    def _options(self, temperature: float) -> dict[str, Any]:
        return {"temperature": temperature, "num_ctx": self._client.num_ctx}

    def _completion(self, reply: AIMessage) -> Completion:
        if not _is_done(reply):
            raise ModelOutputCut(f"{self.endpoint} stopped before its reply was complete")
        usage = reply.usage_metadata
        return Completion(
            text=str(reply.content),
            model=self.endpoint.model,
            prompt_tokens=usage["input_tokens"] if usage else 0,
            output_tokens=usage["output_tokens"] if usage else 0,
            done_reason=str(reply.response_metadata.get("done_reason") or "stop"),
        )


def _is_done(message: AIMessage | AIMessageChunk | BaseMessage) -> bool:
    return bool(message.response_metadata.get("done"))


def _to_langchain(messages: Sequence[Message]) -> list[BaseMessage]:
    kinds: dict[str, type[BaseMessage]] = {
        "system": SystemMessage,
        "user": HumanMessage,
        "assistant": AIMessage,
    }
    return [kinds[message.role](content=message.content) for message in messages]
