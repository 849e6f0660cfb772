"""Arms: what the model is asked, and what becomes of its replies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.sections import ModelSettings, PathSettings
from agent.settings import Settings
from evals.arms.bm25 import Bm25Index
from evals.arms.plain import PlainArm, described, plain_messages, read_reply
from evals.arms.planned import FirstChoice, PlannedArm
from evals.corpora import Row
from evals.watched import WatchedAgent
from schemas.collection import Collection, Field, FieldType
from schemas.errors import ModelError, ModelOutputCut, ModelUnavailable
from schemas.filters import EVERYTHING, to_json
from tests.conftest import ScriptedChat
from tests.eval_cases import PAPERS, Obedient, both, case, either, leaf

ADA = leaf("eq", "author", "Ada Lovelace")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        paths=PathSettings(data=tmp_path), models=ModelSettings(chat="small", provider="embedded")
    )


async def test_planned_is_the_planner_with_its_calls_written_down(settings: Settings) -> None:
    model = Obedient()
    async with WatchedAgent(settings, model=model) as agent:
        arm = PlannedArm(agent)
        attempt = await arm.attempt(case(ADA))
        again = await arm.attempt(case(ADA))
    assert to_json(attempt.filter) == ADA
    assert (attempt.model, attempt.model_calls, attempt.prompt_tokens) == ("small", 1, 100)
    assert len(model.calls) == 2
    (call,) = attempt.calls
    assert call["asked"] == model.calls[0][-1].content
    assert again.calls[0]["asked"] == call["asked"]
    assert len(again.calls) == 1


async def test_link_only_asks_no_model_and_reads_words_as_they_are_linked(
    settings: Settings,
) -> None:
    async with WatchedAgent(settings, model=FirstChoice()) as agent:
        arm = PlannedArm(agent, model_free=True)
        attempt = await arm.attempt(case(ADA))
    assert to_json(attempt.filter) == ADA
    assert (arm.name, arm.model, attempt.model, attempt.model_calls) == ("link_only", None, None, 0)


async def test_the_day_and_the_history_of_a_case_are_handed_in(settings: Settings) -> None:
    model = Obedient()
    async with WatchedAgent(settings, model=model) as agent:
        history = ("Papers by Grace Hopper",)
        await PlannedArm(agent).attempt(case(ADA, history=history))
        await PlainArm(agent).attempt(case(ADA, history=history))
    assert all("Papers by Grace Hopper" in call[-1].content for call in model.calls)
    assert "Today is 2026-01-01" in model.calls[1][0].content


@pytest.mark.parametrize("error", [ModelOutputCut("cut"), ModelError("too long")])
async def test_what_a_model_gets_wrong_is_a_result(settings: Settings, error: ModelError) -> None:
    async with WatchedAgent(settings, model=ScriptedChat([error] * 4)) as agent:
        planned = await PlannedArm(agent).attempt(case(ADA))
        plain = await PlainArm(agent).attempt(case(ADA))
    assert (planned.invalid, planned.filter) == (True, EVERYTHING)
    assert (plain.invalid, plain.filter) == (True, EVERYTHING)


async def test_an_outage_is_none(settings: Settings) -> None:
    outages: list[str | Exception] = [ModelUnavailable("gone"), ModelUnavailable("gone")]
    async with WatchedAgent(settings, model=ScriptedChat(outages)) as agent:
        for arm in (PlannedArm(agent), PlainArm(agent)):
            with pytest.raises(ModelUnavailable):
                await arm.attempt(case(ADA))


@pytest.mark.parametrize(
    ("reply", "expected", "dropped"),
    [
        ('{"conditions": [{"key": "author", "op": "=", "value": "Ada Lovelace"}]}', ADA, 0),
        ('Sure: {"conditions": [{"key": "year", "op": "≥", "value": "1843"}], "logic": "and"}',
         leaf("ge", "year", "1843"), 0),
        ('```json\n{"conditions": {"field": "year", "operator": ">", "value": 1}}\n```',
         leaf("gt", "year", 1), 0),
        ('{"conditions": [{"key": "year", "op": ">", "value": 1}, '
         '{"key": "score", "op": "<", "value": 2}], "logic": "or"}',
         either(leaf("gt", "year", 1), leaf("lt", "score", 2)), 0),
        ('{"conditions": [{"key": "author", "op": "in", "value": "Ada, Grace"}]}',
         leaf("in", "author", ["Ada", "Grace"]), 0),
        ('{"conditions": [{"key": "autor", "op": "=", "value": "x"}, '
         '{"key": "year", "op": "about", "value": 1}, {"key": "year", "op": "=", "value": "soon"}, '
         '"year", {"key": "year", "op": "=", "value": 7}]}',
         leaf("eq", "year", 7), 4),
        ('{"conditions": [], "logic": "and"}', both(), 0),
        ("{}", both(), 0),
    ],
)  # fmt: skip
def test_plain_replies_are_read_leniently(reply: str, expected: Any, dropped: int) -> None:
    found, left_out = read_reply(reply, PAPERS)
    assert found is not None
    assert to_json(found) == expected
    assert len(left_out) == dropped


@pytest.mark.parametrize("reply", ["", "no filter", '{"conditions": [', '{"conditions": 3}', "[]"])
def test_plain_replies_without_an_object(reply: str) -> None:
    assert read_reply(reply, PAPERS) == (None, ())


async def test_plain_is_one_call_in_json_mode(settings: Settings) -> None:
    model = ScriptedChat(["nothing to see"])
    async with WatchedAgent(settings, model=model) as agent:
        attempt = await PlainArm(agent).attempt(case(ADA))
    assert attempt.invalid
    assert attempt.model_calls == 1
    assert model.schemas == [{"type": "object"}]


def test_the_plain_prompt_shows_fields_with_values_as_far_as_there_is_room() -> None:
    many = Collection(
        name="many",
        fields=(
            Field(name="name", type=FieldType.STRING, values=tuple(f"v{n}" for n in range(9999))),
            Field(name="kind", type=FieldType.STRING, description="Kind.", values=("a",)),
        ),
    )
    text = described(many)
    assert '- kind (string): Kind. Values: "a"' in text
    assert text.split("\n")[0].endswith(", …")
    assert len(text) < 4_000
    system, user = plain_messages(case(None, question="Q?", history=("before",)))
    assert '"Ada Lovelace", "Grace Hopper"' in system.content
    assert user.content == "Earlier question: before\nQuestion: Q?"


def test_bm25_finds_by_stems_titles_and_pairs_of_characters() -> None:
    texts = {
        "a": ("Engines", "They compute."),
        "b": ("Looms", "They weave patterns."),
        "c": ("手册", "采集服务启动失败"),
    }
    index = Bm25Index([Row(k, k, title, text, {}) for k, (title, text) in texts.items()])
    assert [row.id for row in index.search("weaving", 10)] == ["b"]
    assert [row.id for row in index.search("engine", 10)] == ["a"]
    assert [row.id for row in index.search("服务为什么失败？", 10)] == ["c"]
    assert index.search("?!", 10) == []
