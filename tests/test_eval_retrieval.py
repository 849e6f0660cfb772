"""`eval retrieval` and `eval answers` over a real store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.settings import Settings
from evals.answers import AnswerRun, run_answers
from evals.arms.planned import FirstChoice
from evals.arms.retrieved import RETRIEVAL_ARMS, Retrieved
from evals.crew import Crew
from evals.retrieval import RetrievalRun, run_retrieval
from evals.retrieval_scores import interval, judge
from schemas.errors import UsageError
from schemas.filters import parse_filter
from tests.eval_cases import PAPERS, case, leaf, write_lines

CORPUS = [
    {
        "id": f"d{number}",
        "title": f"Paper {number}",
        "text": f"The {thing} is described here in some detail.",
        "metadata": {"author": author, "year": 1840 + number, "tags": ["engines"]},
    }
    for number, (thing, author) in enumerate(
        [
            ("analytical engine", "Ada Lovelace"),
            ("compiler", "Grace Hopper"),
            ("difference engine", "Ada Lovelace"),
            ("debugger", "Grace Hopper"),
        ]
    )
]
SUITE = [
    {
        "id": "1",
        "question": "What did Ada Lovelace write about the difference engine?",
        "collection": json.loads(PAPERS.model_dump_json()),
        "gold": leaf("eq", "author", "Ada Lovelace"),
        "relevant": ["d2"],
    },
    {
        "id": "2",
        "question": "What does Grace Hopper say about the compiler?",
        "collection": json.loads(PAPERS.model_dump_json()),
        "gold": leaf("eq", "author", "Grace Hopper"),
        "relevant": ["d1"],
    },
    {
        "id": "3",
        "question": "Left out: nothing is said to be relevant",
        "collection": json.loads(PAPERS.model_dump_json()),
        "gold": None,
    },
]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    write_lines(tmp_path / "papers.corpus.jsonl", *CORPUS)
    return write_lines(tmp_path / "papers.retrieval.jsonl", *SUITE)


async def run(settings: Settings, **asked: Any) -> dict[str, Any]:
    async with Crew(settings, model=FirstChoice()) as crew:
        return await run_retrieval(RetrievalRun(**asked), crew, lambda *_: None)


@pytest.mark.lite
async def test_every_arm_ranks_the_same_cases(lite_settings: Settings, files: Path) -> None:
    summary = await run(
        lite_settings, suites=(files,), baselines=RETRIEVAL_ARMS, out=files.parent / "run"
    )
    assert summary["cases"] == 2
    assert set(summary["arms"]) == set(RETRIEVAL_ARMS)
    for name, figures in summary["arms"].items():
        assert figures["cases"] == 2
        assert figures["R@4"] == 1.0, name
    assert summary["arms"]["gold"]["MRR@10"] == 1.0
    assert summary["arms"]["bm25"]["MRR@10"] == 1.0
    assert summary["filtered"]["rate"] == 1.0
    assert summary["fusion"] == {"method": "weighted", "text": 0.05, "vector": 0.95}
    assert summary["lost_by_filter"] == {"rate": 0.0, "n": 2, "ci95": [0.0, 0.6576]}
    assert summary["loosened"]["rate"] == 0.0
    lines = (files.parent / "run" / "cases.jsonl").read_text().splitlines()
    gold = [json.loads(line) for line in lines if json.loads(line)["arm"] == "gold"]
    assert [sorted(record["result"]["ranked"]) for record in gold] == [["d0", "d2"], ["d1", "d3"]]
    environment = json.loads((files.parent / "run" / "environment.json").read_text())
    assert environment["engine"]


@pytest.mark.lite
async def test_metadata_in_the_text_is_found_without_a_filter(
    lite_settings: Settings, files: Path
) -> None:
    rows = [
        {**SUITE[0], "id": str(n), "question": f"year: {1840 + n}", "relevant": [f"d{n}"]}
        for n in range(4)
    ]
    write_lines(files, *rows)
    summary = await run(
        lite_settings, suites=(files,), baselines=("unfiltered", "metadata-in-text", "bm25")
    )
    arms = summary["arms"]
    assert arms["bm25"]["R@10"] == 0.0
    assert arms["metadata_in_text"]["MRR@10"] == 1.0
    assert arms["unfiltered"]["MRR@10"] < 1.0


@pytest.mark.lite
async def test_relevant_ids_may_be_values_of_a_field(lite_settings: Settings, files: Path) -> None:
    write_lines(files, {**SUITE[0], "relevant": [1842]})
    with pytest.raises(UsageError, match="nothing in 'eval-papers' is called '1842'"):
        await run(lite_settings, suites=(files,))
    summary = await run(lite_settings, suites=(files,), baselines=("gold",), id_field="year")
    assert summary["arms"]["gold"]["R@4"] == 1.0


async def test_what_cannot_be_measured_is_said(tmp_path: Path) -> None:
    nothing = write_lines(tmp_path / "n.jsonl", SUITE[2])
    rowless = write_lines(tmp_path / "r.jsonl", SUITE[0])
    with pytest.raises(UsageError, match="no case of these suites"):
        await run(Settings(), suites=(nothing,))
    with pytest.raises(UsageError, match="no passages for the collection 'papers'"):
        await run(Settings(), suites=(rowless,))


def test_a_filter_is_charged_with_what_it_shuts_out() -> None:
    rows = [("a", {"author": "Ada Lovelace"}), ("b", {"author": "Grace Hopper"}), ("c", {})]
    asked = case(None, relevant=("a", "b", "c"))
    ada = parse_filter(leaf("eq", "author", "Ada Lovelace"))
    scores = judge(asked, Retrieved(ranked=("a",), filter=ada), rows)
    assert (scores["relevant"], scores["lost"], scores["lost_by_plan"]) == (3, 0, 2)
    scores = judge(asked, Retrieved(ranked=("a",), filter=ada, effective=ada), rows)
    assert (scores["lost"], scores["wronged"]) == (2, 2)
    of_ada = case(leaf("eq", "author", "Ada Lovelace"), relevant=("a", "b", "c"))
    scores = judge(of_ada, Retrieved(ranked=("a",), filter=ada, effective=ada), rows)
    assert (scores["lost"], scores["wronged"]) == (2, 0)
    assert scores["R@4"] == pytest.approx(1 / 3)


def test_the_interval_of_a_mean() -> None:
    assert interval([1.0]) is None
    assert interval([0.0, 1.0]) == pytest.approx([0.5 - 0.98, 0.5 + 0.98], abs=1e-3)


@pytest.mark.lite
async def test_answers_rest_on_the_passages_of_their_own_case(
    lite_settings: Settings, tmp_path: Path
) -> None:
    rows = [
        {
            "id": str(number),
            "question": "How high is the per diem for domestic travel?",
            "contexts": [{"id": "c", "text": f"The per diem for domestic travel is {n} EUR."}],
            "answerable": True,
        }
        for number, n in enumerate((45, 52))
    ]
    suite = write_lines(tmp_path / "travel.answers.jsonl", *rows)
    asked = AnswerRun(suites=(suite,), out=tmp_path / "run")
    async with Crew(lite_settings, model=FirstChoice()) as crew:
        summary = await run_answers(asked, crew, lambda *_: None)
    assert summary["cases"] == 2
    assert summary["citations_valid"]["rate"] == 1.0
    assert summary["supported_sentences"]["rate"] == 1.0
    assert summary["declined_answerable"] == {"rate": 0.0, "n": 2, "ci95": [0.0, 0.6576]}
    assert summary["declined_unanswerable"]["n"] == 0
    lines = (tmp_path / "run" / "cases.jsonl").read_text().splitlines()
    texts = [json.loads(line)["result"]["text"] for line in lines]
    assert ["45" in texts[0], "52" in texts[1]] == [True, True]

    asked = AnswerRun(suites=(suite,), kb="eval-answers-travel", limit=1, out=tmp_path / "kb")
    async with Crew(lite_settings, model=FirstChoice()) as crew:
        summary = await run_answers(asked, crew, lambda *_: None)
    (line,) = (tmp_path / "kb" / "cases.jsonl").read_text().splitlines()
    assert summary["cases"] == 1
    assert len(json.loads(line)["result"]["passages"]) == 2


async def test_a_case_without_passages_needs_a_knowledge_base(tmp_path: Path) -> None:
    suite = write_lines(tmp_path / "a.jsonl", {"id": "1", "question": "q"})
    async with Crew(Settings(), model=FirstChoice()) as crew:
        with pytest.raises(UsageError, match="the case '1' brings no contexts"):
            await run_answers(AnswerRun(suites=(suite,)), crew, lambda *_: None)
