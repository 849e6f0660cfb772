"""Chat through langchain-ollama: one client for Ollama and for the embedded runtime."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import httpx
from langchain_core.messages import AIMessageChunk
from langchain_ollama import ChatOllama
from ollama import ResponseError
from pydantic import ValidationError

from agent.models.facts import ModelFacts, ask_facts
from agent.models.methods import Memory, Method, ladder
from agent.models.orders import (
    ANSWER_TOKENS,
    MORE,
    REPLY_TOKENS,
    Order,
    order_of,
    put,
    room_of,
    to_langchain,
)
from agent.models.replies import read_reply, starts_as_json
from agent.models.transport import (
    Budget,
    Endpoint,
    RequestRefused,
    call,
    close_client,
    set_timeout,
    translate,
)
from agent.models.window import fitted
from graph.ports import Completion, Message
from graph.tokens import prompt_tokens
from schemas.errors import ModelError, ModelOutputCut, ModelUnavailable, RuntimeUnavailable

FACTS_AGE_S = 600.0
"""After that a server is asked again what the model is: it may have been pulled anew."""

LOADING = 2.0
"""Times the usual wait for the first reply, before which the model is loaded."""

_UNGENERATED = ("load", "unload")
_DROPPED = (httpx.RemoteProtocolError, httpx.ReadError)

log = logging.getLogger(__name__)


@dataclass
class Spent:
    """Requests sent for one reply."""

    calls: int = 0


class OllamaChat:
    """The Chat port. `parallel` calls run at once, further ones wait their turn.

    `context` and `timeout_s` bound the window and the wait for the next piece of a reply; what
    the model itself has may be less.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        context: int = 4096,
        keep_alive: str = "30m",
        timeout_s: float = 300.0,
        connect_timeout_s: float = 3.0,
        temperature: float = 0.1,
        parallel: int = 1,
        budget: Budget | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.endpoint = endpoint
        self._budget = budget or Budget()
        self._turn = asyncio.Semaphore(parallel)
        self._timeout = httpx.Timeout(timeout_s, connect=connect_timeout_s)
        self._loaded = False
        loading = httpx.Timeout(timeout_s * LOADING, connect=connect_timeout_s)
        self._client = ChatOllama(
            model=endpoint.model,
            base_url=endpoint.url,
            keep_alive=keep_alive,
            client_kwargs={"headers": endpoint.headers, "timeout": loading, "trust_env": False},
        )
        self._temperature = temperature
        self._context = context
        self._connect_timeout_s = connect_timeout_s
        self._now = now
        self._facts: tuple[float, ModelFacts] | None = None
        self._memories: dict[str, Memory] = {}

    async def close(self) -> None:
        await close_client(self._client)

    @property
    def name(self) -> str:
        return self.endpoint.model

    async def facts(self) -> ModelFacts:
        """What the server says of the model; asked again when that is old."""
        if self._facts is None or self._now() - self._facts[0] > FACTS_AGE_S:
            found = await ask_facts(self.endpoint, connect_timeout_s=self._connect_timeout_s)
            if found is None:
                return self._facts[1] if self._facts else ModelFacts()
            self._facts = (self._now(), found)
        return self._facts[1]

    async def window(self) -> int:
        """Tokens of prompt and reply together: as configured, unless the model has fewer."""
        return min(self._context, (await self.facts()).context or self._context)

    async def room(self) -> int:
        """How many of them a prompt may have."""
        return room_of(await self.window())

    async def method(self) -> Method | None:
        """How this model was brought to follow a schema; None before that succeeded."""
        return self._memory(await self.facts()).working

    async def needed_tokens(self) -> int:
        """How many tokens this model is given for a reply; more once it thought them away."""
        return self._memory(await self.facts()).tokens

    async def complete(
        self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None
    ) -> Completion:
        """A whole reply at temperature 0.

        With a schema, the text is JSON that follows it, by whichever `Method` this model obeys;
        or, if none helps, the model's last words, for the caller to judge. ModelOutputCut if
        the reply ends early or never begins.
        """
        spent = Spent()
        async with self._turn:
            facts = await self.facts()
            try:
                if schema is not None:
                    reply = await self._following(messages, dict(schema), facts, spent)
                else:
                    memory = self._memory(facts)
                    order = Order(memory.tokens, think=False if facts.thinking else None)
                    reply = self._said(await self._roomy(messages, order, memory, spent))
            except ModelOutputCut as error:
                error.calls = spent.calls
                raise
        return replace(reply, calls=spent.calls)

    async def stream(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        """Pieces of a reply as they come; ModelOutputCut after the last piece if it was cut."""
        async with self._turn:
            think = False if (await self.facts()).thinking else None
            order = Order(ANSWER_TOKENS, temperature=self._temperature, think=think)
            for last in (False, True):
                end: Mapping[str, Any] = {}
                begun = False
                async for chunk in self._chunks(messages, order):
                    end = end or _end_of(chunk)
                    if chunk.content:
                        begun = True
                        yield str(chunk.content)
                if not end and begun:
                    raise ModelOutputCut(f"{self.endpoint} stopped in mid-sentence")
                if begun:
                    return
                if last:
                    raise self._wordless(end)
                if end.get("done_reason") == "length":
                    order = replace(order, tokens=order.tokens * MORE)

    async def _following(
        self,
        messages: Sequence[Message],
        schema: dict[str, Any],
        facts: ModelFacts,
        spent: Spent,
    ) -> Completion:
        """Down the ladder of methods, as far as the memory of this model says."""
        memory, methods = self._memory(facts), ladder(thinking=facts.thinking)
        refusal: RequestRefused | None = None
        reply: Completion | None = None
        for method in methods[memory.start(methods) :]:
            order = order_of(method, schema, tokens=memory.tokens, thinks=facts.thinking)
            wary = method.sends_schema and method is not memory.working
            try:
                reply = await self._roomy(
                    put(messages, schema, method), replace(order, wary=wary), memory, spent
                )
            except RequestRefused as error:
                log.info("%s refuses %s: %s", self.endpoint, method, error)
                if refusal is not None and not method.sends_schema:
                    raise refusal from error
                refusal = refusal or error
                continue
            if reply.done_reason == "length" and starts_as_json(reply.text):
                return self._said(reply)
            text = read_reply(reply, schema, method)
            if text is not None:
                memory.passed(method)
                return replace(reply, text=text)
            log.info("%s breaks the schema by %s: %.200r", self.endpoint, method, reply.text)
            if not memory.goes_on(method):
                return reply
        if reply is None:
            raise refusal or ModelError(f"{self.endpoint} follows no schema")
        memory.gave_up()
        return reply

    async def _roomy(
        self, messages: Sequence[Message], order: Order, memory: Memory, spent: Spent
    ) -> Completion:
        """A reply that ended for want of tokens is asked for once more, with more of them."""
        reply = await self._once(messages, order, spent)
        if reply.done_reason != "length":
            return reply
        more = replace(order, tokens=order.tokens * MORE)
        again = await self._once(messages, more, spent)
        if again.done_reason != "length" and not reply.text.strip():
            memory.tokens = max(memory.tokens, more.tokens)
        return again

    async def _once(self, messages: Sequence[Message], order: Order, spent: Spent) -> Completion:
        """One reply; a model that was only loaded or unloaded is asked once more."""

        async def work() -> tuple[str, Mapping[str, Any], Mapping[str, Any]]:
            try:
                return await self._collected(messages, order, spent)
            except (ModelUnavailable, RuntimeUnavailable) as error:
                if order.wary and isinstance(error.__cause__, _DROPPED):
                    raise RequestRefused(f"{self.endpoint} dropped the connection") from error
                raise

        end: Mapping[str, Any] = {}
        for _ in range(2):
            text, end, usage = await call(self.endpoint, self._budget, work)
            if end and end.get("done_reason") not in _UNGENERATED:
                return Completion(
                    text=text,
                    model=self.endpoint.model,
                    prompt_tokens=usage.get("input_tokens", 0),
                    output_tokens=usage.get("output_tokens", 0),
                    done_reason=str(end.get("done_reason") or "stop"),
                )
        raise self._wordless(end)

    async def _collected(
        self, messages: Sequence[Message], order: Order, spent: Spent
    ) -> tuple[str, Mapping[str, Any], Mapping[str, Any]]:
        """Text, last line and counts of a reply; no last line where nothing was generated."""
        text = ""
        end: Mapping[str, Any] = {}
        usage: Mapping[str, Any] = {}
        async for chunk in self._chunks(messages, order, spent):
            text += str(chunk.content)
            end = end or _end_of(chunk)
            usage = chunk.usage_metadata or usage
        if text and not end:
            raise ModelOutputCut(f"{self.endpoint} stopped before its reply was complete")
        return text, end, usage

    async def _chunks(
        self, messages: Sequence[Message], order: Order, spent: Spent | None = None
    ) -> AsyncIterator[AIMessageChunk]:
        came = False
        window = await self.window()
        kept = fitted(messages, room_of(window, order.tokens))
        tokens = min(order.tokens, window - prompt_tokens(kept))
        if spent is not None:
            spent.calls += 1
        try:
            async for chunk in self._client.astream(
                to_langchain(kept),
                format=order.format,
                reasoning=order.think,
                options={
                    "temperature": order.temperature,
                    "num_ctx": window,
                    "num_predict": tokens,
                },
            ):
                came = True
                self._note_loaded()
                yield chunk
        except (httpx.TransportError, ConnectionError, ResponseError) as error:
            raise translate(error, self.endpoint) from error
        except (json.JSONDecodeError, ValidationError) as error:
            raise ModelOutputCut(f"{self.endpoint}: unreadable reply: {error}") from error
        except ValueError as error:
            if came:
                raise
            log.info("%s generated nothing: %s", self.endpoint, error)

    def _note_loaded(self) -> None:
        if not self._loaded:
            self._loaded = True
            set_timeout(self._client, self._timeout)

    def _said(self, reply: Completion) -> Completion:
        """A reply that says something; one spent on thinking is none."""
        if not reply.text.strip():
            raise self._wordless({"done_reason": reply.done_reason})
        return reply

    def _wordless(self, end: Mapping[str, Any]) -> ModelOutputCut:
        match end.get("done_reason"):
            case "length":
                return ModelOutputCut(
                    f"{self.endpoint} spent all its tokens before the first word of a reply",
                    remedy="turn thinking off for this model, or use one that does not think",
                )
            case "stop":
                return ModelOutputCut(f"{self.endpoint} said nothing")
            case _:
                return ModelOutputCut(
                    f"{self.endpoint} was loaded or unloaded, and generated nothing, twice"
                )

    def _memory(self, facts: ModelFacts) -> Memory:
        return self._memories.setdefault(facts.digest, Memory(REPLY_TOKENS))


def _end_of(chunk: AIMessageChunk) -> Mapping[str, Any]:
    """The last line of a reply, which says why it ended; empty for the lines before it."""
    return chunk.response_metadata if chunk.response_metadata.get("done") else {}
