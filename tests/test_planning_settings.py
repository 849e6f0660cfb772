"""What the settings of planning do, through the whole agent and a scripted Ollama."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.app import Agent
from agent.sections import ModelSettings, PathSettings, PlanningSettings
from agent.settings import Settings
from schemas.collection import Collection, Field, FieldType
from schemas.filters import to_json
from schemas.plan import Mode, Plan
from tests.ollama_server import OllamaScript, Stream, serving

REPORTS = Collection(
    name="reports",
    fields=(
        Field(name="created", type=FieldType.DATE),
        Field(name="team", type=FieldType.STRING, values=("billing", "sales")),
    ),
)


@pytest.fixture(scope="module")
def ollama() -> Iterator[OllamaScript]:
    with serving(OllamaScript()) as script:
        yield script


class Asked:
    """An agent whose clock stands still, and the script of its model."""

    def __init__(self, script: OllamaScript, folder: Path) -> None:
        self.script, self.folder = script, folder

    def agent(self, now: dt.datetime | None = None, **planning: Any) -> Agent:
        settings = Settings(
            models=ModelSettings(ollama_url=self.script.url, chat="small:1b", provider="ollama"),
            paths=PathSettings(data=self.folder, cache=self.folder),
            planning=PlanningSettings(**planning),
        )
        return Agent(settings, now=lambda: now or NOON)

    def replies(self, *replies: dict[str, str]) -> None:
        self.script.replies[:] = [Stream((json.dumps(reply),)) for reply in replies]


@pytest.fixture
def asked(ollama: OllamaScript, tmp_path: Path) -> Asked:
    return Asked(ollama, tmp_path)


NOON = dt.datetime(2026, 3, 15, 12, tzinfo=dt.UTC)
TOKYO_MORNING = dt.datetime(2026, 1, 14, 15, 30, tzinfo=dt.UTC)


def period(plan: Plan) -> list[Any]:
    return [condition.value for condition in plan.conditions if condition.field == "created"]


@pytest.mark.parametrize(
    ("given", "question", "words", "expected"),
    [
        ({}, "created in FY2026", "FY2026", ["2026-01-01", "2027-01-01"]),
        ({"fiscal_start": 4}, "created in FY2026", "FY2026", ["2025-04-01", "2026-04-01"]),
        ({}, "created on 03/04/2025", "03/04/2025", ["2025-03-04", "2025-03-05"]),
        (
            {"day_first": True},
            "created on 03/04/2025",
            "03/04/2025",
            ["2025-04-03", "2025-04-04"],
        ),
        (
            {"timezone": "Asia/Tokyo", "now": TOKYO_MORNING},
            "docs created yesterday",
            "yesterday",
            ["2026-01-14", "2026-01-15"],
        ),
        (
            {"timezone": "UTC", "now": TOKYO_MORNING},
            "docs created yesterday",
            "yesterday",
            ["2026-01-13", "2026-01-14"],
        ),
    ],
)
async def test_dates_are_read_as_the_settings_have_it(
    asked: Asked, given: dict[str, Any], question: str, words: str, expected: list[str]
) -> None:
    asked.replies({words: "created in"})
    async with asked.agent(**given) as agent:
        assert period(await agent.plan(question, collection=REPORTS)) == expected


BILLING = {"billing": "team is"}


async def test_the_agent_plans_a_question_once(asked: Asked) -> None:
    asked.replies(BILLING, BILLING)
    question, later = "billing reports", dt.date(2026, 3, 16)
    async with asked.agent() as agent:
        first, second = [await agent.plan(question, collection=REPORTS) for _ in range(2)]
        other_day = await agent.plan(question, collection=REPORTS, today=later)
    assert [plan.model_calls for plan in (first, second, other_day)] == [1, 0, 1]
    assert [plan.cached for plan in (first, second, other_day)] == [False, True, False]
    assert to_json(second.filter) == {"op": "eq", "field": "team", "value": "billing"}


async def test_the_cache_can_be_turned_off(asked: Asked) -> None:
    asked.replies(BILLING, BILLING)
    async with asked.agent(cache=0) as agent:
        plans = [await agent.plan("billing reports", collection=REPORTS) for _ in range(2)]
    assert [plan.model_calls for plan in plans] == [1, 1]


@pytest.mark.parametrize("mode", [Mode.MANUAL, Mode.OFF])
async def test_without_planning_no_model_is_looked_for(tmp_path: Path, mode: Mode) -> None:
    nowhere = Asked(OllamaScript(url="http://127.0.0.1:9"), tmp_path)
    filter_ = {"op": "eq", "field": "team", "value": "Billing"}
    async with nowhere.agent() as agent:
        plan = await agent.plan("billing reports", collection=REPORTS, mode=mode, filter=filter_)
    assert (plan.model, plan.model_calls) == (None, 0)
    assert plan.text == "team is Billing"
