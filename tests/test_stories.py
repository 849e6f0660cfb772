"""Questions that retell reports: only what names a source, or a document, is a condition."""

from __future__ import annotations

import pytest

from schemas.collection import Collection, Field, FieldType
from schemas.filters import leaves, parse_filter
from schemas.normalise import normalise
from tests.planning_cases import plan, whole

NEWS = Collection(
    name="news",
    version="1",
    fields=(
        Field(
            name="outlet",
            type=FieldType.STRING,
            description="Paper that published the article",
            values=("The Harbour Times", "Daily Lantern", "Ferry | Trade News", "Market Line"),
        ),
        Field(name="section", type=FieldType.STRING, values=("business", "sport")),
        Field(name="writer", type=FieldType.STRING, description="Who wrote the article"),
        Field(name="day", type=FieldType.DATE, description="Day of publication"),
    ),
)


def one_of(*outlets: str) -> object:
    return {"op": "in", "field": "outlet", "value": [*outlets]}


def outlet(name: str) -> object:
    return {"op": "eq", "field": "outlet", "value": name}


EVERYTHING = {"op": "and", "of": []}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "Which founder, as reported by the Daily Lantern, told a judge in 2021 that business "
            "lines worth 40 million had vanished before Anna Holm left?",
            outlet("Daily Lantern"),
        ),
        (
            "Did the Daily Lantern report of October 2, 2023 on the port and the Harbour Times "
            "report of November 6, 2023 on the ferry describe the same owner of the company?",
            one_of("Daily Lantern", "The Harbour Times"),
        ),
        (
            "Do 'The Harbour Times' and 'Ferry' both report that 'night riders' are more likely "
            "to complain about the noise that the new engines of the boats make?",
            one_of("The Harbour Times", "Ferry | Trade News"),
        ),
        (
            "Considering an article by The Northern Star and a report by Global Wire on the "
            "Blue Basin, which company announced an investment that both of them mention?",
            EVERYTHING,
        ),
        (
            "What do the business articles that were published by the Daily Lantern say about "
            "the way in which the harbour pays for its new cranes?",
            {
                "op": "and",
                "of": [
                    {"op": "eq", "field": "section", "value": "business"},
                    outlet("Daily Lantern"),
                ],
            },
        ),
        (
            "Which captain does the only article that the Daily Lantern published on October 2, "
            "2023 blame for the damage that was done to the old pier?",
            {
                "op": "and",
                "of": [
                    outlet("Daily Lantern"),
                    {"op": "ge", "field": "day", "value": "2023-10-02"},
                    {"op": "lt", "field": "day", "value": "2023-10-03"},
                ],
            },
        ),
    ],
)
def test_what_is_told_is_no_condition(question: str, expected: object) -> None:
    found = whole(plan(question, collection=NEWS))
    assert normalise(found) == normalise(parse_filter(expected))


def test_a_short_question_is_no_story() -> None:
    found = whole(plan("business articles of 2023 by Anna Holm", collection=NEWS))
    assert {leaf.field for leaf in leaves(found)} == {"section", "day", "writer"}
