"""Short names of what a result depends on: change it, and the result is made again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from pydantic import JsonValue

from schemas.collection import Collection

_ROOT = Path(__file__).parent.parent
PLANNING = (
    "schemas",
    "graph",
    "prompts",
    "agent/planning",
    "agent/store/described.py",
    "evals/arms",
)
UNPLANNED = ("schemas", "evals/arms")
"""Of filters that are not planned: how they are read and checked."""
SEARCHING = (*PLANNING, "agent/store", "agent/ranking", "agent/models")


def digest(value: JsonValue) -> str:
    """16 hex digits of the SHA-256 of canonical JSON."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def code_digest(packages: tuple[str, ...], root: Path = _ROOT) -> str:
    """Of the sources and prompts of some packages and files, as they are installed."""
    summed = hashlib.sha256()
    for path in _sources(packages, root):
        summed.update(path.relative_to(root).as_posix().encode())
        summed.update(path.read_bytes())
    return summed.hexdigest()[:16]


def collection_digest(collection: Collection) -> str:
    """Of everything that planning may know of a collection."""
    return digest(collection.model_dump(mode="json", exclude={"version"}))


def _sources(packages: Iterable[str], root: Path) -> list[Path]:
    found: set[Path] = set()
    for package in packages:
        path = root / package
        found |= {path} if path.is_file() else set(path.rglob("*"))
    return sorted(path for path in found if path.suffix in (".py", ".md"))
