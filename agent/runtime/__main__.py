"""The background process itself: `python -m agent.runtime --config-json '{…}'`."""

from __future__ import annotations

import argparse
import asyncio
import signal
import socket
import sys
import time
from collections.abc import Sequence
from types import FrameType

import uvicorn
from filelock import FileLock, Timeout

from agent.runtime.child import bind_loopback, free_port
from agent.runtime.config import RuntimeConfig
from agent.runtime.lite import MilvusLite
from agent.runtime.lock import (
    LockRecord,
    ProcessMark,
    end_process,
    new_token,
    read_record,
    write_record,
)
from agent.runtime.process import ALREADY_RUNNING, installed_version
from agent.runtime.server import Activity, build_app
from schemas.errors import FacetwiseError

_ORPHAN_SECONDS = 60.0
_GRACE_SECONDS = 5
_ENDED, _FAILED = 0, 1


def main(argv: Sequence[str]) -> int:
    """Serve until idle or told to end (SIGTERM). The last line of stderr says why it failed."""
    parser = argparse.ArgumentParser(prog="agent.runtime")
    parser.add_argument("--config-json", required=True, type=RuntimeConfig.model_validate_json)
    config: RuntimeConfig = parser.parse_args(argv).config_json
    config.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = FileLock(config.run_lock_path)
    try:
        lock.acquire(timeout=_ORPHAN_SECONDS)
    except Timeout:
        sys.stderr.write(f"another runtime holds {config.data_dir}\n")
        return ALREADY_RUNNING
    try:
        asyncio.run(_serve(config))
    except FacetwiseError as error:
        sys.stderr.write(f"{error}\n")
        return _FAILED
    finally:
        lock.release()
    return _ENDED


async def _serve(config: RuntimeConfig) -> None:
    previous = read_record(config.record_path)
    if previous is not None:
        # A runtime that was killed may have left Milvus holding the data.
        end_process(previous.milvus, patience=_ORPHAN_SECONDS)
    listener = bind_loopback(previous.http_port if previous else None)
    record = _new_record(config, previous, listener)
    activity = Activity()
    server = uvicorn.Server(
        uvicorn.Config(
            build_app(config, record.token, activity, sys.stderr.buffer),
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
    )

    def end(_signal: int, _frame: FrameType | None) -> None:
        server.should_exit = True

    # uvicorn raises the signal that ended it once more when it is done: it must not kill.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)

    def note_milvus(mark: ProcessMark | None) -> None:
        nonlocal record
        record = record.model_copy(update={"milvus": mark})
        write_record(config.record_path, record)

    async def give_up() -> None:
        sys.stderr.write("Milvus Lite fell over too often\n")
        server.should_exit = True

    lite = MilvusLite(
        config.milvus_dir,
        record.milvus_port,
        sys.stderr.buffer,
        on_start=note_milvus,
        on_failure=give_up,
    )
    try:
        await lite.start()
        watch = asyncio.create_task(_end_when_idle(config, server, activity, lite))
        await server.serve(sockets=[listener])
        watch.cancel()
    finally:
        await lite.stop()
        listener.close()
        write_record(config.record_path, record.model_copy(update={"owner": None, "milvus": None}))


def _new_record(
    config: RuntimeConfig, previous: LockRecord | None, listener: socket.socket
) -> LockRecord:
    http_port: int = listener.getsockname()[1]
    return LockRecord(
        owner=ProcessMark.own(),
        milvus=None,
        http_port=http_port,
        milvus_port=free_port(previous.milvus_port if previous else None),
        token=previous.token if previous else new_token(),
        version=installed_version(),
        started=time.time(),
        config=config,
    )


async def _end_when_idle(
    config: RuntimeConfig, server: uvicorn.Server, activity: Activity, lite: MilvusLite
) -> None:
    limit = config.idle_minutes * 60
    while limit:
        await asyncio.sleep(min(30.0, limit / 4))
        if await asyncio.to_thread(lite.connected):
            activity.touch()
        elif activity.idle_seconds() > limit:
            server.should_exit = True
            return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
