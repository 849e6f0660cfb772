"""What a plan depends on, as one short name: the same name, the same plan."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from graph.context import Context
from graph.ports import Ask
from graph.shelves import kbs_of
from graph.state import State
from schemas.collection import Collection
from schemas.filters import EVERYTHING, dump_filter
from schemas.mentions import Form

_ASK = TypeAdapter(Ask)


async def plan_key(
    state: State, ask: Ask, form: Form, collection: Collection, context: Context
) -> str:
    """SHA-256 over the turn and its thread, who asks and what may be seen, the collection with
    its visible values, the form (prompt, fields, mentions), the caller's filter, the model, the
    day and the zone.

    The form and the mentions are in it whole, so a described collection without a version is
    told apart by whatever of it the question touches.
    """
    digest = "" if context.model_digest is None else await context.model_digest()
    parts: Mapping[str, Any] = {
        "ask": _ASK.dump_python(ask, mode="json"),
        "scopes": [context.scope(kb).digest for kb in kbs_of(state)],
        "collection": [*kbs_of(state), collection.name, collection.version],
        "mentions": [mention.model_dump(mode="json") for mention in state["mentions"]],
        "form": form.model_dump(mode="json"),
        "caller": dump_filter(state.get("caller", EVERYTHING)),
        "model": [context.chat.name, digest],
        "zone": context.zone,
    }
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
