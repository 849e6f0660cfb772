"""Settings, and the models and the store behind them, connected on first use."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import cached_property
from types import TracebackType
from typing import Self

from agent.access.local import GrantedAccess
from agent.backends import Backends, Notify, Progress
from agent.deferred import DeferredEmbedder
from agent.models.chat import OllamaChat
from agent.models.embedding import OllamaEmbedder
from agent.settings import Settings, load_settings
from agent.store.connection import Connection, Patience
from agent.store.fusion import Fusion, Method
from agent.store.store import MilvusStore
from agent.taking_in import zone_of
from schemas.access import Principal, Scope
from schemas.compile.milvus import Dialect
from schemas.errors import UnknownKnowledgeBase


class Connected:
    """What every face of the application stands on. Use it as a context manager: what was
    connected is closed at the end.

    What a principal may see is decided per call. `now` is the clock, with a zone; nothing else
    tells the time.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        notify: Notify | None = None,
        progress: Progress | None = None,
        now: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
    ) -> None:
        self.settings = settings or load_settings()
        self._now = now
        self.backends = Backends(self.settings, notify=notify, progress=progress)
        self._closing = AsyncExitStack()
        self._store: MilvusStore | None = None
        self._chat: OllamaChat | None = None
        self._embedder: OllamaEmbedder | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._closing.aclose()

    def kb(self, name: str | None) -> str:
        return name or self.settings.kb

    def today(self) -> dt.date:
        """The present day in the configured zone."""
        return self._now().astimezone(zone_of(self.settings.planning.timezone)).date()

    async def store(self) -> MilvusStore:
        """The store, connected on first use."""
        if self._store is None:
            address = await self.backends.store()
            settings = self.settings.store
            connection = Connection(
                address.uri,
                address.token,
                dialect=Dialect(settings.dialect) if settings.dialect else None,
                patience=Patience(call=settings.timeout_s),
                locks=self.settings.paths.data / "locks",
                files=self.backends.runtime_config().milvus_dir if address.embedded else None,
            )
            self._closing.push_async_callback(connection.close)
            self._store = MilvusStore.over(
                connection,
                DeferredEmbedder(self.settings.models.embedding, self.embedder),
                fusion=Fusion(
                    method=Method(settings.fusion),
                    text=1 - settings.dense_weight,
                    vector=settings.dense_weight,
                ),
                profile_minutes=settings.profile_minutes,
                now=self._now,
            )
        return self._store

    async def chat(self) -> OllamaChat:
        if self._chat is None:
            models = self.settings.models
            self._chat = OllamaChat(
                await self.backends.chat(),
                context=models.context,
                keep_alive=models.keep_alive,
                timeout_s=models.timeout_s,
                connect_timeout_s=models.connect_timeout_s,
                temperature=self.settings.answer.temperature,
                parallel=models.parallel,
                budget=self.backends.budget,
            )
            self._closing.push_async_callback(self._chat.close)
        return self._chat

    async def embedder(self) -> OllamaEmbedder:
        if self._embedder is None:
            self._embedder = OllamaEmbedder(
                await self.backends.embedding(),
                timeout_s=self.settings.models.timeout_s,
                connect_timeout_s=self.settings.models.connect_timeout_s,
                budget=self.backends.budget,
            )
            self._closing.push_async_callback(self._embedder.close)
        return self._embedder

    def _granted(self, kb: str, principal: Principal) -> Scope:
        """The principal's scope; where it is empty, the base is as unknown as one that is not
        there, so that nobody learns names by trying.
        """
        scope = self._access.scope(principal, kb)
        if scope == Scope():
            raise UnknownKnowledgeBase(f"unknown knowledge base {kb!r}")
        return scope

    @cached_property
    def _access(self) -> GrantedAccess:
        return GrantedAccess()
