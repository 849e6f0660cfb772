"""Suites: what is read, in which order, and what is wrong with a broken one."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

from evals.answer_suites import load_answer_suite
from evals.corpora import read_corpus
from evals.suites import NO_DAY, Case, Suite, load_suite, read_collection, sampled
from schemas.collection import Collection
from schemas.errors import UsageError
from tests.eval_cases import PAPERS, case, leaf, write_lines

ROW: dict[str, Any] = {
    "id": "1",
    "question": "Papers by Ada Lovelace",
    "collection": json.loads(PAPERS.model_dump_json()),
    "gold": leaf("eq", "author", "Ada Lovelace"),
}


async def beside(name: str, suite: Path) -> tuple[Collection, str | None]:
    return read_collection(suite.parent / f"{name}.collection.json"), None


async def load(path: Path) -> Suite:
    return await load_suite(path, beside)


async def test_a_whole_line(tmp_path: Path) -> None:
    row = {
        **ROW,
        "tags": ["a"],
        "history": ["before"],
        "today": "2024-02-29",
        "relevant": [7, "x"],
        "note": "read by people only",
    }
    suite = await load(write_lines(tmp_path / "small.filters.jsonl", row, "", {**ROW, "id": "2"}))
    first, second = suite.cases
    assert suite.name == "small"
    assert (first.tags, first.history, first.relevant) == (("a",), ("before",), ("7", "x"))
    assert (first.today, second.today) == (dt.date(2024, 2, 29), NO_DAY)


async def test_a_collection_that_is_only_named_is_described_beside_the_suite(
    tmp_path: Path,
) -> None:
    (tmp_path / "papers.collection.json").write_text(PAPERS.model_dump_json())
    suite = await load(write_lines(tmp_path / "s.jsonl", {**ROW, "collection": "papers"}))
    assert suite.cases[0].collection == PAPERS


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "not JSON"),
        ("[1]", "a line is one JSON object, not list"),
        ({**ROW, "id": "1"}, "the id '1' stands in line 1, too"),
        ({**ROW, "id": ""}, "id: "),
        ({k: v for k, v in ROW.items() if k != "gold"} | {"id": "2"}, "gold: Field required"),
        ({**ROW, "id": "2", "today": "soon"}, "today: "),
        ({**ROW, "id": "2", "gold": leaf("eq", "autor", "x")}, "unknown field 'autor'"),
        ({**ROW, "id": "2", "gold": leaf("like", "author", "x")}, "unknown operator 'like'"),
        ({**ROW, "id": "2", "accept": [leaf("eq", "year", "x")]}, "accept[0]"),
        ({**ROW, "id": "2", "collection": "papers"}, "papers.collection.json does not exist"),
        ({**ROW, "id": "2", "collection": {"name": "p", "fields": [{"name": "a"}]}}, "type"),
    ],
)
async def test_a_broken_line_is_named_with_its_number(
    tmp_path: Path, line: Any, words: str
) -> None:
    path = write_lines(tmp_path / "s.jsonl", ROW, line)
    with pytest.raises(UsageError) as caught:
        await load(path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert words in str(caught.value)


@pytest.mark.parametrize(("text", "words"), [(None, "does not exist"), ("\n", "holds no case")])
async def test_a_suite_that_is_not_there(tmp_path: Path, text: str | None, words: str) -> None:
    path = tmp_path / "s.jsonl"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError, match=words):
        await load(path)


def test_a_limit_takes_an_even_sample_and_keeps_collections_together() -> None:
    other = PAPERS.model_copy(update={"name": "other"})
    cases = [
        case(None, id=str(number), collection=PAPERS if number % 2 else other)
        for number in range(10)
    ]

    def ids(chosen: tuple[Case, ...]) -> list[str]:
        return [one.id for one in chosen]

    assert ids(sampled(cases, None)) == ["0", "2", "4", "6", "8", "1", "3", "5", "7", "9"]
    assert ids(sampled(cases, 3)) == ["0", "6", "3"]
    assert ids(sampled(cases, 99)) == ids(sampled(cases, None))


def test_a_corpus(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "c.jsonl", {"id": 1, "text": "t", "metadata": {"title": "T", "year": 3}}
    )
    (row,) = read_corpus(path)
    assert (row.id, row.title, row.metadata["year"]) == ("1", "T", 3)
    with pytest.raises(UsageError, match=r"c\.jsonl:2: the id '1'"):
        read_corpus(write_lines(path, {"id": 1}, {"id": 1}))
    with pytest.raises(UsageError, match=r"c\.jsonl:1: id"):
        read_corpus(write_lines(path, {"text": "t"}))


def test_answer_suites_of_both_formats(tmp_path: Path) -> None:
    turn = {
        "task_id": "c<::>2",
        "input": [
            {"speaker": "user", "text": "first"},
            {"speaker": "agent", "text": "reply"},
            {"speaker": "user", "text": "second"},
        ],
        "contexts": [{"document_id": "d", "text": "t", "title": None}],
        "answerability": ["UNANSWERABLE"],
    }
    own = {"id": "o", "question": "q", "contexts": [{"id": "d", "text": "t"}], "answerable": True}
    first, second = load_answer_suite(write_lines(tmp_path / "a.jsonl", turn, own)).cases
    assert (first.question, first.history, first.answerable) == ("second", ("first",), False)
    assert (second.answerable, second.contexts[0].text) == (True, "t")
    with pytest.raises(UsageError, match=r"a\.jsonl:1: not a turn of mtRAG: 'contexts'"):
        load_answer_suite(
            write_lines(tmp_path / "a.jsonl", {k: v for k, v in turn.items() if k != "contexts"})
        )
