"""The lock file: where the runtime of a data directory is, and which processes it consists of."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict, ValidationError

from agent.runtime.config import RuntimeConfig

# Two clocks read the start of a process (ours and the kernel's); they agree to a tick.
_SAME_START_SECONDS = 0.05
_POLL_SECONDS = 0.02


class ProcessMark(BaseModel):
    """A process id with its start time, so that a reused id is not taken for the process."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pid: int
    created: float

    @classmethod
    def of(cls, pid: int) -> ProcessMark | None:
        """Mark a running process; None if there is none with this id."""
        try:
            return cls(pid=pid, created=psutil.Process(pid).create_time())
        except psutil.NoSuchProcess:
            return None

    @classmethod
    def own(cls) -> ProcessMark:
        return cls(pid=os.getpid(), created=psutil.Process().create_time())

    def process(self) -> psutil.Process | None:
        """The marked process while it lives; None when it ended or its id belongs to another."""
        try:
            process = psutil.Process(self.pid)
            same = abs(process.create_time() - self.created) < _SAME_START_SECONDS
            if same and process.status() != psutil.STATUS_ZOMBIE:
                return process
        except psutil.NoSuchProcess:
            return None
        return None


class LockRecord(BaseModel):
    """Content of the lock file. `owner` is None after an orderly end.

    Ports and token stay in the file then, and the next runtime takes them over if it can, so that
    addresses held by a client outlive a restart.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    owner: ProcessMark | None
    milvus: ProcessMark | None
    http_port: int
    milvus_port: int
    token: str
    version: str
    started: float
    config: RuntimeConfig

    @property
    def ollama_url(self) -> str:
        return f"http://127.0.0.1:{self.http_port}"

    @property
    def milvus_uri(self) -> str:
        return f"http://127.0.0.1:{self.milvus_port}"

    def alive(self) -> bool:
        return self.owner is not None and self.owner.process() is not None


def new_token() -> str:
    return secrets.token_urlsafe(32)


def read_record(path: Path) -> LockRecord | None:
    """The record at `path`; None if there is none, or it was written by another version's shape."""
    try:
        return LockRecord.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError:
        return None


def write_record(path: Path, record: LockRecord) -> None:
    """Replace the file in one step; readable by its owner only, as it holds the token."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        draft.unlink()
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(record.model_dump_json(indent=2))
    draft.replace(path)


def end_process(mark: ProcessMark | None, *, patience: float) -> None:
    """End a marked process if it still lives: politely, then after `patience` seconds by force.

    One that ended and was not yet reaped by its parent counts as ended.
    """
    if mark is None:
        return
    for end in (psutil.Process.terminate, psutil.Process.kill):
        process = mark.process()
        if process is None:
            return
        with contextlib.suppress(psutil.NoSuchProcess):
            end(process)
        deadline = time.monotonic() + patience
        while mark.process() is not None and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
