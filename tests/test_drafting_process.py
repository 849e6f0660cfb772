"""Many documents are drafted in a process of their own, with the same outcome as in this one."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from agent.ingest.loaders.registry import DEFAULT_LOADERS
from agent.ingest.options import IngestOptions
from agent.ingest.pipeline import Ingest
from agent.ingest.stream import MANY_DOCUMENTS
from schemas.errors import IngestError
from tests.fakes_ingest import CountingEmbedder, LinesLoader, MemoryLibrary

KB = "many"
CHILD = "agent.ingest.drafting_child"
COUNT = MANY_DOCUMENTS + 10


def put(folder: Path, count: int, name: str = "staff.lines") -> Path:
    lines = (
        f"k{number}|Person {number} works here.|year={2000 + number % 20}\n"
        for number in range(count)
    )
    (folder / name).write_text("".join(lines), encoding="utf-8")
    return folder


def ingest(library: MemoryLibrary, loader: LinesLoader | None = None) -> Ingest:
    return Ingest(library, CountingEmbedder(), loaders=(loader or LinesLoader(), *DEFAULT_LOADERS))


def children() -> list[psutil.Process]:
    return [one for one in psutil.Process().children() if CHILD in " ".join(one.cmdline())]


def until(true: Callable[[], object], what: str) -> None:
    for _ in range(1_000):
        if true():
            return
        time.sleep(0.02)
    raise AssertionError(f"never: {what}")


async def test_the_same_documents_come_out_of_it(tmp_path: Path) -> None:
    many, few = MemoryLibrary(), MemoryLibrary()
    put(tmp_path, COUNT)
    report = await ingest(many).run(KB, [tmp_path])
    assert report.failed == ()
    assert len(report.added) == COUNT
    put(tmp_path, 20)
    await ingest(few).run(KB, [tmp_path])
    for id_, (draft, _) in few.documents(KB).items():
        assert many.draft(KB, id_) == draft
    again = await ingest(many).run(KB, [tmp_path])
    assert len(again.unchanged) == 20
    assert not children()


async def test_what_fails_is_told_as_ever(tmp_path: Path) -> None:
    put(tmp_path, COUNT)
    with (tmp_path / "staff.lines").open("a", encoding="utf-8") as file:
        file.write("z|A person without a year.\n")
    options = IngestOptions(required_fields=("year",))
    loaders = (LinesLoader(), *DEFAULT_LOADERS)
    built = Ingest(MemoryLibrary(), CountingEmbedder(), options, loaders=loaders)
    report = await built.run(KB, [tmp_path])
    assert len(report.added) == COUNT
    assert [one.file for one in report.failed] == ["staff.lines#z"]


async def test_a_loader_of_the_callers_own_that_cannot_be_pickled(tmp_path: Path) -> None:
    class Local(LinesLoader):
        """Its class is known in this function alone."""

    library = MemoryLibrary()
    put(tmp_path, COUNT)
    report = await ingest(library, Local()).run(KB, [tmp_path])
    assert len(report.added) == COUNT


async def test_a_child_that_dies_is_our_error_and_the_next_run_goes_on(tmp_path: Path) -> None:
    library = MemoryLibrary(hold=True)
    put(tmp_path, 4 * COUNT)
    run = asyncio.create_task(ingest(library).run(KB, [tmp_path]))
    await library.writing.wait()
    (child,) = children()
    child.kill()
    library.hold = False
    library.writing.clear()
    with pytest.raises(IngestError, match="has ended with code"):
        await run
    report = await ingest(library).run(KB, [tmp_path])
    assert len(library.documents(KB)) == 4 * COUNT
    assert report.failed == ()


async def test_a_run_that_is_cancelled_leaves_no_child(tmp_path: Path) -> None:
    library = MemoryLibrary(hold=True)
    put(tmp_path, COUNT)
    run = asyncio.create_task(ingest(library).run(KB, [tmp_path]))
    await library.writing.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert not children()


SCRIPT = """
import asyncio, sys
from pathlib import Path
from agent.ingest.loaders.registry import DEFAULT_LOADERS
from agent.ingest.options import IngestOptions
from agent.ingest.pipeline import Ingest
from tests.fakes_ingest import CountingEmbedder, LinesLoader, MemoryLibrary

class Mine(LinesLoader):
    pass

print("started", flush=True)
loader = {"own": Mine, "known": LinesLoader}[sys.argv[2]]()
library = MemoryLibrary(hold=sys.argv[3] == "hold")
ingest = Ingest(library, CountingEmbedder(), loaders=(loader, *DEFAULT_LOADERS))
print(len(asyncio.run(ingest.run("kb", [Path(sys.argv[1])])).added))
"""


def script(folder: Path, *arguments: str) -> list[str]:
    file = folder / "without_guard.py"
    file.write_text(SCRIPT, encoding="utf-8")
    return [sys.executable, str(file), *arguments]


@pytest.mark.parametrize("loader", ["known", "own"])
def test_a_script_without_a_guard_runs_once(tmp_path: Path, loader: str) -> None:
    """`own`: the child cannot load what the script itself defines."""
    records = tmp_path / "records"
    records.mkdir()
    put(records, COUNT)
    env = {**os.environ, "PYTHONPATH": os.getcwd()}
    command = script(tmp_path, str(records), loader, "go")
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["started", str(COUNT)]
    assert done.stderr == ""


def test_the_child_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    records = tmp_path / "records"
    records.mkdir()
    put(records, 10 * COUNT)
    env = {**os.environ, "PYTHONPATH": os.getcwd()}
    command = script(tmp_path, str(records), "known", "hold")
    parent = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
    try:
        found: list[psutil.Process] = []

        def started() -> bool:
            found[:] = [
                one
                for one in psutil.Process(parent.pid).children()
                if CHILD in " ".join(one.cmdline())
            ]
            return bool(found)

        until(started, "a child")
    finally:
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
    until(lambda: not found[0].is_running() or _is_zombie(found[0]), "the child's end")


def _is_zombie(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
