"""scripts/demo as a newcomer runs it: three answers, each under the right filter, rightly cited."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from agent.cli.demo import QUESTIONS

pytestmark = pytest.mark.demo

ROOT = Path(__file__).parent.parent

EXPECTED = {
    QUESTIONS[0]: (
        {("department", "Finance"), ("is_official", True), ("publish_date", "2024-01-01")},
        "travel-expense-policy-2024",
        "52",
    ),
    QUESTIONS[1]: (
        {("department", "HR"), ("category", "policy"), ("publish_date", "2024-01-01")},
        "remote-work-policy-2024",
        "3 days",
    ),
    QUESTIONS[2]: (
        {("department", "研发中心"), ("category", "故障处理"), ("publish_date", "2024-01-01")},
        "采集服务启动失败故障处理",
        "100",
    ),
}


@pytest.fixture(scope="module")
def demo_output() -> str:
    done = subprocess.run(
        [ROOT / "scripts" / "demo"], capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_demo_answers(demo_output: str, question: str) -> None:
    shown = demo_output.split(f"══ {question}")[1].split("══", maxsplit=1)[0]
    filter_, source, fact = EXPECTED[question]
    answer = shown.split("answer: ")[1]
    assert fact in answer
    assert source in answer
    for field, _ in filter_:
        assert f"- {field} " in shown


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_cited_document_meets_the_filter(demo_output: str, question: str) -> None:
    """Asked again as JSON over the knowledge base that the demo made."""
    done = subprocess.run(
        [ROOT / ".venv" / "bin" / "facetwise", "ask", question, "--kb", "handbook", "--json"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=os.environ,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answer = json.loads(done.stdout)
    wanted = {field: value for field, value in EXPECTED[question][0] if field != "publish_date"}
    cited = [ref for ref in answer["references"] if ref["number"] in answer["cited"]]
    assert cited
    for reference in cited:
        metadata = reference["metadata"]
        assert {field: metadata[field] for field in wanted} == wanted
        assert reference["metadata"]["publish_date"] >= "2024-01-01"
