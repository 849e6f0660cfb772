"""What a run was made with: enough to tell two runs apart, and to make one again."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import httpx
from pydantic import JsonValue

import prompts
from agent.app import Agent
from agent.models.transport import Endpoint

_ROOT = Path(__file__).parent.parent
_PACKAGES = (
    "facetwise",
    "langchain-ollama",
    "langgraph",
    "pymilvus",
    "milvus-lite",
    "xllamacpp",
    "pytrec-eval-terrier",
    "bm25s",
)
_PROMPTS = ("plan", "answer", "answer_system")


def environment(
    *,
    command: Mapping[str, JsonValue],
    models: Mapping[str, Mapping[str, JsonValue]],
    collections: Mapping[str, str],
    engine: str | None,
    code: str,
) -> dict[str, Any]:
    """`models` by name as `model_facts` gives them; `collections` name → version or digest;
    `engine` is the store's version, None if no store was asked; `code` the digest of the
    sources that the results depend on.
    """
    return {
        "command": dict(command),
        "git": git_state(_ROOT),
        "code": code,
        "models": {name: dict(facts) for name, facts in models.items()},
        "prompts": {name: prompts.version(name) for name in _PROMPTS},
        "collections": dict(collections),
        "engine": engine,
        "python": platform.python_version(),
        "system": platform.platform(),
        "cpus": os.cpu_count(),
        "packages": {name: found for name in _PACKAGES if (found := _version(name))},
    }


def git_state(folder: Path) -> dict[str, JsonValue] | None:
    """Revision, and whether files differ from it; None outside a repository."""
    revision = _git(folder, "rev-parse", "HEAD")
    if revision is None:
        return None
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return {"revision": revision, "changed": bool(changed)}


async def model_facts(agent: Agent) -> dict[str, JsonValue]:
    """Where the chat model is served, and the digest that its server gives for it."""
    endpoint = await agent.backends.chat()
    return {"origin": endpoint.origin, "digest": await _digest(endpoint)}


async def _digest(endpoint: Endpoint) -> str | None:
    """From /api/tags; None where the server tells none."""
    url = f"{endpoint.url.rstrip('/')}/api/tags"
    try:
        async with httpx.AsyncClient(timeout=10, trust_env=False) as client:
            reply = await client.get(url, headers=endpoint.headers)
            reply.raise_for_status()
            listed = reply.json()["models"]
    except (httpx.HTTPError, ValueError, KeyError):
        return None
    names = (endpoint.model, f"{endpoint.model}:latest")
    found = [one.get("digest") for one in listed if one.get("name") in names]
    return str(found[0]) if found and found[0] else None


def _git(folder: Path, *arguments: str) -> str | None:
    command: Sequence[str] = ("git", "-C", str(folder), *arguments)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
