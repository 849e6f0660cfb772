"""Searches begun before anybody knows whether they are needed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any

from graph.ports import Found, Query
from schemas.access import Scope
from schemas.errors import FacetwiseError

Search = Callable[[Query, Scope], Coroutine[Any, Any, Found]]


@dataclass(frozen=True)
class _Scout:
    query: Query
    scope: Scope
    task: asyncio.Task[Found]

    def answers(self, query: Query, scope: Scope) -> bool:
        """Compared without the descriptions of the collections, which are long."""
        return (
            scope == self.scope
            and query.filter.root == self.query.filter.root
            and query.filter.collection.version == self.query.filter.collection.version
            and replace(query, filter=self.query.filter) == self.query
        )


@dataclass
class Scouts:
    """The searches of one run, never part of its state. Whoever made the run's context closes
    them, however the run ended.
    """

    _sent: list[_Scout] = field(default_factory=list)

    def send(self, search: Search, query: Query, scope: Scope) -> None:
        """Begin a search, unless it has begun."""
        if not any(one.answers(query, scope) for one in self._sent):
            task = asyncio.create_task(search(query, scope))
            self._sent.append(_Scout(query, scope, task))

    async def found(self, query: Query, scope: Scope) -> Found | None:
        """What such a search found; None if none was begun, or if it failed by an outage: the
        search that needs it meets the outage itself.
        """
        for one in self._sent:
            if one.answers(query, scope):
                try:
                    return await one.task
                except FacetwiseError:
                    return None
        return None

    async def close(self) -> None:
        """Cancel what still runs, and wait for it. An outage that nobody met is nobody's."""
        sent, self._sent = self._sent, []
        for one in sent:
            one.task.cancel()
        if sent:
            await asyncio.wait([one.task for one in sent])
        faults = [one.task.exception() for one in sent if not one.task.cancelled()]
        for fault in faults:
            if fault is not None and not isinstance(fault, FacetwiseError):
                raise fault
