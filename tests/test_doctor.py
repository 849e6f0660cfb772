"""What `doctor` finds of models that obey, and of those that do not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.app import Agent
from agent.diagnosis import MODEL_CHECKS, Finding, diagnose
from agent.sections import ModelSettings, PathSettings
from agent.settings import Settings
from tests.ollama_server import Fault, OllamaScript, Reply, Stream, serving

OBEYED = Stream(('{"use": "wanted"}',))
PROSE = Stream(("The sea is blue.",))
SPENT = Stream((), end={"done_reason": "length"}, thoughts="well, " * 50)
THINKING = ("completion", "thinking")


@pytest.fixture
def ollama() -> Iterator[OllamaScript]:
    with serving(OllamaScript(context=32768)) as script:
        yield script


async def found(script: OllamaScript, tmp_path: Path, *replies: Reply) -> dict[str, Finding]:
    script.replies = list(replies)
    models = ModelSettings(
        chat="small:1b", embedding="letters", ollama_url=script.url, fallback="none"
    )
    async with Agent(Settings(paths=PathSettings(data=tmp_path), models=models)) as agent:
        findings = await diagnose(agent, MODEL_CHECKS)
    assert all(finding.ok or finding.remedy for finding in findings)
    return {finding.what: finding for finding in findings}


async def test_a_model_that_obeys(ollama: OllamaScript, tmp_path: Path) -> None:
    ollama.capabilities = THINKING
    findings = await found(ollama, tmp_path, OBEYED)
    assert all(finding.ok for finding in findings.values()), findings
    assert findings["JSON schema obeyed"].detail.startswith("yes, 3 tokens")
    assert findings["thinking"].detail == "the model can; it is turned off"
    assert "made for 32768" in findings["context window"].detail
    assert "3 dimensions" in findings["embedding model"].detail
    assert "000000000000" in findings["chat model"].detail


@pytest.mark.parametrize(
    ("capabilities", "replies", "expected"),
    [
        ((), [PROSE, OBEYED], (False, "JSON mode with the schema in the prompt")),
        ((), [Fault(400, "invalid format"), OBEYED], (False, "JSON mode")),
        ((), [PROSE, PROSE, OBEYED], (False, "the schema in the prompt alone")),
        ((), [PROSE, PROSE, PROSE], (False, "in any way: it answered 'The sea is blue.'")),
        (THINKING, [PROSE, OBEYED], (True, "only where it thinks first")),
        (THINKING, [Fault(503, "busy")] * 3, (False, "answers 503")),
    ],
)
async def test_how_a_schema_is_followed(
    ollama: OllamaScript,
    tmp_path: Path,
    capabilities: tuple[str, ...],
    replies: list[Reply],
    expected: tuple[bool, str],
) -> None:
    ollama.capabilities = capabilities
    finding = (await found(ollama, tmp_path, *replies))["JSON schema obeyed"]
    assert finding.ok is expected[0]
    assert expected[1] in finding.detail


async def test_a_model_that_thinks_all_the_same(ollama: OllamaScript, tmp_path: Path) -> None:
    ollama.capabilities = THINKING
    findings = await found(ollama, tmp_path, SPENT, OBEYED)
    assert findings["JSON schema obeyed"].ok
    assert not findings["thinking"].ok
    assert "although it is told not to" in findings["thinking"].detail


async def test_a_window_too_small_for_a_plan(ollama: OllamaScript, tmp_path: Path) -> None:
    ollama.context = 1024
    finding = (await found(ollama, tmp_path, OBEYED))["context window"]
    assert not finding.ok
    assert "made for 1024" in finding.detail
    assert "longer window" in finding.remedy
    assert {body["options"]["num_ctx"] for body in ollama.requests if "messages" in body} == {1024}


async def test_a_model_that_is_not_there(ollama: OllamaScript, tmp_path: Path) -> None:
    ollama.models = ("letters:latest",)
    findings = await found(ollama, tmp_path)
    assert "ollama pull small:1b" in findings["chat model"].remedy
    assert not findings["JSON schema obeyed"].ok
    assert findings["embedding model"].ok


@pytest.mark.lite
async def test_vectors_of_another_length(
    ollama: OllamaScript, tmp_path: Path, lite_settings: Settings
) -> None:
    models = {"ollama_url": ollama.url, "chat": "small:1b", "embedding": "letters"}
    settings = lite_settings.model_copy(
        update={"models": lite_settings.models.model_copy(update=models), "kb": "dimensions"}
    )
    (tmp_path / "a.md").write_text("A cab.\n")
    async with Agent(settings) as agent:
        await agent.ingest([tmp_path])
    ollama.letters, ollama.replies = "abcd", [OBEYED]
    async with Agent(settings) as agent:
        findings = {finding.what: finding for finding in await diagnose(agent)}
    assert not findings["knowledge bases"].ok
    assert "dimensions: " in findings["knowledge bases"].detail
    assert findings["knowledge bases"].remedy
    assert findings["store"].ok
