"""The planner as the graph sees it: modes, follow-ups, and what can never happen."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.planning.form import asked_of
from agent.planning.planner import Planner
from graph.ports import Planning
from schemas.check import check
from schemas.filters import Op, leaves
from schemas.plan import Condition, Key, Mode, PlanOutcome
from tests.planning_cases import HANDBOOK, PLANNER, ask, link, plan, said, whole

GUIDO = {"op": "contains", "field": "authors", "value": "Guido van Rossum"}
FINAL = {"op": "eq", "field": "status", "value": "Final"}


def test_it_is_what_the_graph_needs() -> None:
    planner: Planning = Planner(fiscal_start=10, day_first=True)
    assert planner.link(ask("HR"), HANDBOOK)


@pytest.mark.parametrize(
    "text",
    ["thanks", "Thank you, that helps!", "hello", "谢谢", "好的，谢谢！", "你好"],
)
def test_small_talk_is_no_question(text: str) -> None:
    proposal = plan(text, history=("HR policies?",))
    assert proposal.outcome is PlanOutcome.NOT_A_QUESTION
    assert not proposal.branches


@pytest.mark.parametrize("text", ["hello, which HR policies exist?", "谢谢，HR的政策呢？"])
def test_a_question_after_pleasantries_is_one(text: str) -> None:
    assert plan(text).outcome is PlanOutcome.PLANNED


@pytest.mark.parametrize("mode", [Mode.MANUAL, Mode.OFF])
def test_without_a_model_nothing_is_linked(mode: Mode) -> None:
    assert link("final HR guides", mode=mode) == ()
    assert plan("final HR guides", mode=mode).outcome is PlanOutcome.NO_FILTER


def test_semi_auto_sees_the_given_keys_only() -> None:
    keys = (Key(name="status"),)
    assert said(plan("final HR guides", mode=Mode.SEMI_AUTO, keys=keys)) == FINAL


def test_a_pinned_operator_overrides() -> None:
    keys = (Key(name="published", op=Op.GE), Key(name="department", op=Op.IN))
    proposal = plan("HR guides of 2024", mode=Mode.SEMI_AUTO, keys=keys)
    assert {(leaf.field, leaf.op) for leaf in leaves(whole(proposal))} == {
        ("published", Op.GE),
        ("department", Op.IN),
    }


def test_an_earlier_turn_is_narrowed() -> None:
    proposal = plan("Only the final ones, please.", history=("What did Guido write?",))
    assert said(proposal) == {"op": "and", "of": [GUIDO, FINAL]}


def test_an_earlier_value_gives_way_to_a_new_one() -> None:
    proposal = plan("and the Finance ones?", history=("HR guides",))
    assert {(leaf.field, leaf.value) for leaf in leaves(whole(proposal))} == {
        ("category", "guide"),
        ("department", "Finance"),
    }


def test_an_added_value_joins_the_earlier_one() -> None:
    proposal = plan("Add the ones by Ada Palmer too.", history=("guides by Guido van Rossum",))
    (authors,) = (leaf for leaf in leaves(whole(proposal)) if leaf.field == "authors")
    assert (authors.op, authors.value) == (Op.IN, ("Guido van Rossum", "Ada Palmer"))


PREVIOUS = (
    Condition(field="status", op=Op.EQ, value="Final", words="final"),
    Condition(field="published", op=Op.GE, value="2024-01-01", words="2024"),
    Condition(field="published", op=Op.LT, value="2025-01-01", words="2024"),
)


def test_conditions_in_force_are_kept_dropped_or_replaced() -> None:
    kept = plan("those by HR", previous=PREVIOUS)
    assert len(list(leaves(whole(kept)))) == 4
    dropped = plan("those by HR", {"final": "ignore"}, previous=PREVIOUS)
    assert {leaf.field for leaf in leaves(whole(dropped))} == {"published", "department"}
    replaced = plan("and the drafts?", previous=PREVIOUS)
    (status,) = (leaf for leaf in leaves(whole(replaced)) if leaf.field == "status")
    assert status.value == "Draft"


def test_previous_conditions_stand_before_the_history() -> None:
    mentions = link("those by HR", previous=PREVIOUS, history=("drafts by Guido van Rossum",))
    assert "Guido van Rossum" not in {m.words for m in mentions}


WORDS = (
    *("HR", "final", "drafts", "guides", "Guido", "Ada", "since", "before", "2024", "not"),
    *("except", "or", "and", "title", "'wheel'", "last", "year", "pages", "above", "20"),
    *("official", "without", "department", "研发", "草案", "去年", "除了", "或", "官方"),
)


@given(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join), st.data())
@settings(max_examples=150, deadline=None)
def test_only_what_was_asked_or_is_catalogued_can_be_in_a_filter(
    question: str, data: st.DataObject
) -> None:
    asked = ask(question)
    mentions = PLANNER.link(asked, HANDBOOK)
    words = asked_of(asked, HANDBOOK, mentions)
    reply = {key: data.draw(st.sampled_from(allowed)) for key, allowed in words.items()}
    proposal = PLANNER.assemble(asked, HANDBOOK, mentions, reply if words else None)
    filter_ = whole(proposal)
    assert not check(filter_, HANDBOOK).problems
    known = {str(v) for field in HANDBOOK.fields for v in field.values}
    for leaf in leaves(filter_):
        values = leaf.value if isinstance(leaf.value, tuple) else (leaf.value,)
        for value in values:
            computed = leaf.field in ("published", "pages", "official") or value is None
            assert computed or str(value) in known or str(value) in question
    for condition in proposal.conditions:
        assert all(part in question for part in condition.words.split(" … "))


@given(
    st.dictionaries(
        st.sampled_from(["HR", "final", "other"]),
        st.one_of(st.none(), st.integers(), st.text(max_size=5), st.just("department is")),
    )
)
def test_no_reply_can_break_it(reply: dict[str, object]) -> None:
    asked = ask("final HR guides")
    proposal = PLANNER.assemble(asked, HANDBOOK, PLANNER.link(asked, HANDBOOK), reply)
    assert {leaf.field for leaf in leaves(whole(proposal))} <= {"department", "status"}
