"""A run: cases answered one after another into a folder, and taken up again where it stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from pydantic import JsonValue, ValidationError

from schemas.errors import UsageError
from schemas.model import Shape

CASES, SPARE, SUMMARY, ENVIRONMENT, LOCK = (
    "cases.jsonl",
    "spare.jsonl",
    "summary.json",
    "environment.json",
    ".lock",
)


class Record(Shape):
    """One line of `cases.jsonl`. `key` is the hash of all that the result depends on; `result`
    is what came out, `scores` how it was judged.
    """

    key: str
    suite: str
    id: str
    arm: str
    model: str | None = None
    question: str
    tags: tuple[str, ...] = ()
    result: Mapping[str, JsonValue]
    scores: Mapping[str, JsonValue]


@dataclass(frozen=True)
class Task:
    """One case under one arm: how to get its result, and how to judge it. Judging is cheap and
    done again on every run, so that a corrected suite needs no new answers.
    """

    key: str
    suite: str
    id: str
    arm: str
    model: str | None
    question: str
    tags: tuple[str, ...]
    work: Callable[[], Awaitable[Mapping[str, JsonValue]]]
    judge: Callable[[Mapping[str, JsonValue]], Mapping[str, JsonValue]]

    def record(self, result: Mapping[str, JsonValue]) -> Record:
        return Record(
            key=self.key,
            suite=self.suite,
            id=self.id,
            arm=self.arm,
            model=self.model,
            question=self.question,
            tags=self.tags,
            result=result,
            scores=self.judge(result),
        )


class RunFolder:
    """The files of a run. `cases.jsonl` holds the cases of the present run only; finished ones
    that it does not need are kept in `spare.jsonl` for a later one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"the run folder {path} cannot be made: {error}") from error

    @contextmanager
    def taken(self) -> Iterator[None]:
        """The folder is this run's alone. UsageError while another one writes into it."""
        lock = FileLock(self.path / LOCK, timeout=0)
        try:
            lock.acquire()
        except Timeout as error:
            raise UsageError(
                f"another run writes into {self.path}", remedy="wait for it, or give another --out"
            ) from error
        try:
            yield
        finally:
            lock.release()

    def reuse(self, tasks: Sequence[Task]) -> dict[str, Record]:
        """The finished tasks by key, judged anew; the folder then holds these alone."""
        known = {**self._read(SPARE), **self._read(CASES)}
        done = {
            task.key: task.record(known[task.key].result) for task in tasks if task.key in known
        }
        spare = [record for key, record in known.items() if key not in done]
        self._write(SPARE, spare)
        self._write(CASES, list(done.values()))
        return done

    def append(self, record: Record) -> None:
        """Add a finished case; it is on disk when this returns."""
        with (self.path / CASES).open("a", encoding="utf-8") as file:
            file.write(record.model_dump_json() + "\n")
            file.flush()
            os.fsync(file.fileno())

    def save(self, name: str, document: Mapping[str, Any]) -> None:
        text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
        self._replace(name, text)

    def _read(self, name: str) -> dict[str, Record]:
        """Records by key. A last line that a killed run left unfinished counts as not there."""
        path = self.path / name
        if not path.exists():
            return {}
        found: dict[str, Record] = {}
        lines = path.read_text(encoding="utf-8").split("\n")
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                record = Record.model_validate_json(line)
            except ValidationError as error:
                if number == len(lines):
                    break
                raise UsageError(
                    f"{path}:{number} is no case of a run",
                    remedy="move the folder away, or name another with --out",
                ) from error
            found[record.key] = record
        return found

    def _write(self, name: str, records: Sequence[Record]) -> None:
        if records or (self.path / name).exists():
            self._replace(name, "".join(record.model_dump_json() + "\n" for record in records))

    def _replace(self, name: str, text: str) -> None:
        """Whole or not at all."""
        draft = self.path / f"{name}.new"
        draft.write_text(text, encoding="utf-8")
        draft.replace(self.path / name)


OnProgress = Callable[[int, int, int], None]
"""Finished, of them reused, all."""


async def run_tasks(
    folder: RunFolder, tasks: Sequence[Task], on_progress: OnProgress
) -> tuple[Record, ...]:
    """The records of all tasks, in their order; what is finished already is not done again."""
    done = folder.reuse(tasks)
    reused = len(done)
    on_progress(reused, reused, len(tasks))
    for task in tasks:
        if task.key not in done:
            done[task.key] = task.record(await task.work())
            folder.append(done[task.key])
            on_progress(len(done), reused, len(tasks))
    return tuple(done[task.key] for task in tasks)


async def run_whole(
    folder: RunFolder,
    environment: Mapping[str, Any],
    tasks: Sequence[Task],
    summarise: Callable[[Sequence[Record]], Mapping[str, Any]],
    on_progress: OnProgress,
) -> dict[str, Any]:
    """All tasks into a folder, with what they were made under and the summary, which is
    returned.
    """
    with folder.taken():
        folder.save(ENVIRONMENT, environment)
        records = await run_tasks(folder, tasks, on_progress)
        summary = {**summarise(records), "folder": str(folder.path)}
        folder.save(SUMMARY, summary)
    return summary
