"""Markers, support of sentences and declines, against tables made by hand."""

from __future__ import annotations

import pytest

from evals.answer_scores import Answered, judge
from evals.scorers.citations import Sentence, is_declined, is_supported, markers, sentences

PASSAGES = (
    "The per diem for a full day of domestic business travel is 52 EUR since January 2024.",
    "采集服务启动失败时，先查看服务日志，再检查端口 7420 是否被占用。",
)


def test_markers_and_sentences() -> None:
    text = "It is 52 EUR. [1] Before, it was less.[2][3] Ask Finance."
    assert markers(text) == (1, 2, 3)
    assert sentences(text) == (
        Sentence("It is 52 EUR.", (1,)),
        Sentence("Before, it was less.", (2, 3)),
        Sentence("Ask Finance.", ()),
    )


@pytest.mark.parametrize(
    ("text", "cites", "supported"),
    [
        ("The per diem for domestic business travel is 52 EUR.", (1,), True),
        ("The per diem for domestic business travel is 45 EUR.", (1,), False),
        ("Employees get 30 days of paid leave a year.", (1,), False),
        ("The per diem for domestic business travel is 52 EUR.", (2,), False),
        ("The per diem for domestic business travel is 52 EUR.", (2, 1), True),
        ("The per diem for domestic business travel is 52 EUR.", (), False),
        ("The per diem for domestic business travel is 52 EUR.", (9,), False),
        ("先查看服务日志，再检查端口 7420。", (2,), True),
        ("先重启服务器，再联系供应商。", (2,), False),
    ],
)
def test_support(text: str, cites: tuple[int, ...], supported: bool) -> None:
    assert is_supported(Sentence(text, cites), PASSAGES) is supported


@pytest.mark.parametrize(
    ("answer", "declined"),
    [
        ("The per diem is 52 EUR. [1]", False),
        ("The passages do not answer this question.", True),
        ("The passages do not say who approves it. [1]", True),
        ("Nothing in 'handbook' matches (department is HR).", True),
        ("没有找到相关内容。", True),
        ("文档中未提及该价格。[1]", True),
        ("先查看服务日志。[1]", False),
        ("", True),
    ],
)
def test_declines(answer: str, declined: bool) -> None:
    assert is_declined(answer) is declined


def test_an_answer_is_judged_by_its_markers_and_sentences() -> None:
    text = "The per diem for domestic travel is 52 EUR. [1] It was 99 EUR before. [1] So. [7]"
    scores = judge(True, Answered(text=text, passages=PASSAGES))
    assert scores == {
        "answerable": True,
        "declined": False,
        "markers": 3,
        "valid": 2,
        "sentences": 3,
        "cited": 3,
        "supported": 1,
    }
    assert judge(False, Answered(text="I cannot answer that.", passages=()))["sentences"] == 0
