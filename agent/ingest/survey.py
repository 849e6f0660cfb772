"""The first look at the files of a run: what is new, and which fields there are."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent.ingest.discovery import Source
from agent.ingest.identity import Identities
from agent.ingest.inference import Inference
from agent.ingest.loaded import Loaded
from agent.ingest.loaders.registry import HEAD_BYTES, Loaders
from agent.ingest.options import IngestOptions
from agent.ingest.reading import DEFAULT_READING
from agent.ingest.report import FileReason
from schemas.errors import IngestError


@dataclass(frozen=True, slots=True)
class Pending:
    """A file to take in. `size` is in bytes, `content` the digest of what was read."""

    source: Source
    id: str
    origin: str
    content: str
    size: int
    replaces: bool


@dataclass(slots=True)
class Survey:
    """`seen` are the ids of all files that exist, whatever becomes of them."""

    pending: list[Pending] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    failed: list[FileReason] = field(default_factory=list)
    seen: dict[str, Path] = field(default_factory=dict)


class Surveyor:
    """Looks at one file after the other; keeps of each only what `Pending` has."""

    def __init__(
        self,
        identities: Identities,
        inference: Inference,
        loaders: Loaders,
        options: IngestOptions,
        fingerprint: str,
        *,
        adopt: bool = False,
    ) -> None:
        self.survey = Survey()
        self._identities = identities
        self._inference = inference
        self._loaders = loaders
        self._options = options
        self._fingerprint = fingerprint
        self._adopt = adopt

    def look(self, sources: Sequence[Source]) -> None:
        for source in sources:
            try:
                self._look(source)
            except IngestError as error:
                self.survey.failed.append(as_reason(source, error))

    def _look(self, source: Source) -> None:
        identity = self._identities.identify(source)
        other = self.survey.seen.setdefault(identity.id, source.path)
        if other != source.path:
            raise IngestError(
                f"its id {identity.id!r} is that of another file of this run",
                remedy="ingest the folder that contains both",
            )
        raw = read(source.path, self._options.max_file_bytes)
        content = digest(raw, self._fingerprint)
        if identity.stored == content:
            self.survey.unchanged.append(identity.id)
            return
        if identity.foreign and not self._adopt:
            raise IngestError(
                f"{identity.id!r} is already there, from another folder",
                remedy="ingest the folder that contains both, or let this file take its place "
                "(adopt), if the folder has only moved",
            )
        self._inference.see(self._loaded(source, raw).fields)
        self.survey.pending.append(
            Pending(
                source,
                identity.id,
                identity.origin,
                content,
                len(raw),
                replaces=identity.stored is not None,
            )
        )

    def _loaded(self, source: Source, raw: bytes) -> Loaded:
        loader = self._loaders.choose(source.path, raw[:HEAD_BYTES], DEFAULT_READING)
        return next(loader.load(io.BytesIO(raw), DEFAULT_READING))


def read(path: Path, limit: int) -> bytes:
    """The bytes of a file; IngestError if it is too large or cannot be read."""
    try:
        size = path.stat().st_size
        if size > limit:
            raise IngestError(f"it has {size} bytes; allowed are {limit}")
        return path.read_bytes()
    except OSError as error:
        raise IngestError(f"it cannot be read: {error.strerror or error}") from error


def digest(raw: bytes, fingerprint: str) -> str:
    """40 hexadecimal digits for a file's bytes and the way in which they are taken in."""
    return hashlib.sha256(fingerprint.encode() + b"\0" + raw).hexdigest()[:40]


def as_reason(source: Source, error: IngestError) -> FileReason:
    return FileReason(file=source.name, reason=str(error), remedy=error.remedy)
