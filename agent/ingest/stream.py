"""Documents flow through drafting, embedding and writing at the same time.

Embedding takes nearly all of the time, so the other two go on beside it. Memory holds the
chunks of a few documents, `embed_parallel` requests, and the documents waiting to be written.
For many documents drafting goes on in a process of its own.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Container, Iterator, Sequence
from dataclasses import replace
from typing import assert_never

from agent.ingest.drafting import Drafted, Drafter, Lost, take
from agent.ingest.drafting_process import DraftingProcess
from agent.ingest.extraction import Extracted
from agent.ingest.options import IngestOptions
from agent.ingest.outcome import Outcome
from agent.ingest.pace import Clock, Pace, Stopwatch
from agent.ingest.ports import Embedder, Library
from agent.ingest.report import FileNote, Progress
from agent.ingest.survey import Pending, as_reason
from agent.ingest.waiting import Job, Ready
from schemas.drafts import DocumentDraft
from schemas.errors import IngestError, ModelError, ModelNotFound, WeightsUnavailable

OnProgress = Callable[[Progress], None]
Enrich = Callable[[Sequence[DocumentDraft]], Awaitable[Extracted]]
"""Adds metadata to drafts, in their order, before they are embedded."""

MANY_DOCUMENTS = 3_000
"""For more than these, drafting is worth a process of its own."""

Part = list[tuple[Job, int]]
"""Chunks of one request, as a job and the index of its chunk."""


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
        known: Container[str] = (),
        enrich: Enrich | None = None,
        on_progress: OnProgress,
        clock: Clock = time.perf_counter,
    ) -> None:
        self.outcome = Outcome()
        self._library = library
        self._embedder = embedder
        self._drafter = drafter
        self._known = known
        self._options = options
        self._kb = kb
        self._enrich = enrich
        self._on_progress = on_progress
        self._clock = clock
        self._ready = Ready(options.write_chunks)
        self._slots = asyncio.Semaphore(options.embed_parallel)
        self._embedding = Stopwatch(clock)
        self._writing = Stopwatch(clock)
        self._pace = Pace(0, 0, 0.0)

    async def run(self, files: Sequence[Pending]) -> None:
        """What one file does wrong ends in `outcome.failed`; an outage of model or store is
        raised, and what was written until then stays.
        """
        documents = sum(len(file.documents) for file in files)
        self._pace = Pace(documents, sum(file.size for file in files), self._clock())
        self._report("")
        process = DraftingProcess(self._drafter) if documents > MANY_DOCUMENTS else None
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._write_all())
                async with asyncio.TaskGroup() as requests:
                    drafts = (process or self._drafter).run(files)
                    await self._embed_all(drafts, requests)
                await self._ready.end()
        except ExceptionGroup as failures:
            # callers know our errors, not groups of them
            raise _first(failures) from None
        finally:
            if process is not None:
                # as it is reading for a run that was cancelled
                process.close()
            spent = {"embed": self._embedding.seconds, "write": self._writing.seconds}
            self.outcome.seconds.update({**(process or self._drafter).seconds, **spent})
            self.outcome.close()

    async def _embed_all(
        self, documents: Iterator[Drafted | Lost], group: asyncio.TaskGroup
    ) -> None:
        part: Part = []
        while some := await asyncio.to_thread(take, documents):
            for job in self._jobs(await self._enriched(some)):
                for index in range(job.left):
                    part.append((job, index))
                    if len(part) == self._options.embed_batch:
                        await self._slots.acquire()
                        group.create_task(self._embed(part))
                        part = []
        if part:
            await self._slots.acquire()
            group.create_task(self._embed(part))

    async def _enriched(self, some: Sequence[Drafted | Lost]) -> Sequence[Drafted | Lost]:
        if self._enrich is None:
            return some
        enriched = await self._enrich([one.draft for one in some if isinstance(one, Drafted)])
        drafts = {draft.id: draft for draft in enriched.drafts}
        for id_, note in enriched.notes:
            told = FileNote(file=id_, message=note.message, field=note.field, line=note.line)
            self.outcome.notes.append(told)
        return [
            replace(one, draft=drafts[one.draft.id]) if isinstance(one, Drafted) else one
            for one in some
        ]

    def _jobs(self, documents: Sequence[Drafted | Lost]) -> Iterator[Job]:
        for one in documents:
            match one:
                case Drafted():
                    self.outcome.note(one.file.name, one.notes)
                    count = len(one.draft.chunks)
                    yield Job(one, count, [()] * count)
                case Lost():
                    self.outcome.failed.append(one.reason)
                    if one.broken:
                        self.outcome.broken.add(one.file.id)
                    self._settle(one.file, one.size, one.count)
                case _:
                    assert_never(one)

    async def _embed(self, part: Part) -> None:
        try:
            await self._vectors(part)
            for job, count in Counter(job for job, _ in part).items():
                self._pace.size += job.document.size * count / len(job.vectors)
                job.left -= count
                if not job.left:
                    await self._finished(job)
            self._report(part[-1][0].document.file.name)
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
            for half in _halves(jobs):
                await self._vectors([(job, at) for job, at in part if job in half])
            return
        for (job, at), vector in zip(part, vectors, strict=True):
            job.vectors[at] = vector
        self.outcome.chunks += len(part)

    async def _request(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        with self._embedding:
            return await self._embedder.embed_documents(texts)

    async def _finished(self, job: Job) -> None:
        if job.error is None:
            await self._ready.put(job)
        else:
            self._fail(job, IngestError(f"it cannot be embedded: {job.error}"))

    async def _write_all(self) -> None:
        while batch := await self._ready.batch():
            await self._write(batch)

    async def _write(self, jobs: Sequence[Job]) -> None:
        try:
            with self._writing:
                await self._library.write(self._kb, [(job.draft, job.vectors) for job in jobs])
        except IngestError as error:
            if len(jobs) == 1:
                self._fail(jobs[0], error)
                return
            for half in _halves(jobs):
                await self._write(half)
            return
        for job in jobs:
            is_known = job.draft.id in self._known
            done = self.outcome.replaced if is_known else self.outcome.added
            done.append(job.draft.id)
            self._settle(job.document.file, 0)

    def _fail(self, job: Job, error: IngestError) -> None:
        file = job.document.file
        name = job.draft.id if file.divided else file.name
        self.outcome.failed.append(as_reason(name, error))
        self._settle(file, 0)

    def _settle(self, pending: Pending, size: float, count: int = 1) -> None:
        self._pace.done += count
        self._pace.size += size
        self._report(pending.name)

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


def _halves(jobs: Sequence[Job]) -> tuple[Sequence[Job], Sequence[Job]]:
    """So that a few refused ones are found among many in few steps."""
    middle = len(jobs) // 2
    return jobs[:middle], jobs[middle:]


def _first(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    first = failures.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
