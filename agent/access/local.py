"""Access on one person's machine: a principal sees what it was granted."""

from __future__ import annotations

from schemas.access import Principal, Scope


class GrantedAccess:
    """The Access port: the grants that a principal carries, and nothing where there are none."""

    def scope(self, principal: Principal, kb: str) -> Scope:
        return principal.scope(kb)
