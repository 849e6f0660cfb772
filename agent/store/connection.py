"""The one client of a store, with the one retry layer and the translation of its errors."""

from __future__ import annotations

import asyncio
import logging
import re
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]  # ships no types
from pymilvus import MilvusClient
from pymilvus.exceptions import MilvusException
from tenacity import (
    AsyncRetrying,
    retry_if_exception_type,
    stop_after_attempt,
    stop_after_delay,
    wait_random_exponential,
)

from agent.store.turns import turn
from schemas.compile.milvus import Dialect
from schemas.errors import StoreDamaged, StoreError, StoreUnavailable

log = logging.getLogger(__name__)

# Codes of a Milvus status: service unavailable (also pymilvus' own "fail connecting"), rate limit.
_UNAVAILABLE_CODES = (2, 8)
_MISSING_CODE = 100
_RELEASED_CODE = 101
_GRPC_UNAVAILABLE = ("UNAVAILABLE", "DEADLINE_EXCEEDED")
_GRPC_DENIED = ("UNAUTHENTICATED", "PERMISSION_DENIED")
_DAMAGE = re.compile(
    r"corrupt|parquet|arrow|magic bytes|manifest|\bwal\b|checksum|truncated|deseriali[sz]e"
    r"|no such file|input/output error|not valid json|failed to load|codec can.t decode"
    r"|expecting value|extra data",
    re.IGNORECASE,
)


# A channel to an address that failed waits before it tries again, for ever longer and together
# with every other channel of the process to that address.
# Servers end connections that are pinged more often than every five minutes while idle.
_CHANNEL = {
    "grpc.keepalive_time_ms": 300_000,
    "grpc.use_local_subchannel_pool": 1,
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 1_000,
}
_RETRY_NOTE = re.compile(r"^\[\w+\] Retry run out of 0 retry times, (message=)?")


class CollectionMissing(StoreError):
    """The engine has no collection of this name (any more)."""


class CollectionReleased(StoreError):
    """The collection exists, but is not loaded for reading."""


@dataclass(frozen=True)
class Patience:
    """How long a call is tried. Seconds; `call` bounds one attempt, `budget` all of them."""

    attempts: int = 4
    budget: float = 10.0
    longest_wait: float = 2.0
    call: float = 300.0


class Connection:
    """A Milvus server or a served Milvus Lite, by URI. Safe to share between tasks and loops.

    `locks` is a folder for the lock files by which writing processes take turns, `files` that
    of the data of a Milvus Lite on this machine.
    """

    def __init__(
        self,
        uri: str,
        token: str = "",
        *,
        database: str = "",
        dialect: Dialect | None = None,
        patience: Patience | None = None,
        locks: Path | None = None,
        files: Path | None = None,
    ) -> None:
        self.uri = uri
        self._folder = locks
        self._files = files
        self.shown = re.sub(r"(?<=://)[^/@]*@", "", uri)
        self._dialect = dialect
        self._token = token
        self._database = database
        self._patience = patience or Patience()
        self._guard = threading.Lock()
        self._client: MilvusClient | None = None
        self._version: str | None = None
        self._locks: dict[str, asyncio.Lock] = {}

    @asynccontextmanager
    async def writing(self, kb: str) -> AsyncIterator[None]:
        """Held while a knowledge base is changed: one change after the other, also between the
        processes that share `locks`. Machines that write to one server are not kept apart.
        """
        async with self._locks.setdefault(kb, asyncio.Lock()):
            if self._folder is None:
                yield
                return
            async with turn(self._folder, kb):
                yield

    async def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method of MilvusClient off the event loop.

        Every call must bear repetition. Raises StoreUnavailable, StoreDamaged,
        CollectionMissing, CollectionReleased or StoreError.
        """
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(StoreUnavailable),
            stop=stop_after_attempt(self._patience.attempts)
            | stop_after_delay(self._patience.budget),
            wait=wait_random_exponential(multiplier=0.25, max=self._patience.longest_wait),
            reraise=True,
        )
        return await retrying(self._attempt, method, args, kwargs)

    async def version(self) -> str:
        """The engine's version text, such as `milvus_lite-3.2.2` or `v2.6.10`."""
        if self._version is None:
            self._version = str(await self.call("get_server_version"))
        return self._version

    async def dialect(self) -> Dialect:
        """The dialect that was set, or else that of the engine's version."""
        return self._dialect or Dialect.of(await self.version())

    async def is_lite(self) -> bool:
        return Dialect.of(await self.version()) is Dialect.LITE

    async def collections(self) -> list[str]:
        """Names of all collections. Lite opens every one of them to tell that it is there, and
        fails where one is damaged; then their folders tell.
        """
        try:
            return list(await self.call("list_collections"))
        except StoreDamaged:
            if self._files is None:
                raise
            return await asyncio.to_thread(_collections_in, self._files)

    async def close(self) -> None:
        with self._guard:
            client, self._client = self._client, None
        if client is not None:
            await asyncio.to_thread(client.close)

    async def _attempt(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            async with asyncio.timeout(self._patience.call):
                return await asyncio.to_thread(self._blocking, method, args, kwargs)
        except TimeoutError as error:
            raise self._unavailable(f"no reply within {self._patience.call:g} s") from error

    def _blocking(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            # pymilvus retries 75 times by itself; this layer is the only one that does.
            return getattr(self._connected(), method)(*args, retry_times=0, **kwargs)
        except MilvusException as error:
            fault = self._translated(error.code, error.message, error.retriable)
            cause: Exception = error
        except grpc.RpcError as error:
            fault = self._translated(error.code(), error.details() or "", False)
            cause = error
        if isinstance(fault, StoreUnavailable):
            self._forget()
        raise fault from cause

    def _connected(self) -> MilvusClient:
        with self._guard:
            if self._client is None:
                logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
                self._client = MilvusClient(
                    self.uri,
                    token=self._token,
                    db_name=self._database,
                    timeout=self._patience.budget,
                    dedicated=True,
                    grpc_options=_CHANNEL,
                )
            return self._client

    def _forget(self) -> None:
        """Connect anew next time: a channel that has failed backs off for seconds, also from a
        store that is there again.
        """
        with self._guard:
            self._client = None

    def _translated(self, code: object, message: str, retriable: bool) -> StoreError:
        line = _RETRY_NOTE.sub("", " ".join(message.split()))[:300]
        status = getattr(code, "name", "")
        if status in _GRPC_UNAVAILABLE:
            return self._unavailable(line)
        if status in _GRPC_DENIED:
            return StoreError(
                f"the store at {self.shown} does not accept the token", remedy="set store.token"
            )
        if code in _UNAVAILABLE_CODES or retriable:
            return self._unavailable(line)
        if code == _MISSING_CODE:
            return CollectionMissing(line)
        if code == _RELEASED_CODE:
            return CollectionReleased(line)
        if _DAMAGE.search(line):
            return StoreDamaged(
                f"the store at {self.shown} cannot read its data: {line}",
                remedy="restore what is damaged from a backup: facetwise restore FILE --replace,"
                " or ingest into a new knowledge base",
            )
        return StoreError(f"the store at {self.shown} refused a request: {line}")

    def _unavailable(self, detail: str) -> StoreUnavailable:
        log.debug("store unavailable: %s", detail)
        return StoreUnavailable(
            f"no vector store answers at {self.shown}",
            remedy="start Milvus there, set store.uri, or leave it empty for the embedded store",
        )


def _collections_in(files: Path) -> list[str]:
    return sorted(schema.parent.name for schema in files.glob("collections/*/schema.json"))
