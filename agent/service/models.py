"""Bodies of the native routes."""

from __future__ import annotations

import datetime as dt
from typing import Any

from pydantic import Field, model_validator

from agent.requests import AskOptions
from schemas.collection import Collection
from schemas.enhanced import Enhancements
from schemas.filters import EVERYTHING, Filter
from schemas.model import Shape
from schemas.plan import Key, Mode
from schemas.policy import Overrides


class Question(Shape):
    """What every native route takes; keys that a route has no use for are refused with 422."""

    question: str = Field(min_length=1, max_length=10_000)
    kb: str | None = None
    kbs: tuple[str, ...] = Field((), max_length=32)
    mode: Mode | None = None
    keys: tuple[Key | str, ...] = ()
    filter: Filter = EVERYTHING
    today: dt.date | None = None

    @model_validator(mode="before")
    @classmethod
    def _has_known_keys(cls, data: Any) -> Any:
        unknown = (
            [key for key in data if key not in cls.model_fields] if isinstance(data, dict) else []
        )
        if unknown:
            raise ValueError(
                f"unknown key {', '.join(map(repr, unknown))}; allowed: "
                f"{', '.join(cls.model_fields)}"
            )
        return data

    def options(self) -> dict[str, object]:
        """As the agent takes them: keys given by name alone are unpinned."""
        given = self.model_dump(exclude={"question", "keys", "filter", "stream", "collection"})
        keys = tuple(Key(name=key) if isinstance(key, str) else key for key in self.keys)
        options = AskOptions(**given, keys=keys, filter=self.filter)
        return {name: getattr(options, name) for name in options.model_fields_set}


class PlanRequest(Question):
    history: tuple[str, ...] = ()
    collection: Collection | None = None


class SearchRequest(Question):
    top: int | None = Field(None, ge=1, le=1000)
    explain: bool = False
    enhance: Enhancements | None = None
    policy: Overrides | None = None


class AskRequest(Question):
    top: int | None = Field(None, ge=1, le=1000)
    thread: str | None = Field(None, min_length=1, max_length=200)
    stream: bool = False
    enhance: Enhancements | None = None
    policy: Overrides | None = None
