"""How far a run is and how long it will take, on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

QUIET_SECONDS = 10.0


class RunProgress:
    """One line that is rewritten on a terminal, and repeated now and then elsewhere."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._said = float("-inf")

    def __call__(self, finished: int, reused: int, total: int) -> None:
        now = self._clock()
        terminal = sys.stderr.isatty()
        if not terminal and finished < total and now - self._said < QUIET_SECONDS:
            return
        self._said = now
        line = progress_line(finished, reused, total, now - self._began)
        sys.stderr.write(f"\r\x1b[K{line}" if terminal else f"{line}\n")
        if terminal and finished >= total:
            sys.stderr.write("\n")
        sys.stderr.flush()


def progress_line(finished: int, reused: int, total: int, seconds: float) -> str:
    """`seconds` were spent on what was not reused; the rest is taken to go on like that."""
    fresh = finished - reused
    parts = [f"{finished}/{total} cases"]
    if reused:
        parts.append(f"{reused} reused")
    if fresh and finished < total:
        left = seconds / fresh * (total - finished)
        parts.append(f"{seconds / fresh:.1f} s each, {duration(left)} left")
    return ", ".join(parts)


def duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
