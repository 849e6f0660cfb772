"""The texts sent to a model: Markdown files beside this loader, rendered with `$name`."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources
from string import Template


@cache
def _text(name: str) -> str:
    return resources.files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")


def render(prompt: str, /, **values: str) -> str:
    """The prompt with its variables filled in; KeyError names one that is missing."""
    return Template(_text(prompt)).substitute(values).strip()


def version(prompt: str) -> str:
    """The first 12 hex digits of the SHA-256 of the file: changes with its every letter."""
    return hashlib.sha256(_text(prompt).encode()).hexdigest()[:12]
