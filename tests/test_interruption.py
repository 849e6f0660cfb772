"""Ingest that is cut off: what is visible is whole, and the next run goes on."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.app import Agent
from agent.settings import Settings
from schemas.access import LOCAL
from tests.test_cli import facetwise, runtime_env

pytestmark = pytest.mark.lite

DOCUMENTS = 60
SENTENCES = 120
SMALL_BATCHES = {"FACETWISE_INGEST__WRITE_BATCH": "20", "FACETWISE_INGEST__EMBED_BATCH": "16"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents of several chunks each; the marker in the text says which version it is."""
    folder = tmp_path_factory.mktemp("many")
    write_version(folder, 1)
    return folder


def write_version(folder: Path, version: int) -> None:
    for number in range(DOCUMENTS):
        text = " ".join(
            f"Sentence {i} of document {number} in version {version}." for i in range(SENTENCES)
        )
        header = f"---\ntitle: Document {number}\naccess: public\nversion: v{version}\n---\n\n"
        (folder / f"{number:03}.md").write_text(header + text)


@pytest.fixture(scope="module")
def settings(lite_settings: Settings) -> Settings:
    return lite_settings.model_copy(update={"kb": "many"})


def cut_off(folder: Path, settings: Settings, seconds: float, kind: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "agent.cli", "ingest", str(folder), "--kb", "many"],
        env={**os.environ, **runtime_env(settings), **SMALL_BATCHES},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(seconds)
    process.send_signal(kind)
    _, stderr = process.communicate(timeout=60)
    assert "Traceback" not in stderr


def visible(settings: Settings) -> dict[str, set[str]]:
    """The versions seen in each visible document; checks that each is all there."""

    async def look() -> dict[str, set[str]]:
        async with Agent(settings) as agent:
            if "many" not in await agent.kbs():
                return {}
            store = await agent.store()
            scope = LOCAL.scope("many")
            seen: dict[str, set[str]] = {}
            for document in await agent.documents("many"):
                passages = await store.documents.passages("many", document.id, scope)
                assert len(passages) == document.chunks > 1
                assert all(passage.metadata["access"] == "public" for passage in passages)
                seen[document.id] = {str(passage.metadata["version"]) for passage in passages}
                assert all(
                    f"version {version[1:]}." in passage.text
                    for passage in passages
                    for version in seen[document.id]
                )
            return seen

    return asyncio.run(look())


@pytest.mark.parametrize(
    ("version", "kind"), [(1, signal.SIGKILL), (2, signal.SIGKILL), (3, signal.SIGINT)]
)
def test_an_interrupted_run_leaves_whole_documents_and_the_next_one_completes(
    folder: Path, settings: Settings, version: int, kind: signal.Signals
) -> None:
    write_version(folder, version)
    for seconds in (2.0, 3.0, 4.5):
        cut_off(folder, settings, seconds, kind)
        for versions in visible(settings).values():
            assert len(versions) == 1
    done = facetwise(
        *("ingest", str(folder), "--kb", "many", "--json"),
        cwd=folder,
        env=runtime_env(settings),
    )
    assert done.returncode == 0, done.stderr
    assert visible(settings) == {f"{n:03}.md": {f"v{version}"} for n in range(DOCUMENTS)}
