"""What a server says of a model: its window, whether it thinks, which weights it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from agent.models.transport import Endpoint

THINKING = "thinking"
READ_S = 10.0


@dataclass(frozen=True)
class ModelFacts:
    """`context` is the longest window in tokens that the model was made for. What the server
    did not say is None, False or empty.
    """

    context: int | None = None
    thinking: bool = False
    digest: str = ""


async def ask_facts(endpoint: Endpoint, *, connect_timeout_s: float) -> ModelFacts | None:
    """From `/api/show` and `/api/tags`; None where the server could not be asked. A server that
    knows no such routes is one that says nothing.
    """
    timeout = httpx.Timeout(READ_S, connect=connect_timeout_s)
    try:
        async with httpx.AsyncClient(
            base_url=endpoint.url, headers=endpoint.headers, timeout=timeout, trust_env=False
        ) as client:
            shown = _object(await client.post("/api/show", json={"model": endpoint.model}))
            listed = _object(await client.get("/api/tags"))
    except httpx.HTTPError:
        return None
    return ModelFacts(
        context=_context(shown.get("model_info")),
        thinking=THINKING in (shown.get("capabilities") or ()),
        digest=_digest(listed.get("models"), endpoint.model),
    )


def _object(reply: httpx.Response) -> Mapping[str, Any]:
    if reply.is_error:
        return {}
    try:
        body = reply.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _context(info: Any) -> int | None:
    """`model_info` names it after the architecture: `qwen2.context_length`."""
    if not isinstance(info, dict):
        return None
    lengths = [
        value
        for name, value in info.items()
        if str(name).endswith(".context_length") and isinstance(value, int) and value > 0
    ]
    return min(lengths, default=None)


def _digest(listed: Any, model: str) -> str:
    wanted = model if ":" in model else f"{model}:latest"
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, dict) and wanted in (item.get("model"), item.get("name")):
            return str(item.get("digest") or "")
    return ""
