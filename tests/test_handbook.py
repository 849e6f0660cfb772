"""The bundled handbook through everything that is real: runtime, small local model, Milvus Lite."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Coroutine
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import pytest

from agent.app import Agent
from agent.settings import Settings
from schemas.access import Principal
from schemas.answers import Answer, EventKind
from schemas.filters import Compare, Op
from schemas.plan import Mode, PlanOutcome, ResultOutcome

pytestmark = [pytest.mark.model, pytest.mark.lite]

T = TypeVar("T")
TODAY = dt.date(2026, 3, 1)
PUBLIC = Principal(
    name="visitor", grants={"handbook": Compare(op=Op.EQ, field="access", value="public")}
)


@pytest.fixture(scope="module")
def settings(lite_settings: Settings) -> Settings:
    """A store into which the handbook is ingested, twice: the second time changes nothing."""

    async def ingest() -> None:
        async with Agent(lite_settings) as agent:
            with resources.as_file(resources.files("agent.data") / "handbook") as folder:
                first = await agent.ingest([Path(folder)])
                again = await agent.ingest([Path(folder)])
        assert (len(first.added), len(first.failed)) == (44, 0)
        assert len(again.unchanged) == 44
        assert again.chunks == 0

    asyncio.run(ingest())
    return lite_settings


async def asked(settings: Settings, question: str, **options: Any) -> Answer:
    async with Agent(settings) as agent:
        return await agent.ask(question, today=TODAY, **options)


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def cited_documents(answer: Answer) -> set[str]:
    return {ref.doc_id for ref in answer.references if ref.number in answer.cited}


@pytest.mark.parametrize(
    ("question", "conditions", "document", "fact"),
    [
        (
            "How many days a week may employees work remotely according to HR policies since 2024?",
            {("department", "HR"), ("category", "policy")},
            "hr/remote-work-policy-2024.md",
            "3 days",
        ),
        (
            "研发中心2024年的故障处理文档里，采集服务启动失败时应该先做什么？",
            {("department", "研发中心"), ("category", "故障处理")},
            "rd/采集服务启动失败故障处理.md",
            "100行日志",
        ),
    ],
)
def test_a_filter_makes_the_right_answer_possible(
    settings: Settings, question: str, conditions: set[tuple[str, Any]], document: str, fact: str
) -> None:
    answer = run(asked(settings, question))
    planned = {(c.field, c.value) for c in answer.plan.conditions if not isinstance(c.value, list)}
    assert conditions <= planned
    assert ("publish_date", "2024-01-01") in planned
    assert answer.filter.result is ResultOutcome.MATCHED
    assert document in cited_documents(answer)
    assert fact in answer.text


def test_a_question_without_conditions_gets_no_filter(settings: Settings) -> None:
    answer = run(asked(settings, "How long does a VPN session last?"))
    assert answer.plan.outcome is PlanOutcome.NO_FILTER
    assert "it/vpn-guide.md" in cited_documents(answer)


def test_what_is_restricted_is_not_there_for_a_visitor(settings: Settings) -> None:
    question = "What is the salary band E3 for senior engineers?"
    everything = run(asked(settings, question, mode=Mode.OFF))
    assert "68,000" in everything.text
    visitor = run(asked(settings, question, mode=Mode.OFF, principal=PUBLIC))
    assert "68,000" not in visitor.text
    assert all(ref.metadata["access"] == "public" for ref in visitor.references)


def test_a_visitor_learns_no_value_of_what_is_hidden(settings: Settings) -> None:
    async def titles() -> set[object]:
        async with Agent(settings) as agent:
            collection = await agent.describe("handbook", PUBLIC)
            return set(collection.field("title").values)

    seen = run(titles())
    assert len(seen) == 6
    assert not any("Salary" in str(title) for title in seen)


def test_nothing_matches_and_the_nearest_is_shown(settings: Settings) -> None:
    filter_ = Compare(op=Op.EQ, field="department", value="HR")
    answer = run(asked(settings, "anything on this", mode=Mode.MANUAL, filter=filter_))
    assert answer.filter.result is ResultOutcome.MATCHED
    nobody = Compare(op=Op.EQ, field="owner", value="Nobody At All")
    answer = run(asked(settings, "anything on this", mode=Mode.MANUAL, filter=nobody))
    assert answer.filter.result is ResultOutcome.NOTHING_MATCHED
    assert answer.references == ()
    assert "Nobody At All" in answer.text


def test_a_thread_keeps_its_filter(settings: Settings) -> None:
    async def talk() -> tuple[Answer, Answer]:
        async with Agent(settings) as agent:
            first = await agent.ask("Which HR policies are there since 2024?", thread="t")
            return first, await agent.ask("which of those speak of parental leave?", thread="t")

    first, second = run(talk())
    kept = {(c.field, str(c.value)) for c in first.plan.conditions}
    assert kept <= {(c.field, str(c.value)) for c in second.plan.conditions}
    assert "hr/parental-leave-policy.md" in cited_documents(second)


def test_a_name_with_quotes_can_be_filtered(settings: Settings) -> None:
    owner = Compare(op=Op.EQ, field="owner", value='Robert "Bob" Chen')
    answer = run(asked(settings, "VPN", mode=Mode.MANUAL, filter=owner))
    assert {ref.metadata["owner"] for ref in answer.references} == {'Robert "Bob" Chen'}


def test_events_come_in_their_order(settings: Settings) -> None:
    async def kinds() -> list[EventKind]:
        async with Agent(settings) as agent:
            return [e.kind async for e in agent.stream("VPN session", mode=Mode.OFF)]

    seen = run(kinds())
    assert seen[0] is EventKind.STAGE
    assert seen.index(EventKind.PLAN) < seen.index(EventKind.TEXT)
    assert seen[-3:] == [EventKind.FILTER, EventKind.REFERENCES, EventKind.DONE]
