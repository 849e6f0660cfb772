"""The one question put to the model: for each mention, how the question uses it."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

import prompts
from agent.planning.anaphora import is_cut_short, refers_back
from agent.planning.cuts import Cut, cuts
from agent.planning.examples import EXAMPLES
from agent.planning.legible import legible, legible_name
from agent.planning.use import CERTAIN, IGNORE, NOT, Use
from agent.planning.uses import uses
from graph.ports import Ask
from graph.tokens import prompt_tokens
from schemas.collection import Collection, Field
from schemas.mentions import Form, FormMessage, Mention, MentionKind

PROMPT = "plan"
_KEY_LENGTH = 40
MOST_TURNS = 10
"""Earlier turns that are looked at; those without a mention cost nothing."""


def make_form(
    ask: Ask, collection: Collection, mentions: Sequence[Mention], fields: Sequence[Field]
) -> Form | None:
    """Static rules and examples, then the fields, then the question; None without mentions.

    Where that is longer than `ask.room`, as little as helps is left out, or all that may be.
    """
    asked = asked_of(ask, collection, mentions)
    if not asked:
        return None
    named = _named(mentions, asked)
    turns = _quoted(ask, keyed(mentions), asked)
    messages: Sequence[FormMessage] = ()
    for cut in cuts(len(turns), len(EXAMPLES)):
        shown = describe(fields, collection, named, cut)
        quoted = turns[len(turns) - cut.turns :]
        put = f"{shown}\n\n{_question(ask, collection, mentions, asked, quoted)}"
        messages = (*opening(cut.examples), FormMessage(role="user", content=put))
        if ask.room is None or prompt_tokens(messages) <= ask.room:
            break
    return Form(
        messages=tuple(messages),
        reply_schema=reply_schema(asked),
        prompt_version=prompts.version(PROMPT),
    )


def opening(examples: int = len(EXAMPLES)) -> tuple[FormMessage, ...]:
    """What every form begins with, whatever the collection: a model that has read it once reads
    only the rest of later ones. The last `examples` of them all.
    """
    messages = [FormMessage(role="system", content=prompts.render(PROMPT))]
    for example in EXAMPLES[len(EXAMPLES) - examples :]:
        messages.append(FormMessage(role="user", content=example.question))
        messages.append(FormMessage(role="assistant", content=example.reply))
    return tuple(messages)


def _named(mentions: Sequence[Mention], asked: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """The fields that stand to choice."""
    return frozenset(
        choice.field
        for key, mention in keyed(mentions).items()
        if key in asked
        for choice in mention.choices
    )


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
    excluded by the word beside it, in force and referred back to, or a period that is all that
    a follow-up says.
    """
    uses_of = offered(ask, collection, mention)
    certain = (
        (mention.turn == 0 and CERTAIN in mention.hint.split())
        or (_is_denied(mention) and len(uses_of) == 1)
        or (mention.kind is MentionKind.EARLIER and refers_back(ask.question))
        or (_is_all_said(ask, mention) and len(uses_of) == 1)
    )
    return next(iter(uses_of.values()), None) if certain else None


def _is_all_said(ask: Ask, mention: Mention) -> bool:
    follows = bool(ask.history) and mention.turn == 0
    is_period = mention.kind is MentionKind.PERIOD
    return follows and is_period and is_cut_short(ask.question, mention.words)


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
        words = " ".join(legible(mention.words).split())
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


def describe(
    fields: Sequence[Field], collection: Collection, named: frozenset[str], cut: Cut
) -> str:
    """The fields with types and descriptions, without values: the same for every question that
    leaves room for all of it.
    """
    lines: list[str] = []
    for field in cut.fields(fields, named):
        told = cut.description(field, named=field.name in named)
        name = legible_name(field.name, collection.by_name)
        lines.append(f"- {name} ({field.type})" + (f": {told}" if told else ""))
    return "\n".join(("Fields:", *lines))


def _question(
    ask: Ask,
    collection: Collection,
    mentions: Sequence[Mention],
    asked: Mapping[str, Sequence[str]],
    quoted: Sequence[str],
) -> str:
    earlier = [f"Earlier: {turn}" for turn in quoted]
    lines = [*earlier, f"Question: {ask.question}", "Found:"]
    for key, mention in keyed(mentions).items():
        if key not in asked:
            continue
        fields = dict.fromkeys(choice.field for choice in mention.choices)
        readings = [_reading(mention, name, collection) for name in fields]
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


def _reading(mention: Mention, field: str, collection: Collection) -> str:
    values = [c.value for c in mention.choices if c.field == field and c.value is not None]
    shown = [_shown(mention, value) for value in values]
    name = legible_name(field, collection.by_name)
    if not shown or shown == [mention.words]:
        return name
    return f"{name} {', '.join(shown[:3])}"


def _shown(mention: Mention, value: JsonValue) -> str:
    """A value for the model's eyes; periods with their last day."""
    if isinstance(value, list) and mention.kind is MentionKind.PERIOD:
        first, end = str(value[0]), str(value[-1])
        if len(end) == len("2024-01-01"):
            last = dt.date.fromisoformat(end) - dt.timedelta(days=1)
            return f"{first}..{last.isoformat()}"
        return f"{first}..{end}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
