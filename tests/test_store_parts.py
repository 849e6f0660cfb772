"""The pure parts of the store: names, terms, columns, scores, profiles, guesses."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from agent.store.analysis import INDEXED_BYTES, index_text, query_text
from agent.store.columns import column_of, encode, fitting
from agent.store.fusion import Fusion, Method
from agent.store.guesses import guess_int, guess_text
from agent.store.layout import Catalogue, read_catalogue
from agent.store.names import Physical, base_name, column_name, parse_name
from agent.store.profiles import MAX_TEXTS, MAX_VALUES, Tally, listed
from agent.store.revisions import is_stale, new_revision
from schemas.collection import Collection, Encoding, Field, FieldType
from schemas.compile.list_columns import SEPARATOR
from schemas.errors import IngestError, LayoutUnsupported, StoreDamaged


@given(st.text(min_size=1))
def test_physical_names_are_what_every_engine_takes(name: str) -> None:
    physical = Physical(base_name(name), "chunks", 12).name
    assert re.fullmatch(r"[a-z][a-z0-9_]{0,200}", physical)
    assert parse_name(physical) == Physical(base_name(name), "chunks", 12)
    assert re.fullmatch(r"f_[a-z0-9_]{1,100}", column_name(name))


@pytest.mark.parametrize("name", ["others", "fw_", "fw_kb_chunks_0001", "fw_kb_0123456789_x_0001"])
def test_names_of_others_are_not_ours(name: str) -> None:
    assert parse_name(name) is None


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Hello, WORLD hello", "hello world hello"),
        ("机器学习 ABC", "机器 器学 学习 abc"),
        ("猫", "猫"),
        ("适用v2.3版", "适用 v2 3 版"),
        ("ＦＵＬＬ width", "full width"),
        ("snake_case foo-bar", "snake_case foo bar"),
        ("", ""),
        ("!?", ""),
    ],
)
def test_terms(text: str, terms: str) -> None:
    assert index_text(text) == terms


def test_function_words_are_asked_only_where_nothing_else_is() -> None:
    assert query_text("What is the price of the gateway?") == "price gateway"
    assert query_text("the of") == "the of"


def test_terms_are_cut_between_words() -> None:
    text = index_text("机器学习" * 10_000)
    assert len(text.encode()) <= INDEXED_BYTES
    assert {len(term) for term in text.split(" ")} == {2}


@given(st.text())
def test_terms_are_words_of_any_tokenizer(text: str) -> None:
    """Lite's tokenizer cuts at whatever is no word character, a server's at white space."""
    joined = index_text(text)
    assert re.findall(r"\w+", joined.lower()) == joined.split()


def stored(type_: FieldType, value: JsonValue, *, exact: bool = False) -> dict[str, JsonValue]:
    field = Field(name="x", type=type_)
    field = field.model_copy(update={"column": column_of(field, exact=exact)})
    name = column_name("x")
    cells = encode({"x": value}, [field], "doc")
    return {key.removeprefix(name) or "=": cell for key, cell in cells.items()}


@pytest.mark.parametrize(
    ("type_", "value", "cells"),
    [
        (FieldType.STRING, "  ＡcMe  Corp ", {"=": "acme corp"}),
        (FieldType.STRING, "  ", {"=": None}),
        (FieldType.STRING, None, {"=": None}),
        (FieldType.INT, 7, {"=": 7}),
        (FieldType.NUMBER, 7, {"=": 7.0}),
        (FieldType.BOOL, False, {"=": False}),
        (FieldType.DATE, "1970-01-02", {"=": 1}),
        (FieldType.DATETIME, "1970-01-01T00:00:01Z", {"=": 1000}),
        (FieldType.STRING_LIST, ["A b", "", "公开"], {"=": ["a b", "公开"], "_j": "|a b|公开|"}),
        (FieldType.STRING_LIST, [], {"=": None, "_j": None}),
        (FieldType.INT_LIST, [3, -1], {"=": [3, -1], "_j": "|3|-1|"}),
    ],
)
def test_values_as_columns(type_: FieldType, value: JsonValue, cells: dict[str, JsonValue]) -> None:
    expected = {
        key: cell.replace("|", SEPARATOR) if isinstance(cell, str) else cell
        for key, cell in cells.items()
    }
    assert stored(type_, value) == expected


def test_access_fields_are_kept_as_written() -> None:
    assert stored(FieldType.STRING, "ACME", exact=True) == {"=": "acme", "_x": "ACME"}
    tags = stored(FieldType.STRING_LIST, ["A", "b"], exact=True)
    assert tags["_x"] == f"{SEPARATOR}A{SEPARATOR}b{SEPARATOR}"
    assert stored(FieldType.INT, 1, exact=True) == {"=": 1}


def test_a_list_that_is_too_long_is_named() -> None:
    with pytest.raises(IngestError, match=r"'doc'.*'x'.*5,000 elements.*4,096"):
        stored(FieldType.INT_LIST, list(range(5_000)))


def test_only_undeclared_metadata_is_left_out() -> None:
    field = Field(name="kept", type=FieldType.STRING)
    metadata: dict[str, JsonValue] = {"kept": "k", "big": "x" * 70_000, "small": "s"}
    assert fitting(metadata, [field], "doc") == ({"kept": "k", "small": "s"}, ("big",))
    with pytest.raises(IngestError, match=r"'doc'.*'kept'"):
        fitting({"kept": "x" * 70_000}, [field], "doc")


def test_weighted_fusion_by_hand() -> None:
    fused = Fusion().fuse({"a": 0.5, "b": 1.0, "c": 0.0}, {"a": 8.0, "c": 2.0})
    assert list(fused) == ["b", "a", "c"]
    assert fused["b"]["fused"] == pytest.approx(0.95)
    assert fused["a"]["fused"] == pytest.approx(0.95 * 0.75 + 0.05)
    assert fused["c"]["fused"] == pytest.approx(0.95 * 0.5 + 0.05 * 0.0625)
    assert Fusion().fuse({"b": 1.0}, None)["b"]["fused"] == pytest.approx(1.0)


@given(
    st.dictionaries(st.text(max_size=3), st.floats(-1, 1)),
    st.dictionaries(st.text(max_size=3), st.floats(0, 1e6)),
    st.sampled_from(Method),
)
def test_fused_scores_are_ordered_and_between_0_and_1(
    dense: dict[str, float], bm25: dict[str, float], method: Method
) -> None:
    fused = Fusion(method=method).fuse(dense, bm25)
    scores = [parts["fused"] for parts in fused.values()]
    assert set(fused) == {*dense, *bm25}
    assert scores == sorted(scores, reverse=True)
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in scores)


def test_a_tally_counts_documents_and_keeps_the_commonest_spelling() -> None:
    tally = Tally(Field(name="tags", type=FieldType.STRING_LIST))
    values: list[JsonValue] = [["HR", "hr"], ["Hr"], ["Hr", "x"], None, [], [""]]
    for value in values:
        tally.add(value)
    found = tally.described()
    assert found.values == ("Hr", "x")
    assert found.profile is not None
    assert found.profile.top == (("Hr", 3), ("x", 1))
    assert (found.profile.rows, found.profile.missing) == (6, 3)


def test_long_texts_are_no_values_and_the_profile_says_so() -> None:
    tally = Tally(Field(name="abstract", type=FieldType.STRING))
    tally.add("short")
    tally.add("long " * 200)
    found = tally.described()
    assert found.values == ("short",)
    assert found.profile is not None
    assert (found.profile.complete, found.profile.distinct) == (False, 2)


def test_texts_are_known_beyond_what_is_shown_and_numbers_are_not() -> None:
    for type_, values, known in (
        (FieldType.STRING, [f"author {n}" for n in range(MAX_VALUES + 7)], MAX_VALUES + 7),
        (FieldType.INT, [*range(MAX_VALUES + 7)], MAX_VALUES),
    ):
        tally = Tally(Field(name="x", type=type_))
        for value in values:
            tally.add(value)
        found = tally.described(most_texts=MAX_TEXTS)
        assert len(found.values) == known
        assert found.profile is not None
        assert found.profile.complete == (known == len(values))
        shown = listed(Collection(name="c", fields=(found,))).field("x")
        assert shown.values == found.values[:MAX_VALUES]
        assert shown.profile is not None
        assert not shown.profile.complete
        assert len(tally.described().values) == MAX_VALUES
    few = Collection(name="c", fields=(Field(name="x", type=FieldType.STRING, values=("a",)),))
    assert listed(few) == few


def test_a_sample_is_never_complete() -> None:
    tally = Tally(Field(name="x", type=FieldType.INT))
    tally.add(1)
    found = tally.described(complete=False).profile
    assert found is not None
    assert (found.complete, found.distinct) == (False, None)


@pytest.mark.parametrize(
    ("name", "values", "guess"),
    [
        ("year", [2023, 2024], (FieldType.INT, Encoding.EXACT)),
        ("x", [20240131, 20240201, 20231231], (FieldType.DATE, Encoding.YYYYMMDD)),
        ("x", [20240131, 20240232], (FieldType.INT, Encoding.EXACT)),
        ("created_at", [1_700_000_000], (FieldType.DATETIME, Encoding.EPOCH_S)),
        ("population", [1_700_000_000], (FieldType.INT, Encoding.EXACT)),
        ("timestamp", [1_700_000_000_000], (FieldType.DATETIME, Encoding.EPOCH_MS)),
        ("date", [], (FieldType.INT, Encoding.EXACT)),
    ],
)
def test_guesses_of_ints(name: str, values: list[int], guess: object) -> None:
    assert guess_int(name, values) == guess


@pytest.mark.parametrize(
    ("values", "guess"),
    [
        (["2024-01-31", "", None], (FieldType.DATE, Encoding.ISO_DAY)),
        (["2024-01-31", "2024-02-31"], (FieldType.STRING, Encoding.EXACT)),
        (["2024-01-31T10:00:00Z"], (FieldType.DATETIME, Encoding.ISO_TIME)),
        (["2024"], (FieldType.STRING, Encoding.EXACT)),
        ([], (FieldType.STRING, Encoding.EXACT)),
    ],
)
def test_guesses_of_texts(values: list[str | None], guess: object) -> None:
    assert guess_text(values) == guess


def test_revisions_sort_by_time_and_go_stale() -> None:
    early = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    late = early + dt.timedelta(seconds=61)
    assert new_revision(early) < new_revision(late)
    assert is_stale(new_revision(early), late)
    assert not is_stale(new_revision(late), late)


def test_a_catalogue_that_cannot_be_read_is_damage() -> None:
    catalogue = Catalogue(
        name="x",
        generation=1,
        fields=(),
        dimension=2,
        embedding_model="m",
        analyzer="a",
        unicode="15",
    )
    assert read_catalogue(catalogue.model_dump_json(), "c") == catalogue
    with pytest.raises(StoreDamaged, match="'c'"):
        read_catalogue("{", "c")
    newer = catalogue.model_copy(update={"layout": 99})
    with pytest.raises(LayoutUnsupported, match="layout 99") as caught:
        read_catalogue(newer.model_dump_json(), "c")
    assert caught.value.remedy == "update facetwise"
