"""A collection and helpers shared by the tests of planning."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

from agent.planning.form import asked_of
from agent.planning.planner import Planner
from agent.planning.use import IGNORE
from graph.ports import Ask
from schemas.collection import Collection, Field, FieldType, Profile
from schemas.filters import Filter, any_of, to_json
from schemas.mentions import Mention, Proposal

TODAY = dt.date(2026, 3, 15)
PLANNER = Planner()

HANDBOOK = Collection(
    name="handbook",
    version="1",
    fields=(
        Field(
            name="department",
            type=FieldType.STRING,
            description="Department that owns the document; absent on shared ones.",
            values=("HR", "Finance", "Legal", "研发中心", "市场部"),
            synonyms={"HR": ("people team",)},
            profile=Profile(rows=100, missing=8),
        ),
        Field(name="category", type=FieldType.STRING, values=("policy", "guide", "minutes")),
        Field(
            name="authors",
            type=FieldType.STRING_LIST,
            description="Full names of the authors.",
            values=("Guido van Rossum", "Konstantin Schütze", "Ada Lovelace", "Ada Palmer"),
        ),
        Field(
            name="status", type=FieldType.STRING, values=("Draft", "Final", "Rejected", "Withdrawn")
        ),
        Field(name="tags", type=FieldType.STRING_LIST, values=("security", "travel", "远程办公")),
        Field(name="title", type=FieldType.STRING),
        Field(name="published", type=FieldType.DATE, description="Day of publication."),
        Field(name="pages", type=FieldType.INT, description="Number of pages."),
        Field(name="official", type=FieldType.BOOL, description="Whether it is official (官方)."),
    ),
)


def ask(question: str, **more: Any) -> Ask:
    return Ask(question=question, today=TODAY, **more)


def link(question: str, collection: Collection = HANDBOOK, **more: Any) -> tuple[Mention, ...]:
    return PLANNER.link(ask(question, **more), collection)


def plan(
    question: str,
    uses: Mapping[str, str] | None = None,
    collection: Collection = HANDBOOK,
    **more: Any,
) -> Proposal:
    """What comes of a reply that says `uses`, and the first word offered for all other keys."""
    asked = ask(question, **more)
    mentions = PLANNER.link(asked, collection)
    words = asked_of(asked, collection, mentions)
    reply = {key: (uses or {}).get(key, allowed[0]) for key, allowed in words.items()}
    assert not set(uses or {}) - set(words), words
    return PLANNER.assemble(asked, collection, mentions, reply if words else None)


def whole(proposal: Proposal) -> Filter:
    return any_of(*(branch.filter for branch in proposal.branches))


def said(proposal: Proposal) -> object:
    """The filter of a proposal as JSON."""
    return to_json(whole(proposal))


__all__ = ["HANDBOOK", "IGNORE", "PLANNER", "TODAY", "ask", "link", "plan", "said", "whole"]
