from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.check import bind
from schemas.collection import Collection, Column, ColumnKind, Encoding, Field, FieldType, Profile
from schemas.compile.dialects import Dialect
from schemas.compile.literals import after_prefix, identifier, json_path, quote
from schemas.compile.milvus import split, to_milvus
from schemas.compile.predicate import to_predicate
from schemas.errors import FilterError
from schemas.filters import EVERYTHING, NOTHING, AllOf, Compare, Filter, Op, parse_filter
from tests.strategies import WORDS, WORLDS, World

LITE, V23, V26, V30 = Dialect.LITE, Dialect.V23, Dialect.V26, Dialect.V30
K, E, F = ColumnKind, Encoding, FieldType


def at(name: str, kind: ColumnKind, encoding: Encoding = E.EXACT, **more: Any) -> Column:
    return Column(name=name, kind=kind, encoding=encoding, **more)


OWN = Collection(
    name="kb",
    fields=(
        Field(name="Pick #", type=F.INT, column=at("pick_1f", K.INT)),
        Field(name="dept", type=F.STRING, column=at("dept", K.VARCHAR, E.FOLDED, exact="dept_x")),
        Field(name="note", type=F.STRING, column=at("note", K.VARCHAR, E.FOLDED)),
        Field(name="score", type=F.NUMBER, column=at("score", K.DOUBLE)),
        Field(name="open", type=F.BOOL, column=at("open_b", K.BOOL)),
        Field(name="day", type=F.DATE, column=at("day", K.INT, E.DAY_NUMBER)),
        Field(name="seen", type=F.DATETIME, column=at("seen", K.INT, E.EPOCH_MS)),
        Field(
            name="tags",
            type=F.STRING_LIST,
            column=at("tags", K.ARRAY, E.FOLDED, joined="tags_j", exact="tags_x"),
        ),
        Field(name="nums", type=F.INT_LIST, column=at("nums", K.ARRAY, joined="nums_j")),
    ),
)


def leaf(field: str, op: str, value: Any = None) -> dict[str, Any]:
    return {"op": op, "field": field} | ({} if value is None else {"value": value})


def said(f: Any, dialect: Dialect = LITE, c: Collection = OWN, *, exact: bool = False) -> str:
    text = to_milvus(bind(parse_filter(f), c), dialect, exact=exact)
    return text.replace("\x1f", "^")


