"""From replies to conditions."""

from __future__ import annotations

import pytest

from schemas.collection import Collection, Field, FieldType
from schemas.filters import EVERYTHING
from schemas.mentions import Proposal
from schemas.plan import Origin, PlanOutcome
from tests.planning_cases import HANDBOOK, PLANNER, ask, plan, said


def leaf(op: str, field: str, value: object = None) -> dict[str, object]:
    return {"op": op, "field": field} | ({} if value is None else {"value": value})


def both(*parts: object) -> dict[str, object]:
    return {"op": "and", "of": list(parts)}


def either(*parts: object) -> dict[str, object]:
    return {"op": "or", "of": list(parts)}


HR, FINAL, DRAFT = (
    leaf("eq", "department", "HR"),
    leaf("eq", "status", "Final"),
    leaf("eq", "status", "Draft"),
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("final HR guides", both(FINAL, HR, leaf("eq", "category", "guide"))),
        ("Legal or HR", leaf("in", "department", ["Legal", "HR"])),
        ("except HR", leaf("ne", "department", "HR")),
        ("neither Final nor Draft", leaf("not_in", "status", ["Final", "Draft"])),
        ("Final and, at the same time, Rejected", both(FINAL, leaf("eq", "status", "Rejected"))),
        (
            "both Guido van Rossum and Ada Palmer",
            both(
                leaf("contains", "authors", "Guido van Rossum"),
                leaf("contains", "authors", "Ada Palmer"),
            ),
        ),
        (
            "by Guido van Rossum or Ada Palmer",
            leaf("in", "authors", ["Guido van Rossum", "Ada Palmer"]),
        ),
        ("by Ada", leaf("in", "authors", ["Ada Lovelace", "Ada Palmer"])),
        ("not by Guido van Rossum", leaf("not_contains", "authors", "Guido van Rossum")),
        (
            "published in 2024",
            both(leaf("ge", "published", "2024-01-01"), leaf("lt", "published", "2025-01-01")),
        ),
        ("not published in 2024", leaf("ne", "published", "2024")),
        ("published since 2024", leaf("ge", "published", "2024-01-01")),
        ("published after 2024", leaf("ge", "published", "2025-01-01")),
        ("published before 2024", leaf("lt", "published", "2024-01-01")),
        ("published up to 2024", leaf("lt", "published", "2025-01-01")),
        ("2024年以前发布的", leaf("lt", "published", "2024-01-01")),
        (
            "published in 2021 or 2023",
            either(
                both(leaf("ge", "published", "2021-01-01"), leaf("lt", "published", "2022-01-01")),
                both(leaf("ge", "published", "2023-01-01"), leaf("lt", "published", "2024-01-01")),
            ),
        ),
        ("pages above 600", leaf("gt", "pages", 600)),
        ("unofficial", leaf("eq", "official", False)),
        ("官方的", leaf("eq", "official", True)),
        ("without a department", leaf("empty", "department")),
        ('title starts with "Adding"', leaf("starts_with", "title", "Adding")),
        ("either tagged security or in draft", either(leaf("contains", "tags", "security"), DRAFT)),
        (
            "the rejected guides together with the withdrawn minutes",
            either(
                both(leaf("eq", "status", "Rejected"), leaf("eq", "category", "guide")),
                both(leaf("eq", "status", "Withdrawn"), leaf("eq", "category", "minutes")),
            ),
        ),
        ("除HR以外的", leaf("ne", "department", "HR")),
        ("HR或Finance", leaf("in", "department", ["HR", "Finance"])),
    ],
)
def test_uses_become_a_filter(question: str, expected: object) -> None:
    assert said(plan(question)) == expected


def test_a_condition_carries_its_words_and_its_origin() -> None:
    first, second = plan("people team guides").conditions
    assert (first.field, first.value, first.words) == ("department", "HR", "people team")
    assert (second.words, second.origin, second.hard) == ("guides", Origin.MODEL, True)


def test_what_the_model_ignores_is_no_condition() -> None:
    proposal = plan("final HR guides", {"final": "ignore", "guides": "ignore"})
    assert said(proposal) == HR
    assert plan("drafts", {"drafts": "ignore"}).outcome is PlanOutcome.NO_FILTER


def test_an_ambiguous_name_is_said() -> None:
    (problem,) = plan("by Ada").problems
    assert (problem.code, problem.field) == ("ambiguous_value", "authors")


