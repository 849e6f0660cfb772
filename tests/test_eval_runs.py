"""Runs that are cut off go on where they stopped."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import JsonValue

from evals.progress import duration, progress_line
from evals.runs import CASES, SPARE, Record, RunFolder, Task, run_tasks, run_whole
from schemas.errors import UsageError


class Work:
    """Tasks that count how often each is done; `stop_at` is where somebody pulls the plug."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.done: list[int] = []
        self._stop_at = stop_at

    def task(self, number: int, key: str | None = None, right: int = 0) -> Task:
        async def work() -> Mapping[str, JsonValue]:
            if number == self._stop_at:
                raise asyncio.CancelledError
            self.done.append(number)
            return {"value": number}

        return Task(
            key=key or f"k{number}",
            suite="s",
            id=str(number),
            arm="planned",
            model=None,
            question="?",
            tags=(),
            work=work,
            judge=lambda result: {"right": result["value"] == right},
        )


def lines(folder: Path, name: str = CASES) -> list[Record]:
    path = folder / name
    text = path.read_text() if path.exists() else ""
    return [Record.model_validate_json(line) for line in text.splitlines()]


async def test_a_killed_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    first, second = Work(stop_at=3), Work()
    with pytest.raises(asyncio.CancelledError):
        await run_tasks(RunFolder(tmp_path), [first.task(n) for n in range(5)], lambda *_: None)
    assert first.done == [0, 1, 2]
    assert [record.id for record in lines(tmp_path)] == ["0", "1", "2"]
    with (tmp_path / CASES).open("a") as file:
        file.write('{"key": "k3", "sui')  # what a killed process leaves of a line

    seen: list[tuple[int, int, int]] = []
    records = await run_tasks(
        RunFolder(tmp_path), [second.task(n) for n in range(5)], lambda *now: seen.append(now)
    )
    assert second.done == [3, 4]
    assert [record.id for record in records] == ["0", "1", "2", "3", "4"]
    assert lines(tmp_path) == list(records)
    assert seen == [(3, 3, 5), (4, 3, 5), (5, 3, 5)]


async def test_what_changed_is_done_again_and_what_is_judged_otherwise_is_not(
    tmp_path: Path,
) -> None:
    work = Work()
    await run_tasks(RunFolder(tmp_path), [work.task(0), work.task(1)], lambda *_: None)
    records = await run_tasks(
        RunFolder(tmp_path), [work.task(0, right=9), work.task(1, key="new")], lambda *_: None
    )
    assert work.done == [0, 1, 1]
    assert [record.scores["right"] for record in records] == [False, False]


async def test_cases_that_a_run_does_not_need_are_kept_for_a_later_one(tmp_path: Path) -> None:
    work = Work()
    every = [work.task(n) for n in range(4)]
    await run_tasks(RunFolder(tmp_path), every, lambda *_: None)
    await run_tasks(RunFolder(tmp_path), every[:1], lambda *_: None)
    assert [record.id for record in lines(tmp_path)] == ["0"]
    assert [record.id for record in lines(tmp_path, SPARE)] == ["1", "2", "3"]
    await run_tasks(RunFolder(tmp_path), every, lambda *_: None)
    assert work.done == [0, 1, 2, 3]
    assert lines(tmp_path, SPARE) == []


def test_a_foreign_file_is_no_run(tmp_path: Path) -> None:
    (tmp_path / CASES).write_text(json.dumps({"id": 1}) + "\n")
    with pytest.raises(UsageError, match=r"cases\.jsonl:1 is no case of a run"):
        RunFolder(tmp_path).reuse([])


def test_a_run_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be made"):
        RunFolder(tmp_path / "file" / "run")


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ((0, 0, 10, 0.0), "0/10 cases"),
        ((4, 2, 10, 6.0), "4/10 cases, 2 reused, 3.0 s each, 18 s left"),
        ((10, 0, 10, 6.0), "10/10 cases"),
        ((1, 0, 3601, 1.0), "1/3601 cases, 1.0 s each, 1 h 00 min left"),
    ],
)
def test_progress(now: tuple[int, int, int, float], expected: str) -> None:
    assert progress_line(*now) == expected


def test_duration() -> None:
    assert duration(61) == "1 min 01 s"


async def test_two_runs_do_not_write_into_one_folder(tmp_path: Path) -> None:
    work = Work()
    with RunFolder(tmp_path).taken(), pytest.raises(UsageError, match="another run"):
        await run_whole(RunFolder(tmp_path), {}, [work.task(0)], lambda _: {}, lambda *_: None)
    assert work.done == []
    summary = await run_whole(
        RunFolder(tmp_path),
        {"code": "c"},
        [work.task(0)],
        lambda records: {"cases": len(records)},
        lambda *_: None,
    )
    assert summary == {"cases": 1, "folder": str(tmp_path)}
