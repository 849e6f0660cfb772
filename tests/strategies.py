"""Collections, rows and filters made at random, so that filters match some rows and not others."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st
from pydantic import JsonValue

from schemas.collection import Collection, Column, ColumnKind, Encoding, Field, FieldType, Profile
from schemas.filters import AllOf, AnyOf, Compare, Filter, Not, Op
from schemas.folding import fold
from schemas.operators import MEMBERSHIP, allowed_ops
from tests.hostile import hostile

WORDS = (
    "HR",
    "hr",
    "Ｈｒ",
    "finance",
    "Finance  dept",
    "legal",
    "it's",
    'say "no"',
    "a\\b",
    "C:\\dir\\",
    "50%off",
    "50xxoff",
    "a_b",
    "axb",
    "%",
    "_",
    "\\",
    "100%",
    "new\nline",
    "tab\there",
    "新能源",
    "新能源汽车",
    "学习",
    "Straße",
    "STRASSE",
    "ﬁsh",
    "é",
    "e\u0301",
    "İstanbul",
    "😀 smile",
    "null",
    "true",
    "and",
    ") or (1 == 1",
    '" or s like "%',
    "2023",
    "001",
    "1",
    "z" * 60,
    "\u200b x",
    "ΑΣ",
    "{x}",
    "[abc]",
    "a.b*c",
    "$meta",
    "\U0010ffff",
    "\ud7ff",
    "'",
    "''",
    "\x00nul",
    "\x7f",
)
PLAIN_WORDS = tuple(
    word.lower() for word in ("hr", "finance", "a_b", "axb", "50%off", "a\\b", "新")
)
BLANKS: tuple[JsonValue, ...] = (None, "", "  ")
INTS = (0, 1, -1, 2, 3, 7, 2020, 2023, 2024, 2**31, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), -5)
FLOATS = (0.0, -0.0, 0.1, 0.3, 0.7, 1.0, 2.5, -2.5, 1e308, -1e308, 5e-324, 3.0, 0.1 + 0.2, 1e16)
SINGLES = (0.0, 0.1, 0.3, 0.7, 1.0, 2.5, -2.5, 1e30, 16777217.0)
DAYS = (
    "2023-12-31", "2024-01-01", "2024-01-31", "2024-02-29", "2024-05-15", "2024-07-01",
    "2024-12-31", "2025-01-01", "1969-12-31", "1970-01-01", "0001-01-01", "9999-12-31",
)  # fmt: skip
TIMES = (
    "2023-12-31T23:59:59Z", "2024-01-01T00:00:00Z", "2024-01-01T08:30:00+08:00",
    "2024-01-01T12:00:00.250Z", "2024-05-15T00:00:00Z", "2024-05-15T23:59:59.999Z",
    "2024-12-31T23:00:00-05:00", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z",
)  # fmt: skip
PERIODS: tuple[str | int, ...] = (2024, "2024", "2024-05", "2024-Q1", "2024-W01", "9999", "1969")


@dataclass(frozen=True)
class Made:
    """A field with the values that its rows hold and those that filters name."""

    field: Field
    rows: tuple[JsonValue, ...]
    asked: tuple[str | int | float | bool, ...]


def words_like(rng: random.Random, words: tuple[str, ...]) -> str:
    """A word, a part of one, or one written in another way."""
    word = rng.choice(words)
    match rng.randrange(5):
        case 0:
            start = rng.randrange(len(word))
            part = word[start : start + rng.randint(1, 4)]
            return part if fold(part) else word
        case 1:
            return f" {word.upper()} "
        case _:
            return word


def strings(name: str, rng: random.Random, column: Column, **known: object) -> Made:
    """A string field in one of our own columns, or in a foreign one with its values known."""
    rows = (*rng.sample(WORDS, 11), *(hostile(rng) for _ in range(4)))
    field = Field(name=name, type=FieldType.STRING, column=column).model_copy(update=known)
    asked = (*(words_like(rng, rows) for _ in range(20)), *rng.sample(WORDS, 2), hostile(rng))
    return Made(field, rows, asked)


def letterwise(name: str, rng: random.Random, column: Column) -> Made:
    """A foreign string field whose values are not known: only folded texts compare alike."""
    field = Field(name=name, type=FieldType.STRING, column=column)
    return Made(field, PLAIN_WORDS, PLAIN_WORDS)


def numbers(name: str, type_: FieldType, column: Column, pool: tuple[float, ...]) -> Made:
    asked: tuple[str | float, ...] = (
        *pool,
        2.5,
        0.5,
        "2",
        " 2023 ",
        "0.1",
        1e30,
        -1e30,
        2**53 + 1,
        2**63 - 1,
    )
    return Made(Field(name=name, type=type_, column=column), pool, asked)


def bools(name: str, column: Column) -> Made:
    field = Field(name=name, type=FieldType.BOOL, column=column)
    return Made(field, (True, False), (True, False, "yes", "否"))


def dates(name: str, type_: FieldType, column: Column, rows: tuple[JsonValue, ...]) -> Made:
    times = TIMES if type_ is FieldType.DATETIME else TIMES[:2]
    return Made(Field(name=name, type=type_, column=column), rows, (*DAYS, *PERIODS, *times))


def string_lists(name: str, rng: random.Random, column: Column, **known: object) -> Made:
    words = (*rng.sample(WORDS, 8), *(hostile(rng) for _ in range(3)))
    field = Field(name=name, type=FieldType.STRING_LIST, column=column).model_copy(update=known)
    lists: list[JsonValue] = [list(rng.sample(words, rng.randint(1, 3))) for _ in range(12)]
    asked = tuple(words_like(rng, words) for _ in range(15))
    return Made(field, (*lists, [words[0], words[0]]), asked)


def int_lists(name: str, rng: random.Random, column: Column) -> Made:
    lists: list[JsonValue] = [list(rng.sample(INTS, rng.randint(1, 3))) for _ in range(12)]
    field = Field(name=name, type=FieldType.INT_LIST, column=column)
    return Made(field, tuple(lists), (*INTS, 2.5, "3"))


def own_fields(rng: random.Random) -> tuple[Made, ...]:
    """One field of each type, in columns as our own collections have them."""
    f = FieldType
    k = ColumnKind
    day = Column(name="c_day", kind=k.INT, encoding=Encoding.DAY_NUMBER)
    time = Column(name="c_time", kind=k.INT, encoding=Encoding.EPOCH_MS)
    folded = Encoding.FOLDED
    title = Column(name="c_title", kind=k.VARCHAR, encoding=folded, exact="x_title")
    tags = Column(name="c_tags", kind=k.ARRAY, encoding=folded, joined="j_tags")
    nums = Column(name="c_nums", kind=k.ARRAY, joined="j_nums")
    return (
        strings("Pick #", rng, title),
        strings("部门", rng, Column(name="c_dept", kind=k.VARCHAR, encoding=folded)),
        numbers("year", f.INT, Column(name="c_year", kind=k.INT), INTS),
        numbers("score", f.NUMBER, Column(name="c_score", kind=k.DOUBLE), FLOATS),
        bools("open", Column(name="c_open", kind=k.BOOL)),
        dates("published", f.DATE, day, DAYS),
        dates("seen", f.DATETIME, time, (*TIMES, *DAYS[:4])),
        string_lists("tags", rng, tags),
        int_lists("nums", rng, nums),
    )


def collection_of(made: tuple[Made, ...], name: str = "kb") -> Collection:
    return Collection(name=name, fields=tuple(each.field for each in made))


def row_of(rng: random.Random, made: tuple[Made, ...]) -> dict[str, JsonValue]:
    """Values as people write them; about one in five is missing in one of the possible ways."""
    row: dict[str, JsonValue] = {}
    for each in made:
        if rng.random() < 0.2:
            blanks = BLANKS if each.field.type.element is FieldType.STRING else (None,)
            blank = rng.choice((*blanks, [])) if each.field.type.is_list else rng.choice(blanks)
            if rng.random() < 0.7:
                row[each.field.name] = blank
        else:
            row[each.field.name] = rng.choice(each.rows)
    return row


def compare_of(rng: random.Random, made: tuple[Made, ...]) -> Compare:
    each = rng.choice(made)
    op = rng.choice(allowed_ops(each.field.type))
    if not op.takes_value:
        return Compare(op=op, field=each.field.name)
    if op in MEMBERSHIP:
        items = tuple(rng.choice(each.asked) for _ in range(rng.choice((0, 1, 2, 3, 6))))
        return Compare(op=op, field=each.field.name, value=items)
    return Compare(op=op, field=each.field.name, value=rng.choice(each.asked))


def filter_of(rng: random.Random, leaf: Callable[[], Compare], depth: int = 6) -> Filter:
    if depth == 1 or rng.random() < 0.25:
        return leaf()
    if rng.random() < 0.25:
        return Not(of=filter_of(rng, leaf, depth - 1))
    count = rng.choices((0, 1, 2, 3), weights=(1, 2, 20, 8))[0]
    parts = tuple(filter_of(rng, leaf, depth - 1) for _ in range(count))
    return AllOf(of=parts) if rng.random() < 0.5 else AnyOf(of=parts)


@dataclass(frozen=True)
class World:
    """A collection with some rows and a filter over it."""

    made: tuple[Made, ...]
    collection: Collection
    rows: tuple[dict[str, JsonValue], ...]
    filter: Filter


def world_of(seed: int) -> World:
    rng = random.Random(seed)  # noqa: S311  # repeatable, not secret
    made = own_fields(rng)
    rows = tuple(row_of(rng, made) for _ in range(12))
    root = filter_of(rng, lambda: compare_of(rng, made))
    return World(made, collection_of(made), rows, root)


WORLDS = st.integers(0, 2**32).map(world_of)

_VALUES = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
_NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


def _compares(op: Op) -> st.SearchStrategy[Compare]:
    if not op.takes_value:
        return st.builds(Compare, op=st.just(op), field=_NAMES)
    values = st.lists(_VALUES, max_size=4).map(tuple) if op in MEMBERSHIP else _VALUES
    return st.builds(Compare, op=st.just(op), field=_NAMES, value=values)


COMPARES = st.sampled_from(Op).flatmap(_compares)
FILTERS: st.SearchStrategy[Filter] = st.recursive(
    COMPARES,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda parts: AllOf(of=tuple(parts)))
        | st.lists(inner, max_size=3).map(lambda parts: AnyOf(of=tuple(parts)))
        | inner.map(lambda part: Not(of=part))
    ),
    max_leaves=12,
)
"""Filters of any field and value, not bound to a collection."""

COMPLETE = Profile(complete=True)
