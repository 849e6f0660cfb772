from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given

from schemas.check import bind
from schemas.compile.predicate import to_predicate
from schemas.facts import implies, is_contradiction, is_tautology
from schemas.filters import (
    EVERYTHING,
    NOTHING,
    AllOf,
    AnyOf,
    Filter,
    Not,
    all_of,
    dump_filter,
    parse_filter,
)
from schemas.normalise import normalise
from tests.strategies import FILTERS, WORLDS, World, compare_of, filter_of


@given(FILTERS)
def test_normalising_again_changes_nothing(f: Filter) -> None:
    once = normalise(f)
    assert dump_filter(normalise(once)) == dump_filter(once)


@given(WORLDS)
def test_meaning_is_kept(world: World) -> None:
    before = to_predicate(bind(world.filter, world.collection))
    after = to_predicate(bind(normalise(world.filter), world.collection))
    assert [before(row) for row in world.rows] == [after(row) for row in world.rows]


@given(WORLDS)
def test_meaning_is_kept_under_negation_too(world: World) -> None:
    before = to_predicate(bind(Not(of=world.filter), world.collection))
    after = to_predicate(bind(Not(of=normalise(world.filter)), world.collection))
    assert [before(row) for row in world.rows] == [after(row) for row in world.rows]


def eq(value: Any, field: str = "x", op: str = "eq") -> dict[str, Any]:
    return {"op": op, "field": field, "value": value}


def both(*of: Any) -> dict[str, Any]:
    return {"op": "and", "of": list(of)}


def either(*of: Any) -> dict[str, Any]:
    return {"op": "or", "of": list(of)}


def no(of: Any) -> dict[str, Any]:
    return {"op": "not", "of": of}


A, B, C = eq(1), eq(2, "y"), eq(3, "z")
TRUE, FALSE = both(), either()
FORMS = [
    (both(A, both(B, both(C))), both(A, B, C)),
    (either(A, either(B, C)), either(A, B, C)),
    (both(A), A),
    (both(either(A)), A),
    (both(A, B, A), both(A, B)),
    (both(A, TRUE), A),
    (both(A, FALSE, B), FALSE),
    (either(A, TRUE), TRUE),
    (either(FALSE, A), A),
    (no(no(A)), A),
    (no(TRUE), FALSE),
    (no(eq(1)), eq(1, op="ne")),
    (no(eq("a", op="contains")), eq("a", op="not_contains")),
    (no(eq("a", op="starts_with")), no(eq("a", op="starts_with"))),
    (no(eq(1, op="gt")), no(eq(1, op="gt"))),
    (no({"op": "empty", "field": "x"}), {"op": "not_empty", "field": "x"}),
    (no(both(A, B)), either(eq(1, op="ne"), eq(2, "y", "ne"))),
    (either(eq(1), eq(2), eq([2, 3], op="in")), eq([1, 2, 3], op="in")),
    (either(eq(1), B, eq(2)), either(eq([1, 2], op="in"), B)),
    (both(eq(1, op="ne"), eq([2], op="not_in")), eq([1, 2], op="not_in")),
    (both(eq(1), eq(2)), both(eq(1), eq(2))),
    (eq(["a"], op="in"), eq("a")),
    (eq("a", op="in"), eq("a")),
    (eq(["a"], op="not_in"), eq("a", op="ne")),
    (eq([1, 1, True, 1.0], op="in"), eq([1, True, 1.0], op="in")),
    (eq([], op="in"), eq([], op="in")),
]


@pytest.mark.parametrize(("given", "form"), FORMS)
def test_form(given: Any, form: Any) -> None:
    assert dump_filter(normalise(parse_filter(given))) == dump_filter(parse_filter(form))


def test_merging_stays_within_the_bounds() -> None:
    long = eq(list(range(6_000)), op="in"), eq(list(range(5_000, 11_000)), op="in")
    f = parse_filter(either(*long))
    assert normalise(f) == f


def test_constants_are_the_constants() -> None:
    assert normalise(Not(of=NOTHING)) == normalise(AllOf(of=(EVERYTHING,))) == EVERYTHING
    assert normalise(AnyOf(of=(NOTHING, NOTHING))) == NOTHING


@given(WORLDS)
def test_facts_hold_on_rows(world: World) -> None:
    bound = bind(world.filter, world.collection)
    matches = [to_predicate(bound)(row) for row in world.rows]
    if is_contradiction(bound):
        assert not any(matches)
    if is_tautology(bound):
        assert all(matches)


@given(WORLDS)
def test_what_is_implied_is_kept(world: World) -> None:
    rng = random.Random(dump_filter(world.filter))  # noqa: S311  # repeatable, not secret
    other = filter_of(rng, lambda: compare_of(rng, world.made), depth=2)
    wide = bind(other, world.collection)
    narrow = bind(all_of(other, world.filter), world.collection)
    keeps, kept = to_predicate(narrow), to_predicate(wide)
    if implies(narrow, wide):
        assert all(kept(row) for row in world.rows if keeps(row))
    if implies(wide, narrow):
        assert all(keeps(row) for row in world.rows if kept(row))
