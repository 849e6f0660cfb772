"""Documents changed in place: metadata set, versions listed and restored, searches meanwhile."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

import pytest
from pydantic import JsonValue

from agent.store.assignments import read_assignments
from agent.store.catalog import MilvusCatalog
from agent.store.connection import Connection
from agent.store.documents import MilvusDocuments
from agent.store.library import MilvusLibrary
from agent.store.search import MilvusSearcher
from graph.ports import Query
from schemas.access import Scope
from schemas.collection import Field, FieldType
from schemas.errors import UnknownDocument, UsageError
from schemas.hits import Passage
from tests.store_engine import (
    ALL,
    FIELDS,
    MUTATIONS,
    Clock,
    HashEmbedder,
    bound,
    draft,
    embedded,
    prepared,
    scoped,
    served_lite,
)

PUBLIC = scoped({"op": "eq", "field": "department", "value": "public"})


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served_lite(tmp_path_factory.mktemp("lite")) as address:
        yield address


class SteppedConnection(Connection):
    """Looks around before each change."""

    def __init__(self, uri: str, look: Callable[[], Awaitable[None]]) -> None:
        super().__init__(uri)
        self._look = look
        self.steps = 0

    async def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        if method in MUTATIONS:
            await self._look()
            self.steps += 1
        return await super().call(method, *args, **kwargs)


class OvertakenConnection(Connection):
    """Something happens once, between a search of the engine and what is read after it."""

    def __init__(self, uri: str, after: str, meanwhile: Callable[[], Awaitable[None]]) -> None:
        super().__init__(uri)
        self._after = after
        self._meanwhile: Callable[[], Awaitable[None]] | None = meanwhile

    async def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        reply = await super().call(method, *args, **kwargs)
        if method == self._after and self._meanwhile is not None:
            meanwhile, self._meanwhile = self._meanwhile, None
            await meanwhile()
        return reply


async def seen(
    connection: Connection, kb: str, scope: Scope = ALL, *, text: str = "passage"
) -> list[Passage]:
    """What a search shows, by document and chunk."""
    collection = await MilvusCatalog(connection).describe(kb, ALL)
    searcher = MilvusSearcher(connection, HashEmbedder())
    found = await searcher.search(Query(kb, text, bound(collection), 200), scope)
    passages = [hit.passage for hit in found.hits]
    return sorted(passages, key=lambda passage: (passage.doc_id, passage.chunk_index))


TYPED: list[tuple[str, Sequence[str], JsonValue]] = [
    ("department", ["Human, Resources"], "Human, Resources"),
    ("Pick #", [" 7 "], 7),
    ("price", ["2.50"], 2.5),
    ("final", ["no"], False),
    ("published", ["2024-02-29"], "2024-02-29"),
    ("changed", ["2024-02-29T10:00:00Z"], "2024-02-29T10:00:00Z"),
    ("tags", ["a, b"], ["a", "b"]),
    ("tags", ["a", "b，c"], ["a", "b", "c"]),
    ("pages", ["1,2"], [1, 2]),
]


@pytest.mark.parametrize(("field", "texts", "value"), TYPED)
def test_assigned_texts_take_the_type_of_their_field(
    field: str, texts: Sequence[str], value: JsonValue
) -> None:
    assert read_assignments(FIELDS, {field: texts}, "kb") == {field: value}


@pytest.mark.parametrize(
    ("field", "texts", "words"),
    [
        ("colour", ["red"], r"unknown field 'colour' in 'kb'.*known fields: Pick #, changed"),
        ("Pick #", ["1.5"], r"'Pick #' of type int cannot be '1.5'; allowed: a whole number"),
        ("Pick #", ["1", "2"], r"takes one value, not 2"),
        ("price", ["cheap"], r"'price'.*'cheap'.*a number"),
        ("final", ["2"], r"'final'.*true or false"),
        ("published", ["2024"], r"'published'.*'2024'.*a day such as"),
        ("published", ["2024-02-30"], r"'2024-02-30'"),
        ("pages", ["1,x"], r"'pages' of type int_list cannot be 'x'; allowed: several of"),
        ("department", ["  "], r"'department' cannot be an empty text"),
    ],
)
def test_what_a_field_cannot_hold_is_refused(field: str, texts: Sequence[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read_assignments(FIELDS, {field: texts}, "kb")


@pytest.mark.lite
async def test_metadata_is_set_on_all_chunks_without_embedding(uri: str) -> None:
    library = await prepared(uri, "set")
    own = ({"Pick #": 1}, {"Pick #": 2})
    await library.write("set", embedded(draft("a", chunk_metadata=own, department="HR", price=1.0)))
    await library.set_metadata("set", "a", {"department": "Sales", "price": None})
    connection = Connection(uri)
    assert [dict(p.metadata) for p in await seen(connection, "set")] == [
        {"department": "Sales", "Pick #": 1},
        {"department": "Sales", "Pick #": 2},
    ]
    collection = await MilvusCatalog(connection).describe("set", ALL)
    assert collection.field("department").values == ("Sales",)
    sales = bound(collection, {"op": "eq", "field": "department", "value": "sales"})
    assert await MilvusSearcher(connection, HashEmbedder()).count("set", sales, ALL) == 1
    await library.set_metadata("set", "a", {"Pick #": 3})
    assert [p.metadata["Pick #"] for p in await seen(connection, "set")] == [3, 3]


@pytest.mark.lite
async def test_changes_that_cannot_be_are_refused_before_anything_is_written(uri: str) -> None:
    library = await prepared(uri, "refused")
    await library.write("refused", embedded(draft("a", department="HR", loose="x")))
    refused: list[tuple[dict[str, JsonValue], str]] = [
        ({"published": "some day"}, r"'published'.*'some day'.*a day such as"),
        ({"colour": "red"}, r"unknown field 'colour'"),
        ({"price": [1.0]}, r"'price'.*one value"),
    ]
    for changes, words in refused:
        with pytest.raises(UsageError, match=words):
            await library.set_metadata("refused", "a", changes)
    with pytest.raises(UnknownDocument):
        await library.set_metadata("refused", "nobody", {})
    documents = MilvusDocuments(Connection(uri))
    assert await documents.versions("refused", "a", ALL) == ()
    await library.set_metadata("refused", "a", {"loose": None})
    assert (await documents.show("refused", "a", ALL)).metadata == {"department": "HR"}


@pytest.mark.lite
async def test_a_search_between_the_steps_sees_the_old_or_the_new_access_value(uri: str) -> None:
    kb = "steps"
    library = await prepared(uri, kb)
    texts = [f"passage {i}" for i in range(5)]
    await library.write(kb, embedded(draft("a", texts, department="public"), draft("b")))
    looked: list[set[str]] = []

    async def look() -> None:
        connection = Connection(uri)
        passages = [p for p in await seen(connection, kb) if p.doc_id == "a"]
        values = {str(p.metadata["department"]) for p in passages}
        assert len(passages) == 5
        assert len(values) == 1
        public = [p for p in await seen(connection, kb, PUBLIC) if p.doc_id == "a"]
        assert len(public) == (5 if values == {"public"} else 0)
        looked.append(values)

    stepped = SteppedConnection(uri, look)
    await MilvusLibrary(stepped, now=Clock()).set_metadata(kb, "a", {"department": "secret"})
    await look()
    assert stepped.steps >= 4
    assert looked[0] == {"public"}
    assert looked[-1] == {"secret"}
    assert await seen(Connection(uri), kb, PUBLIC) == []


@pytest.mark.lite
@pytest.mark.parametrize(("text", "after"), [("passage", "search"), ("", "query")])
async def test_a_search_that_is_overtaken_by_a_change_is_made_again(
    uri: str, text: str, after: str
) -> None:
    kb = f"overtaken {text}"
    clock = Clock()
    library = await prepared(uri, kb, clock=clock)
    await library.write(kb, embedded(draft("a", department="public")))

    async def change() -> None:
        clock.pass_minutes(1)
        await library.set_metadata(kb, "a", {"department": "secret"})

    connection = OvertakenConnection(uri, after, change)
    searcher = MilvusSearcher(connection, HashEmbedder())
    collection = await MilvusCatalog(Connection(uri)).describe(kb, ALL)
    found = await searcher.search(Query(kb, text, bound(collection), 9), ALL)
    assert {hit.passage.metadata["department"] for hit in found.hits} == {"secret"}
    assert len(found.hits) == (2 if text else 1)


@pytest.mark.lite
async def test_passages_that_are_replaced_while_they_are_read_are_read_again(uri: str) -> None:
    library = await prepared(uri, "reread")
    await library.write("reread", embedded(draft("a", ("old 1", "old 2"))))

    async def replace() -> None:
        await library.write("reread", embedded(draft("a", ("new 1", "new 2", "new 3"))))

    documents = MilvusDocuments(OvertakenConnection(uri, "query", replace))
    passages = await documents.passages("reread", "a", ALL)
    assert [p.text for p in passages] == ["new 1", "new 2", "new 3"]


@pytest.mark.lite
async def test_versions_are_kept_listed_and_restored(uri: str) -> None:
    clock = Clock()
    library = await prepared(uri, "versions", clock=clock)
    documents = MilvusDocuments(Connection(uri))
    for number in range(5):
        clock.pass_minutes(1)
        metadata: dict[str, Any] = {"Pick #": number}
        await library.write("versions", embedded(draft("a", (f"version {number}",), **metadata)))
    old = await documents.versions("versions", "a", ALL)
    assert [version.metadata["Pick #"] for version in old] == [3, 2, 1]
    assert [p.text for p in await seen(Connection(uri), "versions")] == ["version 4"]
    await library.restore("versions", "a", old[1].revision)
    assert [(p.text, p.metadata) for p in await seen(Connection(uri), "versions")] == [
        ("version 2", {"Pick #": 2})
    ]
    with pytest.raises(UnknownDocument, match="no version 'x'"):
        await library.restore("versions", "a", "x")


@pytest.mark.lite
async def test_versions_are_shown_as_far_as_they_are_in_scope(uri: str) -> None:
    clock = Clock()
    library = await prepared(uri, "old secrets", clock=clock)
    documents = MilvusDocuments(Connection(uri))
    for department in ("secret", "public", "public"):
        clock.pass_minutes(1)
        await library.write("old secrets", embedded(draft("a", department=department)))
    assert len(await documents.versions("old secrets", "a", ALL)) == 2
    (version,) = await documents.versions("old secrets", "a", PUBLIC)
    assert version.metadata == {"department": "public"}
    await library.set_metadata("old secrets", "a", {"department": "secret"})
    with pytest.raises(UnknownDocument):
        await documents.versions("old secrets", "a", PUBLIC)


@pytest.mark.lite
async def test_a_field_can_be_set_that_came_later(uri: str) -> None:
    library = await prepared(uri, "later", fields=FIELDS[:1])
    await library.write("later", embedded(draft("a", department="HR")))
    colour = Field(name="colour", type=FieldType.STRING)
    await library.prepare("later", [colour], dimension=8, embedding_model="test-embedding")
    await library.set_metadata("later", "a", {"colour": "red"})
    assert {p.metadata["colour"] for p in await seen(Connection(uri), "later")} == {"red"}


@pytest.mark.lite
async def test_a_value_that_is_there_already_makes_no_version(uri: str) -> None:
    library = await prepared(uri, "same")
    documents = MilvusDocuments(Connection(uri))
    metadata: dict[str, Any] = {"department": "public", "Pick #": 1}
    await library.write("same", embedded(draft("a", **metadata)))
    before = await documents.show("same", "a", ALL)
    await library.set_metadata("same", "a", {"Pick #": 1})
    await library.set_metadata("same", "a", {"department": "public"})
    assert await documents.show("same", "a", ALL) == before
    assert await documents.versions("same", "a", ALL) == ()
    await library.set_metadata("same", "a", {"Pick #": 2})
    assert len(await documents.versions("same", "a", ALL)) == 1
    with pytest.raises(UnknownDocument) as told:
        await library.restore("same", "a", "nope")
    assert "docs versions a" in told.value.remedy
    with pytest.raises(UnknownDocument) as told:
        await library.restore("same", "zz", "nope")
    assert "docs list" in told.value.remedy
