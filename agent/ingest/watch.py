"""Folders and files that are watched for changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from watchfiles import Change, awatch

from schemas.errors import UsageError

_SETTLE_MS = 800
"""A change is told once nothing more has changed for about so long."""


class Watch:
    """Whether anything has changed since it was asked last."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._failure: BaseException | None = None

    def tell(self) -> None:
        self._event.set()

    def ended(self, task: asyncio.Task[None]) -> None:
        """Watching goes on for good, so an end is a failure, unless it was cancelled."""
        if not task.cancelled():
            self._failure = task.exception()
            self._event.set()

    async def changed(self) -> None:
        """Waits for a change, which may have come before. UsageError if files can no longer be
        watched.
        """
        await self._event.wait()
        self._event.clear()
        if self._failure is not None:
            raise UsageError(f"files cannot be watched: {self._failure}") from self._failure


@asynccontextmanager
async def watching(paths: Sequence[Path], accepts: Callable[[Path], bool]) -> AsyncIterator[Watch]:
    """Watches folders with all below them, and single files, from the moment it is entered.

    Told are changes of files that `accepts`, and folders that come and go; hidden ones never.
    UsageError for a path that is not there.
    """
    found = [_resolved(path) for path in paths]
    folders = [path for path in found if path.is_dir()]
    files = [path for path in found if not path.is_dir()]
    watch = Watch()

    def in_folder(change: Change, name: str) -> bool:
        path = Path(name)
        below = next((path.relative_to(root) for root in folders if root in path.parents), path)
        if any(part.startswith(".") for part in below.parts):
            return False
        return accepts(path) or (change is not Change.modified and not path.suffix)

    def is_named(_: Change, name: str) -> bool:
        return Path(name) in files

    async def tell(roots: set[Path], fits: Callable[[Change, str], bool], deep: bool) -> None:
        async for _ in awatch(*roots, watch_filter=fits, debounce=_SETTLE_MS, recursive=deep):
            watch.tell()

    # editors replace a file rather than write into it, so its folder is watched
    ways = (
        (set(folders), in_folder, True),
        ({path.parent for path in files}, is_named, False),
    )
    tasks = [asyncio.create_task(tell(*way)) for way in ways if way[0]]
    for task in tasks:
        task.add_done_callback(watch.ended)
    await asyncio.sleep(0)
    try:
        yield watch
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _resolved(path: Path) -> Path:
    try:
        return path.expanduser().resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise UsageError(f"there is no file or folder {str(path)!r}") from error
