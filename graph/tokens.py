"""How many tokens a prompt has, guessed: no tokenizer is at hand before a model is asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

LETTERS_PER_TOKEN = 3.2
"""Of ASCII text, which holds JSON and field names too; English prose has more."""

TOKENS_PER_SIGN = 1.1
"""Of other letters: a Chinese character is seldom more than one token."""

TOKENS_PER_MESSAGE = 8
"""Role and delimiters of the chat template."""


class Said(Protocol):
    """A message, of whatever kind."""

    @property
    def content(self) -> str: ...


def tokens_of(text: str) -> int:
    """A cautious guess, more rather than less than a tokenizer counts."""
    plain = sum(letter.isascii() for letter in text)
    return int(plain / LETTERS_PER_TOKEN + (len(text) - plain) * TOKENS_PER_SIGN) + 1


def prompt_tokens(messages: Iterable[Said]) -> int:
    return sum(tokens_of(message.content) + TOKENS_PER_MESSAGE for message in messages)
