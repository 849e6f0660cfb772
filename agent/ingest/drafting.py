"""The second reading of a file makes the document that is written."""

from __future__ import annotations

import io
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from agent.ingest.discovery import Source
from agent.ingest.identity import stamp
from agent.ingest.loaded import Loaded
from agent.ingest.loaders.registry import HEAD_BYTES, Loaders
from agent.ingest.metadata import Describer
from agent.ingest.options import IngestOptions
from agent.ingest.reading import DEFAULT_READING
from agent.ingest.report import FileNote, FileReason
from agent.ingest.splitting import Splitter, outline
from agent.ingest.survey import Pending, as_reason, digest, read
from schemas.drafts import DocumentDraft
from schemas.errors import IngestError


@dataclass(slots=True)
class Drafts:
    """What became of some files; seconds are those spent here."""

    drafts: list[tuple[Pending, DocumentDraft]] = field(default_factory=list)
    failed: list[FileReason] = field(default_factory=list)
    notes: list[FileNote] = field(default_factory=list)
    read_s: float = 0.0
    split_s: float = 0.0


class Drafter:
    """Reads, describes and splits."""

    def __init__(
        self,
        loaders: Loaders,
        describer: Describer,
        splitter: Splitter,
        options: IngestOptions,
        fingerprint: str,
    ) -> None:
        self._loaders = loaders
        self._describer = describer
        self._splitter = splitter
        self._options = options
        self._fingerprint = fingerprint

    def draft(self, files: Sequence[Pending]) -> Drafts:
        out = Drafts()
        for pending in files:
            try:
                out.drafts.append((pending, self._draft(pending, out)))
            except IngestError as error:
                out.failed.append(as_reason(pending.source, error))
        return out

    def _draft(self, pending: Pending, out: Drafts) -> DocumentDraft:
        began = time.perf_counter()
        raw = read(pending.source.path, self._options.max_file_bytes)
        if digest(raw, self._fingerprint) != pending.content:
            raise IngestError("it changed while it was being read", remedy="ingest it again")
        loaded = self._loaded(pending.source, raw)
        loaded_at = time.perf_counter()
        outlined = outline(loaded.text)
        metadata = self._describer.describe(loaded, pending.id, outlined.headings)
        chunks = self._splitter.split(loaded.text, outlined, metadata.title)
        out.read_s += loaded_at - began
        out.split_s += time.perf_counter() - loaded_at
        if not chunks:
            raise IngestError("it has no text below its front matter")
        name = pending.source.name
        out.notes.extend(
            FileNote(file=name, message=note.message, field=note.field, line=note.line)
            for note in metadata.notes
        )
        return DocumentDraft(
            id=pending.id,
            source=pending.id,
            title=metadata.title,
            metadata=metadata.values,
            content_hash=stamp(pending.content, pending.origin),
            chunks=chunks,
        )

    def _loaded(self, source: Source, raw: bytes) -> Loaded:
        loader = self._loaders.choose(source.path, raw[:HEAD_BYTES], DEFAULT_READING)
        return next(loader.load(io.BytesIO(raw), DEFAULT_READING))
