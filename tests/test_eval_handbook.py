"""The suite that comes with the project: every gold is run over the handbook's metadata."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from agent.app import Agent
from agent.settings import Settings
from evals.arms.planned import FirstChoice
from evals.bundled import HANDBOOK, bundled_handbook
from evals.crew import Crew
from evals.filters import FilterRun, run_filters
from evals.scorers.execution import Rows, selected
from evals.sources import Sources, bundled_suite
from evals.suites import Case, load_suite
from schemas.collection import Collection
from schemas.filters import EVERYTHING, Op, leaves


@pytest.fixture
async def handbook() -> tuple[Collection, Rows]:
    collection, rows = await bundled_handbook()
    return collection, [(row.id, row.metadata) for row in rows]


@pytest.fixture
async def cases() -> tuple[Case, ...]:
    async with Agent(Settings()) as agent:
        return (await load_suite(bundled_suite(), Sources(agent).find)).cases


async def test_every_right_filter_selects_the_documents_that_the_suite_names(
    cases: tuple[Case, ...], handbook: tuple[Collection, Rows]
) -> None:
    collection, rows = handbook
    for case in cases:
        for right in case.gold.all:
            if right.filter == EVERYTHING:
                assert case.ids is None, case.id
            else:
                assert selected(right.filter, rows, collection) == set(case.ids or ()), case.id


async def test_the_suite_covers_what_it_should(cases: tuple[Case, ...]) -> None:
    assert len(cases) >= 60
    assert {leaf.op for case in cases for leaf in leaves(case.gold.first.filter)} == set(Op)
    tags = [tag for case in cases for tag in case.tags]
    for tag in ("en", "zh", "relative_date", "follow_up", "no_filter", "zero_match"):
        assert tags.count(tag) >= 5, tag
    assert all(case.history for case in cases if "follow_up" in case.tags)
    assert all(not case.ids for case in cases if "zero_match" in case.tags)
    assert all(case.ids is None for case in cases if "no_filter" in case.tags)
    assert len({case.question for case in cases}) == len(cases)


@pytest.mark.lite
async def test_the_handbook_is_described_as_a_knowledge_base_of_it_would_be(
    lite_settings: Settings, handbook: tuple[Collection, Rows], tmp_path: Path
) -> None:
    async with Agent(lite_settings) as agent:
        with resources.as_file(resources.files("agent.data") / HANDBOOK) as folder:
            await agent.ingest([Path(folder)], kb="eval-bundled")
        stored = await agent.describe("eval-bundled")
        documents = await agent.documents("eval-bundled")
    collection, rows = handbook
    described = [field.model_copy(update={"column": None}) for field in stored.fields]
    assert sorted(described, key=lambda f: f.name) == sorted(
        collection.fields, key=lambda f: f.name
    )
    assert {one.id: dict(one.metadata) for one in documents} == {k: dict(v) for k, v in rows}

    async with Crew(lite_settings, model=FirstChoice()) as crew:
        alone = await run_filters(FilterRun(out=tmp_path / "a"), crew, lambda *_: None)
        stocked = await run_filters(
            FilterRun(kb="eval-bundled", out=tmp_path / "b"), crew, lambda *_: None
        )
    assert alone["execution"]["n"] == alone["cases"]
    for name in ("cases", "exact", "accept", "execution", "by_operator"):
        assert stocked[name] == alone[name], name
