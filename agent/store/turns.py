"""One writer of a knowledge base at a time, also between the processes of a machine."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from agent.store.names import digest
from schemas.errors import StoreError

log = logging.getLogger(__name__)

POLL_SECONDS = 0.02
TELL_SECONDS = 3.0
"""After so long the person who waits is told why."""


@asynccontextmanager
async def turn(folder: Path, kb: str) -> AsyncIterator[None]:
    """Hold the lock file of a knowledge base. The system frees it when its holder dies."""
    lock = FileLock(folder / f"{digest(kb, 16)}.lock", thread_local=False)
    await _acquire(lock, kb)
    try:
        yield
    finally:
        lock.release()


async def _acquire(lock: FileLock, kb: str) -> None:
    """Tries again and again rather than to block a thread, which could not be cancelled."""
    path = Path(lock.lock_file)
    begun, told = time.monotonic(), False
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire(blocking=False)
        except Timeout:
            if not told and time.monotonic() - begun > TELL_SECONDS:
                log.warning("another process is writing to %r; waiting for it", kb)
                told = True
            await asyncio.sleep(POLL_SECONDS)
        except OSError as error:
            raise StoreError(
                f"cannot lock {kb!r} for writing: {error}",
                remedy="let paths.data name a folder that can be written",
            ) from error
        else:
            return
