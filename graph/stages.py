"""What a node tells the outside while it runs, and how long it took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from langgraph.config import get_stream_writer

from graph.state import State


class Stopwatch:
    """Collects milliseconds by stage on top of those of earlier nodes; a stage run twice adds."""

    def __init__(self, state: State) -> None:
        self.timings = dict(state.get("timings", {}))

    def add(self, stage: str, milliseconds: float) -> None:
        self.timings[stage] = round(self.timings.get(stage, 0.0) + milliseconds, 3)


@contextmanager
def stage(name: str, state: State) -> Iterator[Stopwatch]:
    """Announce a stage and time it."""
    tell("stage", {"stage": name})
    watch = Stopwatch(state)
    started = time.perf_counter()
    yield watch
    watch.add(name, (time.perf_counter() - started) * 1000)


def tell(kind: str, data: Any) -> None:
    """Send an event to whoever streams this run."""
    get_stream_writer()({"kind": kind, "data": data})
