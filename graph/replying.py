"""The model's reply to a form: read, mended where one mend is right, else asked for once more."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator

from graph.context import Context
from graph.json_objects import json_objects
from graph.mending import mended
from graph.ports import Completion, Message
from schemas.errors import ModelOutputCut
from schemas.mentions import Form
from schemas.plan import Problem

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
    """The reply to a form, how many requests to the model it took, and what was wrong with the
    replies. None if none became right within the budget; asked once more, the model is asked
    only for the keys still missing.
    """
    if form is None:
        return None, 0, ()
    schema: Schema = form.reply_schema
    messages = [Message(message.role, message.content) for message in form.messages]
    problems: list[Problem] = []
    known: dict[str, Any] = {}
    calls = 0
    for _ in range(context.budgets.repairs + 1):
        try:
            completion = await context.chat.complete(messages, schema)
        except ModelOutputCut as error:
            calls += error.calls
            problems.append(Problem(code="reply_cut", message=str(error)))
            continue
        calls += completion.calls
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
    return None, calls, tuple(problems)


def read(completion: Completion, schema: Schema) -> Read:
    """Check one reply. Of several objects in a text the last that is right counts: what stands
    before it are examples and drafts.
    """
    if completion.done_reason == "length":
        return Read({}, Problem(code="reply_cut", message="it was cut off before its end"))
    if not completion.text.strip():
        return Read({}, Problem(code="reply_not_json", message="it is empty"))
    try:
        return _checked(json.loads(completion.text), schema)
    except (json.JSONDecodeError, RecursionError) as error:
        for reply in reversed(list(json_objects(completion.text))):
            found = _checked(reply, schema)
            if found.fault is None:
                return found
        why = f"it is not JSON ({getattr(error, 'msg', 'nested too deeply')})"
        return Read({}, Problem(code="reply_not_json", message=why, value=completion.text[:_SHOWN]))


def _checked(reply: Any, schema: Schema) -> Read:
    reply, slips = mended(reply, schema)
    faults = list(Draft202012Validator(dict(schema)).iter_errors(reply))
    if not faults:
        return Read(reply, mended=slips)
    wrong = {str(fault.absolute_path[0]) for fault in faults if fault.absolute_path}
    where = "/".join(map(str, faults[0].absolute_path)) or "the reply"
    fault = Problem(
        code="reply_off_schema",
        message=f"{where}: {faults[0].message[:_SHOWN]}",
        value=json.dumps(reply, ensure_ascii=False)[:_SHOWN],
    )
    asked = schema.get("properties", {})
    good = reply if isinstance(reply, dict) else {}
    return Read({k: v for k, v in good.items() if k in asked and k not in wrong}, fault, slips)


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