ON_LITE: list[tuple[Any, str]] = [
    (leaf("Pick #", "eq", 3), "(pick_1f == 3)"),
    (leaf("Pick #", "ne", 3), "((pick_1f is not null) and (pick_1f != 3))"),
    (leaf("Pick #", "lt", 2.5), "(pick_1f <= 2)"),
    (leaf("Pick #", "in", [3, 1, 3]), "(pick_1f in [3, 1])"),
    (leaf("Pick #", "not_in", [3, 1]), "((pick_1f is not null) and (pick_1f not in [3, 1]))"),
    (leaf("Pick #", "not_in", []), "(pick_1f is not null)"),
    (leaf("Pick #", "in", []), "(pick_1f > 0 and pick_1f < 0)"),
    (leaf("Pick #", "eq", -(2**63)), "(pick_1f < -9223372036854775807)"),
    (leaf("Pick #", "eq", 2**63 - 1), "(pick_1f == 9223372036854775807)"),
    (leaf("Pick #", "empty"), "(pick_1f is null)"),
    (leaf("Pick #", "not_empty"), "(pick_1f is not null)"),
    (leaf("dept", "eq", "Ｈ R"), '(dept == "h r")'),
    (leaf("dept", "in", ["HR", "hr", "it"]), '(dept in ["hr", "it"])'),
    (leaf("dept", "ge", "m"), '(dept >= "m")'),
    (leaf("dept", "contains", "R&D"), '(dept like "%r&d%")'),
    (leaf("dept", "not_contains", "x"), '((dept is not null) and (not (dept like "%x%")))'),
    (leaf("dept", "starts_with", "a%_"), '((dept >= "a%_") and (dept < "a%`"))'),
    (leaf("dept", "ends_with", "x"), '(dept like "%x")'),
    (
        {"op": "not", "of": leaf("dept", "starts_with", "ab")},
        '((dept < "ab") or (dept >= "ac"))',
    ),
    (leaf("score", "eq", 1), "(score == 1.0)"),
    (leaf("score", "gt", -0.0), "(score > 0.0)"),
    (leaf("score", "lt", 1e300), "(score < 1e+300)"),
    (leaf("open", "ne", True), "(open_b == false)"),
    ({"op": "not", "of": leaf("open", "eq", "yes")}, "(open_b == false)"),
    (leaf("open", "not_in", []), "((open_b == false) or (open_b == true))"),
    (leaf("day", "eq", "1970-01-02"), "(day == 1)"),
    (leaf("day", "eq", 1970), "((day >= 0) and (day < 365))"),
    (leaf("day", "in", ["1970-01-01", "1970-01-02"]), "(day in [0, 1])"),
    ({"op": "not", "of": leaf("day", "eq", 1970)}, "((day < 0) or (day >= 365))"),
    (leaf("seen", "gt", "1970-01-01"), "(seen >= 86400000)"),
    (leaf("seen", "eq", "1970-01-01T00:00:01.5Z"), "(seen == 1500)"),
    (leaf("tags", "contains", "A"), '(tags_j like "%^a^%")'),
    (leaf("tags", "eq", "a_b"), '(array_contains(tags, "a_b"))'),
    (leaf("tags", "in", ["a", "b"]), '((tags_j like "%^a^%") or (tags_j like "%^b^%"))'),
    (leaf("tags", "ne", "a"), '((tags_j is not null) and (not (tags_j like "%^a^%")))'),
    (leaf("tags", "not_in", []), "(tags_j is not null)"),
    (leaf("tags", "starts_with", "a"), '(tags_j like "%^a%")'),
    (leaf("tags", "empty"), "(tags_j is null)"),
    (leaf("nums", "contains", -5), '(nums_j like "%^-5^%")'),
    ({"op": "not", "of": {"op": "or", "of": [leaf("dept", "eq", "x"), leaf("day", "empty")]}},
     '(((dept is not null) and (dept != "x")) and (day is not null))'),
    ({"op": "or", "of": [leaf("Pick #", "gt", 1), leaf("dept", "empty")]},
     "((pick_1f > 1) or (dept is null))"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "expression"), ON_LITE)
def test_expression_on_lite(f: Any, expression: str) -> None:
    assert said(f) == expression


ON_SERVERS: list[tuple[Any, Dialect, str]] = [
    (leaf("tags", "contains", "A"), V26, '(array_contains(tags, "a"))'),
    (leaf("tags", "in", ["a", "b"]), V30, '(array_contains_any(tags, ["a", "b"]))'),
    (leaf("dept", "contains", "50%_\\"), V26, r'(dept like "%50\\%\\_\\\\%")'),
    (leaf("dept", "ends_with", "50%"), V30, r'(dept like "%50\\%")'),
    (leaf("dept", "ne", "x"), V23, '((dept != "") and (dept != "x"))'),
    (leaf("dept", "empty"), V23, '(dept == "")'),
    (leaf("dept", "lt", "m"), V23, '((dept != "") and (dept < "m"))'),
    (leaf("dept", "starts_with", "m"), V23, '((dept >= "m") and (dept < "n"))'),
    (leaf("Pick #", "ne", 1), V23, "(pick_1f != 1)"),
    (leaf("Pick #", "not_in", []), V23, "(pick_1f <= 0 or pick_1f > 0)"),
    (leaf("Pick #", "empty"), V23, "(pick_1f > 0 and pick_1f < 0)"),
    (leaf("nums", "contains", -5), V26, "(array_contains_any(nums, [-5]))"),
]


@pytest.mark.parametrize(("f", "dialect", "expression"), ON_SERVERS)
def test_expression_on_servers(f: Any, dialect: Dialect, expression: str) -> None:
    assert said(f, dialect) == expression


def foreign(type_: FieldType, column: Column, values: tuple[str, ...] = ()) -> Collection:
    profile = Profile(complete=bool(values))
    field = Field(name="x", type=type_, column=column, values=values, profile=profile)
    return Collection(name="foreign", fields=(field,))


