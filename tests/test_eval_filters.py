"""`eval filters` from suite to summary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.sections import ModelSettings, PathSettings
from agent.settings import Settings
from evals.crew import Crew
from evals.filters import FilterRun, run_filters
from schemas.errors import ModelError, ModelUnavailable, UsageError
from tests.eval_cases import PAPERS, Obedient, leaf, write_lines
from tests.test_cli import facetwise

ADA = leaf("eq", "author", "Ada Lovelace")
ROW: dict[str, Any] = {"collection": json.loads(PAPERS.model_dump_json()), "tags": ["small"]}
ROWS = (
    {**ROW, "id": "right", "question": "Papers by Ada Lovelace", "gold": ADA},
    {
        **ROW,
        "id": "wrong",
        "question": "Papers by Grace Hopper",
        "gold": leaf("ne", "author", "Grace Hopper"),
    },
    {**ROW, "id": "none", "question": "Why are there no papers?", "gold": None, "tags": []},
)
CORPUS = (
    {"id": 1, "metadata": {"author": "Ada Lovelace", "year": 1843}},
    {"id": 2, "metadata": {"author": "Grace Hopper", "year": 1952}},
)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        paths=PathSettings(data=tmp_path / "data"),
        models=ModelSettings(chat="small", provider="embedded"),
    )


async def run(settings: Settings, model: Obedient, asked: FilterRun) -> dict[str, Any]:
    async with Crew(settings, model=model) as crew:
        return await run_filters(asked, crew, lambda *_: None)


async def test_a_summary_has_the_figures_by_their_names(tmp_path: Path, settings: Settings) -> None:
    suite = write_lines(tmp_path / "papers.filters.jsonl", *ROWS)
    write_lines(tmp_path / "papers.corpus.jsonl", *CORPUS)
    asked = FilterRun(suites=(suite,), baselines=("link-only",), out=tmp_path / "run")
    summary = await run(settings, Obedient(), asked)
    assert summary["cases"] == 3
    assert summary["exact"] == {"rate": 0.6667, "n": 3, "ci95": [0.2077, 0.9385]}
    assert summary["accept"] == summary["exact"]
    assert summary["execution"] == summary["exact"]
    assert (summary["condition_precision"]["rate"], summary["condition_precision"]["n"]) == (0.5, 2)
    assert summary["condition_recall"]["n"] == 2
    assert summary["false_filter_rate"]["n"] == 1
    assert summary["missed_filter_rate"] == {"rate": 0.0, "n": 2, "ci95": [0.0, 0.6576]}
    assert summary["invalid"]["rate"] == 0.0
    assert summary["model"] == "small"
    assert set(summary["prompt_versions"]) == {"plan"}
    assert set(summary["latency_ms"]) == {"p50", "p95"}
    assert summary["by_field"]["author"]["exact"]["rate"] == 0.5
    assert summary["by_operator"]["ne"]["recall"]["rate"] == 0.0
    assert summary["by_tag"]["small"]["cases"] == 2
    baseline = summary["baselines"]["link_only"]
    assert (baseline["model"], baseline["model_calls_mean"]) == (None, 0.0)
    assert baseline["exact"] == summary["exact"]
    saved = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert saved == summary
    assert len((tmp_path / "run" / "cases.jsonl").read_text().splitlines()) == 6


async def test_without_rows_there_is_no_execution(tmp_path: Path, settings: Settings) -> None:
    suite = write_lines(tmp_path / "s.filters.jsonl", *ROWS)
    summary = await run(settings, Obedient(), FilterRun(suites=(suite,)))
    assert "execution" not in summary
    corpus = write_lines(tmp_path / "rows.jsonl", *CORPUS)
    summary = await run(settings, Obedient(), FilterRun(suites=(suite,), corpus=corpus))
    assert summary["execution"]["n"] == 3


async def test_a_failed_plan_is_not_right_where_no_filter_is(
    tmp_path: Path, settings: Settings
) -> None:
    row = {**ROWS[0], "gold": None}
    suite = write_lines(tmp_path / "s.filters.jsonl", row)
    corpus = write_lines(tmp_path / "rows.jsonl", *CORPUS)
    broken = Obedient(fails_at=0, error=ModelError("the prompt is too long"))
    summary = await run(settings, broken, FilterRun(suites=(suite,), corpus=corpus))
    for name in ("exact", "accept", "execution", "false_filter_rate"):
        assert summary[name]["rate"] == 0.0, name
    assert (summary["invalid"]["rate"], summary["errors"]) == (1.0, 1)


async def test_an_outage_ends_a_run_and_the_next_goes_on(
    tmp_path: Path, settings: Settings
) -> None:
    suite = write_lines(tmp_path / "s.filters.jsonl", *ROWS)
    broken = Obedient(fails_at=1, error=ModelUnavailable("gone"))
    with pytest.raises(ModelUnavailable):
        await run(settings, broken, FilterRun(suites=(suite,)))
    assert len(broken.calls) == 1
    model = Obedient()
    summary = await run(settings, model, FilterRun(suites=(suite,)))
    assert summary["cases"] == 3
    assert len(model.calls) == 1
    again = Obedient()
    assert (await run(settings, again, FilterRun(suites=(suite,)))) == summary
    assert again.calls == []


async def test_a_corrected_gold_needs_no_new_answers(tmp_path: Path, settings: Settings) -> None:
    suite = write_lines(tmp_path / "s.filters.jsonl", *ROWS)
    await run(settings, Obedient(), FilterRun(suites=(suite,)))
    corrected = {**ROWS[1], "gold": leaf("eq", "author", "Grace Hopper")}
    write_lines(suite, ROWS[0], corrected, ROWS[2])
    model = Obedient()
    summary = await run(settings, model, FilterRun(suites=(suite,)))
    assert model.calls == []
    assert summary["exact"]["rate"] == 1.0


async def test_models_stand_side_by_side(tmp_path: Path, settings: Settings) -> None:
    suite = write_lines(tmp_path / "s.filters.jsonl", *ROWS)
    asked = FilterRun(suites=(suite,), models=("one", "two"), baselines=("plain",))
    summary = await run(settings, Obedient(), asked)
    assert summary["model"] == "one"
    assert set(summary["models"]) == {"one", "two"}
    assert summary["models"]["two"]["baselines"]["plain"]["model"] == "two"


async def test_several_suites_are_told_apart(tmp_path: Path, settings: Settings) -> None:
    suites = tuple(write_lines(tmp_path / f"{name}.filters.jsonl", *ROWS) for name in "ab")
    summary = await run(settings, Obedient(), FilterRun(suites=suites))
    assert summary["cases"] == 6
    assert summary["by_suite"]["b"]["cases"] == 3


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"baselines": ("plian",)}, "there is no arm 'plian'; there are: plain, link_only"),
        ({"suites": ("s.filters.jsonl", "s.filters.jsonl")}, "two suites have one name: s"),
        ({"suites": ("broken.jsonl",)}, "broken.jsonl:2: "),
    ],
)
async def test_what_is_wrong_is_said_before_a_model_is_asked(
    tmp_path: Path, settings: Settings, asked: dict[str, Any], words: str
) -> None:
    write_lines(tmp_path / "s.filters.jsonl", *ROWS)
    write_lines(tmp_path / "broken.jsonl", ROWS[0], "{")
    given = {"suites": ("s.filters.jsonl",)} | asked
    given["suites"] = tuple(tmp_path / name for name in given["suites"])
    model = Obedient()
    with pytest.raises(UsageError) as caught:
        await run(settings, model, FilterRun(**given))
    assert words in str(caught.value)
    assert model.calls == []


def test_the_command_line_names_file_and_line(tmp_path: Path) -> None:
    suite = write_lines(tmp_path / "s.filters.jsonl", {**ROWS[0], "gold": leaf("eq", "autor", "x")})
    done = facetwise("eval", "filters", str(suite), cwd=tmp_path)
    assert done.returncode == 2
    assert f"{suite}:1: gold: unknown field 'autor'" in done.stderr
    assert done.stdout == ""
