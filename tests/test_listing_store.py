"""Listings over a real Milvus Lite: exact beside brute force, within the scope, page by page."""

from __future__ import annotations

import asyncio
import datetime as dt
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from agent.store.catalog import MilvusCatalog
from agent.store.connection import Connection
from agent.store.documents import MilvusDocuments
from agent.store.search import MilvusSearcher
from graph.ports import Listed
from schemas.access import Scope
from schemas.check import bind
from schemas.collection import Collection
from schemas.compile.predicate import to_predicate
from schemas.filters import NOTHING, parse_filter
from schemas.listing import Listing, ListingKind, Sort
from tests.store_engine import (
    ALL,
    HashEmbedder,
    bound,
    draft,
    embedded,
    prepared,
    scoped,
    served_lite,
)

pytestmark = pytest.mark.lite

KB, MANY, LARGE = "company", 600, 10_500
HR = {"op": "eq", "field": "department", "value": "HR"}
TAGGED = {"op": "contains", "field": "tags", "value": "b"}


def _made(number: int) -> dict[str, Any]:
    rng = random.Random(number)  # noqa: S311  # no secret is made of it
    known: dict[str, Any] = {
        "department": rng.choice(("HR", "hr", "Sales", "研发中心", None)),
        "price": rng.choice((None, rng.randrange(1_000) / 4)),
        "tags": rng.choice(([], ["a"], ["a", "b"], ["b", "c"])),
        "published": rng.choice(
            (None, (dt.date(2020, 1, 1) + dt.timedelta(days=rng.randrange(2_000))).isoformat())
        ),
    }
    return {name: value for name, value in known.items() if value is not None}


ROWS: Mapping[str, Mapping[str, Any]] = {f"d{number:04}": _made(number) for number in range(MANY)}


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served_lite(tmp_path_factory.mktemp("lite")) as address:
        asyncio.run(_fill(address))
        yield address


async def _fill(uri: str) -> None:
    library = await prepared(uri, KB)
    drafts = [draft(id_, ("one", "two"), **known) for id_, known in ROWS.items()]
    await library.write(KB, embedded(*drafts))
    await library.finish(KB)


async def described(uri: str, kb: str = KB) -> Collection:
    return await MilvusCatalog(Connection(uri)).describe(kb, ALL)


async def listed(
    uri: str,
    listing: Listing,
    filter_: object = None,
    scope: Scope = ALL,
    *,
    shown: int = 20,
    kb: str = KB,
) -> Listed:
    searcher = MilvusSearcher(Connection(uri), HashEmbedder())
    return await searcher.listing(
        kb, bound(await described(uri, kb), filter_), scope, listing, shown
    )


def ids(found: Listed) -> list[str]:
    return [hit.passage.doc_id for hit in found.hits]


async def matching(uri: str, *filters: object) -> list[str]:
    collection = await described(uri)
    wanted = [to_predicate(bind(parse_filter(f), collection)) for f in filters if f is not None]
    return [id_ for id_, row in ROWS.items() if all(holds(row) for holds in wanted)]


@pytest.mark.parametrize("filter_", [None, HR, TAGGED, {"op": "empty", "field": "tags"}])
@pytest.mark.parametrize("kind", [ListingKind.LIST, ListingKind.COUNT])
async def test_all_are_counted_and_the_first_by_id_shown(
    uri: str, filter_: object, kind: ListingKind
) -> None:
    expected = await matching(uri, filter_)
    found = await listed(uri, Listing(kind=kind), filter_, shown=7)
    assert found.total == len(expected)
    assert ids(found) == expected[:7]
    assert all(hit.passage.chunk_index == 0 for hit in found.hits)


@pytest.mark.parametrize("field", ["price", "published", "department"])
@pytest.mark.parametrize("descending", [True, False])
async def test_sorted_with_missing_values_last(uri: str, field: str, descending: bool) -> None:
    expected = await matching(uri, TAGGED)
    sort = Listing(sort=Sort(field=field, descending=descending))
    found = await listed(uri, sort, TAGGED, shown=len(expected))
    assert sorted(ids(found)) == expected
    values = [ROWS[id_].get(field) for id_ in ids(found)]
    present = [str(v).casefold() if field == "department" else v for v in values if v is not None]
    assert present == sorted(present, reverse=descending)
    assert values[len(present) :] == [None] * (len(values) - len(present))
    missing = ids(found)[len(present) :]
    assert missing == sorted(missing)
    cut = await listed(uri, sort, TAGGED, shown=3)
    assert ids(cut) == ids(found)[:3]
    assert cut.total == len(expected)


