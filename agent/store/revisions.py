"""Names of the states of a document: when they were begun, and something random."""

from __future__ import annotations

import datetime as dt
import secrets
from collections.abc import Callable

Clock = Callable[[], dt.datetime]
"""The time now, with a zone."""

GRACE = dt.timedelta(minutes=1)
"""Chunks without a visible document are left alone for so long: somebody may be writing them."""


def new_revision(now: dt.datetime) -> str:
    """Eleven hexadecimal digits of milliseconds and eight random ones; sorts by time."""
    return f"{_ms(now):011x}{secrets.token_hex(4)}"


def begun_at(revision: str) -> dt.datetime:
    """When a revision was begun, to the millisecond, in UTC."""
    return dt.datetime.fromtimestamp(int(revision[:11], 16) / 1000, dt.UTC)


def is_stale(revision: str, now: dt.datetime) -> bool:
    """True once nobody can still be writing a revision that is not visible."""
    return revision < f"{_ms(now - GRACE):011x}"


def _ms(time: dt.datetime) -> int:
    return int(time.timestamp() * 1000)
