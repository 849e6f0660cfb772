"""Text generation: Ollama's requests put to llama.cpp's server, and its events read back."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import orjson

from agent.runtime.llama import LlamaRunner
from agent.runtime.protocol import ApiError, ChatRequest, GenerateRequest, Generation, Options

_CHAT = "/v1/chat/completions"
_PLAIN = "/v1/completions"
# Options that llama.cpp knows by the same name.
_SAME_NAME = (
    *("temperature", "seed", "top_k", "top_p", "min_p", "typical_p"),
    *("repeat_last_n", "repeat_penalty", "presence_penalty", "frequency_penalty"),
)
# Where Ollama's own defaults differ from llama.cpp's.
_OLLAMA_DEFAULTS = {"top_p": 0.9, "min_p": 0.0}


@dataclass(frozen=True)
class Call:
    """One request to the server of a `LlamaRunner`."""

    path: str
    payload: dict[str, Any]


@dataclass(frozen=True)
class Piece:
    text: str
    logprobs: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Finish:
    """The end of a generation. Durations in milliseconds; `cached_tokens` of the prompt were known
    from the prompt before.
    """

    reason: str
    prompt_tokens: int
    cached_tokens: int
    prompt_ms: float
    output_tokens: int
    output_ms: float


def chat_call(request: ChatRequest) -> Call:
    messages = [{"role": m.role, "content": m.content} for m in request.messages]
    return Call(_CHAT, {"messages": messages, **_shared(request)})


def generate_call(request: GenerateRequest) -> Call:
    """`raw` sends the prompt as it is; otherwise it is a user message after `system`."""
    if request.raw:
        return Call(_PLAIN, {"prompt": request.prompt, **_shared(request)})
    system = [{"role": "system", "content": request.system}] if request.system else []
    messages = [*system, {"role": "user", "content": request.prompt}]
    return Call(_CHAT, {"messages": messages, **_shared(request)})


async def generate(
    client: httpx.AsyncClient, runner: LlamaRunner, call: Call
) -> AsyncGenerator[Piece | Finish]:
    """Yield pieces, then one `Finish`. Closing the iterator cancels the generation.

    Raise `ApiError` for what llama.cpp refuses, and when its process ends.
    """
    headers = {"Authorization": f"Bearer {runner.key}"}
    try:
        async with client.stream(
            "POST", runner.url + call.path, json=call.payload, headers=headers
        ) as response:
            if response.status_code != httpx.codes.OK:
                raise _refusal(response.status_code, await response.aread())
            async for item in _read_events(response):
                yield item
    except httpx.TransportError as error:
        await runner.settled()
        raise ApiError(500, "llama runner process has terminated") from error


def _shared(request: Generation) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "stream": True,
        "stream_options": {"include_usage": True},
        "cache_prompt": True,
        "chat_template_kwargs": {"enable_thinking": False},
        **_OLLAMA_DEFAULTS,
        **_options(request.options or Options()),
    }
    match request.format:
        case None | "":
            pass
        case "json":
            payload["response_format"] = {"type": "json_object"}
        case schema:
            payload["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "format", "schema": schema},
            }
    if request.logprobs:
        payload |= {"logprobs": True, "top_logprobs": request.top_logprobs or 0}
    return payload


def _options(options: Options) -> dict[str, Any]:
    given = options.model_dump(include=set(_SAME_NAME), exclude_none=True)
    if options.num_predict is not None and options.num_predict >= 0:
        given["max_tokens"] = options.num_predict
    if options.stop:
        given["stop"] = [options.stop] if isinstance(options.stop, str) else options.stop
    return given


async def _read_events(response: httpx.Response) -> AsyncIterator[Piece | Finish]:
    reason = "stop"
    usage: dict[str, Any] = {}
    timings: dict[str, Any] = {}
    async for line in response.aiter_lines():
        if not line.startswith("data: ") or line == "data: [DONE]":
            continue
        event = orjson.loads(line[6:])
        if "error" in event:
            raise ApiError(500, str(event["error"].get("message", "generation failed")))
        usage = event.get("usage") or usage
        timings = event.get("timings") or timings
        for choice in event.get("choices") or []:
            reason = choice.get("finish_reason") or reason
            text = choice.get("text") or (choice.get("delta") or {}).get("content") or ""
            if text:
                yield Piece(text, _logprobs(choice.get("logprobs")))
    yield Finish(
        reason="length" if reason == "length" else "stop",
        prompt_tokens=int(usage.get("prompt_tokens", 0)),
        cached_tokens=int(timings.get("cache_n", 0)),
        prompt_ms=float(timings.get("prompt_ms", 0)),
        output_tokens=int(usage.get("completion_tokens", 0)),
        output_ms=float(timings.get("predicted_ms", 0)),
    )


def _logprobs(found: dict[str, Any] | None) -> list[dict[str, Any]]:
    return [
        {
            **_token(entry),
            "top_logprobs": [_token(other) for other in entry.get("top_logprobs") or []],
        }
        for entry in (found or {}).get("content") or []
    ]


def _token(entry: dict[str, Any]) -> dict[str, Any]:
    return {
        "token": entry["token"],
        "logprob": entry["logprob"],
        "bytes": entry.get("bytes") or list(entry["token"].encode()),
    }


def _refusal(status: int, body: bytes) -> ApiError:
    try:
        message = orjson.loads(body)["error"]["message"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        message = body.decode(errors="replace")[:500] or f"llama.cpp answered {status}"
    return ApiError(status, str(message))
