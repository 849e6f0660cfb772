"""What is asked of the agent, however it came in."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

from pydantic import Field, ValidationError

from schemas.collection import Collection
from schemas.enhanced import Enhancements
from schemas.errors import UsageError
from schemas.filters import EVERYTHING, Filter
from schemas.model import Shape
from schemas.plan import Key, Mode
from schemas.policy import Overrides


class AskOptions(Shape):
    """Options of plan, search and ask. `kbs` asks several knowledge bases at once. `top` None
    means the policy's number of passages; `today` None the present day in the configured zone;
    `collection` describes a collection that no store holds (plan only); `policy` overrides
    single values of `rag.filter`, `enhance` of `rag.enhance`.
    """

    kb: str | None = None
    kbs: tuple[str, ...] = ()
    mode: Mode | None = None
    keys: tuple[Key, ...] = ()
    filter: Filter = EVERYTHING
    history: tuple[str, ...] = ()
    top: int | None = Field(None, ge=1)
    thread: str | None = None
    today: dt.date | None = None
    collection: Collection | None = None
    explain: bool = False
    policy: Overrides | None = None
    enhance: Enhancements | None = None


def read_options(options: Mapping[str, Any]) -> AskOptions:
    """UsageError naming each option that is unknown or not allowed, its value and the rule."""
    unknown = [name for name in options if name not in AskOptions.model_fields]
    if unknown:
        raise UsageError(
            f"unknown option {', '.join(map(repr, unknown))}; allowed: "
            f"{', '.join(AskOptions.model_fields)}"
        )
    try:
        return AskOptions(**options)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, item['loc']))}: {item['msg']} (got {item['input']!r})"
            for item in error.errors(include_url=False)
        )
        raise UsageError(f"options: {faults}") from error
