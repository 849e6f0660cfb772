"""The shapes of Ollama's HTTP protocol that the runtime reads and writes.

Source: https://github.com/ollama/ollama/blob/main/docs/api.md
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, TypeVar

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

PROTOCOL_VERSION = "0.12.11"
"""The release of Ollama whose protocol this follows."""

FOREVER = timedelta(days=365 * 100)

_DURATION_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)")
_UNIT_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


class ApiError(Exception):
    """An answer with Ollama's `{"error": ...}` body."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def model_not_found(name: str) -> ApiError:
    return ApiError(404, f"model '{name}' not found")


def not_supported(name: str, what: str) -> ApiError:
    return ApiError(400, f'"{name}" does not support {what}')


def parse_duration(value: object) -> timedelta | None:
    """Ollama's `keep_alive`: seconds as a number, or Go's `1h30m`; negative means forever."""
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"keep_alive is a duration, not {value!r}")
    seconds = _go_seconds(value) if isinstance(value, str) else float(value)
    if not 0 <= seconds < FOREVER.total_seconds():
        return FOREVER
    return timedelta(seconds=seconds)


def _go_seconds(text: str) -> float:
    sign = -1.0 if text.startswith("-") else 1.0
    body = text.lstrip("+-")
    if body.replace(".", "", 1).isdigit():
        return sign * float(body)
    parts = _DURATION_PART.findall(body)
    if not parts or "".join(n + u for n, u in parts) != body:
        raise ValueError(f'time: invalid duration "{text}"')
    return sign * sum(float(number) * _UNIT_SECONDS[unit] for number, unit in parts)


KeepAlive = Annotated[timedelta | None, BeforeValidator(parse_duration)]


class Wire(BaseModel):
    """A request body. Unknown keys are passed over, as Ollama does: clients are ahead of us."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Options(Wire):
    """Sampling and limits. `num_predict` below 0 means no limit; `num_ctx` is in tokens."""

    temperature: float | None = None
    seed: int | None = None
    num_predict: int | None = None
    num_ctx: int | None = Field(default=None, ge=1)
    stop: list[str] | str | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    typical_p: float | None = None
    repeat_last_n: int | None = None
    repeat_penalty: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None


class Message(Wire):
    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    images: list[str] | None = None


class Generation(Wire):
    """What chat and generate have in common."""

    model: str = ""
    stream: bool | None = None
    format: Literal["", "json"] | dict[str, Any] | None = None
    options: Options | None = None
    keep_alive: KeepAlive = None
    think: bool | str | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = Field(default=None, ge=0, le=20)


class ChatRequest(Generation):
    messages: list[Message] = Field(default_factory=list)
    tools: list[dict[str, Any]] | None = None


class GenerateRequest(Generation):
    prompt: str = ""
    suffix: str | None = None
    system: str | None = None
    template: str | None = None
    raw: bool | None = None
    images: list[str] | None = None


class EmbedRequest(Wire):
    model: str = ""
    input: str | list[str] | None = None
    truncate: bool | None = None
    dimensions: int | None = Field(default=None, ge=0)
    keep_alive: KeepAlive = None
    options: Options | None = None


class EmbeddingsRequest(Wire):
    """The older form: one prompt, one embedding."""

    model: str = ""
    prompt: str = ""
    keep_alive: KeepAlive = None


class ShowRequest(Wire):
    model: str = ""
    name: str = ""


W = TypeVar("W", bound=Wire)


def parse_body(kind: type[W], body: bytes) -> W:
    """Raise `ApiError` 400 if the body is missing, not JSON, or not of the request's shape.

    Half surrogate pairs, which JSON can write and UTF-8 cannot, become U+FFFD.
    """
    if not body.strip():
        raise ApiError(400, "missing request body")
    try:
        return kind.model_validate(orjson.loads(body))
    except orjson.JSONDecodeError:
        return _parse_leniently(kind, body)
    except ValidationError as error:
        raise ApiError(400, _first_problem(error)) from error


def _parse_leniently(kind: type[W], body: bytes) -> W:
    """A second look at a body the strict reader refused."""
    try:
        loose = json.loads(body.decode("utf-8", errors="replace"))
        return kind.model_validate(_clean(loose))
    except ValidationError as error:
        raise ApiError(400, _first_problem(error)) from error
    except (json.JSONDecodeError, RecursionError) as error:
        raise ApiError(400, f"invalid JSON: {error}") from error


def _clean(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list():
            return [_clean(item) for item in value]
        case dict():
            return {_clean(key): _clean(item) for key, item in value.items()}
        case _:
            return value


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_context=False)[0]
    where = ".".join(str(part) for part in problem["loc"])
    return f"invalid request: {where}: {problem['msg']}" if where else "invalid request body"


def timestamp(at: datetime | None = None) -> str:
    """RFC 3339 with microseconds, in UTC."""
    return (at or datetime.now(UTC)).isoformat().replace("+00:00", "Z")


def encode(value: Mapping[str, Any]) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
