"""The model's reply to a form: read, mended where one mend is right, else asked for once more."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from jsonschema import Draft202012Validator

from graph.context import Context
from graph.ports import Completion, Message
from schemas.errors import ModelOutputCut
from schemas.mentions import Form
from schemas.plan import Problem

_CLOSE = 0.75
_APART = 0.1
_SHOWN = 200

Schema = Mapping[str, Any]
Reply = Mapping[str, Any]


@dataclass(frozen=True)
class Read:
    """What a reply says: the keys that can be used, and what is wrong with the rest of it.
    `mended` are the slips for which one mend only could be right.
    """

    good: Reply
    fault: Problem | None = None
    mended: tuple[Problem, ...] = ()


async def filled(
    form: Form | None, context: Context
) -> tuple[Reply | None, int, tuple[Problem, ...]]:
    """The reply to a form, how many calls it took, and what was wrong with them. None if no
    reply became right within the budget; a further call asks only for the keys still missing.
    """
    if form is None:
        return None, 0, ()
    schema: Schema = form.reply_schema
    messages = [Message(message.role, message.content) for message in form.messages]
    problems: list[Problem] = []
    known: dict[str, Any] = {}
    for calls in range(1, context.budgets.repairs + 2):
        try:
            completion = await context.chat.complete(messages, schema)
        except ModelOutputCut as error:
            problems.append(Problem(code="reply_cut", message=str(error)))
            continue
        found = read(completion, schema)
        known |= found.good
        problems += found.mended
        if found.fault is None:
            return _in_order(known, form.reply_schema), calls, tuple(problems)
        problems.append(found.fault)
        schema = _rest(schema, found.good)
        messages = [
            *messages,
            Message("assistant", completion.text or "{}"),
            Message("user", _again(found, schema)),
        ]
    return None, context.budgets.repairs + 1, tuple(problems)


def read(completion: Completion, schema: Schema) -> Read:
    """Check one reply. Of several objects in a text the last that is right counts: what stands
    before it are examples and drafts.
    """
    if completion.done_reason == "length":
        return Read({}, Problem(code="reply_cut", message="it was cut off before its end"))
    try:
        return _checked(json.loads(completion.text), schema)
    except json.JSONDecodeError as error:
        for reply in reversed(list(_objects(completion.text))):
            found = _checked(reply, schema)
            if found.fault is None:
                return found
        why = f"it is not JSON ({error.msg})"
        return Read({}, Problem(code="reply_not_json", message=why, value=completion.text[:_SHOWN]))


def _objects(text: str) -> Iterator[Any]:
    """The JSON objects that stand in a text, from left to right."""
    decoder, start = json.JSONDecoder(), text.find("{")
    while start >= 0:
        try:
            found, end = decoder.raw_decode(text, start)
        except json.JSONDecodeError:
            end = start + 1
        else:
            yield found
        start = text.find("{", end)


def _checked(reply: Any, schema: Schema) -> Read:
    reply, mended = _mended(reply, schema)
    faults = list(Draft202012Validator(dict(schema)).iter_errors(reply))
    if not faults:
        return Read(reply, mended=mended)
    wrong = {str(fault.absolute_path[0]) for fault in faults if fault.absolute_path}
    where = "/".join(map(str, faults[0].absolute_path)) or "the reply"
    fault = Problem(
        code="reply_off_schema",
        message=f"{where}: {faults[0].message[:_SHOWN]}",
        value=json.dumps(reply, ensure_ascii=False)[:_SHOWN],
    )
    asked = schema.get("properties", {})
    good = reply if isinstance(reply, dict) else {}
    return Read({k: v for k, v in good.items() if k in asked and k not in wrong}, fault, mended)


def _mended(reply: Any, schema: Schema) -> tuple[Any, tuple[Problem, ...]]:
    """The reply with keys and words that are close to one allowed spelling, and to no other, put
    right.
    """
    asked: Mapping[str, Any] = schema.get("properties", {})
    if not isinstance(reply, dict):
        return reply, ()
    mended: list[Problem] = []
    fixed: dict[str, Any] = {}
    for key, said in reply.items():
        missing = [name for name in asked if name not in reply and name not in fixed]
        name = key if key in asked else _closest(key, missing)
        if name is None:
            fixed[key] = said
            continue
        allowed = asked[name].get("enum", ())
        word = said if said in allowed else _closest(said, allowed)
        fixed[name] = said if word is None else word
        if name != key or (word is not None and word != said):
            mended.append(
                Problem(
                    code="reply_mended",
                    message=f"{key!r}: {said!r} was read as {name!r}: {fixed[name]!r}",
                    value=said,
                )
            )
    return fixed, tuple(mended)


def _closest(said: object, allowed: Sequence[Any]) -> str | None:
    """The one allowed word that can be meant: the same but for case and space, or clearly closer
    than any other.
    """
    if not isinstance(said, str):
        return None
    wanted = _plain(said)
    same = [word for word in allowed if isinstance(word, str) and _plain(word) == wanted]
    if same:
        return same[0] if len(same) == 1 else None
    scored = sorted(
        ((_likeness(wanted, _plain(word)), word) for word in allowed if isinstance(word, str)),
        reverse=True,
    )
    if not scored or scored[0][0] < _CLOSE:
        return None
    second = scored[1][0] if len(scored) > 1 else 0.0
    return scored[0][1] if scored[0][0] - second >= _APART else None


def _likeness(said: str, word: str) -> float:
    """0..1: how alike the least alike of the words are, so that no "since" becomes "before"."""
    pairs = list(zip(said.split(), word.split(), strict=False))
    if not pairs or len(said.split()) != len(word.split()):
        return 0.0
    return min(
        1.0 if _is_short_for(a, b) or _is_short_for(b, a) else SequenceMatcher(None, a, b).ratio()
        for a, b in pairs
    )


def _is_short_for(short: str, long: str) -> bool:
    """Whether `dept` may stand for `department`: its letters, in their order."""
    letters = iter(long)
    return len(short) > 2 and short[0] == long[0] and all(letter in letters for letter in short)


def _plain(text: str) -> str:
    return " ".join(text.replace("_", " ").casefold().split())


def _rest(schema: Schema, good: Reply) -> Schema:
    """The schema of what is still to be said."""
    asked: Mapping[str, Any] = schema.get("properties", {})
    if not good or not asked:
        return schema
    left = {key: words for key, words in asked.items() if key not in good}
    required = [key for key in schema.get("required", ()) if key in left]
    return {**schema, "properties": left, "required": required}


def _again(found: Read, schema: Schema) -> str:
    why = found.fault.message if found.fault is not None else ""
    if not found.good:
        return f"That reply was wrong: {why}. Reply again."
    keys = ", ".join(json.dumps(key, ensure_ascii=False) for key in schema["properties"])
    return f"That reply was wrong: {why}. Reply again, for {keys} only."


def _in_order(known: Mapping[str, Any], schema: Schema) -> Reply:
    return {key: known[key] for key in schema.get("properties", known) if key in known}
