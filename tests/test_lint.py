"""What is found in the metadata of a knowledge base, and what is not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.lint.findings import Finding, Kind
from agent.lint.linter import lint
from agent.lint.near import near_duplicates
from agent.store.profiles import Tally
from schemas.collection import Collection, Field, FieldType
from schemas.hits import Document

FIELDS = (
    Field(name="title", type=FieldType.STRING),
    Field(name="department", type=FieldType.STRING),
    Field(name="tags", type=FieldType.STRING_LIST),
    Field(name="published", type=FieldType.DATE),
)


def found(
    rows: list[dict[str, Any]],
    access: tuple[str, ...] = (),
    fields: tuple[Field, ...] = FIELDS,
) -> list[Finding]:
    documents = [
        Document(id=f"{number:02}", kb="kb", source="", title="", metadata=row)
        for number, row in enumerate(rows)
    ]
    tallies = [Tally(field) for field in fields]
    for row in rows:
        for tally in tallies:
            tally.add(row.get(tally.field.name))
    described = Collection(name="kb", fields=tuple(tally.described() for tally in tallies))
    return list(lint(described, documents, access))


def row(number: int, **more: Any) -> dict[str, Any]:
    return {
        "title": f"Title {number}",
        "department": ("HR", "Legal")[number % 2],
        "tags": ["a", f"topic {'xyz'[number % 3]}"],
        "published": f"2024-01-{number + 1:02}",
        **more,
    }


GOOD = [row(number) for number in range(12)]


def test_nothing_is_found_where_all_is_well() -> None:
    assert found(GOOD, access=("department",)) == []
    assert found([], access=("department",)) == []


@pytest.mark.parametrize(
    ("values", "groups"),
    [
        (["HR", "H.R.", "Legal"], [("HR", "H.R.")]),
        (["研发部", "研发中心", "市场部"], [("研发中心", "研发部")]),
        (["Marketing", "Marketing Department"], [("Marketing", "Marketing Department")]),
        (["engineering", "enginering"], [("engineering", "enginering")]),
        (["v2.1", "v2.2"], []),
        (["budget 2023", "budget 2024"], []),
        (["Draft", "Drift"], []),
        (["HR", "PR"], []),
        (["部", "处", "。", "?"], []),
        (["on-call", "on call", "oncall"], [("on call", "on-call", "oncall")]),
    ],
)
def test_near_duplicates(values: list[str], groups: list[tuple[str, ...]]) -> None:
    expected = [tuple(sorted(group)) for group in groups]
    counts = dict.fromkeys(values, 1)
    assert [tuple(sorted(group)) for group in near_duplicates(counts)] == expected


@given(st.dictionaries(st.text(max_size=12), st.integers(1, 9), max_size=12))
def test_groups_are_apart_and_begin_with_the_commonest(counts: dict[str, int]) -> None:
    groups = near_duplicates(counts)
    members = [value for group in groups for value in group]
    assert len(members) == len(set(members))
    assert all(counts[group[0]] == max(counts[value] for value in group) for group in groups)


def test_the_commonest_writing_stands_first() -> None:
    rows = [*GOOD, row(12, department="H.R.", tags=["a"])]
    (one,) = found(rows)
    assert (one.kind, one.field, one.values) == (Kind.NEAR_DUPLICATES, "department", ("HR", "H.R."))
    assert "HR (6), H.R. (1)" in one.message


def test_case_matters_only_where_access_depends_on_it() -> None:
    rows = [*GOOD, row(12, department="Hr "), row(13, department="hr")]
    assert found(rows) == []
    (one,) = found(rows, access=("Department",))
    assert set(one.values) == {"HR", "Hr ", "hr"}


@pytest.mark.parametrize(
    ("rows", "kind", "field", "count"),
    [
        ([*GOOD, row(12, department=None)], Kind.ACCESS_MISSING, "department", 1),
        ([*GOOD, row(12, published="")], Kind.UNDATED, None, 1),
        ([*GOOD, row(12, _unread={"pages": "many"})], Kind.UNREAD, "pages", 1),
        ([*GOOD, row(12, colour="red")], Kind.CANNOT_FILTER, "colour", 1),
        ([row(n, department="HR") for n in range(4)], Kind.CANNOT_FILTER, "department", 4),
        (
            [row(n, department=f"d{n} x{n}") for n in range(12)],
            Kind.CANNOT_FILTER,
            "department",
            12,
        ),
        (
            [row(n, tags=["a", "b", "c"][n % 3 : n % 3 + n % 2]) for n in range(12)],
            Kind.MISSING,
            "tags",
            6,
        ),
        ([row(n, tags=[]) for n in range(12)], Kind.CANNOT_FILTER, "tags", 12),
    ],
)
def test_each_kind_is_found_alone(
    rows: list[dict[str, Any]], kind: Kind, field: str | None, count: int
) -> None:
    (one,) = found(rows, access=("department",))
    assert (one.kind, one.field, one.count) == (kind, field, count)
    assert one.remedy


def test_no_field_for_days_is_told() -> None:
    rows = [{"title": f"t{n}"} for n in range(3)]
    (one,) = found(rows, fields=FIELDS[:1])
    assert (one.kind, one.count) == (Kind.UNDATED, 3)
    assert "no field holds days" in one.message


def test_the_most_harmful_comes_first() -> None:
    rows = [*GOOD, row(12, department=None, published=None, colour="red", _unread={"x": "y"})]
    kinds = [one.kind for one in found(rows, access=("department",))]
    assert kinds == [Kind.ACCESS_MISSING, Kind.UNREAD, Kind.UNDATED, Kind.CANNOT_FILTER]
