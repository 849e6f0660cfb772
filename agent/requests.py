"""What is asked of the agent, however it came in."""

from __future__ import annotations

import datetime as dt

from pydantic import Field

from schemas.collection import Collection
from schemas.enhanced import Enhancements
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
