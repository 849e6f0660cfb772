"""The agents of a run: one per model, and one without any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from pydantic import JsonValue

from agent.backends import Notify, Progress
from agent.settings import Settings, load_settings
from evals.arms.planned import FirstChoice
from evals.environment import model_facts
from evals.watched import WatchedAgent
from graph.ports import Chat


class Crew:
    """Agents over the effective settings; closed at the end of the block. `model` stands in for
    every chat model.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        model: Chat | None = None,
        notify: Notify | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.settings = settings or load_settings()
        self._model = model
        self._notify = notify
        self._progress = progress
        self._stack = AsyncExitStack()
        self.free = self._new(self.settings, FirstChoice())

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self.free)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    async def of(self, models: Sequence[str]) -> list[WatchedAgent]:
        """One agent per model, or one for the configured model where none is named."""
        named = [with_model(self.settings, name) for name in models] or [self.settings]
        agents = [self._new(settings, self._model) for settings in named]
        return [await self._stack.enter_async_context(agent) for agent in agents]

    async def facts(self, agents: Sequence[WatchedAgent]) -> dict[str, Mapping[str, JsonValue]]:
        """By model: where it is served and its digest. Starts what has to be started."""
        return {
            agent.settings.models.chat: {} if self._model else await model_facts(agent)
            for agent in agents
        }

    def _new(self, settings: Settings, model: Chat | None) -> WatchedAgent:
        return WatchedAgent(settings, model=model, notify=self._notify, progress=self._progress)


def with_model(settings: Settings, name: str) -> Settings:
    models = settings.models.model_copy(update={"chat": name})
    return settings.model_copy(update={"models": models})


async def engine_of(agent: WatchedAgent) -> str:
    """The version of the store's engine."""
    return str(await (await agent.store()).connection.version())
