"""What `doctor` looks at: what answers, how the model is brought to obey, dimensions."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence

from agent.app import Agent
from agent.models.methods import Method
from agent.models.orders import REPLY_TOKENS
from agent.planning.form import opening
from graph.ports import Message
from graph.tokens import prompt_tokens
from schemas.errors import FacetwiseError
from schemas.model import Shape
from schemas.plan import Mode

PROBE_SCHEMA = {
    "type": "object",
    "properties": {"use": {"enum": ["wanted", "excluded"]}},
    "required": ["use"],
    "additionalProperties": False,
}
PROBE = "Write one short sentence about the sea. Plain text, no JSON."
"""A model that ignores `format` writes prose to a request for prose."""

QUESTION_TOKENS = 1000
"""What the fields of a collection, a question and what was found in it need, as a rule."""

_OTHER_MODEL = "name another model in models.chat"


class Finding(Shape):
    """One fact; `remedy` says what to do where it is not ok."""

    what: str
    ok: bool
    detail: str
    remedy: str = ""


Check = tuple[str, Callable[[Agent], Awaitable[str]]]


async def diagnose(agent: Agent, checks: Sequence[Check] = ()) -> tuple[Finding, ...]:
    """Every check runs, whatever the ones before it found. All of them, unless some are named."""
    chosen = checks or (*MODEL_CHECKS, *STORE_CHECKS)
    return tuple([await _finding(what, check(agent)) for what, check in chosen])


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
    chat = await agent.chat()
    digest = (await chat.facts()).digest.removeprefix("sha256:")[:12]
    return f"{chat.endpoint} at {chat.endpoint.url}" + (f", {digest}" if digest else "")


async def _schema(agent: Agent) -> str:
    """Whether the server holds this model to a schema; else what takes its place."""
    chat = await agent.chat()
    started = time.perf_counter()
    completion = await chat.complete([Message("user", PROBE)], PROBE_SCHEMA)
    took = f"{completion.output_tokens} tokens in {(time.perf_counter() - started) * 1000:.0f} ms"
    match await chat.method():
        case Method.SCHEMA:
            return f"yes, {took}"
        case Method.THINKING:
            return f"yes, but only where it thinks first: {took}"
        case Method.JSON | Method.PLAIN as method:
            raise FacetwiseError(
                f"{chat.endpoint} ignores `format`: plans are made by {_told(method)} and checked"
                f" afterwards, with more mistakes ({took})",
                remedy="update Ollama (schemas need 0.5 or later), or " + _OTHER_MODEL,
            )
        case None:
            raise FacetwiseError(
                f"{chat.endpoint} follows no schema in any way: it answered"
                f" {completion.text[:60]!r}; no filter can be planned",
                remedy=_OTHER_MODEL,
            )


def _told(method: Method) -> str:
    if method is Method.JSON:
        return "JSON mode with the schema in the prompt"
    return "the schema in the prompt alone"


async def _thinking(agent: Agent) -> str:
    chat = await agent.chat()
    if not (await chat.facts()).thinking:
        return "the model does not think, or does not tell"
    if await chat.method() is Method.THINKING:
        return "on: without it, the model ignores schemas"
    if await chat.needed_tokens() > REPLY_TOKENS:
        raise FacetwiseError(
            f"{chat.endpoint} thinks although it is told not to: every reply waits for that",
            remedy=_OTHER_MODEL,
        )
    return "the model can; it is turned off"


async def _window(agent: Agent) -> str:
    """Whether the rules and examples of a plan fit, beside a question and the reply."""
    chat, configured = await agent.chat(), agent.settings.models.context
    window, made_for = await chat.window(), (await chat.facts()).context
    told = f"{window} tokens" + (f", the model was made for {made_for}" if made_for else "")
    needed = _needed()
    if window < needed:
        longer = made_for is None or made_for >= needed
        raise FacetwiseError(
            f"{told}; a plan needs about {needed}: examples will be left out, and long questions"
            " fail",
            remedy=f"set models.context: {needed} or more"
            if longer and window == configured
            else _OTHER_MODEL + " with a longer window",
        )
    return told


def _needed() -> int:
    opened = [Message(message.role, message.content) for message in opening()]
    return prompt_tokens(opened) + QUESTION_TOKENS + REPLY_TOKENS


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
    faults: dict[str, FacetwiseError] = {}
    for name in names:
        try:
            await agent.search("test", kb=name, mode=Mode.OFF)
        except FacetwiseError as error:
            faults[name] = error
    if faults:
        first = next(iter(faults.values()))
        told = "; ".join(f"{name}: {error}" for name, error in faults.items())
        raise FacetwiseError(told, remedy=first.remedy) from first
    return ", ".join(names) or "none yet"


MODEL_CHECKS: Sequence[Check] = (
    ("Ollama", _ollama),
    ("chat model", _chat),
    ("JSON schema obeyed", _schema),
    ("thinking", _thinking),
    ("context window", _window),
    ("embedding model", _embedding),
)
STORE_CHECKS: Sequence[Check] = (("store", _store), ("knowledge bases", _kbs))
