"""Word lists written as running text."""

from __future__ import annotations


def listed(text: str) -> tuple[str, ...]:
    """The words of a text between white space."""
    return tuple(text.split())
