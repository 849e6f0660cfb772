"""Answers written by a chat model from numbered passages, their markers kept honest."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence

import prompts
from agent.models.orders import ANSWER_TOKENS
from graph.ports import Chat, Message
from graph.tokens import prompt_tokens, tokens_of
from schemas.hits import Passage

_OPEN = re.compile(r"\[[^\]]*$")
_MARKER = re.compile(r"\[(\d+)\]")


class ModelWriter:
    """The Writer port over a chat model. Markers that name no passage are taken out.

    `context` is the model's window in tokens: rules, question and reply have their room in it
    first, and passages that do not fit are left out. An answer from so full a window that cites
    nothing is not shown: it is written once more, from half of the passages.
    """

    def __init__(self, chat: Chat, *, context: int = 4096) -> None:
        self._chat = chat
        self._context = context

    @property
    def name(self) -> str:
        return self._chat.name

    async def write(
        self, question: str, passages: Sequence[Passage], notes: Sequence[str]
    ) -> AsyncIterator[str]:
        """Yield text as it is written, holding back a marker until it is whole."""
        blocks = self._blocks(question, passages, notes)
        if blocks != [_block(number, one) for number, one in enumerate(passages, start=1)]:
            unshown = ""
            cited = False
            async for text in self._written(_messages(question, blocks, notes), len(blocks)):
                unshown += text
                if cited or _MARKER.search(unshown):
                    cited = True
                    yield unshown
                    unshown = ""
            if cited:
                return
            blocks = blocks[: (len(blocks) + 1) // 2]
        async for text in self._written(_messages(question, blocks, notes), len(blocks)):
            yield text

    async def _written(self, messages: Sequence[Message], passages: int) -> AsyncIterator[str]:
        held = ""
        async for piece in self._chat.stream(messages):
            held += piece
            open_marker = _OPEN.search(held)
            cut = (
                open_marker.start() if open_marker and len(held) - open_marker.start() < 8 else None
            )
            ready, held = held[:cut], held[cut:] if cut is not None else ""
            if ready:
                yield _checked(ready, passages)
        if held:
            yield _checked(held, passages)

    def _blocks(
        self, question: str, passages: Sequence[Passage], notes: Sequence[str]
    ) -> list[str]:
        """The passages that fit, the first at least in part."""
        reply = min(ANSWER_TOKENS, self._context // 2)
        room = self._context - reply - prompt_tokens(_messages(question, (), notes))
        blocks: list[str] = []
        for number, passage in enumerate(passages, start=1):
            block = _block(number, passage)
            needed = tokens_of(block) + 1
            if needed > room:
                if not blocks and room > 0:
                    blocks.append(block[: len(block) * room // needed])
                break
            room -= needed
            blocks.append(block)
        return blocks


def _messages(question: str, blocks: Sequence[str], notes: Sequence[str]) -> Sequence[Message]:
    return (
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


def _block(number: int, passage: Passage) -> str:
    about = "; ".join(f"{key}: {value}" for key, value in passage.metadata.items())
    return f"[{number}] {passage.title} ({about})\n{passage.text}"


def _checked(text: str, passages: int) -> str:
    def keep(match: re.Match[str]) -> str:
        return match.group(0) if 1 <= int(match.group(1)) <= passages else ""

    return _MARKER.sub(keep, text)
