"""Changes of files are noticed, and a watching command ends cleanly."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.cli.ingesting import report_text
from agent.ingest.report import FileNote, FileReason, IngestReport
from agent.ingest.watch import Watch, watching
from schemas.errors import UsageError


def is_markdown(path: Path) -> bool:
    return path.suffix == ".md"


async def told(watch: Watch) -> None:
    await asyncio.wait_for(watch.changed(), 20)


async def silent(watch: Watch) -> bool:
    try:
        await asyncio.wait_for(watch.changed(), 2.5)
    except TimeoutError:
        return True
    return False


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "hr").mkdir(parents=True)
    (folder / "hr" / "a.md").write_text("Old.", encoding="utf-8")
    return folder


CHANGES: dict[str, Callable[[Path], object]] = {
    "written": lambda root: (root / "hr" / "a.md").write_text("New.", encoding="utf-8"),
    "added": lambda root: (root / "b.md").write_text("New.", encoding="utf-8"),
    "deleted": lambda root: (root / "hr" / "a.md").unlink(),
    "folder moved away": lambda root: (root / "hr").rename(root.parent / "hr"),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_changes_below_a_folder_are_told(root: Path, change: str) -> None:
    async with watching([root], is_markdown) as watch:
        await asyncio.sleep(0.3)
        CHANGES[change](root)
        await told(watch)


async def test_what_is_no_document_is_not_told(root: Path) -> None:
    async with watching([root], is_markdown) as watch:
        await asyncio.sleep(0.3)
        for name in ("x.log", ".hidden.md", ".git/c.md"):
            path = root / name
            path.parent.mkdir(exist_ok=True)
            path.write_text("text", encoding="utf-8")
        assert await silent(watch)


async def test_a_file_is_watched_through_being_replaced_and_no_other(root: Path) -> None:
    file = root / "hr" / "a.md"
    async with watching([file], is_markdown) as watch:
        await asyncio.sleep(0.3)
        (root / "hr" / "other.md").write_text("text", encoding="utf-8")
        assert await silent(watch)
        for _ in range(2):
            (root / "hr" / "new").write_text("Newer.", encoding="utf-8")
            (root / "hr" / "new").replace(file)
            await told(watch)


async def test_a_missing_path_is_named(root: Path) -> None:
    with pytest.raises(UsageError, match="nowhere"):
        async with watching([root / "nowhere"], is_markdown):
            pytest.fail("it is watched")


async def test_an_error_of_the_one_who_watches_comes_out_as_it_is(root: Path) -> None:
    with pytest.raises(UsageError, match="mine"):
        async with watching([root], is_markdown):
            raise UsageError("mine")


def test_a_report_names_files_lines_and_reasons() -> None:
    text = report_text(
        IngestReport(
            kb="kb",
            added=("a.csv#1",),
            pruned=("a.csv#2",),
            skipped=(FileReason(file="b.png", reason="no loader for .png"),),
            notes=(FileNote(file="a.csv#1", message="odd", field="year", line=2),),
            failed=tuple(
                FileReason(file=f"a.csv#{row}", reason="broken", remedy="mend it", line=row)
                for row in range(3, 103)
            ),
        )
    )
    lines = text.splitlines()
    assert "pruned          1" in lines
    assert "failed        100" in lines
    assert "skipped b.png: no loader for .png" in lines
    assert "note a.csv#1, line 2: year: odd" in lines
    assert "failed a.csv#3, line 3: broken (mend it)" in lines
    assert lines[-1] == "… and 50 more failed; --json names all"
