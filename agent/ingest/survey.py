"""The first look at the files of a run: what is new, and which fields there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agent.ingest.chunk_fields import evidence, wanted_of
from agent.ingest.discovery import Source
from agent.ingest.file_fields import file_fields, with_fields
from agent.ingest.fingerprint import Fingerprint
from agent.ingest.fixed_places import with_found
from agent.ingest.identity import Identities, Identity, part_id
from agent.ingest.inference import Inference
from agent.ingest.loaded import Loaded, Unreadable
from agent.ingest.opening import WHOLE, Opened, Opener
from agent.ingest.options import IngestOptions
from agent.ingest.report import FileReason
from agent.ingest.spool import Recording, Spool, Spooled
from agent.ingest.written import Value, Written
from schemas.errors import IngestError


@dataclass(frozen=True, slots=True)
class Pending:
    """A file to take in. `name` is that of its source; `documents` are those that are new or
    changed, by key, with the digest of what was read; `size` is that of all of them, in bytes or
    characters. `spooled` is what was read of a file that divides.
    """

    source: Source
    name: str
    id: str
    origin: str
    documents: Mapping[str, str]
    size: int
    divided: bool
    spooled: Spooled | None = None

    def slim(self) -> Pending:
        """Without what only reading it needs."""
        return replace(self, documents={}, spooled=None)


@dataclass(slots=True)
class Survey:
    """`seen` are the files that exist by id, whatever becomes of them; `stale` the ids of the
    documents that are to be deleted once a file, by its id, is taken in.
    """

    pending: list[Pending] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    failed: list[FileReason] = field(default_factory=list)
    seen: dict[str, Path] = field(default_factory=dict)
    stale: dict[str, list[str]] = field(default_factory=dict)


@dataclass(slots=True)
class _Parts:
    """What a file that divides holds; `whole` once all of it was read."""

    recording: Recording
    taken: set[str] = field(default_factory=set)
    changed: dict[str, str] = field(default_factory=dict)
    size: int = 0
    whole: bool = True


class Surveyor:
    """Looks at one file after the other; keeps of each only what `Pending` has."""

    def __init__(
        self,
        identities: Identities,
        inference: Inference,
        opener: Opener,
        options: IngestOptions,
        fingerprint: Fingerprint,
        *,
        spool: Spool,
        adopt: bool = False,
    ) -> None:
        self.survey = Survey()
        self._identities = identities
        self._inference = inference
        self._opener = opener
        self._options = options
        self._fingerprint = fingerprint
        self._spool = spool
        self._adopt = adopt

    def look(self, sources: Sequence[Source]) -> None:
        for source in sources:
            try:
                self._look(source)
            except IngestError as error:
                self.survey.failed.append(as_reason(source.name, error))

    def _look(self, source: Source) -> None:
        identity = self._identities.identify(source)
        other = self.survey.seen.setdefault(identity.id, source.path)
        if other != source.path:
            raise IngestError(
                f"its id {identity.id!r} is that of another file of this run",
                remedy="ingest the folder that contains both",
            )
        with self._opener.open(source, identity.id) as opened:
            given = file_fields(self._options, identity.id, opened)
            if opened.raw is None:
                self._divided(source, identity, opened, given)
            else:
                self._whole(source, identity, opened, opened.raw, given)

    def _whole(
        self,
        source: Source,
        identity: Identity,
        opened: Opened,
        raw: bytes,
        given: Mapping[str, Value],
    ) -> None:
        content = self._fingerprint.of_file(raw, opened.reading, given)
        is_adopted = identity.foreign and self._adopt
        if identity.stored == content and not is_adopted:
            self.survey.unchanged.append(identity.id)
        else:
            self._check_place(identity)
            self._see(completed(opened.document(), given, self._options))
            changed = {WHOLE: content}
            self._add(source, identity, changed, len(raw), divided=False)
        self._settle(source, identity, {identity.id})

    def _divided(
        self, source: Source, identity: Identity, opened: Opened, given: Mapping[str, Value]
    ) -> None:
        parts = _Parts(self._spool.begin(opened))
        try:
            for key, one in opened.documents():
                self._part(identity, opened, key, one, parts, given=given)
        except (IngestError, OSError) as error:
            # the documents above are whole ones; what is below is not known
            parts.whole = False
            self.survey.failed.append(as_reason(source.name, as_ingest_error(error)))
        if parts.changed:
            spooled = parts.recording.end()
            self._add(source, identity, parts.changed, parts.size, divided=True, spooled=spooled)
        if parts.whole:
            self._settle(source, identity, parts.taken)

    def _part(
        self,
        identity: Identity,
        opened: Opened,
        key: str,
        one: Loaded | Unreadable,
        parts: _Parts,
        *,
        given: Mapping[str, Value],
    ) -> None:
        id_ = part_id(identity.id, key)
        if isinstance(one, Unreadable):
            parts.taken.add(id_)
            # without its key it is not known which document it was
            parts.whole = parts.whole and key != WHOLE
            self.survey.failed.append(FileReason(file=id_, reason=one.reason, line=one.line))
            return
        if id_ in parts.taken or (key != WHOLE and id_ in self.survey.seen):
            reason = f"there is another document with the key {key!r} above it in this file"
            self.survey.failed.append(FileReason(file=id_, reason=reason, line=line_of(one)))
            return
        loaded = completed(one, given, self._options)
        content = self._fingerprint.of_part(key, loaded, opened.reading)
        if self._is_there(identity, id_, content):
            self.survey.unchanged.append(id_)
        else:
            self._check_place(identity)
            self._see(loaded)
            parts.changed[key] = content
            parts.recording.add((key, loaded, content))
            parts.size += len(loaded.text)
        parts.taken.add(id_)

    def _add(
        self,
        source: Source,
        identity: Identity,
        changed: Mapping[str, str],
        size: int,
        *,
        divided: bool,
        spooled: Spooled | None = None,
    ) -> None:
        id_, origin = identity.id, identity.origin
        pending = Pending(source, source.name, id_, origin, changed, size, divided, spooled)
        self.survey.pending.append(pending)

    def _see(self, loaded: Loaded) -> None:
        self._inference.see(loaded.fields)
        self._inference.see(evidence(loaded, wanted_of(self._options)))

    def _is_there(self, identity: Identity, id_: str, content: str) -> bool:
        """A file that takes the place of another takes over its documents, the same ones too."""
        stored = self._identities.stored(id_)
        if stored is None or stored.content != content:
            return False
        return stored.origin == identity.origin or not self._adopt

    def _check_place(self, identity: Identity) -> None:
        if identity.foreign and not self._adopt:
            raise IngestError(
                f"{identity.id!r} is already there, from another folder",
                remedy="ingest the folder that contains both, or let this file take its place "
                "(adopt), if the folder has only moved",
            )

    def _settle(self, source: Source, identity: Identity, taken: set[str]) -> None:
        stale = self._identities.others(source, identity, taken)
        if stale:
            self._check_place(identity)
            self.survey.stale[identity.id] = stale


def completed(loaded: Loaded, given: Mapping[str, Value], options: IngestOptions) -> Loaded:
    """With what its text says of itself, and then with what its file tells."""
    return with_fields(with_found(loaded, options), given)


def line_of(loaded: Loaded) -> int | None:
    """The line of the first field that tells its own."""
    for value in loaded.fields.values():
        first = value if isinstance(value, Written) else value[0]
        if first.line:
            return first.line
    return None


def as_ingest_error(error: IngestError | OSError) -> IngestError:
    if isinstance(error, IngestError):
        return error
    return IngestError(f"it cannot be read: {error.strerror or error}")


def as_reason(file: str, error: IngestError, line: int | None = None) -> FileReason:
    return FileReason(file=file, reason=str(error), remedy=error.remedy, line=line)
