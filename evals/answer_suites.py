"""Suites of questions to be answered from passages that they bring along.

A line is `{"id", "question", "history"?, "tags"?, "contexts"?: [{"id", "title"?, "text"}],
"answerable"?: true | false | null}`, or one of mtRAG-UN (`task_id`, `input`, `contexts`,
`answerability`). `answerable` null or absent: neither answering nor declining is judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evals.suites import json_lines, suite_name
from schemas.errors import UsageError

_ANSWERABLE = {"ANSWERABLE": True, "UNANSWERABLE": False}


class Context(BaseModel):
    """One passage, or a longer text."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str = Field(min_length=1)
    title: str = ""
    text: str


class AnswerCase(BaseModel):
    """One question. `contexts` may be empty where a knowledge base is asked."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    history: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    contexts: tuple[Context, ...] = ()
    answerable: bool | None = None


@dataclass(frozen=True)
class AnswerSuite:
    name: str
    path: Path
    cases: tuple[AnswerCase, ...]


def load_answer_suite(path: Path) -> AnswerSuite:
    """UsageError names file and line of the first thing that is wrong."""
    found: dict[str, AnswerCase] = {}
    for at, obj in json_lines(path):
        try:
            case = AnswerCase.model_validate(_of_mtrag(obj, at) if "task_id" in obj else obj)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise UsageError(f"{at}: {where}: {first['msg']}") from error
        if case.id in found:
            raise UsageError(f"{at}: the id {case.id!r} stands in the suite twice")
        found[case.id] = case
    if not found:
        raise UsageError(f"{path} holds no case")
    return AnswerSuite(suite_name(path), path, tuple(found.values()))


def _of_mtrag(obj: Mapping[str, Any], at: str) -> dict[str, Any]:
    """The last user turn is the question; those before it are the history."""
    try:
        said = [turn["text"] for turn in obj["input"] if turn["speaker"] == "user"]
        labels = [str(label) for label in obj["answerability"]]
        contexts = [
            {"id": one["document_id"], "title": one.get("title") or "", "text": one["text"]}
            for one in obj["contexts"]
        ]
    except (KeyError, TypeError) as error:
        raise UsageError(f"{at}: not a turn of mtRAG: {error}") from error
    if not said:
        raise UsageError(f"{at}: no user turn")
    return {
        "id": str(obj["task_id"]),
        "question": said[-1],
        "history": said[:-1],
        "tags": [label.lower() for label in labels],
        "contexts": contexts,
        "answerable": _answerable(labels),
    }


def _answerable(labels: Sequence[str]) -> bool | None:
    return _ANSWERABLE.get(labels[0]) if len(labels) == 1 else None
