"""Values that only a description lists, days that never came, and what is left to search for."""

from __future__ import annotations

import pytest

from agent.planning.meanings import listed_values
from schemas.collection import Collection, Field, FieldType
from schemas.mentions import MentionKind
from tests.planning_cases import link, plan

URGENCY = "Urgency of the ticket: low, medium, high or critical"
TICKETS = Collection(
    name="tickets",
    version="1",
    fields=(
        Field(name="priority", type=FieldType.STRING, description=URGENCY),
        Field(name="opened", type=FieldType.DATE, description="Day the ticket was opened"),
        Field(
            name="closed", type=FieldType.DATE, description="Day it was closed; empty while open"
        ),
        Field(name="owner", type=FieldType.STRING, values=("Ada", "Grace", "Alan")),
    ),
)


@pytest.mark.parametrize(
    ("description", "values"),
    [
        (URGENCY, ("low", "medium", "high", "critical")),
        ("Where it stands: on hold, in work or done.", ("on hold", "in work", "done")),
        ("Where it stands: Draft, Final or Rejected.", ("Draft", "Final", "Rejected")),
        ("Such as: low, medium or high", ()),
        ("The place: where it was found, and by whom", ()),
        ("Who wrote it, or who sent it", ()),
    ],
)
def test_a_description_may_list_all_values(description: str, values: tuple[str, ...]) -> None:
    field = Field(name="f", type=FieldType.STRING, description=description)
    assert listed_values(field) == values


def test_a_listed_field_takes_no_other_text() -> None:
    (mention,) = link("critical tickets", TICKETS)
    assert [(c.field, c.value) for c in mention.choices] == [("priority", "critical")]
    assert all(c.field != "priority" for m in link("华为公司的工单", TICKETS) for c in m.choices)


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("tickets about login that are still not closed", True),
        ("tickets that were never closed", True),
        ("tickets that haven't been closed yet", True),
        ("尚未closed的工单", True),
        ("tickets not closed in 2025", False),
        ("tickets not closed by Ada", False),
        ("tickets closed by Ada", False),
        ("tickets not opened", False),
        ("没有负责人的工单", True),
    ],
)
def test_what_was_not_done_has_no_day(question: str, missing: bool) -> None:
    found = [m for m in link(question, TICKETS) if m.kind is MentionKind.PRESENCE]
    assert [m.hint.split()[0] for m in found] == (["missing"] if missing else [])


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("研发中心2024年的政策", "研发中心2024年的政策"),
        ("2024年之前且不是草案的报销流程", "报销流程"),
        ("非官方文件", "非官方文件"),
        ("研发中心和市场部的报销流程", "报销流程"),
        ("neither policies nor guides", "neither policies nor guides"),
    ],
)
def test_words_of_grammar_are_no_subject(question: str, query: str) -> None:
    assert query in plan(question).query


@pytest.mark.parametrize("text", ["IT", "\uff29\uff34"])
def test_a_short_code_is_read_in_either_width(text: str) -> None:
    collection = Collection(
        name="c", fields=(Field(name="team", type=FieldType.STRING, values=("IT", "HR")),)
    )
    (mention,) = link(f"{text} documents", collection)
    assert mention.choices[0].value == "IT"
