"""A date or period as it stands in a text."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from agent.planning.cues import Direction
from agent.planning.periods import Period


@dataclass(frozen=True)
class Calendar:
    """What dates are read by. `fiscal_start` is the month (1..12) in which a fiscal year begins;
    `day_first` decides 03/04/2025 (None: month first, with a note).
    """

    today: dt.date
    fiscal_start: int = 1
    day_first: bool | None = None


@dataclass(frozen=True)
class Dated:
    """Words with their period. `rolling`: a window that ends today; `bare_year`: four digits
    that could be a number too; `guessed`: parts such as the year were not said.
    """

    start: int
    end: int
    words: str
    period: Period
    rolling: bool = False
    bare_year: bool = False
    guessed: bool = False
    note: str = ""
    direction: Direction | None = None
