"""The model's window: what is left out of a prompt that is too long for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from graph.ports import Message
from graph.tokens import prompt_tokens
from schemas.errors import ModelOutputCut


class NoRoom(ModelOutputCut):
    """A prompt leaves no room for a whole reply, so none was asked for."""

    retryable: ClassVar[bool] = False
    default_remedy: ClassVar[str] = "ask less at once, or raise models.context if the model has it"


def fitted(messages: Sequence[Message], room: int) -> Sequence[Message]:
    """The messages, without as many of the oldest exchanges after the rules as have to go.

    The rules at the beginning, the last exchange and the last turn are never left out. Raises
    NoRoom where they are too long by themselves.
    """
    rules = next((i for i, one in enumerate(messages) if one.role != "system"), len(messages))
    kept = list(messages)
    while prompt_tokens(kept) > room:
        end = _end_of_exchange(kept, rules)
        if end is None:
            raise NoRoom(
                f"the prompt needs about {prompt_tokens(kept)} tokens, and the model's window has"
                f" room for {max(0, room)}"
            )
        del kept[rules:end]
    return kept


def _end_of_exchange(messages: Sequence[Message], start: int) -> int | None:
    """Where the first exchange (what a user said and what was replied) ends that may go."""
    ends = [i + 1 for i in range(start, len(messages)) if messages[i].role == "assistant"]
    return ends[0] if len(ends) > 1 else None
