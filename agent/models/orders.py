"""One request to a chat model, but for who is asked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

import prompts
from agent.models.methods import Method
from graph.ports import Message

REPLY_TOKENS = 512
ANSWER_TOKENS = 768
MORE = 4
"""Times as many tokens for the one repetition of a reply that had too few, and for thinking."""


def room_of(window: int, reply: int = REPLY_TOKENS) -> int:
    """Tokens of a window that a prompt may have: a reply needs some, but not more than half."""
    return window - min(reply, REPLY_TOKENS, window // 2)


@dataclass(frozen=True)
class Order:
    """`think` None says nothing of it. `wary`: a connection that drops is the server's answer to
    this request, not an accident.
    """

    tokens: int
    temperature: float = 0.0
    format: dict[str, Any] | str | None = None
    think: bool | None = None
    wary: bool = False


def order_of(method: Method, schema: Mapping[str, Any], *, tokens: int, thinks: bool) -> Order:
    """What a method asks of a model; of thinking it speaks only to those that can."""
    off = False if thinks else None
    match method:
        case Method.SCHEMA:
            return Order(tokens, format=dict(schema), think=off)
        case Method.THINKING:
            return Order(tokens * MORE, format=dict(schema), think=True)
        case Method.JSON:
            return Order(tokens, format="json", think=off)
        case Method.PLAIN:
            return Order(tokens, think=off)


def put(messages: Sequence[Message], schema: Mapping[str, Any], method: Method) -> list[Message]:
    """The messages as the method sends them: where the server is not given the schema, the model
    is, at the very end, so that what models keep of earlier prompts stays of use.
    """
    if method.sends_schema:
        return list(messages)
    told = prompts.render("reply_as_json", schema=json.dumps(dict(schema), ensure_ascii=False))
    *before, last = messages
    if last.role != "user":
        return [*messages, Message("user", told)]
    return [*before, Message("user", f"{last.content}\n\n{told}")]


def to_langchain(messages: Sequence[Message]) -> list[BaseMessage]:
    """Never without a turn of the user: without one, Ollama only loads the model."""
    kinds: dict[str, type[BaseMessage]] = {
        "system": SystemMessage,
        "user": HumanMessage,
        "assistant": AIMessage,
    }
    sent = [kinds[message.role](content=message.content) for message in messages]
    if not any(message.role == "user" and message.content.strip() for message in messages):
        sent.append(HumanMessage(content="-"))
    return sent
