"""Files become documents of a knowledge base."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from agent.ingest.discovery import Discovery, discover
from agent.ingest.drafting import Drafter
from agent.ingest.extraction import extract
from agent.ingest.fingerprint import Fingerprint
from agent.ingest.identity import Identities
from agent.ingest.inference import Inference
from agent.ingest.loaded import Loader
from agent.ingest.loaders.registry import DEFAULT_LOADERS, Loaders
from agent.ingest.opening import Opener
from agent.ingest.options import IngestOptions
from agent.ingest.outcome import Outcome
from agent.ingest.pace import Clock
from agent.ingest.ports import Embedder, Library
from agent.ingest.report import IngestReport, Progress, peak_rss
from agent.ingest.schema import check_types, plan_fields
from agent.ingest.spool import Spool
from agent.ingest.stream import Enrich, OnProgress, Stream
from agent.ingest.survey import Survey, Surveyor
from agent.ingest.type_map import TypeMap, check_loaders
from graph.ports import Chat
from schemas.collection import Field
from schemas.errors import UsageError

_LOOKED_AT_ONCE = 64
_DELETED_AT_ONCE = 5_000


def _silent(progress: Progress) -> None:
    """The default for those who do not want to know."""


class Ingest:
    """Takes files and folders into knowledge bases.

    The same files again change nothing and embed nothing. A changed file replaces its document
    as a whole. A file that divides is the truth for its documents: those that are no longer in
    it are deleted. A run that is cut off leaves whole documents only, and the next one goes on.
    """

    def __init__(
        self,
        library: Library,
        embedder: Embedder,
        options: IngestOptions | None = None,
        *,
        chat: Chat | None = None,
        loaders: Iterable[Loader] = DEFAULT_LOADERS,
        clock: Clock = time.perf_counter,
    ) -> None:
        """`chat` reads the fields named by `options.extract`; without it, none are read."""
        self._library = library
        self._embedder = embedder
        self._options = options or IngestOptions()
        readers = tuple(loaders)
        check_loaders(self._options.type_map, {loader.name for loader in readers})
        self._opener = Opener(
            Loaders(readers), TypeMap(self._options.type_map), self._options.max_file_bytes
        )
        self._chat = chat
        self._clock = clock

    async def run(
        self,
        kb: str,
        paths: Sequence[str | Path],
        *,
        tags: Sequence[str] = (),
        prune: bool = False,
        adopt: bool = False,
        on_progress: OnProgress = _silent,
    ) -> IngestReport:
        """`tags` are added to every document. `prune` deletes the documents of the folders given
        whose files are gone. `adopt` lets a file replace a document of the same id that came
        from another folder, as after a folder has moved; without it such a file fails.

        Files that fail are in the report. UsageError for a missing path, DimensionMismatch
        before anything is written; ModelError and StoreError for outages.
        """
        began = self._clock()
        found = await asyncio.to_thread(discover, paths, self._opener.accepts)
        known = await self._library.fields(kb)
        check_types(known or (), self._options.types)
        identities = Identities({} if known is None else await self._library.hashes(kb))
        inference = Inference(known or (), self._options.types)
        fingerprint = Fingerprint(self._options, tags)
        with Spool() as spool:
            surveyor = Surveyor(
                identities,
                inference,
                self._opener,
                self._options,
                fingerprint,
                spool=spool,
                adopt=adopt,
            )
            survey = await _look(surveyor, found)
            gone = identities.vanished(found, survey.seen) if prune else ()
            _check_prune(found, gone)
            surveyed = self._clock()
            outcome = Outcome()
            pruned: list[str] = []
            try:
                if survey.pending:
                    fields = await self._prepare(kb, known or (), inference, tags)
                    drafter = Drafter(self._opener, fields, self._options, fingerprint, tags=tags)
                    stream = self._stream(kb, drafter, fields, identities, on_progress)
                    outcome = stream.outcome
                    await stream.run(survey.pending)
                pruned = [*gone, *_stale(survey, outcome)]
                for start in range(0, len(pruned), _DELETED_AT_ONCE):
                    await self._library.delete(kb, pruned[start : start + _DELETED_AT_ONCE])
            finally:
                if outcome.written:
                    await self._library.finish(kb)
        if known is not None and not outcome.written:
            # an earlier run may have been killed before it came to this
            await self._library.finish(kb)
        outcome.seconds.update({"survey": surveyed - began, "total": self._clock() - began})
        return _report(kb, found, survey, outcome, pruned)

    async def _prepare(
        self, kb: str, known: Sequence[Field], inference: Inference, tags: Sequence[str]
    ) -> tuple[Field, ...]:
        tagged = bool(tags or self._options.tag_rules)
        fields = plan_fields(known, inference, self._options, tagged=tagged)
        await self._library.prepare(
            kb,
            fields,
            dimension=await self._embedder.dimension(),
            embedding_model=self._embedder.name,
            access_fields=self._options.access_fields,
        )
        return fields

    def _stream(
        self,
        kb: str,
        drafter: Drafter,
        fields: Sequence[Field],
        identities: Identities,
        on_progress: OnProgress,
    ) -> Stream:
        enrich: Enrich | None = None
        if self._options.extract and self._chat is not None:
            enrich = partial(extract, fields=fields, options=self._options, chat=self._chat)
        return Stream(
            self._library,
            self._embedder,
            drafter,
            self._options,
            kb=kb,
            known=identities,
            enrich=enrich,
            on_progress=on_progress,
            clock=self._clock,
        )


async def _look(surveyor: Surveyor, found: Discovery) -> Survey:
    for start in range(0, len(found.files), _LOOKED_AT_ONCE):
        some = found.files[start : start + _LOOKED_AT_ONCE]
        await asyncio.to_thread(surveyor.look, some)
    return surveyor.survey


def _stale(survey: Survey, outcome: Outcome) -> list[str]:
    """Documents that files no longer have, but of none that broke off."""
    return [id_ for file, ids in survey.stale.items() if file not in outcome.broken for id_ in ids]


def _check_prune(found: Discovery, gone: Sequence[str]) -> None:
    """An empty folder is more often one that is not mounted than one to be forgotten."""
    if gone and not found.files:
        folders = ", ".join(str(folder) for folder in found.folders)
        raise UsageError(
            f"no documents in {folders}: pruning would delete all {len(gone)} that came from there",
            remedy="delete them by id, if that is meant",
        )


def _report(
    kb: str, found: Discovery, survey: Survey, outcome: Outcome, gone: Sequence[str]
) -> IngestReport:
    return IngestReport(
        kb=kb,
        added=tuple(sorted(outcome.added)),
        replaced=tuple(sorted(outcome.replaced)),
        unchanged=tuple(sorted(survey.unchanged)),
        pruned=tuple(sorted(gone)),
        skipped=tuple(found.skipped),
        failed=tuple(sorted((*survey.failed, *outcome.failed), key=lambda one: one.file)),
        notes=tuple(sorted(outcome.notes, key=lambda note: (note.file, note.line or 0))),
        chunks=outcome.chunks,
        seconds=dict(outcome.seconds),
        peak_rss_bytes=peak_rss(),
    )