TRIPS = Collection(
    name="trips",
    fields=(
        Field(name="from city", type=FieldType.STRING, values=("Aberdeen", "Bergen")),
        Field(name="to city", type=FieldType.STRING, values=("Aberdeen", "Bergen")),
    ),
)


def test_a_field_that_the_model_chose_among_equals_is_said() -> None:
    (problem,) = plan("what about Bergen?", {"Bergen": "to city is"}, TRIPS).problems
    assert (problem.code, problem.field, problem.words) == ("ambiguous_field", "to city", "Bergen")
    assert problem.allowed == ("from city",)
    assert plan("trips with from city Bergen", None, TRIPS).problems == ()


def test_parts_of_a_text_are_alternatives_and_no_list_of_whole_texts() -> None:
    found = said(plan('title contains "wheel" or title contains "road"'))
    assert found == either(leaf("contains", "title", "wheel"), leaf("contains", "title", "road"))


@pytest.mark.parametrize(
    "question",
    ["final guides, or any minutes", "定稿的指南或者任何会议纪要"],
)
def test_a_narrowed_group_or_any_of_another(question: str) -> None:
    zh = {"定稿": "Final", "指南": "guide", "会议纪要": "minutes"}
    status, category = (f for f in HANDBOOK.fields if f.name in ("status", "category"))
    named = Collection(
        name="named",
        fields=tuple(
            f.model_copy(update={"synonyms": {v: (k,) for k, v in zh.items() if v in f.values}})
            for f in (status, category)
        ),
    )
    expected = either(
        both(FINAL, leaf("eq", "category", "guide")), leaf("eq", "category", "minutes")
    )
    assert said(plan(question, None, named)) == expected


def test_a_date_of_unclear_order_is_said() -> None:
    (problem,) = plan("published on 03/04/2025").problems
    assert (problem.code, problem.value) == ("ambiguous_date", "03/04/2025")
    assert plan("published on 2025-03-04").problems == ()


def test_a_wish_is_soft_and_stays_out_of_the_filter() -> None:
    proposal = plan("guides, preferably official", {"official": "official is true"})
    assert [(c.field, c.hard) for c in proposal.conditions] == [
        ("category", True),
        ("official", False),
    ]
    assert said(proposal) == leaf("eq", "category", "guide")


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("What do HR policies published since 2024 say about sick leave?", "sick leave"),
        ("HR policies", "HR policies"),
        ("研发中心2024年发布的文档里，服务启动失败怎么办？", "服务启动失败怎么办"),
    ],
)
def test_the_search_text_keeps_the_subject(question: str, query: str) -> None:
    text = plan(question).query
    assert query in text
    assert "2024" not in text


def test_the_search_text_is_the_question_where_nothing_was_accepted() -> None:
    question = "Why were the drafts so late?"
    assert plan(question, {"drafts": "ignore"}).query == question


def test_sources_to_be_compared_get_a_branch_each() -> None:
    proposal = plan("How do the HR and the Legal guides differ on travel expenses?")
    departments = [branch.filter for branch in proposal.branches]
    assert len(departments) == 2
    assert len({branch.query for branch in proposal.branches}) == 1
    assert len(plan("HR or Legal guides on travel").branches) == 1


def assembled(question: str, reply: dict[str, object] | None) -> Proposal:
    asked = ask(question)
    return PLANNER.assemble(asked, HANDBOOK, PLANNER.link(asked, HANDBOOK), reply)


@pytest.mark.parametrize(
    "reply",
    [
        None,
        {},
        {"HR": None},
        {"HR": "department is Finance"},
        {"HR": ["department is"]},
        {"properties": {"HR": {"enum": []}}},
    ],
)
def test_an_unusable_reply_is_a_failure_and_never_a_filter(
    reply: dict[str, object] | None,
) -> None:
    proposal = assembled("HR documents", reply)
    assert proposal.outcome is PlanOutcome.FAILED
    assert proposal.branches[0].filter == EVERYTHING
    assert proposal.problems


def test_a_partly_unusable_reply_keeps_the_rest_and_names_the_fault() -> None:
    proposal = assembled("final HR guides", {"final": "status is", "HR": "x", "guides": "ignore"})
    assert said(proposal) == FINAL
    (problem,) = proposal.problems
    assert (problem.code, problem.allowed) == ("unknown_use", ("department is", "ignore"))