UNFOLDED = foreign(F.STRING, at("x", K.VARCHAR))
KNOWN = foreign(F.STRING, at("x", K.VARCHAR), ("Human Resources", "HR", "hr", "Legal"))
PATH = foreign(F.STRING, at("doc", K.JSON, path=("a", 'q"k')))
ELSEWHERE: list[tuple[Any, Collection, str]] = [
    (leaf("x", "eq", "HR"), UNFOLDED, '(x == "HR")'),
    (leaf("x", "ne", "HR"), UNFOLDED, '(((x is not null) and (x != "")) and (x != "HR"))'),
    (leaf("x", "empty"), UNFOLDED, '((x is null) or (x == ""))'),
    (leaf("x", "eq", "Hr"), KNOWN, '(x in ["Hr", "HR", "hr"])'),
    (leaf("x", "contains", "R"), KNOWN, '(x in ["Human Resources", "HR", "hr"])'),
    (leaf("x", "contains", "50%"), KNOWN, '(x > "0" and x < "0")'),
    (
        leaf("x", "not_contains", "u"),
        KNOWN,
        '(((x is not null) and (x != "")) and (x != "Human Resources"))',
    ),
    (leaf("x", "eq", "v"), PATH, r'(doc["a"]["q\"k"] == "v")'),
    (leaf("x", "in", ["v", "w"]), PATH,
     r'((doc["a"]["q\"k"] == "v") or (doc["a"]["q\"k"] == "w"))'),
    (leaf("x", "ne", "v"), foreign(F.STRING, at("$meta", K.JSON, path=("k",))),
     '((((exists $meta["k"]) and ($meta["k"] > "")) and ($meta["k"] < "v")) '
     'or ($meta["k"] > "v"))'),
    (leaf("x", "eq", "2024-05-31"), foreign(F.DATE, at("x", K.VARCHAR, E.ISO_DAY)),
     '(x == "2024-05-31")'),
    (leaf("x", "lt", "2024-05"), foreign(F.DATE, at("x", K.VARCHAR, E.ISO_DAY)),
     '(((x is not null) and (x != "")) and (x < "2024-05-01"))'),
    (leaf("x", "eq", "2024-05"), foreign(F.DATE, at("x", K.INT, E.YYYYMMDD)),
     "((x >= 20240501) and (x < 20240601))"),
    (leaf("x", "eq", 2024), foreign(F.DATE, at("x", K.INT, E.YEAR)),
     "((x >= 2024) and (x < 2025))"),
    (leaf("x", "ge", "2024-05"), foreign(F.DATE, at("x", K.INT, E.YEAR)), "(x >= 2025)"),
    (leaf("x", "eq", "1970-01-02"), foreign(F.DATE, at("x", K.INT, E.EPOCH_S)),
     "((x >= 86400) and (x < 172800))"),
    (leaf("x", "gt", "1970-01-01T00:00:01.5Z"), foreign(F.DATETIME, at("x", K.INT, E.EPOCH_S)),
     "(x >= 2)"),
    (leaf("x", "eq", "1970-01-01T00:00:01.5Z"), foreign(F.DATETIME, at("x", K.INT, E.EPOCH_S)),
     "(x > 0 and x < 0)"),
    (leaf("x", "eq", "2024-05-31"), foreign(F.DATE, at("x", K.VARCHAR, E.ISO_TIME)),
     '((x >= "2024-05-31") and (((x is not null) and (x != "")) and (x < "2024-06-01")))'),
    (leaf("x", "eq", 0.1), foreign(F.NUMBER, at("x", K.FLOAT)),
     "((x >= 0.10000000149011612) and (x <= 0.10000000149011612))"),
    (leaf("x", "ne", "a"), foreign(F.STRING_LIST, at("x", K.ARRAY)),
     '(((x is not null) and (array_length(x) != 0)) and (not (array_contains(x, "a"))))'),
    (leaf("x", "empty"), foreign(F.STRING_LIST, at("x", K.ARRAY)),
     "((x is null) or (array_length(x) == 0))"),
    (leaf("x", "starts_with", "h"), foreign(F.STRING_LIST, at("x", K.ARRAY), ("HR", "hq", "IT")),
     '(array_contains_any(x, ["HR", "hq"]))'),
    (leaf("x", "eq", 1), foreign(F.INT, at("doc", K.JSON, path=("n",))), '(doc["n"] == 1)'),
]  # fmt: skip


