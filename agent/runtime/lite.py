"""Milvus Lite as a child process that other processes reach by gRPC on a loopback port."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import IO

import psutil

from agent.runtime.child import die_with_parent
from agent.runtime.lock import ProcessMark
from schemas.errors import StoreUnavailable

_READY_SECONDS = 120.0
# Closing writes what is in memory; cut off in the midst, rows would be seen twice.
_STOP_SECONDS = 60.0
_RESTARTS = 3
_RESTART_WINDOW_SECONDS = 60.0


class MilvusLite:
    """Starts Milvus Lite, waits until it answers, and starts it again when it falls over.

    `on_start` is told each new process before anyone can connect to it, so that an orphan is
    found by the next runtime. `on_failure` is called when it fell over too often to go on.
    """

    def __init__(
        self,
        data_dir: Path,
        port: int,
        log: IO[bytes],
        *,
        on_start: Callable[[ProcessMark | None], None],
        on_failure: Callable[[], Awaitable[None]],
    ) -> None:
        self._data_dir = data_dir
        self._port = port
        self._log = log
        self._on_start = on_start
        self._on_failure = on_failure
        self._process: asyncio.subprocess.Process | None = None
        self._watcher: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Raise `StoreUnavailable` if it ends before it answers."""
        await self._launch()
        self._watcher = asyncio.create_task(self._watch())

    async def stop(self) -> None:
        if self._watcher is not None:
            self._watcher.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watcher
        await self._end()

    def connected(self) -> bool:
        """Whether a client holds a connection open."""
        if self._process is None:
            return False
        try:
            connections = psutil.Process(self._process.pid).net_connections(kind="tcp")
        except psutil.Error:
            return False
        return any(c.status == psutil.CONN_ESTABLISHED for c in connections)

    async def _launch(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "agent.runtime.lite"),
            *("--data-dir", str(self._data_dir)),
            *("--port", str(self._port)),
            *("--parent", str(os.getpid())),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
        )
        self._on_start(ProcessMark.of(self._process.pid))
        await self._wait_ready(self._process)

    async def _wait_ready(self, process: asyncio.subprocess.Process) -> None:
        deadline = time.monotonic() + _READY_SECONDS
        while time.monotonic() < deadline:
            if process.returncode is not None:
                raise StoreUnavailable(
                    f"Milvus Lite ended with code {process.returncode} while opening "
                    f"{self._data_dir}",
                    remedy="another program may have the directory open; see the runtime's log",
                )
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", self._port)
                writer.close()
                return
            await asyncio.sleep(0.05)
        await self._end()
        raise StoreUnavailable(
            f"Milvus Lite did not answer on port {self._port} within {_READY_SECONDS:.0f} s"
        )

    async def _watch(self) -> None:
        failures: list[float] = []
        while self._process is not None:
            await self._process.wait()
            now = time.monotonic()
            failures = [t for t in failures if now - t < _RESTART_WINDOW_SECONDS] + [now]
            if len(failures) > _RESTARTS:
                await self._on_failure()
                return
            try:
                await self._launch()
            except StoreUnavailable:
                await self._on_failure()
                return

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.wait(), _STOP_SECONDS)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _interrupt_once(number: int, _frame: FrameType | None) -> None:
    """Milvus Lite closes its files on KeyboardInterrupt only.

    A second signal in the midst of that would leave rows both in a segment and in the log, to be
    seen twice from then on.
    """
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def main(argv: Sequence[str]) -> int:
    """Run `milvus-lite server` in this process, bound to loopback and to its parent's life."""
    parser = argparse.ArgumentParser(prog="agent.runtime.lite")
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--port", required=True)
    parser.add_argument("--parent", type=int, required=True)
    args = parser.parse_args(argv)
    die_with_parent(args.parent, signal.SIGTERM)
    signal.signal(signal.SIGTERM, _interrupt_once)

    from milvus_lite.cmdline import main as milvus_lite  # noqa: PLC0415  parents need no engine

    code: int = milvus_lite(
        ["server", "--data-dir", args.data_dir, "--host", "127.0.0.1", "--port", args.port]
    )
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
