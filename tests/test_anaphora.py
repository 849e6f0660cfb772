"""Follow-ups that stay with the documents of the turn before."""

from __future__ import annotations

import datetime as dt

import pytest

from agent.planning.anaphora import refers_back
from agent.planning.planner import Planner
from graph.ports import Ask
from schemas.collection import Collection
from schemas.operators import Op
from schemas.plan import Condition


@pytest.mark.parametrize(
    ("question", "back"),
    [
        ("and which of those are about async?", True),
        ("Only the final ones, please.", True),
        ("And of those, only what Donald Stufft worked on.", True),
        ("Narrow it to 2024.", True),
        ("其中哪些是被撤回的？", True),
        ("只要正式的", True),
        ("Which HR policies are in force?", False),
        ("What about remote work?", False),
        ("Those were the days of the old gateway, were they not?", False),
        ("我只想知道VPN怎么用", False),
    ],
)
def test_clear_references(question: str, back: bool) -> None:
    assert refers_back(question) is back


def test_conditions_that_are_referred_back_to_are_kept_without_a_model(
    collection: Collection,
) -> None:
    previous = (
        Condition(field="department", op=Op.EQ, value="HR", words="HR"),
        Condition(field="category", op=Op.EQ, value="policy", words="policies"),
    )
    ask = Ask(
        question="and which of those are about parental leave?",
        today=dt.date(2026, 3, 15),
        history=("Which HR policies are there?",),
        previous=previous,
    )
    planner = Planner()
    mentions = planner.link(ask, collection)
    assert planner.form(ask, collection, mentions) is None
    proposal = planner.assemble(ask, collection, mentions, None)
    assert {(c.field, c.value) for c in proposal.conditions} == {
        ("department", "HR"),
        ("category", "policy"),
    }
    assert "parental leave" in proposal.query
