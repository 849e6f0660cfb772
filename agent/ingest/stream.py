"""Documents flow through drafting, embedding and writing at the same time.

Embedding takes nearly all of the time, so the other two go on beside it. Memory holds a few
files' chunks, `embed_parallel` requests, and the documents waiting to be written.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from agent.ingest.drafting import Drafter
from agent.ingest.options import IngestOptions
from agent.ingest.ports import Embedder, Library
from agent.ingest.report import FileNote, FileReason, Progress
from agent.ingest.survey import Pending, as_reason
from schemas.drafts import DocumentDraft
from schemas.errors import IngestError, ModelError, ModelNotFound, WeightsUnavailable

OnProgress = Callable[[Progress], None]
Clock = Callable[[], float]
_FILES_AT_ONCE = 16
_BYTES_AT_ONCE = 256 * 1024
_WAITING_DOCUMENTS = 16


@dataclass(eq=False, slots=True)
class Job:
    """A document on its way; `left` counts its chunks without a vector."""

    pending: Pending
    draft: DocumentDraft
    left: int
    vectors: list[Sequence[float]]
    error: ModelError | None = None


Part = list[tuple[Job, int]]
"""Chunks of one request, as a job and the index of its chunk."""


@dataclass(slots=True)
class Outcome:
    """What became of the documents so far; `seconds` by part."""

    added: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    failed: list[FileReason] = field(default_factory=list)
    notes: list[FileNote] = field(default_factory=list)
    chunks: int = 0
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def written(self) -> int:
        return len(self.added) + len(self.replaced)


class Stream:
    """One run over the pending files of a knowledge base."""

    def __init__(
        self,
        library: Library,
        embedder: Embedder,
        drafter: Drafter,
        options: IngestOptions,
        *,
        kb: str,
        on_progress: OnProgress,
        clock: Clock = time.perf_counter,
    ) -> None:
        self.outcome = Outcome()
        self._library = library
        self._embedder = embedder
        self._drafter = drafter
        self._options = options
        self._kb = kb
        self._on_progress = on_progress
        self._clock = clock
        self._ready: asyncio.Queue[Job | None] = asyncio.Queue(_WAITING_DOCUMENTS)
        self._slots = asyncio.Semaphore(options.embed_parallel)
        self._requests = 0
        self._requests_since = 0.0
        self._pace = _Pace(0, 0, 0.0)

    async def run(self, files: Sequence[Pending]) -> None:
        """What one file does wrong ends in `outcome.failed`; an outage of model or store is
        raised, and what was written until then stays.
        """
        self._pace = _Pace(len(files), sum(file.size for file in files), self._clock())
        self._report("")
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._write_all())
                async with asyncio.TaskGroup() as requests:
                    await self._embed_all(files, requests)
                await self._ready.put(None)
        except ExceptionGroup as failures:
            # callers know our errors, not groups of them
            raise _first(failures) from None

    async def _embed_all(self, files: Sequence[Pending], group: asyncio.TaskGroup) -> None:
        part: Part = []
        for few in _groups(files):
            for job in await self._draft(few):
                for index in range(job.left):
                    part.append((job, index))
                    if len(part) == self._options.embed_batch:
                        await self._slots.acquire()
                        group.create_task(self._embed(part))
                        part = []
        if part:
            await self._slots.acquire()
            group.create_task(self._embed(part))

    async def _draft(self, files: Sequence[Pending]) -> list[Job]:
        drafts = await asyncio.to_thread(self._drafter.draft, files)
        self.outcome.failed.extend(drafts.failed)
        self.outcome.notes.extend(drafts.notes)
        self.outcome.seconds["read"] += drafts.read_s
        self.outcome.seconds["split"] += drafts.split_s
        kept = {pending.id for pending, _ in drafts.drafts}
        for pending in files:
            if pending.id not in kept:
                self._settle(pending, pending.size)
        return [
            Job(pending, draft, len(draft.chunks), [()] * len(draft.chunks))
            for pending, draft in drafts.drafts
        ]

    async def _embed(self, part: Part) -> None:
        try:
            await self._vectors(part)
            for job, count in Counter(job for job, _ in part).items():
                self._pace.size += job.pending.size * count / len(job.vectors)
                job.left -= count
                if not job.left:
                    await self._finished(job)
            self._report(part[-1][0].pending.source.name)
        finally:
            self._slots.release()

    async def _vectors(self, part: Part) -> None:
        """Fill in the vectors; if the model refuses some text, only its document fails."""
        try:
            vectors = await self._request([job.draft.chunks[at].embed_text for job, at in part])
        except ModelError as error:
            if error.retryable or isinstance(error, ModelNotFound | WeightsUnavailable):
                raise
            jobs = list(dict.fromkeys(job for job, _ in part))
            if len(jobs) == 1:
                jobs[0].error = error
                return
            for job in jobs:
                await self._vectors([(owner, at) for owner, at in part if owner is job])
            return
        for (job, at), vector in zip(part, vectors, strict=True):
            job.vectors[at] = vector
        self.outcome.chunks += len(part)

    async def _request(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Time counts once, however many requests are under way."""
        if not self._requests:
            self._requests_since = self._clock()
        self._requests += 1
        try:
            return await self._embedder.embed_documents(texts)
        finally:
            self._requests -= 1
            if not self._requests:
                self.outcome.seconds["embed"] += self._clock() - self._requests_since

    async def _finished(self, job: Job) -> None:
        if job.error is None:
            await self._ready.put(job)
        else:
            self._fail(job, IngestError(f"it cannot be embedded: {job.error}"))

    async def _write_all(self) -> None:
        batch: list[Job] = []
        while (job := await self._ready.get()) is not None:
            batch.append(job)
            if sum(len(job.vectors) for job in batch) >= self._options.write_chunks:
                await self._write(batch)
                batch = []
        if batch:
            await self._write(batch)

    async def _write(self, jobs: Sequence[Job]) -> None:
        began = self._clock()
        try:
            await self._library.write(self._kb, [(job.draft, job.vectors) for job in jobs])
        except IngestError as error:
            if len(jobs) == 1:
                self._fail(jobs[0], error)
                return
            for job in jobs:
                await self._write([job])
            return
        self.outcome.seconds["write"] += self._clock() - began
        for job in jobs:
            done = self.outcome.replaced if job.pending.replaces else self.outcome.added
            done.append(job.pending.id)
            self._settle(job.pending, 0)

    def _fail(self, job: Job, error: IngestError) -> None:
        self.outcome.failed.append(as_reason(job.pending.source, error))
        self._settle(job.pending, 0)

    def _settle(self, pending: Pending, size: float) -> None:
        self._pace.done += 1
        self._pace.size += size
        self._report(pending.source.name)

    def _report(self, file: str) -> None:
        pace = self._pace
        self._on_progress(
            Progress(
                done=pace.done,
                total=pace.total,
                file=file,
                chunks=self.outcome.chunks,
                seconds_left=pace.seconds_left(self._clock()),
            )
        )


@dataclass(slots=True)
class _Pace:
    """Sizes are in bytes of the files, because chunks are not known ahead."""

    total: int
    total_size: int
    began: float
    done: int = 0
    size: float = 0.0

    def seconds_left(self, now: float) -> float | None:
        if self.size <= 0 or now <= self.began:
            return None
        left = max(self.total_size - self.size, 0.0) * (now - self.began) / self.size
        return round(left, 1)


def _groups(files: Sequence[Pending]) -> Iterator[list[Pending]]:
    group: list[Pending] = []
    for file in files:
        group.append(file)
        if len(group) == _FILES_AT_ONCE or sum(one.size for one in group) >= _BYTES_AT_ONCE:
            yield group
            group = []
    if group:
        yield group


def _first(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    first = failures.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
