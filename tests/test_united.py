"""Several knowledge bases as one collection, and one filter for each of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.check import bind
from schemas.collection import Collection, Field, FieldType, Profile
from schemas.compile.predicate import to_predicate
from schemas.errors import FilterError
from schemas.filters import EVERYTHING, NOTHING, AllOf, AnyOf, Compare, Filter, Not, Op
from schemas.normalise import normalise
from schemas.united import fitted, unfit, united

LETTERS = Collection(
    name="letters",
    fields=(
        Field(
            name="author",
            type=FieldType.STRING,
            values=("Ann", "Bob"),
            synonyms={"Ann": ("A.",)},
            profile=Profile(
                rows=10, missing=1, distinct=2, top=(("Ann", 6), ("Bob", 3)), complete=True
            ),
        ),
        Field(
            name="year",
            type=FieldType.INT,
            profile=Profile(rows=10, minimum=2019, maximum=2021, complete=True),
        ),
        Field(name="place", type=FieldType.STRING),
    ),
    version="3",
)
REPORTS = Collection(
    name="reports",
    fields=(
        Field(
            name="author",
            type=FieldType.STRING,
            description="who wrote it",
            values=("ann", "Cid"),
            synonyms={"Ann": ("Anna",)},
            profile=Profile(
                rows=5, missing=0, distinct=2, top=(("Cid", 4), ("ann", 1)), complete=True
            ),
        ),
        Field(name="year", type=FieldType.STRING, values=("2020",)),
        Field(name="pages", type=FieldType.INT),
    ),
    version="8",
)
BOTH = united((LETTERS, REPORTS))


def eq(field: str, value: str | int) -> Compare:
    return Compare(op=Op.EQ, field=field, value=value)


def test_one_knowledge_base_stays_as_it_is() -> None:
    assert united((LETTERS,)) is LETTERS


def test_fields_of_one_name_and_type_are_one() -> None:
    assert [field.name for field in BOTH.fields] == ["author", "year", "place", "pages"]
    author = BOTH.field("author")
    assert author.values == ("Ann", "Bob", "Cid")
    assert author.synonyms == {"Ann": ("A.", "Anna")}
    assert author.description == "who wrote it"
    assert author.profile is not None
    assert (author.profile.rows, author.profile.missing, author.profile.distinct) == (15, 1, 3)
    assert author.profile.top[:2] == (("Ann", 6), ("Cid", 4))
    assert BOTH.version == "3+8"


def test_a_field_of_another_type_is_that_of_the_first() -> None:
    assert BOTH.field("year") == LETTERS.field("year")
    assert united((REPORTS, LETTERS)).field("year").type is FieldType.STRING


def test_not_all_values_are_known_where_one_of_them_does_not_know() -> None:
    unknown = REPORTS.model_copy(
        update={"fields": (REPORTS.fields[0].model_copy(update={"profile": None}),)}
    )
    assert united((LETTERS, unknown)).field("author").profile is None


def test_bounds_are_the_outermost() -> None:
    later = Collection(
        name="later",
        fields=(
            Field(name="year", type=FieldType.INT, profile=Profile(minimum=2020, maximum=2030)),
        ),
    )
    profile = united((LETTERS, later)).field("year").profile
    assert profile is not None
    assert (profile.minimum, profile.maximum, profile.complete) == (2019, 2030, False)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        (eq("author", "Ann"), eq("author", "Ann")),
        (eq("place", "Rome"), NOTHING),
        (AnyOf(of=(eq("place", "Rome"), eq("author", "Ann"))), eq("author", "Ann")),
        (AllOf(of=(eq("place", "Rome"), eq("author", "Ann"))), NOTHING),
        (Not(of=eq("place", "Rome")), NOTHING),
        (Not(of=AnyOf(of=(eq("place", "Rome"), eq("author", "Ann")))), NOTHING),
        (Compare(op=Op.NE, field="place", value="Rome"), NOTHING),
        (Compare(op=Op.EMPTY, field="place"), EVERYTHING),
        (Compare(op=Op.NOT_EMPTY, field="place"), NOTHING),
        (Not(of=Compare(op=Op.NOT_EMPTY, field="place")), EVERYTHING),
        (eq("year", 2020), NOTHING),
        (Not(of=eq("year", 2020)), NOTHING),
        (Compare(op=Op.EMPTY, field="year"), NOTHING),
    ],
)
def test_a_filter_for_one_of_them(asked: Filter, meant: Filter) -> None:
    assert normalise(fitted(asked, BOTH, REPORTS)) == meant


def test_what_cannot_be_told_is_reported() -> None:
    asked = AllOf(of=(eq("place", "Rome"), eq("year", 2020), eq("author", "Ann"), eq("place", "x")))
    problems = unfit(asked, BOTH, (LETTERS, REPORTS))
    assert [(p.code, p.field, p.value) for p in problems] == [
        ("field_not_in_kb", "place", "reports"),
        ("field_type_differs", "year", "reports"),
    ]
    assert unfit(Compare(op=Op.EMPTY, field="place"), BOTH, (LETTERS, REPORTS)) == ()
    assert unfit(asked, LETTERS, (LETTERS,)) == ()


def test_a_field_that_none_of_them_has_is_an_error() -> None:
    with pytest.raises(FilterError, match="unknown field 'colour'"):
        bind(eq("colour", "red"), BOTH)


LEAVES = st.one_of(
    st.builds(eq, st.just("author"), st.sampled_from(("Ann", "Cid"))),
    st.builds(eq, st.just("place"), st.sampled_from(("Rome", "Oslo"))),
    st.sampled_from(
        (Compare(op=Op.EMPTY, field="place"), Compare(op=Op.NE, field="place", value="Rome"))
    ),
    st.builds(lambda pages: Compare(op=Op.GE, field="pages", value=pages), st.integers(0, 9)),
)
FILTERS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda of: AllOf(of=tuple(of))),
        st.lists(inner, max_size=3).map(lambda of: AnyOf(of=tuple(of))),
        inner.map(lambda of: Not(of=of)),
    ),
    max_leaves=6,
)


@settings(max_examples=300)
@given(FILTERS, st.sampled_from(("Ann", "Cid", None)), st.sampled_from((None, 3, 8)))
def test_a_missing_field_is_a_missing_value(
    f: Filter, author: str | None, pages: int | None
) -> None:
    """The fitted filter keeps a row exactly where the filter would on the united fields."""
    row = {k: v for k, v in {"author": author, "pages": pages}.items() if v is not None}
    there = to_predicate(bind(fitted(f, BOTH, REPORTS), REPORTS))
    assert there(row) == to_predicate(bind(f, BOTH))(row)
