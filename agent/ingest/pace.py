"""How fast a run goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

Clock = Callable[[], float]


class Stopwatch:
    """Counts the time in which something is under way, once, however many are at the same time."""

    def __init__(self, clock: Clock) -> None:
        self.seconds = 0.0
        self._clock = clock
        self._running = 0
        self._since = 0.0

    def __enter__(self) -> None:
        if not self._running:
            self._since = self._clock()
        self._running += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._running -= 1
        if not self._running:
            self.seconds += self._clock() - self._since


@dataclass(slots=True)
class Pace:
    """Sizes are those of Pending, because chunks are not known ahead."""

    total: int
    total_size: int
    began: float
    done: int = 0
    size: float = 0.0

    def seconds_left(self, now: float) -> float | None:
        if self.size <= 0 or now <= self.began:
            return None
        left = max(self.total_size - self.size, 0.0) * (now - self.began) / self.size
        return round(left, 1)
