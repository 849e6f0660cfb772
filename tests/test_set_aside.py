"""Days and figures that a question only retells are said to filter nothing."""

from __future__ import annotations

import pytest

from tests.planning_cases import plan

RETOLD = (
    "According to the report of the people team published on October 15 2025, revenue rose by 12 "
    "points and the Berlin office, which was opened in 2019, closed the largest deal; who signed?"
)
MANY = RETOLD.replace("closed", "with 40, 50, 60, 70 and 80 people closed")


def aside(question: str) -> list[object]:
    return [p.value for p in plan(question).problems if p.code == "set_aside"]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (RETOLD, [["October 15 2025", "12", "2019"]]),
        ("reports published in 2019 by the people team", []),
        ("What does the report say about the office and about the largest deal that the people of "
         "Berlin have ever closed with anybody?", []),
    ],
)  # fmt: skip
def test_what_a_retelling_drops_is_named(question: str, words: list[object]) -> None:
    assert aside(question) == words


def test_of_many_only_some_are_shown() -> None:
    (problem,) = (p for p in plan(MANY).problems if p.code == "set_aside")
    assert "and 2 more" in problem.message