@pytest.mark.parametrize(("f", "c", "expression"), ELSEWHERE)
def test_expression_on_foreign_columns(f: Any, c: Collection, expression: str) -> None:
    assert said(f, LITE, c) == expression


def test_json_null_is_missing_on_servers_too() -> None:
    c = foreign(F.INT, at("doc", K.JSON, path=("n",)))
    path = 'doc["n"]'
    assert said(leaf("x", "not_empty"), V26, c) == f"({path} <= 0 or {path} > 0)"
    assert said(leaf("x", "empty"), V26, c) == (
        f"((not (exists {path})) or (not ({path} <= 0 or {path} > 0)))"
    )
    assert said(leaf("x", "empty"), LITE, c) == f"(not (exists {path}))"


def test_membership_in_json_is_a_list_on_servers_only() -> None:
    c = foreign(F.INT, at("doc", K.JSON, path=("n",)))
    path = 'doc["n"]'
    some, none = leaf("x", "in", [1, 2]), leaf("x", "not_in", [1, 2])
    assert said(some, LITE, c) == f"(({path} == 1) or ({path} == 2))"
    assert said(some, V26, c) == f"({path} in [1, 2])"
    assert said(none, V26, c) == (f"(({path} <= 0 or {path} > 0) and ({path} not in [1, 2]))")


def test_constants() -> None:
    assert said({"op": "and", "of": []}) == ""
    for dialect in Dialect:
        assert to_milvus(bind(NOTHING, OWN), dialect) == "(pick_1f > 0 and pick_1f < 0)"
    assert to_milvus(bind(NOTHING, Collection(name="bare", fields=())), LITE) == "(1 == 2)"
    assert said({"op": "or", "of": [leaf("dept", "eq", "x"), {"op": "and", "of": []}]}) == ""


SCOPE = [
    (leaf("dept", "eq", "ACME Ltd"), '(dept_x == "ACME Ltd")'),
    (leaf("dept", "in", ["a", "A"]), '(dept_x in ["a", "A"])'),
    (leaf("dept", "ne", "A"), '(((dept_x is not null) and (dept_x != "")) and (dept_x != "A"))'),
    (leaf("Pick #", "eq", 3), "(pick_1f == 3)"),
    (leaf("tags", "contains", "Ab"), '(tags_x like "%^Ab^%")'),
    (leaf("tags", "ne", "Ab"), '((tags_x is not null) and (not (tags_x like "%^Ab^%")))'),
]


@pytest.mark.parametrize(("f", "expression"), SCOPE)
def test_scope_uses_the_columns_as_written(f: Any, expression: str) -> None:
    assert said(f, exact=True) == expression


def test_scope_without_such_a_column_is_an_error() -> None:
    with pytest.raises(FilterError, match="'note' has no column with its values as written"):
        said(leaf("note", "eq", "x"), exact=True)
    with pytest.raises(FilterError, match="'note' has no column"):
        split(bind(parse_filter(leaf("note", "eq", "x")), OWN), LITE, exact=True)


def test_scope_in_a_foreign_column_is_compared_as_it_stands() -> None:
    assert said(leaf("x", "eq", "Hr"), LITE, KNOWN, exact=True) == '(x == "Hr")'


def test_scope_that_lite_cannot_say_is_split() -> None:
    bound = bind(parse_filter(leaf("tags", "contains", "Team_A")), OWN)
    with pytest.raises(FilterError, match="cannot look for"):
        to_milvus(bound, LITE, exact=True)
    parts = split(bound, LITE, exact=True)
    assert parts.pushed == '((tags_x like "%\x1fTeam%") and (tags_x like "%A\x1f%"))'
    assert parts.rest is not None
    assert parts.rest.root == bound.root


