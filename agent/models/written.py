"""Answers written by a chat model from numbered passages, their markers kept honest."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence

import prompts
from graph.ports import Chat, Message
from schemas.hits import Passage

CHARACTERS_PER_TOKEN = 2.5
RESERVED_TOKENS = 1200

_OPEN = re.compile(r"\[[^\]]*$")
_MARKER = re.compile(r"\[(\d+)\]")


class ModelWriter:
    """The Writer port over a chat model. Markers that name no passage are taken out.

    `context` is the model's window in tokens: passages that do not fit are left out.
    """

    def __init__(self, chat: Chat, *, context: int = 4096) -> None:
        self._chat = chat
        self._room = int(max(512, context - RESERVED_TOKENS) * CHARACTERS_PER_TOKEN)

    @property
    def name(self) -> str:
        return self._chat.name

    async def write(
        self, question: str, passages: Sequence[Passage], notes: Sequence[str]
    ) -> AsyncIterator[str]:
        """Yield text as it is written, holding back a marker until it is whole."""
        blocks = self._blocks(passages)
        messages = (
            Message("system", prompts.render("answer_system")),
            Message(
                "user",
                prompts.render(
                    "answer",
                    passages="\n\n".join(blocks),
                    notes="\n".join(f"- {note}" for note in notes) or "-",
                    question=question,
                ),
            ),
        )
        held = ""
        async for piece in self._chat.stream(messages):
            held += piece
            open_marker = _OPEN.search(held)
            cut = (
                open_marker.start() if open_marker and len(held) - open_marker.start() < 8 else None
            )
            ready, held = held[:cut], held[cut:] if cut is not None else ""
            if ready:
                yield _checked(ready, len(blocks))
        if held:
            yield _checked(held, len(blocks))

    def _blocks(self, passages: Sequence[Passage]) -> list[str]:
        blocks: list[str] = []
        used = 0
        for number, passage in enumerate(passages, start=1):
            about = "; ".join(f"{key}: {value}" for key, value in passage.metadata.items())
            block = f"[{number}] {passage.title} ({about})\n{passage.text}"
            used += len(block)
            if blocks and used > self._room:
                break
            blocks.append(block)
        return blocks


def _checked(text: str, passages: int) -> str:
    def keep(match: re.Match[str]) -> str:
        return match.group(0) if 1 <= int(match.group(1)) <= passages else ""

    return _MARKER.sub(keep, text)
