"""Who asks, and what they may see."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from pydantic import Field as Attribute

from schemas.filters import EVERYTHING, NOTHING, Filter, dump_filter
from schemas.model import Shape

ANY_KB = "*"


class Scope(Shape):
    """A mandatory filter on one knowledge base, compared exactly; false unless somebody says so."""

    filter: Filter = NOTHING

    @property
    def digest(self) -> str:
        """Stable short name of what may be seen, for cache keys."""
        return hashlib.sha256(dump_filter(self.filter).encode()).hexdigest()[:16]


class Principal(Shape):
    """A caller with the filters granted per knowledge base (`*` for all of them)."""

    name: str
    grants: Mapping[str, Filter] = Attribute(default_factory=dict)

    def scope(self, kb: str) -> Scope:
        """What this principal may see of a knowledge base; nothing where nothing was granted."""
        granted = self.grants.get(kb, self.grants.get(ANY_KB))
        return Scope() if granted is None else Scope(filter=granted)


LOCAL = Principal(name="local", grants={ANY_KB: EVERYTHING})
"""The person at this machine, who owns the store and sees all of it."""