UNSAYABLE = [
    (leaf("dept", "contains", "50%off"), LITE, '((dept like "%50%") and (dept like "%off%"))'),
    (leaf("dept", "contains", "%"), LITE, "(dept is not null)"),
    (leaf("dept", "not_contains", "a_b"), LITE, "(dept is not null)"),
    (leaf("dept", "ends_with", "x\\"), LITE, '(dept like "%x%")'),
    ({"op": "not", "of": leaf("dept", "ends_with", "x\\")}, LITE, "(dept is not null)"),
    (leaf("dept", "contains", "a"), V23, '(dept != "")'),
    (leaf("tags", "starts_with", "a_"), LITE, '(tags_j like "%\x1fa%")'),
    (leaf("tags", "gt", "a"), V26, "(tags_j is not null)"),
    ({"op": "not", "of": leaf("tags", "gt", "a")}, LITE, "(tags_j is not null)"),
    (leaf("nums", "gt", 3), LITE, "(nums_j is not null)"),
    ({"op": "or", "of": [leaf("dept", "contains", "a_"), leaf("Pick #", "eq", 1)]}, LITE,
     '((dept like "%a%") or (pick_1f == 1))'),
]  # fmt: skip


@pytest.mark.parametrize(("f", "dialect", "pushed"), UNSAYABLE)
def test_what_cannot_be_said_is_split_off(f: Any, dialect: Dialect, pushed: str) -> None:
    bound = bind(parse_filter(f), OWN)
    with pytest.raises(FilterError, match="cannot be said to Milvus as a whole"):
        to_milvus(bound, dialect)
    parts = split(bound, dialect)
    assert parts.pushed == pushed
    assert parts.rest is not None
    assert parts.rest.root == bound.root


def test_only_the_open_conjuncts_are_left() -> None:
    sayable, open_ = leaf("Pick #", "eq", 1), leaf("dept", "contains", "a_b")
    parts = split(bind(parse_filter({"op": "and", "of": [sayable, open_]}), OWN), LITE)
    assert parts.pushed == '((pick_1f == 1) and ((dept like "%a%") and (dept like "%b%")))'
    assert parts.rest is not None
    assert parts.rest.root == parse_filter(open_)


def test_lists_in_json_are_left_to_the_predicate() -> None:
    c = foreign(F.STRING_LIST, at("doc", K.JSON, path=("t",)))
    for op in ("contains", "ne", "starts_with", "not_empty"):
        value = "a" if op != "not_empty" else None
        parts = split(bind(parse_filter(leaf("x", op, value)), c), LITE)
        assert (parts.pushed, parts.rest is None) == ('(exists doc["t"])', False)
    parts = split(bind(parse_filter(leaf("x", "empty")), c), LITE)
    assert (parts.pushed, parts.rest is None) == ("", False)


def test_true_is_not_taken_for_one_in_json() -> None:
    c = foreign(F.INT, at("doc", K.JSON, path=("n",)))
    bound = bind(parse_filter(leaf("x", "eq", 1)), c)
    assert to_milvus(bound, LITE) == '(doc["n"] == 1)'
    assert all(split(bound, dialect).rest == bound for dialect in Dialect)
    keeps = to_predicate(bound)
    assert [keeps({"x": value}) for value in (1, True, "1", 1.0)] == [True, False, False, True]


def test_fields_without_column_cannot_be_filtered() -> None:
    c = Collection(name="c", fields=(Field(name="x", type=F.INT),))
    with pytest.raises(FilterError, match="field 'x' has no column"):
        said(leaf("x", "eq", 1), LITE, c)


@pytest.mark.parametrize(
    ("type_", "column"),
    [(F.STRING, at("x", K.INT)), (F.INT, at("x", K.VARCHAR)), (F.BOOL, at("x", K.INT)),
     (F.DATE, at("x", K.VARCHAR, E.DAY_NUMBER)), (F.DATE, at("x", K.INT)),
     (F.STRING_LIST, at("x", K.VARCHAR)), (F.STRING, at("x", K.JSON)),
     (F.INT, at("x y", K.INT)), (F.INT, at("in", K.INT)), (F.INT, at("名", K.INT)),
     (F.INT, at("x) or (1 == 1", K.INT))],
)  # fmt: skip
def test_columns_that_do_not_fit_are_an_error(type_: FieldType, column: Column) -> None:
    op = "empty" if column.name != "x" or column.kind is K.JSON else "eq"
    value = {F.STRING: "a", F.INT: 1, F.BOOL: True, F.DATE: "2024-01-01", F.STRING_LIST: "a"}
    with pytest.raises(FilterError):
        said(leaf("x", op, None if op == "empty" else value[type_]), LITE, foreign(type_, column))


