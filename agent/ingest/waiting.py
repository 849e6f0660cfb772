"""Documents on their way between embedding and writing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from agent.ingest.drafting import Drafted
from schemas.drafts import DocumentDraft
from schemas.errors import ModelError


@dataclass(eq=False, slots=True)
class Job:
    """A document on its way; `left` counts its chunks without a vector."""

    document: Drafted
    left: int
    vectors: list[Sequence[float]]
    error: ModelError | None = None

    @property
    def draft(self) -> DocumentDraft:
        return self.document.draft


class Ready:
    """Documents that wait to be written: while some are written, the next ones gather here, up
    to `most` chunks, so that neither side waits for the other.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._jobs: list[Job] = []
        self._chunks = 0
        self._ended = False
        self._changed = asyncio.Condition()

    async def put(self, job: Job) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self._chunks < self._most)
            self._jobs.append(job)
            self._chunks += len(job.vectors)
            if self._chunks >= self._most:
                self._changed.notify_all()

    async def end(self) -> None:
        """Nothing more comes."""
        async with self._changed:
            self._ended = True
            self._changed.notify_all()

    async def batch(self) -> list[Job]:
        """At least `most` chunks, or what is left; nothing at the end."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._ended or self._chunks >= self._most)
            jobs, self._jobs, self._chunks = self._jobs, [], 0
            self._changed.notify_all()
            return jobs
