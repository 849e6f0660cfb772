"""Ways to have a reply that follows a schema, and what is remembered of a model's obedience."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

PATIENCE = 3
"""Faults in a row after which a method that once worked gives way to one that works."""

REST = 8
"""Questions with one call each after one for which every method failed."""


class Method(StrEnum):
    """From the strictest to the loosest."""

    SCHEMA = "schema"  # `format` is the schema; thinking off
    THINKING = "schema_thinking"  # the same with thinking on, in a field of its own
    JSON = "json"  # `format` is json, and the schema stands in the prompt
    PLAIN = "plain"  # the schema stands in the prompt; the last object of the text counts

    @property
    def sends_schema(self) -> bool:
        return self in (Method.SCHEMA, Method.THINKING)


def ladder(*, thinking: bool) -> Sequence[Method]:
    """Some models obey `format` only where they may think first."""
    return [method for method in Method if thinking or method is not Method.THINKING]


@dataclass
class Memory:
    """What calls to one model taught.

    A method that never worked is left at its first fault. One that has worked is kept: its bad
    reply is the model's mistake, to be repaired by who asked; only if the repair is bad too, the
    further methods are tried. Once every method failed, only the first is used for `resting`
    bad replies, so that a model too weak for the task seldom costs more than one call.
    """

    tokens: int
    working: Method | None = None
    faults: int = 0
    resting: int = 0

    def start(self, methods: Sequence[Method]) -> int:
        return methods.index(self.working) if self.working in methods else 0

    def passed(self, method: Method) -> None:
        self.resting = 0
        if method is self.working:
            self.faults = 0
        elif self.working is None or self.faults >= PATIENCE:
            self.working, self.faults = method, 0

    def goes_on(self, method: Method) -> bool:
        """Note a bad reply; whether the next method is to be tried for the same question."""
        if method is self.working:
            self.faults += 1
            return self.faults > 1
        if self.resting:
            self.resting -= 1
            return False
        return True

    def gave_up(self) -> None:
        """Note that no method helped with a question."""
        if self.working is None:
            self.resting = REST
