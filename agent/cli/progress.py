"""Progress on stderr: bars on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from agent.ingest.report import Progress as IngestProgress
    from agent.store.reindexing import Reindexed

QUIET_SECONDS = 5.0
MEGABYTE = 1_000_000


class _Bar:
    """A bar that appears when there is something to show."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._said = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
            self._task = None

    def _draw(self, text: str, done: float, total: float, detail: str) -> None:
        if not sys.stderr.isatty():
            now = time.monotonic()
            if now - self._said >= QUIET_SECONDS:
                self._said = now
                sys.stderr.write(f"{text} {detail}\n")
                sys.stderr.flush()
            return
        if self._progress is None:
            self._progress, self._task = self._start(total)
        if self._task is not None:
            self._progress.update(
                self._task, description=text, completed=done, total=total, detail=detail
            )

    def _start(self, total: float) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[detail]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        progress.start()
        return progress, progress.add_task("", total=total, detail="")


class DownloadBar(_Bar):
    """Bytes of a model's weights, and the runtime's start. May be called from a worker thread."""

    def update(self, what: str, done: int, total: int) -> None:
        if not total:
            self._draw(what, 0, 1, "")
            return
        detail = f"{done // MEGABYTE} of {total // MEGABYTE} MB"
        self._draw(what, done, total, detail)
        if done >= total:
            self.close()


class IngestBar(_Bar):
    """Documents done of all."""

    def update(self, progress: IngestProgress) -> None:
        detail = f"{progress.done}/{progress.total} documents, {progress.chunks} passages"
        self._draw("ingest", progress.done, progress.total, detail)


class ReindexBar(_Bar):
    """Passages embedded of all."""

    def update(self, progress: Reindexed) -> None:
        detail = f"{progress.done}/{progress.total} passages"
        self._draw("reindex", progress.done, progress.total, detail)
