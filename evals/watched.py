"""An agent whose model calls can be looked at."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.app import Agent
from agent.backends import Notify, Progress
from agent.settings import Settings, load_settings
from graph.ports import Chat, Completion, Message


@dataclass(frozen=True)
class Call:
    """One call: the last message (what stands before it is the same in every call of a prompt
    version), the reply, tokens and milliseconds; `requests` is how many it took of the model.
    """

    asked: str
    reply: str
    prompt_tokens: int
    output_tokens: int
    ms: float
    requests: int = 1


class Recorder:
    """A chat model that writes down what it is asked."""

    def __init__(self, inner: Chat, calls: list[Call]) -> None:
        self._inner = inner
        self._calls = calls

    @property
    def name(self) -> str:
        return self._inner.name

    async def complete(
        self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None
    ) -> Completion:
        began = time.perf_counter()
        done = await self._inner.complete(messages, schema)
        ms = (time.perf_counter() - began) * 1000
        self._calls.append(
            Call(
                asked=messages[-1].content,
                reply=done.text,
                prompt_tokens=done.prompt_tokens,
                output_tokens=done.output_tokens,
                ms=round(ms),
                requests=done.calls,
            )
        )
        return done

    async def stream(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        began = time.perf_counter()
        pieces: list[str] = []
        async for piece in self._inner.stream(messages):
            pieces.append(piece)
            yield piece
        ms = (time.perf_counter() - began) * 1000
        self._calls.append(Call(messages[-1].content, "".join(pieces), 0, 0, round(ms)))


@dataclass
class Watched:
    """What was called since the last look."""

    calls: list[Call] = field(default_factory=list)

    def taken(self) -> tuple[Call, ...]:
        found = tuple(self.calls)
        self.calls.clear()
        return found


class WatchedAgent(Agent):
    """An Agent that records its model's calls; `model` stands in for the configured one. It
    keeps no plans: what is measured is a question that was not asked before.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        model: Chat | None = None,
        notify: Notify | None = None,
        progress: Progress | None = None,
    ) -> None:
        given = settings or load_settings()
        planning = given.planning.model_copy(update={"cache": 0})
        given = given.model_copy(update={"planning": planning})
        super().__init__(given, notify=notify, progress=progress)
        self.watched = Watched()
        self._model = model

    async def chat(self) -> Chat:  # type: ignore[override]  # the same port, seen from outside
        inner = self._model if self._model is not None else await super().chat()
        return Recorder(inner, self.watched.calls)
