"""The one question put to the model: for each mention, how the question uses it."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

import prompts
from agent.planning.anaphora import refers_back
from agent.planning.examples import EXAMPLES
from agent.planning.use import CERTAIN, IGNORE, NOT, Use
from agent.planning.uses import uses
from graph.ports import Ask
from schemas.collection import Collection, Field
from schemas.mentions import Form, FormMessage, Mention, MentionKind

PROMPT = "plan"
_KEY_LENGTH = 40
MOST_TURNS = 10
"""Earlier turns that are looked at; those without a mention cost nothing."""


def make_form(
    ask: Ask, collection: Collection, mentions: Sequence[Mention], fields: Sequence[Field]
) -> Form | None:
    """Static rules and examples, then the fields, then the question; None without mentions."""
    asked = asked_of(ask, collection, mentions)
    if not asked:
        return None
    put = f"{describe(fields)}\n\n{_question(ask, mentions, asked)}"
    return Form(
        messages=(*opening(), FormMessage(role="user", content=put)),
        reply_schema=reply_schema(asked),
        prompt_version=prompts.version(PROMPT),
    )


def opening() -> tuple[FormMessage, ...]:
    """What every form begins with, whatever the collection: a model that has read it once reads
    only the rest of later ones.
    """
    messages = [FormMessage(role="system", content=prompts.render(PROMPT))]
    for example in EXAMPLES:
        messages.append(FormMessage(role="user", content=example.question))
        messages.append(FormMessage(role="assistant", content=example.reply))
    return tuple(messages)


def asked_of(
    ask: Ask, collection: Collection, mentions: Sequence[Mention]
) -> Mapping[str, Sequence[str]]:
    """Key → the words allowed for it, of every mention that needs a judgement."""
    asked: dict[str, tuple[str, ...]] = {}
    for key, mention in keyed(mentions).items():
        words = tuple(offered(ask, collection, mention))
        if words and settled(ask, collection, mention) is None:
            asked[key] = words if _is_denied(mention) else (*words, IGNORE)
    return asked


def settled(ask: Ask, collection: Collection, mention: Mention) -> Use | None:
    """The one use of a mention that needs no judgement: compared with the field beside it,
    excluded by the word beside it, or in force and referred back to.
    """
    uses_of = offered(ask, collection, mention)
    certain = (
        (mention.turn == 0 and CERTAIN in mention.hint.split())
        or (_is_denied(mention) and len(uses_of) == 1)
        or (mention.kind is MentionKind.EARLIER and refers_back(ask.question))
    )
    return next(iter(uses_of.values()), None) if certain else None


def _is_denied(mention: Mention) -> bool:
    """What words right beside it exclude is no mere topic."""
    known = mention.kind in (MentionKind.VALUE, MentionKind.SPAN)
    return known and mention.turn == 0 and NOT in mention.hint.split()


def offered(ask: Ask, collection: Collection, mention: Mention) -> Mapping[str, Use]:
    """The uses of a mention under the operators that the caller pinned."""
    pinned = {key.name: key.op for key in ask.keys if key.op is not None}
    return uses(mention, collection, pinned)


def keyed(mentions: Sequence[Mention]) -> Mapping[str, Mention]:
    """The key of each mention in the reply: its words, numbered where they occur again."""
    found: dict[str, Mention] = {}
    for mention in mentions:
        words = " ".join(mention.words.replace('"', " ").replace("\\", "/").split())
        key = words[:_KEY_LENGTH] or mention.id
        while key in found:
            key = f"{key} ({mention.id})"
        found[key] = mention
    return found


def reply_schema(asked: Mapping[str, Sequence[str]]) -> dict[str, JsonValue]:
    """One required key per mention, each with a closed list of words."""
    return {
        "type": "object",
        "properties": {key: {"enum": list(words)} for key, words in asked.items()},
        "required": list(asked),
        "additionalProperties": False,
    }


def describe(fields: Sequence[Field]) -> str:
    """The fields with types and descriptions, without values: the same for every question."""
    lines = [
        f"- {field.name} ({field.type})" + (f": {field.description}" if field.description else "")
        for field in fields
    ]
    return "\n".join(("Fields:", *lines))


def _question(ask: Ask, mentions: Sequence[Mention], asked: Mapping[str, Sequence[str]]) -> str:
    earlier = [f"Earlier: {turn}" for turn in _quoted(ask, keyed(mentions), asked)]
    lines = [*earlier, f"Question: {ask.question}", "Found:"]
    for key, mention in keyed(mentions).items():
        if key not in asked:
            continue
        fields = dict.fromkeys(choice.field for choice in mention.choices)
        readings = [_reading(mention, name) for name in fields]
        mark = " (earlier)" if mention.turn < 0 else ""
        lines.append(f"{key}: {' | '.join(readings)}{mark}")
    return "\n".join(lines)


def _quoted(
    ask: Ask, mentions: Mapping[str, Mention], asked: Mapping[str, Sequence[str]]
) -> Sequence[str]:
    """The turns that what is asked about stands in, and the last one."""
    turns = {mention.turn for key, mention in mentions.items() if key in asked} | {-1}
    recent = ask.history[-MOST_TURNS:]
    return [turn for back, turn in enumerate(recent, start=-len(recent)) if back in turns]


def _reading(mention: Mention, field: str) -> str:
    values = [c.value for c in mention.choices if c.field == field and c.value is not None]
    shown = [_shown(mention, value) for value in values]
    if not shown or shown == [mention.words]:
        return field
    return f"{field} {', '.join(shown[:3])}"


def _shown(mention: Mention, value: JsonValue) -> str:
    """A value for the model's eyes; periods with their last day."""
    if isinstance(value, list) and mention.kind is MentionKind.PERIOD:
        first, end = str(value[0]), str(value[-1])
        if len(end) == len("2024-01-01"):
            last = dt.date.fromisoformat(end) - dt.timedelta(days=1)
            return f"{first}..{last.isoformat()}"
        return f"{first}..{end}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
