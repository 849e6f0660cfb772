"""llama.cpp in a child process: it can be unloaded wholly, and may fall over alone.

The child serves llama.cpp's own HTTP protocol on a loopback port that needs a key.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pydantic import BaseModel, ConfigDict, ValidationError

from agent.runtime.child import die_with_parent
from agent.runtime.gguf import read_header
from schemas.errors import ModelError

_LOAD_SECONDS = 300.0
_END_SECONDS = 2.0
_STOP_SECONDS = 5.0
# Prompts are cut into blocks of this many tokens; between two, a cancelled request is dropped.
_BATCH = 512
# States of earlier prompts, so that the beginning that plans share survives other calls.
_REMEMBERED_MIB = 512
_SILENT = 0
# llama.cpp's threads meet hundreds of times per token. By default they spin there, and one that
# another process holds up then stalls the rest (benchmarks/generation.py).
PATIENT = {"OMP_WAIT_POLICY": "PASSIVE"}


class RunnerOrder(BaseModel):
    """What the child is told, as one line of JSON on its standard input."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: Path
    context: int
    threads: int
    embedding: bool
    key: str
    parent: int


class RunnerReady(BaseModel):
    """What the child answers, as one line on its standard output."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str


@dataclass(frozen=True)
class LlamaRunner:
    """A loaded model. `url` is the root of its server, `key` its bearer token."""

    process: asyncio.subprocess.Process
    url: str
    key: str
    context: int

    @property
    def alive(self) -> bool:
        return self.process.returncode is None

    async def settled(self) -> None:
        """After a broken connection: wait until the end of a dying process is known, so that
        whoever comes next finds it not `alive` and loads the model again.
        """
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.process.wait(), _END_SECONDS)

    async def stop(self) -> None:
        """End the process; its memory is free afterwards."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        try:
            await asyncio.wait_for(self.process.wait(), _STOP_SECONDS)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
            await self.process.wait()


async def load_runner(
    path: Path, *, context: int, threads: int, embedding: bool, log: IO[bytes]
) -> LlamaRunner:
    """Load a GGUF file. Raise `ModelError` if llama.cpp cannot, or not within five minutes."""
    order = RunnerOrder(
        path=path,
        context=context,
        threads=threads,
        embedding=embedding,
        key=secrets.token_urlsafe(24),
        parent=os.getpid(),
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "agent.runtime.llama"),
        env={**PATIENT, **os.environ},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=log,
    )
    runner = LlamaRunner(process, url="", key=order.key, context=context)
    try:
        ready = await asyncio.wait_for(_converse(process, order), _LOAD_SECONDS)
    except (TimeoutError, ValidationError, ConnectionError) as error:
        await runner.stop()
        raise ModelError(
            f"llama runner process has terminated while loading {path}"
            if process.returncode
            else f"{path} was not loaded within {_LOAD_SECONDS:.0f} s",
            remedy="see the runtime's log; a smaller model or context needs less memory",
        ) from error
    except asyncio.CancelledError:
        await runner.stop()
        raise
    return LlamaRunner(process, url=ready.url, key=order.key, context=context)


async def _converse(process: asyncio.subprocess.Process, order: RunnerOrder) -> RunnerReady:
    if process.stdin is None or process.stdout is None:
        raise ConnectionError("the child was started without pipes")
    process.stdin.write(order.model_dump_json().encode() + b"\n")
    await process.stdin.drain()
    return RunnerReady.model_validate_json(await process.stdout.readline())


def main() -> int:
    """Serve one model until standard input closes."""
    order = RunnerOrder.model_validate_json(sys.stdin.readline())
    # Ctrl+C in a terminal is for the runtime, which then ends its children in order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent(order.parent, signal.SIGKILL if os.name == "posix" else signal.SIGTERM)

    import xllamacpp  # noqa: PLC0415  parents need no engine

    params = xllamacpp.CommonParams()
    params.model.path = str(order.path)
    params.n_ctx = order.context
    params.n_batch = params.n_ubatch = order.context if order.embedding else _BATCH
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = order.threads
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [order.key]
    params.embedding = order.embedding
    if order.embedding and not read_header(order.path).embeds:
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    params.cache_ram_mib = _REMEMBERED_MIB
    params.verbosity = _SILENT
    server = xllamacpp.Server(params)
    sys.stdout.write(json.dumps({"url": server.listening_address}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    # Tearing down llama.cpp's threads takes long and gives nothing the kernel does not.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
