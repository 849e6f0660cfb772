"""Suites of questions as JSON Lines, read and checked before anything is asked."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from evals.golds import Gold, parse_gold
from schemas.collection import Collection
from schemas.errors import UsageError

NO_DAY = dt.date(2026, 1, 1)
"""Handed in where a case names no day, so that a run does not depend on when it is made."""


class _Line(BaseModel):
    """One line of a suite. Further keys are notes."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str = Field(min_length=1)
    tags: tuple[str, ...] = ()
    question: str = Field(min_length=1)
    history: tuple[str, ...] = ()
    today: dt.date | None = None
    collection: Collection | str
    gold: JsonValue = Field()
    accept: JsonValue = None
    relevant: tuple[str | int, ...] = ()
    ids: tuple[str | int, ...] | None = None


@dataclass(frozen=True)
class Case:
    """A question with what is right for it. `kb` names the knowledge base that described the
    collection; `relevant` are ids of passages or documents, or values of a field.
    """

    suite: str
    id: str
    question: str
    collection: Collection
    gold: Gold
    today: dt.date = NO_DAY
    tags: tuple[str, ...] = ()
    history: tuple[str, ...] = ()
    kb: str | None = None
    relevant: tuple[str, ...] = ()
    ids: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Suite:
    name: str
    path: Path
    cases: tuple[Case, ...]


Find = Callable[[str, Path], Awaitable[tuple[Collection, str | None]]]
"""The collection that a suite's case only names, and the knowledge base that it stands for, if
any. UsageError where there is none.
"""


async def load_suite(path: Path, find: Find) -> Suite:
    """All cases of a suite. UsageError names file and line of the first thing that is wrong."""
    name = suite_name(path)
    cases: list[Case] = []
    seen: dict[str, int] = {}
    for number, text in _lines(path):
        at = f"{path}:{number}"
        line = _parse(text, at)
        if line.id in seen:
            raise UsageError(f"{at}: the id {line.id!r} stands in line {seen[line.id]}, too")
        seen[line.id] = number
        cases.append(await _case(line, at, name, path, find))
    if not cases:
        raise UsageError(f"{path} holds no case")
    return Suite(name, path, tuple(cases))


def suite_name(path: Path) -> str:
    """The file's name up to its first dot: `peps` of `peps.filters.jsonl`."""
    return path.name.split(".")[0]


def read_collection(path: Path) -> Collection:
    """A described collection; UsageError names the file and what is wrong with it."""
    try:
        return Collection.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UsageError(
            f"{path} does not exist",
            remedy="describe the collection there, or name it with --collection FILE or --kb NAME",
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    except ValidationError as error:
        raise UsageError(f"{path} does not describe a collection: {_faults(error)}") from error


def sampled(cases: Sequence[Case], limit: int | None) -> tuple[Case, ...]:
    """At most `limit` cases, evenly over the suite, those of one collection together: the
    model's prompt then begins alike from case to case.
    """
    count = len(cases) if limit is None else min(limit, len(cases))
    chosen = [cases[index * len(cases) // count] for index in range(count)]
    places: dict[str, int] = {}
    for case in chosen:
        places.setdefault(_collection_key(case), len(places))
    return tuple(sorted(chosen, key=lambda case: places[_collection_key(case)]))


def _collection_key(case: Case) -> str:
    return json.dumps([case.collection.name, [f.name for f in case.collection.fields]])


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise UsageError(f"{path} does not exist") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    # Only line feeds end a line: JSON strings may hold other separators that Unicode knows.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line


def json_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Objects with their places, `file:line`. UsageError for a line that is none."""
    for number, text in _lines(path):
        at = f"{path}:{number}"
        yield at, _object(text, at)


def _object(text: str, at: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(f"{at}: not JSON: {error.msg} at character {error.pos}") from error
    if not isinstance(found, dict):
        raise UsageError(f"{at}: a line is one JSON object, not {type(found).__name__}")
    return found


def _parse(text: str, at: str) -> _Line:
    try:
        return _Line.model_validate(_object(text, at))
    except ValidationError as error:
        raise UsageError(f"{at}: {_faults(error)}") from error


async def _case(line: _Line, at: str, suite: str, path: Path, find: Find) -> Case:
    try:
        if isinstance(line.collection, str):
            collection, kb = await find(line.collection, path)
        else:
            collection, kb = line.collection, None
        gold = parse_gold(line.gold, line.accept, collection)
    except UsageError as error:
        raise UsageError(f"{at}: {error}", remedy=error.remedy) from error
    return Case(
        suite=suite,
        id=line.id,
        question=line.question,
        collection=collection,
        gold=gold,
        today=line.today or NO_DAY,
        tags=line.tags,
        history=line.history,
        kb=kb,
        relevant=tuple(map(str, line.relevant)),
        ids=None if line.ids is None else tuple(map(str, line.ids)),
    )


def _faults(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(map(str, item['loc'])) or 'line'}: {item['msg']}"
        for item in error.errors(include_url=False)[:3]
    )