@pytest.mark.parametrize(
    ("version", "dialect"),
    [("milvus_lite-3.2.2", LITE), ("v2.3.5-lite", V23), ("2.4.15", V23), ("v2.5.4", V26),
     ("2.6.9", V26), ("3.0.0-beta", V30), ("v10.1", V30)],
)  # fmt: skip
def test_dialect_of_a_version(version: str, dialect: Dialect) -> None:
    assert Dialect.of(version) is dialect


@pytest.mark.parametrize("version", ["", "2.2.9", "unknown"])
def test_unknown_version_is_an_error(version: str) -> None:
    with pytest.raises(FilterError, match=r"Milvus Lite, 2\.3 and later"):
        Dialect.of(version)


def unquote(text: str) -> str:
    assert text[0] == text[-1] == '"'
    escapes = {"\\": "\\", '"': '"', "n": "\n", "r": "\r", "t": "\t"}
    return re.sub(r"\\(.)", lambda m: escapes[m[1]], text[1:-1], flags=re.DOTALL)


@given(st.text())
def test_quoting_is_reversible_and_closed(text: str) -> None:
    quoted = quote(text)
    assert unquote(quoted) == text
    assert not re.search(r'(?<!\\)(\\\\)*"', quoted[1:-1])
    assert not set("\r\n\t") & set(quoted)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.text())
def test_prefix_range_holds_what_starts_so(prefix: str, rest: str) -> None:
    end = after_prefix(prefix)
    assert prefix <= prefix + rest
    assert end is None or prefix + rest < end
    assert end is None or not end.startswith(prefix)


def test_prefix_range_skips_what_is_no_character() -> None:
    assert after_prefix("a\ud7ff") == "a\ue000"
    assert after_prefix("a\U0010ffff") == "b"
    assert after_prefix("\U0010ffff") is None
    assert said(leaf("dept", "starts_with", "\U0010ffff")) == '(dept >= "\U0010ffff")'


def test_names_are_checked() -> None:
    assert identifier("a_1") == "a_1"
    assert json_path("doc", ('a"] == 1 or doc["b',)) == r'doc["a\"] == 1 or doc[\"b"]'
    for name in ("", "1a", "a b", "a-b", "and", "EXISTS", "$meta", 'a"b', "名"):
        with pytest.raises(FilterError, match="cannot stand in an expression"):
            identifier(name)


_OUTSIDE = re.compile(r'"(?:[^"\\]|\\.)*"')
_WORDS_ALLOWED = re.compile(
    r"c_\w+|x_\w+|j_\w+|and|or|not|in|is|null|like|true|false|array_contains(_any)?|e"
)


@given(WORLDS)
def test_nothing_but_columns_and_literals_appears(world: World) -> None:
    """Whatever names and values hold, outside of quotes stands only our own grammar."""
    bound = bind(world.filter, world.collection)
    for dialect in Dialect:
        outside = _OUTSIDE.sub("", split(bound, dialect).pushed)
        assert outside.count("(") == outside.count(")")
        words = re.findall(r"[A-Za-z_]\w*", outside)
        assert all(_WORDS_ALLOWED.fullmatch(word) for word in words)
        assert not set(outside) - set("()[]<>=!-+., 0123456789_") - set("".join(words))


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("op", ["eq", "contains", "starts_with", "ends_with", "gt"])
def test_no_value_makes_a_filter_vanish(word: str, op: str) -> None:
    for dialect in Dialect:
        bound = bind(parse_filter(leaf("dept", op, word)), OWN)
        assert split(bound, dialect).pushed.startswith("(")


@given(WORLDS)
def test_empty_expression_is_no_filter(world: World) -> None:
    root: Filter = AllOf(of=(world.filter, Compare(op=Op.NOT_EMPTY, field="year")))
    assert split(bind(root, world.collection), LITE).pushed
    assert to_milvus(bind(EVERYTHING, world.collection), LITE) == ""


@given(WORLDS)
def test_nesting_stays_far_below_what_lite_can_parse(world: World) -> None:
    depth = deepest = 0
    for ch in _OUTSIDE.sub("", split(bind(world.filter, world.collection), LITE).pushed):
        depth += (ch == "(") - (ch == ")")
        deepest = max(deepest, depth)
    assert deepest <= 40
