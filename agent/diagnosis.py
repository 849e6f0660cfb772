"""What `doctor` looks at: reachability, engine, schema obedience, dimensions."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable

from agent.app import Agent
from graph.ports import Message
from schemas.errors import FacetwiseError
from schemas.model import Shape
from schemas.plan import Mode

PROBE_SCHEMA = {
    "type": "object",
    "properties": {"use": {"enum": ["wanted", "excluded"]}},
    "required": ["use"],
    "additionalProperties": False,
}


class Finding(Shape):
    """One fact; `remedy` says what to do where it is not ok."""

    what: str
    ok: bool
    detail: str
    remedy: str = ""


async def diagnose(agent: Agent) -> tuple[Finding, ...]:
    """Every check runs, whatever the ones before it found."""
    checks: tuple[tuple[str, Callable[[Agent], Awaitable[str]]], ...] = (
        ("Ollama", _ollama),
        ("chat model", _chat),
        ("JSON schema obeyed", _schema),
        ("embedding model", _embedding),
        ("store", _store),
        ("knowledge bases", _kbs),
    )
    return tuple([await _finding(what, check(agent)) for what, check in checks])


async def _finding(what: str, check: Awaitable[str]) -> Finding:
    try:
        return Finding(what=what, ok=True, detail=await check)
    except FacetwiseError as error:
        return Finding(what=what, ok=False, detail=str(error), remedy=error.remedy)


async def _ollama(agent: Agent) -> str:
    models = agent.settings.models
    if models.provider == "embedded":
        return "not used (models.provider is embedded)"
    state = await agent.backends.ollama()
    if state.fault:
        return f"{models.ollama_url} does not answer ({state.fault}); fallback: {models.fallback}"
    return f"{models.ollama_url} has {len(state.models)} model(s)"


async def _chat(agent: Agent) -> str:
    return str((await agent.chat()).endpoint)


async def _schema(agent: Agent) -> str:
    """A model that ignores `format` writes prose to a request for prose."""
    chat = await agent.chat()
    started = time.perf_counter()
    completion = await chat.complete(
        [Message("user", "Write one short sentence about the sea. Plain text, no JSON.")],
        PROBE_SCHEMA,
    )
    milliseconds = (time.perf_counter() - started) * 1000
    try:
        obeyed = json.loads(completion.text).get("use") in ("wanted", "excluded")
    except (json.JSONDecodeError, AttributeError):
        obeyed = False
    if not obeyed:
        raise FacetwiseError(
            f"{chat.endpoint} ignores `format`: it answered {completion.text[:60]!r}",
            remedy="use a model and Ollama version that obey JSON schemas, thinking turned off",
        )
    return f"yes, {completion.output_tokens} tokens in {milliseconds:.0f} ms"


async def _embedding(agent: Agent) -> str:
    embedder = await agent.embedder()
    return f"{embedder.endpoint}, {await embedder.dimension()} dimensions"


async def _store(agent: Agent) -> str:
    connection = (await agent.store()).connection
    dialect = await connection.dialect()
    return f"{connection.uri}, {await connection.version()}, dialect {dialect}"


async def _kbs(agent: Agent) -> str:
    """Each knowledge base is searched once, which fails where another model embedded it."""
    names = await agent.kbs()
    for name in names:
        await agent.search("test", kb=name, mode=Mode.OFF)
    return ", ".join(names) or "none yet"
