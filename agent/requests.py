"""What is asked of the agent, however it came in."""

from __future__ import annotations

import datetime as dt

from pydantic import Field

from schemas.collection import Collection
from schemas.filters import EVERYTHING, Filter
from schemas.model import Shape
from schemas.plan import Key, Mode
from schemas.policy import Overrides


class AskOptions(Shape):
    """Options of plan, search and ask. `top` None means the policy's number of passages;
    `today` None the present day in the configured zone; `collection` describes a collection
    that no store holds (plan only); `policy` overrides single values of `rag.filter`.
    """

    kb: str | None = None
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
