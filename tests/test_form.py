"""The question put to the model."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from schemas.mentions import Form
from tests.planning_cases import HANDBOOK, IGNORE, PLANNER, ask, link

QUESTION = "final guides by Guido van Rossum since 2020, not by Ada Palmer"


def form(question: str, **more: object) -> Form | None:
    asked = ask(question, **more)
    return PLANNER.form(asked, HANDBOOK, PLANNER.link(asked, HANDBOOK))


def made(question: str) -> Form:
    found = form(question)
    assert found is not None
    return found


@pytest.mark.parametrize("question", ["What is photosynthesis?", "thanks", "公司的愿景是什么？"])
def test_nothing_linked_means_no_call(question: str) -> None:
    assert form(question) is None


def test_one_required_key_per_mention_in_the_order_of_the_question() -> None:
    schema = made(QUESTION).reply_schema
    keys = list(schema["properties"])  # type: ignore[arg-type]  # a JSON object
    assert keys == ["final", "guides", "Guido van Rossum", "2020"]
    assert schema["required"] == keys
    assert schema["additionalProperties"] is False


def test_every_mention_may_be_a_mere_topic() -> None:
    for words in made(QUESTION).reply_schema["properties"].values():  # type: ignore[union-attr]
        assert words["enum"][-1] == IGNORE  # type: ignore[call-overload,index]


def test_the_schema_is_valid_flat_and_without_references() -> None:
    schema = made(QUESTION).reply_schema
    Draft202012Validator.check_schema(schema)
    text = json.dumps(schema)
    assert "$ref" not in text
    assert "pattern" not in text
    depth = max(text[:i].count("{") - text[:i].count("}") for i in range(len(text)))
    assert depth <= 3


def test_everything_before_the_question_is_the_same_for_all_questions() -> None:
    first, second = made(QUESTION), made("草案有哪些？")
    assert first.messages[:-1] == second.messages[:-1]
    ends = [m.messages[-1].content.index("Question:") for m in (first, second)]
    assert first.messages[-1].content[: ends[0]] == second.messages[-1].content[: ends[1]]


def test_values_stand_in_the_question_only() -> None:
    text = "".join(m.content for m in made("drafts by the people team").messages)
    assert "Konstantin" not in text
    assert "department HR" in text


def test_the_prompt_version_is_told() -> None:
    assert len(made(QUESTION).prompt_version) == 12


def test_a_clear_comparison_is_not_asked_about() -> None:
    schema = made("guides with more than 20 pages").reply_schema
    assert schema["required"] == ["guides"]
    assert len(link("guides with more than 20 pages")) == 2
