"""What missing values are shown as, and what a filter on that word means."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.results import references
from graph.context import Context
from schemas.access import Principal
from schemas.check import bind, check
from schemas.collection import Collection, Field, FieldType
from schemas.compile.predicate import to_predicate
from schemas.defaults import with_defaults
from schemas.filters import parse_filter, to_json
from schemas.hits import Passage
from tests.conftest import FirstSentences, MemoryStore
from tests.graph_runs import run

KB = Collection(
    name="kb",
    fields=(
        Field(name="department", type=FieldType.STRING, values=("HR",), default="未指定部门"),
        Field(name="category", type=FieldType.STRING, values=("General", "x"), default="General"),
        Field(name="tags", type=FieldType.STRING_LIST, default="untagged"),
        Field(name="published", type=FieldType.DATE, default="undated"),
        Field(name="status", type=FieldType.STRING),
    ),
)
EMPTY = {"op": "empty", "field": "department"}
PRESENT = {"op": "not_empty", "field": "department"}


def leaf(field: str, op: str, value: Any) -> dict[str, Any]:
    return {"op": op, "field": field, "value": value}


@pytest.mark.parametrize(
    ("given_", "meant"),
    [
        (leaf("department", "eq", "未指定部门"), EMPTY),
        (leaf("department", "eq", " 未指定部门 "), EMPTY),
        (leaf("department", "ne", "未指定部门"), PRESENT),
        (
            leaf("department", "in", ["HR", "未指定部门"]),
            {"op": "or", "of": [leaf("department", "in", ["HR"]), EMPTY]},
        ),
        (leaf("department", "in", ["未指定部门"]), EMPTY),
        (
            leaf("department", "not_in", ["HR", "未指定部门"]),
            {"op": "and", "of": [leaf("department", "not_in", ["HR"]), PRESENT]},
        ),
        ({"op": "not", "of": leaf("department", "eq", "未指定部门")}, {"op": "not", "of": EMPTY}),
        (leaf("tags", "contains", "Untagged"), {"op": "empty", "field": "tags"}),
        (leaf("tags", "not_contains", "untagged"), {"op": "not_empty", "field": "tags"}),
        (leaf("published", "eq", "undated"), {"op": "empty", "field": "published"}),
        (
            leaf("category", "eq", "general"),
            {
                "op": "or",
                "of": [leaf("category", "eq", "general"), {"op": "empty", "field": "category"}],
            },
        ),
        (
            leaf("department", "contains", "未指定部门"),
            leaf("department", "contains", "未指定部门"),
        ),
        (leaf("status", "eq", "未指定部门"), leaf("status", "eq", "未指定部门")),
    ],
)
def test_a_filter_on_the_word_asks_for_missing_values(given_: Any, meant: Any) -> None:
    bound = bind(parse_filter(given_), KB)
    assert to_json(bound.root) == meant
    again = to_predicate(bind(bound.root, KB))
    rows: list[dict[str, Any]] = [{}, {"department": "HR"}, {"category": "General"}]
    assert [again(row) for row in rows] == [to_predicate(bound)(row) for row in rows]


def test_a_scope_is_taken_literally() -> None:
    scope = parse_filter(leaf("department", "eq", "未指定部门"))
    holds = to_predicate(bind(scope, KB, literal=True), exact=True)
    assert not holds({})
    assert holds({"department": "未指定部门"})


def test_other_faults_are_still_found() -> None:
    found = check(parse_filter(leaf("published", "eq", "someday")), KB)
    assert [problem.code for problem in found.problems] == ["bad_value"]


@given(
    st.dictionaries(
        st.sampled_from(["department", "category", "tags", "published", "extra"]),
        st.sampled_from([None, "", " ", "HR", [], ["a"], "2024-01-31"]),
    )
)
def test_what_is_shown_is_never_blank_where_there_is_a_default(metadata: dict[str, Any]) -> None:
    before = dict(metadata)
    shown = with_defaults(metadata, KB.fields)
    assert metadata == before
    assert all(shown[field.name] for field in KB.fields if field.default)
    assert all(
        shown[name] == value for name, value in before.items() if value not in (None, "", " ", [])
    )


@pytest.mark.parametrize("op", ["eq", "ne"])
def test_what_is_shown_as_the_word_is_found_by_it(op: str) -> None:
    holds = to_predicate(bind(parse_filter(leaf("category", op, "General")), KB))
    rows: list[dict[str, Any]] = [{}, {"category": "General"}, {"category": "x"}]
    found = [with_defaults(row, KB.fields)["category"] for row in rows if holds(row)]
    assert found == (["General", "General"] if op == "eq" else ["x"])


class Watching(FirstSentences):
    """Remembers the metadata of the passages that it was sent."""

    def __init__(self) -> None:
        self.seen: dict[str, dict[str, Any]] = {}

    async def write(
        self, question: str, passages: Sequence[Passage], notes: Sequence[str]
    ) -> AsyncIterator[str]:
        self.seen = {passage.doc_id: dict(passage.metadata) for passage in passages}
        async for piece in super().write(question, passages, notes):
            yield piece


def worded(store: MemoryStore) -> None:
    """Let missing values of the store's collection be shown as words."""
    words = {"category": "uncategorised", "pages": "unknown"}
    store.collection = Collection(
        name="company",
        version="1",
        fields=tuple(
            field.model_copy(update={"default": words.get(field.name, "")})
            for field in store.collection.fields
        ),
    )


async def test_answers_show_the_words_and_filters_do_not_see_them(
    store: MemoryStore, make_context: Callable[..., Context]
) -> None:
    worded(store)
    writer = Watching()
    context = make_context(writer=writer)
    caller = parse_filter(leaf("category", "eq", "Uncategorised"))
    state = await run(context, caller=caller)
    assert {ref.doc_id for ref in state["hits"]} == {"d4"}
    assert writer.seen["d4"]["category"] == "uncategorised"
    (reference,) = references(state["hits"], context)
    assert reference.metadata["category"] == "uncategorised"
    assert reference.metadata["pages"] == "unknown"
    assert "category" not in context.passages["company", "d4#0"].metadata


async def test_a_grant_on_the_word_opens_nothing(
    store: MemoryStore, make_context: Callable[..., Context]
) -> None:
    worded(store)
    granted = parse_filter(leaf("category", "eq", "uncategorised"))
    somebody = Principal(name="somebody", grants={"company": granted})
    state = await run(make_context(principal=somebody))
    assert not state["hits"]