@pytest.mark.parametrize("field", ["department", "tags", "published"])
async def test_groups_count_each_value_and_those_without(uri: str, field: str) -> None:
    unit: Any = "year" if field == "published" else None
    listing = Listing(kind=ListingKind.GROUP, group=field, unit=unit)
    expected: Counter[str | None] = Counter()
    for row in ROWS.values():
        value = row.get(field)
        items = value if isinstance(value, list) else [value] if value else []
        keys = {str(item)[:4] if unit else str(item).casefold() for item in items}
        expected.update(keys or [None])
    found = await listed(uri, listing)
    counted = {
        group.value.casefold() if isinstance(group.value, str) else group.value: group.count
        for group in found.groups
    }
    assert counted == dict(expected)
    assert found.total == MANY
    assert found.hits == ()


async def test_values_that_differ_in_case_are_one_group_as_most_write_it(uri: str) -> None:
    found = await listed(uri, Listing(kind=ListingKind.GROUP, group="department"))
    names = Counter(row.get("department") for row in ROWS.values())
    spelled = max(("HR", "hr"), key=lambda name: names[name])
    hr = [group for group in found.groups if str(group.value).casefold() == "hr"]
    assert [(group.value, group.count) for group in hr] == [(spelled, names["HR"] + names["hr"])]


@pytest.mark.parametrize(
    "listing",
    [
        Listing(),
        Listing(kind=ListingKind.COUNT),
        Listing(sort=Sort(field="price")),
        Listing(kind=ListingKind.GROUP, group="tags"),
    ],
)
async def test_nothing_outside_the_scope_is_listed_or_counted(uri: str, listing: Listing) -> None:
    expected = set(await matching(uri, HR, TAGGED))
    exact = {id_ for id_ in expected if ROWS[id_]["department"] == "HR"}
    found = await listed(uri, listing, TAGGED, scoped(HR), shown=MANY)
    assert found.total == len(exact) < len(expected)
    assert set(ids(found)) <= exact
    if listing.kind is not ListingKind.GROUP:
        assert set(ids(found)) == exact
    closed = await listed(uri, listing, TAGGED, Scope(filter=NOTHING))
    assert (closed.total, closed.hits, closed.groups) == (0, (), ())


async def test_a_field_that_the_base_does_not_have_leaves_all_without_a_value(uri: str) -> None:
    found = await listed(uri, Listing(kind=ListingKind.GROUP, group="colour"), HR)
    assert [(group.value, group.count) for group in found.groups] == [(None, found.total)]
    by_colour = await listed(uri, Listing(sort=Sort(field="colour")), HR, shown=5)
    assert ids(by_colour) == (await matching(uri, HR))[:5]


async def test_a_filter_on_passages_lists_each_document_once(uri: str) -> None:
    kb = "passages"
    library = await prepared(uri, kb)
    own = ({"price": 1.0}, {"price": 2.0}, {"price": 2.0})
    texts = ("one", "two", "three")
    drafts = [draft(id_, texts, own, department="HR") for id_ in ("a", "b", "c")]
    await library.write(kb, embedded(*drafts))
    await library.finish(kb)
    for sort in (None, Sort(field="department")):
        found = await listed(
            uri, Listing(sort=sort), {"op": "eq", "field": "price", "value": 2}, kb=kb, shown=2
        )
        assert found.total == 3
        assert len(set(ids(found))) == 2
        assert all(hit.passage.metadata["price"] == 2.0 for hit in found.hits)


async def test_disabled_documents_are_not_counted_and_hidden_passages_not_shown(uri: str) -> None:
    kb = "hidden"
    library = await prepared(uri, kb)
    await library.write(kb, embedded(*(draft(id_, department="HR") for id_ in ("a", "b", "c"))))
    await library.finish(kb)
    documents = MilvusDocuments(Connection(uri))
    await documents.set_enabled(kb, "a", False)
    await documents.set_passage_enabled(kb, "b", 0, False)
    for listing in (Listing(), Listing(sort=Sort(field="department"))):
        found = await listed(uri, listing, HR, kb=kb)
        assert found.total == 2
        assert [(hit.passage.doc_id, hit.passage.text) for hit in found.hits] == [
            ("b", ""),
            ("c", "first passage"),
        ]
    groups = await listed(uri, Listing(kind=ListingKind.GROUP, group="department"), kb=kb)
    assert [(group.value, group.count) for group in groups.groups] == [("HR", 2)]


async def test_more_documents_than_fit_into_a_page(uri: str) -> None:
    kb = "large"
    library = await prepared(uri, kb)
    drafts = [draft(f"n{number:05}", ("one",), price=float(number)) for number in range(LARGE)]
    for start in range(0, LARGE, 2_000):
        await library.write(kb, embedded(*drafts[start : start + 2_000]))
    await library.finish(kb)
    found = await listed(uri, Listing(sort=Sort(field="price")), kb=kb, shown=3)
    assert found.total == LARGE
    assert ids(found) == [f"n{number:05}" for number in (LARGE - 1, LARGE - 2, LARGE - 3)]
    counted = await listed(uri, Listing(kind=ListingKind.COUNT), kb=kb, shown=1)
    assert counted.total == LARGE
