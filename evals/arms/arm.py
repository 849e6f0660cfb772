"""What every arm takes and gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from pydantic import Field as Attribute
from pydantic import JsonValue

from evals.suites import Case
from evals.watched import Call
from schemas.filters import EVERYTHING, Filter
from schemas.model import Shape


class Attempt(Shape):
    """The filter that an arm made of a case, and what it took. `invalid`: the model's output
    could not be used. `ms` is the whole time, `detail` what else explains the result.
    """

    filter: Filter = EVERYTHING
    outcome: str = "planned"
    invalid: bool = False
    model: str | None = None
    model_calls: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0
    ms: float = 0.0
    detail: Mapping[str, JsonValue] = Attribute(default_factory=dict)
    calls: tuple[Mapping[str, JsonValue], ...] = ()


class Arm(Protocol):
    """One way of making a filter of a case."""

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str | None:
        """The name of the model that it asks; None if it asks none."""
        ...

    @property
    def prompt_versions(self) -> Mapping[str, str]: ...

    @property
    def code(self) -> tuple[str, ...]:
        """Packages and files whose code its results depend on."""
        ...

    async def attempt(self, case: Case) -> Attempt: ...


def as_trace(call: Call) -> Mapping[str, JsonValue]:
    return {
        "asked": call.asked,
        "reply": call.reply,
        "prompt_tokens": call.prompt_tokens,
        "output_tokens": call.output_tokens,
        "ms": call.ms,
    }
