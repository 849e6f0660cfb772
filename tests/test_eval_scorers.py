"""Scorers of filters against tables made by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.golds import parse_gold
from evals.scorers.conditions import compare, is_false_filter, is_missed_filter
from evals.scorers.execution import Rows, is_same_selection, selected, selection_f1
from evals.scorers.rates import percentile, rate, share, wilson
from evals.scorers.structure import is_accepted, is_exact
from schemas.errors import FilterError
from tests.eval_cases import PAPERS, both, either, leaf, parsed

ADA, GRACE = leaf("eq", "author", "Ada Lovelace"), leaf("eq", "author", "Grace Hopper")
SINCE = leaf("ge", "year", 1843)
YEAR_2024 = leaf("ge", "day", "2024-01-01"), leaf("le", "day", "2024-12-31")


@pytest.mark.parametrize(
    ("said", "gold", "exact"),
    [
        (None, None, True),
        (ADA, None, False),
        (None, ADA, False),
        (both(ADA, SINCE), both(SINCE, ADA), True),
        (ADA, both(ADA, SINCE), False),
        (both(ADA, SINCE), either(ADA, SINCE), False),
        (leaf("eq", "author", "ADA  lovelace"), ADA, True),
        (leaf("eq", "year", "1843"), leaf("eq", "year", 1843), True),
        (leaf("gt", "year", 1842), SINCE, True),
        (leaf("gt", "score", 4), leaf("ge", "score", 5), False),
        (leaf("eq", "day", "2024"), both(*YEAR_2024), True),
        (leaf("gt", "day", "2024-06"), leaf("ge", "day", "2024-07-01"), True),
        (leaf("eq", "tags", "maths"), leaf("contains", "tags", "maths"), True),
        (
            either(leaf("contains", "tags", "maths"), leaf("contains", "tags", "engines")),
            leaf("in", "tags", ["engines", "maths"]),
            True,
        ),
        (leaf("contains", "author", "Ada"), leaf("eq", "author", "Ada"), False),
        (either(ADA, GRACE), leaf("in", "author", ["Grace Hopper", "Ada Lovelace"]), True),
        ({"op": "not", "of": ADA}, leaf("ne", "author", "Ada Lovelace"), True),
        ({"op": "not", "of": SINCE}, SINCE, False),
        (leaf("empty", "day"), leaf("not_empty", "day"), False),
    ],
)
def test_exact(said: Any, gold: Any, exact: bool) -> None:
    right = parse_gold(gold, None, PAPERS)
    assert is_exact(parsed(said), right, PAPERS) is exact
    assert is_accepted(parsed(said), right, PAPERS) is exact


@pytest.mark.parametrize(
    ("said", "exact", "accepted"),
    [
        (both(ADA, SINCE), True, True),
        (both(leaf("eq", "author", "Lovelace"), SINCE), False, True),
        (both(leaf("eq", "author", "lovelace "), leaf("gt", "year", 1842)), False, True),
        (both(leaf("eq", "author", "Byron"), SINCE), False, False),
        (both(leaf("ne", "author", "Lovelace"), SINCE), False, False),
        (ADA, False, True),
        (None, False, False),
    ],
)
def test_accept_of_filters_and_of_values(said: Any, exact: bool, accepted: bool) -> None:
    gold = both({**ADA, "accept": ["Lovelace", "Countess of Lovelace"]}, SINCE)
    right = parse_gold(gold, [ADA], PAPERS)
    assert is_exact(parsed(said), right, PAPERS) is exact
    assert is_accepted(parsed(said), right, PAPERS) is accepted


def test_an_accepted_value_that_is_asked_for_itself_stays() -> None:
    engines = leaf("contains", "tags", "engines")
    gold = both({**leaf("contains", "tags", "maths"), "accept": ["engines", "sums"]}, engines)
    right = parse_gold(gold, None, PAPERS)
    assert is_accepted(parsed(both(leaf("contains", "tags", "maths"), engines)), right, PAPERS)
    assert is_accepted(parsed(both(leaf("contains", "tags", "sums"), engines)), right, PAPERS)
    assert not is_accepted(parsed(engines), right, PAPERS)


def test_no_filter_may_be_accepted() -> None:
    right = parse_gold(ADA, [None], PAPERS)
    assert is_accepted(parsed(None), right, PAPERS)
    assert is_missed_filter(parsed(None), right) is None


@pytest.mark.parametrize(
    ("gold", "accept", "words"),
    [
        (leaf("eq", "autor", "x"), None, "gold: unknown field 'autor'"),
        (leaf("contains", "year", 1), None, "gold: contains is not allowed"),
        (ADA, [leaf("eq", "year", "soon")], "accept[0]"),
        ({**ADA, "accept": "Lovelace"}, None, "list of values"),
        ({**leaf("eq", "year", 1), "accept": ["soon"]}, None, "'soon'"),
    ],
)
def test_a_gold_has_to_fit_its_collection(gold: Any, accept: Any, words: str) -> None:
    with pytest.raises(FilterError, match=words.replace("[", r"\[").replace("]", r"\]")):
        parse_gold(gold, accept, PAPERS)


@pytest.mark.parametrize(
    ("said", "gold", "said_hits", "meant_hits"),
    [
        (None, None, [], []),
        (ADA, None, [False], []),
        (None, both(ADA, SINCE), [], [False, False]),
        (both(ADA, SINCE), both(SINCE, ADA), [True, True], [True, True]),
        (both(ADA, leaf("le", "year", 1843)), both(ADA, SINCE), [True, False], [True, False]),
        (either(ADA, SINCE), both(ADA, SINCE), [True, True], [True, True]),
        ({"op": "not", "of": SINCE}, SINCE, [False], [False]),
        (
            either(both(ADA, SINCE), both(ADA, leaf("lt", "score", 1))),
            both(ADA, SINCE),
            [True, True, False, False],
            [True, True],
        ),
    ],
)
def test_conditions(said: Any, gold: Any, said_hits: list[bool], meant_hits: list[bool]) -> None:
    found = compare(parsed(said), parse_gold(gold, None, PAPERS), PAPERS)
    assert [one.hit for one in found.said] == said_hits
    assert [one.hit for one in found.meant] == meant_hits
    assert found.hits == sum(said_hits)


def test_conditions_are_judged_by_the_nearest_right_filter_with_operators_as_written() -> None:
    gold = parse_gold(both(ADA, SINCE), [both(GRACE, leaf("contains", "tags", "maths"))], PAPERS)
    found = compare(parsed(both(GRACE, leaf("eq", "tags", "maths"))), gold, PAPERS)
    assert [(one.field, one.op, one.hit) for one in found.said] == [
        ("author", "eq", True),
        ("tags", "contains", True),
    ]


@pytest.mark.parametrize(
    ("said", "gold", "false", "missed"),
    [
        (None, None, False, None),
        (ADA, None, True, None),
        (None, ADA, None, True),
        (GRACE, ADA, None, False),
    ],
)
def test_false_and_missed_filters(
    said: Any, gold: Any, false: bool | None, missed: bool | None
) -> None:
    right = parse_gold(gold, None, PAPERS)
    assert is_false_filter(parsed(said), right) is false
    assert is_missed_filter(parsed(said), right) is missed


ROWS: Rows = [
    ("a", {"author": "Ada Lovelace", "year": 1843, "tags": ["engines"]}),
    ("b", {"author": "Grace Hopper", "year": 1952}),
    ("c", {"year": 1950, "tags": ["maths", "engines"]}),
]


@pytest.mark.parametrize(
    ("said", "ids", "same", "f1"),
    [
        (leaf("lt", "year", 1900), {"a"}, True, 1.0),
        (ADA, {"a"}, True, 1.0),
        (GRACE, {"b"}, True, 1.0),
        (leaf("ne", "author", "Ada Lovelace"), {"b"}, True, 1.0),
        (leaf("contains", "tags", "engines"), {"a", "c"}, False, 2 / 3),
        (leaf("gt", "year", 2000), set(), False, 0.0),
        (None, {"a", "b", "c"}, False, 0.5),
    ],
)
def test_execution_against_either_right_filter(
    said: Any, ids: set[str], same: bool, f1: float
) -> None:
    assert selected(parsed(said), ROWS, PAPERS) == ids
    gold = parse_gold(ADA, [GRACE], PAPERS)
    assert is_same_selection(parsed(said), gold, ROWS, PAPERS) is same
    assert selection_f1(parsed(said), gold, ROWS, PAPERS) == pytest.approx(f1)


def test_two_empty_selections_agree() -> None:
    gold = parse_gold(leaf("gt", "year", 2000), None, PAPERS)
    assert selection_f1(parsed(leaf("lt", "year", 1)), gold, ROWS, PAPERS) == 1


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    # Wilson (1927), as statsmodels.proportion_confint(method="wilson") gives it
    [
        (0, 10, 0.0, 0.2775),
        (5, 10, 0.2366, 0.7634),
        (10, 10, 0.7225, 1.0),
        (81, 263, 0.2553, 0.3662),
        (1, 1, 0.2065, 1.0),
    ],
)
def test_wilson(hits: int, n: int, low: float, high: float) -> None:
    assert wilson(hits, n) == pytest.approx([low, high], abs=1e-4)


@given(st.integers(0, 500), st.integers(0, 500))
def test_an_interval_holds_its_rate(hits: int, misses: int) -> None:
    found = share(hits, hits + misses)
    if found["rate"] is None or found["ci95"] is None:
        assert hits + misses == 0
        return
    low, high = found["ci95"]
    assert 0 <= low <= found["rate"] + 1e-4
    assert found["rate"] - 1e-4 <= high <= 1


def test_a_rate_counts_only_what_is_known() -> None:
    assert rate([True, None, False, None]) == share(1, 2)


@pytest.mark.parametrize(
    ("values", "q", "expected"),
    [([], 50, None), ([7], 95, 7), ([1, 2, 3, 4], 50, 2.5), ([4, 1, 3, 2, 5], 95, 4.8)],
)
def test_percentile(values: list[float], q: float, expected: float | None) -> None:
    assert percentile(values, q) == expected
