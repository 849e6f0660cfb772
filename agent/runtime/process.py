"""The client's side of the runtime: find it, start it, look at it, end it.

Imports nothing heavy: a command that only needs the address should not wait for engines.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil
from filelock import FileLock, Timeout

from agent.runtime.config import RuntimeConfig
from agent.runtime.lock import LockRecord, end_process, read_record
from agent.runtime.weights import Progress, ensure_weights
from schemas.errors import RuntimeUnavailable

_START_SECONDS = 180.0
_STOP_SECONDS = 90.0
_POLL_SECONDS = 0.05
ALREADY_RUNNING = 3
"""The exit code of a runtime that found the folder held by another."""
_LOG_LIMIT = 5_000_000
_LOG_TAIL = 2000


@dataclass(frozen=True)
class RuntimeAddress:
    """Where clients go. Requests under `ollama_url` need `Authorization: Bearer {token}`."""

    ollama_url: str
    milvus_uri: str
    token: str
    pid: int

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


@dataclass(frozen=True)
class RuntimeStatus:
    """What is known about a runtime. `started` is in seconds since the epoch, `memory` in bytes
    for the process and its children; `models` are those loaded. `answers` is False while it
    starts, or if it hangs.
    """

    address: RuntimeAddress
    version: str
    started: float
    answers: bool
    models: tuple[str, ...]
    memory: int
    log_path: Path


def ensure_runtime(
    config: RuntimeConfig, on_progress: Progress | None = None, *, weights: bool = True
) -> RuntimeAddress:
    """The address of the runtime of `config.data_dir`; started if there is none. Blocks.

    With `weights`, those of the chat model are fetched first if they are missing (see
    `ensure_weights` for what it raises). A runtime of another version, or with other settings, is
    replaced unless it is at work. Raise `RuntimeUnavailable` if it cannot be started.
    """
    if weights:
        ensure_weights(config, on_progress)
    try:
        record = _usable(config)
        if record is not None:
            return _address(record)
        config.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(config.start_lock_path).acquire(timeout=_START_SECONDS):
            return _address(_found_or_started(config))
    except OSError as error:
        raise RuntimeUnavailable(
            f"the data folder {config.data_dir} cannot be used: {error.strerror}",
            remedy="set paths.data (FACETWISE_PATHS__DATA) to a folder that can be written",
        ) from error
    except Timeout as error:
        raise RuntimeUnavailable(
            f"another process has been starting the runtime for {_START_SECONDS:.0f} s",
            remedy=f"see {config.log_path}",
        ) from error


def status(config: RuntimeConfig) -> RuntimeStatus | None:
    """None if no runtime is up."""
    record = read_record(config.record_path)
    if record is None or not record.alive():
        return None
    loaded = _get(record, "/api/ps")
    return RuntimeStatus(
        address=_address(record),
        version=record.version,
        started=record.started,
        answers=loaded is not None,
        models=tuple(m["name"] for m in loaded["models"]) if loaded else (),
        memory=_memory(record),
        log_path=config.log_path,
    )


def stop(config: RuntimeConfig) -> bool:
    """End the runtime and what it started; False if there was none."""
    record = read_record(config.record_path)
    if record is None:
        return False
    was_alive = record.alive()
    end_process(record.owner, patience=_STOP_SECONDS)
    end_process(record.milvus, patience=_STOP_SECONDS)
    return was_alive


def installed_version() -> str:
    """A runtime of another version is replaced."""
    try:
        return version("facetwise")
    except PackageNotFoundError:
        return "0"


def _usable(config: RuntimeConfig) -> LockRecord | None:
    """The record of a runtime that answers and serves what is asked; None to start one."""
    record = read_record(config.record_path)
    if record is None or not record.alive():
        return None
    state = _wait_for_answer(record, config)
    if state is None:
        return None
    if record.version == installed_version() and record.config.serves_like(config):
        return read_record(config.record_path)
    if state["under_way"] > 0:
        raise RuntimeUnavailable(
            f"the runtime of {config.data_dir} (process {state['pid']}) is at work with other "
            "settings or another version",
            remedy="try again when it is done, or end it with: facetwise runtime stop",
        )
    stop(config)
    return None


def _wait_for_answer(record: LockRecord, config: RuntimeConfig) -> dict[str, Any] | None:
    """Wait while it starts; one that lives and stays silent is ended."""
    deadline = time.monotonic() + _START_SECONDS
    while record.alive():
        state = _ping(record)
        if state is not None:
            return state
        if time.monotonic() > deadline:
            stop(config)
            return None
        time.sleep(_POLL_SECONDS)
    return None


def _found_or_started(config: RuntimeConfig) -> LockRecord:
    """Goes on trying while another runtime holds the folder without answering: it is ending, or
    it is starting and the client that started it was killed.
    """
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        record = _usable(config) or _start(config)
        if record is not None:
            return record
        time.sleep(_POLL_SECONDS)
    raise RuntimeUnavailable(
        f"another runtime has held {config.data_dir} for {_START_SECONDS:.0f} s without answering",
        remedy=f"see {config.log_path}, or end it with: facetwise runtime stop",
    )


def _start(config: RuntimeConfig) -> LockRecord | None:
    """None if another runtime has the folder: it came up meanwhile, or it does not let go."""
    log_from = _prepare_log(config.log_path)
    process = _spawn(config)
    # Waits so that the process does not stay a zombie if it ends before this one.
    threading.Thread(target=process.wait, daemon=True).start()
    deadline = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        record = read_record(config.record_path)
        if record is not None and record.owner is not None and _ping(record) is not None:
            if record.owner.pid == process.pid:
                return record
            process.kill()
            return None
        time.sleep(_POLL_SECONDS)
    if process.poll() == ALREADY_RUNNING:
        return None
    if process.poll() is None:
        process.kill()
        reason = f"it did not answer within {_START_SECONDS:.0f} s"
    else:
        reason = _last_line(config.log_path, log_from) or f"it ended with code {process.returncode}"
    raise RuntimeUnavailable(
        f"the runtime of {config.data_dir} could not be started: {reason}",
        remedy=f"see {config.log_path}",
    )


def _spawn(config: RuntimeConfig) -> subprocess.Popen[bytes]:
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    with config.log_path.open("ab") as log:
        return subprocess.Popen(
            [
                *(sys.executable, "-P", "-m", "agent.runtime"),
                *("--config-json", config.model_dump_json()),
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=config.data_dir,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,
        )


def _prepare_log(path: Path) -> int:
    """Put a large log aside; the position where this start begins to write."""
    if not path.exists():
        path.touch(mode=0o600)
    if path.stat().st_size > _LOG_LIMIT:
        path.replace(path.with_name(f"{path.name}.1"))
        path.touch(mode=0o600)
    return path.stat().st_size


def _last_line(path: Path, begin: int) -> str:
    with path.open("rb") as file:
        file.seek(max(begin, path.stat().st_size - _LOG_TAIL))
        lines = file.read().decode("utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _ping(record: LockRecord) -> dict[str, Any] | None:
    """What `/api/version` says, if it is the recorded owner that says it and Milvus listens."""
    state = _get(record, "/api/version")
    owner = record.owner
    if state is None or owner is None or state.get("pid") != owner.pid:
        return None
    return state if _listens(record.milvus_port) else None


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=2).close()
    except OSError:
        return False
    return True


def _get(record: LockRecord, path: str) -> dict[str, Any] | None:
    connection = http.client.HTTPConnection("127.0.0.1", record.http_port, timeout=10)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {record.token}"})
        response = connection.getresponse()
        body = response.read()
        found: dict[str, Any] | None = json.loads(body) if response.status == 200 else None
        return found
    except (OSError, http.client.HTTPException, json.JSONDecodeError):
        return None
    finally:
        connection.close()


def _address(record: LockRecord) -> RuntimeAddress:
    pid = record.owner.pid if record.owner else 0
    return RuntimeAddress(record.ollama_url, record.milvus_uri, record.token, pid)


def _memory(record: LockRecord) -> int:
    process = record.owner.process() if record.owner else None
    if process is None:
        return 0
    try:
        family = [process, *process.children(recursive=True)]
        return sum(p.memory_info().rss for p in family)
    except psutil.NoSuchProcess:
        return 0
