"""The usual way: the collection with its values in the prompt, JSON mode, one call, and a reply
that is read leniently. So do RAGFlow's automatic filter and the self-query retrievers of
LangChain and LlamaIndex, each with a format of its own.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from string import Template
from typing import Any

from pydantic import JsonValue

from evals.arms.arm import Attempt, as_trace
from evals.arms.planned import OUTAGES
from evals.fingerprints import UNPLANNED
from evals.suites import Case
from evals.watched import WatchedAgent
from graph.ports import Message
from schemas.check import check
from schemas.collection import Collection, Field
from schemas.errors import FilterError, ModelError
from schemas.filters import AllOf, AnyOf, Filter, parse_filter
from schemas.normalise import normalise
from schemas.plan import PlanOutcome

PLAIN = "plain"
JSON_MODE = {"type": "object"}
"""Any JSON object: what `format: json` means, as a schema."""
VALUE_ROOM = 6_000
"""Characters for values in the prompt, so that the question still fits into the window."""

_OBJECT = re.compile(r"\{.*\}", re.S)


class PlainArm:
    """One call per case, whatever comes back; what cannot be understood is dropped."""

    name = PLAIN
    code = UNPLANNED

    def __init__(self, agent: WatchedAgent) -> None:
        self._agent = agent
        self.model = agent.settings.models.chat
        self.prompt_versions: Mapping[str, str] = {
            PLAIN: hashlib.sha256(_prompt().encode()).hexdigest()[:12]
        }

    async def attempt(self, case: Case) -> Attempt:
        self._agent.watched.taken()
        chat = await self._agent.chat()
        began = time.perf_counter()
        problem = ""
        text = ""
        try:
            text = (await chat.complete(plain_messages(case), JSON_MODE)).text
        except OUTAGES:
            raise
        except ModelError as error:
            problem = f"{type(error).__name__}: {error}"
        ms = (time.perf_counter() - began) * 1000
        found, dropped = read_reply(text, case.collection)
        calls = self._agent.watched.taken()
        return Attempt(
            filter=AllOf() if found is None else found,
            outcome=_outcome(found),
            invalid=found is None,
            model=self.model,
            model_calls=max(1, sum(call.requests for call in calls)),
            prompt_tokens=sum(call.prompt_tokens for call in calls),
            output_tokens=sum(call.output_tokens for call in calls),
            ms=round(ms, 1),
            detail={"dropped": [*dropped], "error": problem},
            calls=tuple(as_trace(call) for call in calls),
        )


def plain_messages(case: Case) -> tuple[Message, ...]:
    """Rules and collection first, then earlier turns and the question."""
    system = Template(_prompt()).substitute(
        fields=described(case.collection), today=case.today.isoformat()
    )
    earlier = "".join(f"Earlier question: {turn}\n" for turn in case.history)
    return Message("system", system), Message("user", f"{earlier}Question: {case.question}")


def described(collection: Collection) -> str:
    """Every field in one line, with as many of its values as its share of the room holds."""
    with_values = sum(bool(field.values) for field in collection.fields)
    room = VALUE_ROOM // max(1, with_values)
    return "\n".join(_field_line(field, room) for field in collection.fields)


def read_reply(text: str, collection: Collection) -> tuple[Filter | None, tuple[str, ...]]:
    """The filter of a reply and what of it was dropped; None where there is no object in it."""
    reply = _object(text)
    if reply is None:
        return None, ()
    conditions = reply.get("conditions", [])
    if isinstance(conditions, Mapping):
        conditions = [conditions]
    if not isinstance(conditions, list):
        return None, ()
    parts: list[Filter] = []
    dropped: list[str] = []
    for one in conditions:
        try:
            parts.append(_condition(one, collection))
        except FilterError as error:
            dropped.append(str(error)[:300])
    joined = AnyOf if parts and str(reply.get("logic", "and")).strip().lower() == "or" else AllOf
    return normalise(joined(of=tuple(parts))), tuple(dropped)


def _condition(one: object, collection: Collection) -> Filter:
    if not isinstance(one, Mapping):
        raise FilterError(f"{one!r} is no condition")
    name = one.get("key", one.get("field"))
    op = one.get("op", one.get("operator", "="))
    value: Any = one.get("value")
    if str(op).strip().lower() in ("in", "not in", "not_in") and isinstance(value, str):
        value = [part.strip() for part in value.split(",")]
    if isinstance(value, list) and str(op).strip().lower() not in ("in", "not in", "not_in"):
        value = value[0] if len(value) == 1 else value
    found = parse_filter({"op": op, "field": name, "value": value})
    problems = check(found, collection).problems
    if problems:
        raise FilterError("; ".join(problem.message for problem in problems))
    return found


def _object(text: str) -> dict[str, JsonValue] | None:
    found = _OBJECT.search(text)
    if found is None:
        return None
    try:
        decoded = json.loads(found[0])
    except json.JSONDecodeError:
        return None
    return decoded if isinstance(decoded, dict) else None


def _outcome(found: Filter | None) -> PlanOutcome:
    if found is None:
        return PlanOutcome.FAILED
    return PlanOutcome.NO_FILTER if found == AllOf() else PlanOutcome.PLANNED


def _field_line(field: Field, room: int) -> str:
    about = f": {field.description}" if field.description else ""
    shown = _values(field.values, room)
    return f"- {field.name} ({field.type}){about}" + (f" Values: {shown}" if shown else "")


def _values(values: Sequence[object], room: int) -> str:
    kept: list[str] = []
    for value in values:
        text = json.dumps(value, ensure_ascii=False)
        room -= len(text) + 2
        if room < 0:
            return ", ".join([*kept, "…"])
        kept.append(text)
    return ", ".join(kept)


@cache
def _prompt() -> str:
    text = resources.files("evals.arms").joinpath("plain.md").read_text(encoding="utf-8")
    return text.strip()
