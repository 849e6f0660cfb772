"""Who is writing a knowledge base, noted with it, so that whoever comes after a crash looks for
what it left.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agent.store.bases import Base
from agent.store.connection import Connection
from agent.store.generations import touch


class Signatures:
    """Those of one writer. A name stays on a knowledge base from the first write of a run until
    it is finished, and for the time of every other change.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._name = secrets.token_hex(8)
        self.unclean: set[str] = set()
        """Knowledge bases in which there may be leftovers."""

    async def sign(self, base: Base) -> None:
        """Leave our name; that of somebody else is one of a run that may have been cut off."""
        names = _names(base)
        if self._name in names:
            return
        if names:
            self.unclean.add(base.catalogue.name)
        await self._write(base, [*names, self._name])

    @asynccontextmanager
    async def signed(self, base: Base) -> AsyncIterator[None]:
        """Our name is there while one change is made, and stays if it fails."""
        names = _names(base)
        if self._name in names:
            yield
            return
        await self._write(base, [*names, self._name])
        yield
        await self._write(base, names)

    def suspicious(self, base: Base) -> bool:
        """Whether anybody may have left something."""
        return base.catalogue.name in self.unclean or bool(set(_names(base)) - {self._name})

    async def clear(self, base: Base, *, clean: bool) -> None:
        """End a run. Where something was left that is too young to be judged, the names of the
        others stay, so that the next one looks again.
        """
        self.unclean.discard(base.catalogue.name)
        others = [name for name in _names(base) if name != self._name]
        await self._write(base, [] if clean else others or [self._name])

    async def _write(self, base: Base, names: list[str]) -> None:
        await touch(self._connection, base.catalogue, writer=" ".join(names))


def _names(base: Base) -> list[str]:
    return base.writer.split()
