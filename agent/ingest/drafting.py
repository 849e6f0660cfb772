"""The second reading of a file makes the documents that are written."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent.ingest.chunk_fields import wanted_of, with_chunk_fields
from agent.ingest.file_fields import file_fields
from agent.ingest.fingerprint import Fingerprint
from agent.ingest.identity import part_id, stamp
from agent.ingest.loaded import Loaded, Unreadable
from agent.ingest.metadata import Describer, index_words
from agent.ingest.opening import WHOLE, Opened, Opener
from agent.ingest.options import IngestOptions
from agent.ingest.reading import Reading
from agent.ingest.report import FileNote, FileReason
from agent.ingest.splitting import outline
from agent.ingest.spool import Spooled
from agent.ingest.survey import Pending, as_ingest_error, as_reason, completed, line_of
from agent.ingest.written import Note, Value
from schemas.collection import Field
from schemas.drafts import DocumentDraft
from schemas.errors import IngestError

_DOCUMENTS_AT_ONCE = 64
_SIZE_AT_ONCE = 256 * 1024


@dataclass(frozen=True, slots=True)
class Drafted:
    """A document to be written; `size` is its part of that of its file."""

    file: Pending
    draft: DocumentDraft
    size: float
    notes: tuple[FileNote, ...] = ()


@dataclass(frozen=True, slots=True)
class Lost:
    """`count` documents that failed. `broken`: the file was not read to its end."""

    file: Pending
    reason: FileReason
    size: float
    count: int = 1
    broken: bool = False


class Drafter:
    """Reads, describes and splits. `seconds` are those spent on reading and on splitting."""

    def __init__(
        self,
        opener: Opener,
        fields: Sequence[Field],
        options: IngestOptions,
        fingerprint: Fingerprint,
        *,
        tags: Sequence[str] = (),
    ) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._opener = opener
        self._fields = tuple(fields)
        self._describer = Describer(fields, options, tags)
        self._options = options
        self._fingerprint = fingerprint

    def run(self, files: Sequence[Pending]) -> Iterator[Drafted | Lost]:
        """Every document of the files, each as soon as it is read."""
        for file in files:
            left = dict(file.documents)
            size = float(file.size)
            pending = file.slim()
            try:
                for one in self._file(pending, left, file.spooled):
                    size -= one.size
                    yield one
            except (IngestError, OSError) as error:
                reason = as_reason(pending.name, as_ingest_error(error))
                yield Lost(pending, reason, size, len(left), broken=True)

    def _file(
        self, pending: Pending, left: dict[str, str], spooled: Spooled | None
    ) -> Iterator[Drafted | Lost]:
        """Takes what it yields out of `left`."""
        if spooled is not None and spooled.is_current(pending.source.path):
            for key, loaded, content in spooled.records():
                del left[key]
                yield self._one(pending, key, loaded, spooled.reading, content)
            return
        with self._opener.open(pending.source, pending.id) as opened:
            if opened.divided != pending.divided:
                raise _changed()
            given = file_fields(self._options, pending.id, opened)
            for key, loaded, content in self._pending(opened, given, left):
                is_same = left.pop(key) == content
                yield self._one(pending, key, loaded, opened.reading, content if is_same else "")
                if not left:
                    return
        if left:
            raise _changed()

    def _pending(
        self, opened: Opened, given: Mapping[str, Value], left: Mapping[str, str]
    ) -> Iterator[tuple[str, Loaded, str]]:
        """Key, document and digest of those that are still to be taken in."""
        began = time.perf_counter()
        if opened.raw is not None:
            content = self._fingerprint.of_file(opened.raw, opened.reading, given)
            loaded = completed(opened.document(), given, self._options)
            self.seconds["read"] += time.perf_counter() - began
            yield WHOLE, loaded, content
            return
        for key, one in opened.documents():
            if key in left and not isinstance(one, Unreadable):
                loaded = completed(one, given, self._options)
                content = self._fingerprint.of_part(key, loaded, opened.reading)
                self.seconds["read"] += time.perf_counter() - began
                yield key, loaded, content
                began = time.perf_counter()

    def _one(
        self, pending: Pending, key: str, loaded: Loaded, reading: Reading, content: str
    ) -> Drafted | Lost:
        """`content` is empty if it is no longer what the survey saw."""
        began = time.perf_counter()
        id_ = part_id(pending.id, key)
        name = id_ if pending.divided else pending.name
        size = float(len(loaded.text) if pending.divided else pending.size)
        try:
            if not content:
                raise _changed()
            draft, notes = self._compose(loaded, id_, stamp(content, pending.origin), reading)
        except IngestError as error:
            line = line_of(loaded) if pending.divided else None
            return Lost(pending, as_reason(name, error, line), size)
        finally:
            self.seconds["split"] += time.perf_counter() - began
        told = tuple(
            FileNote(file=name, message=note.message, field=note.field, line=note.line)
            for note in notes
        )
        return Drafted(pending, draft, size, told)

    def _compose(
        self, loaded: Loaded, id_: str, content_hash: str, reading: Reading
    ) -> tuple[DocumentDraft, tuple[Note, ...]]:
        outlined = outline(loaded.text, loaded.markup)
        metadata = self._describer.describe(loaded, id_, outlined.headings)
        chunks = self._fingerprint.splitter(reading).split(
            loaded.text,
            outlined,
            metadata.title,
            pages=loaded.pages,
            words=index_words(metadata.values),
        )
        if not chunks:
            raise IngestError("it has no text beside its metadata")
        wanted = wanted_of(self._options)
        if loaded.pages or wanted != ("page",):
            chunks = with_chunk_fields(chunks, wanted, self._fields, metadata.values)
        draft = DocumentDraft(
            id=id_,
            source=id_,
            title=metadata.title,
            metadata=metadata.values,
            content_hash=content_hash,
            chunks=chunks,
        )
        return draft, metadata.notes


def take(documents: Iterator[Drafted | Lost]) -> list[Drafted | Lost]:
    """The next few, none at the end."""
    some: list[Drafted | Lost] = []
    size = 0.0
    for one in documents:
        some.append(one)
        size += one.size
        if len(some) == _DOCUMENTS_AT_ONCE or size >= _SIZE_AT_ONCE:
            break
    return some


def _changed() -> IngestError:
    return IngestError("it changed while it was being read", remedy="ingest it again")
