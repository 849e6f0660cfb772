"""facetwise from Python: `Agent` and `Settings`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent.app import Agent
    from agent.settings import Settings

__all__ = ["Agent", "Settings"]


def __getattr__(name: str) -> Any:
    """Load the two public names on first use: the command line starts without them."""
    if name == "Agent":
        from agent.app import Agent  # noqa: PLC0415 - see the docstring

        return Agent
    if name == "Settings":
        from agent.settings import Settings  # noqa: PLC0415 - see the docstring

        return Settings
    raise AttributeError(f"module 'agent' has no attribute {name!r}")
