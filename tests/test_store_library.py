"""Writing into a real Milvus Lite: replacing, stopping half way, growing, refusing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from agent.store.archive import archived
from agent.store.bases import Bases
from agent.store.batch import DocumentsRefused
from agent.store.catalog import MilvusCatalog
from agent.store.connection import Connection, Patience
from agent.store.documents import MilvusDocuments
from agent.store.library import MilvusLibrary
from agent.store.search import MilvusSearcher
from graph.ports import Query
from schemas.collection import Field, FieldType
from schemas.errors import (
    DimensionMismatch,
    StoreUnavailable,
    UnknownDocument,
    UnknownKnowledgeBase,
    UsageError,
)
from schemas.hits import Passage
from tests.store_engine import (
    ACCESS,
    ALL,
    DIMENSION,
    FIELDS,
    MODEL,
    Clock,
    HashEmbedder,
    StoppingConnection,
    bound,
    draft,
    embedded,
    prepared,
    served_lite,
)

pytestmark = pytest.mark.lite

CHANGES = 11
"""More than what a write of one document changes in the engine, one after the other."""


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served_lite(tmp_path_factory.mktemp("lite")) as address:
        yield address


async def visible(uri: str, kb: str) -> list[Passage]:
    """Every passage that a search shows, in the order of documents and chunks."""
    connection = Connection(uri)
    collection = await MilvusCatalog(connection).describe(kb, ALL)
    searcher = MilvusSearcher(connection, HashEmbedder())
    found = await searcher.search(Query(kb, "passage", bound(collection), 200), ALL)
    passages = [hit.passage for hit in found.hits]
    return sorted(passages, key=lambda passage: (passage.doc_id, passage.chunk_index))


async def stored_chunks(uri: str, kb: str) -> int:
    """How many rows the engine holds, seen or not."""
    bases = Bases(Connection(uri))
    base = await bases.own(kb)
    rows = await bases.read("query", base.catalogue.chunks, filter='id >= ""', output_fields=["id"])
    return len(rows)


async def test_what_is_written_is_visible_at_once(uri: str) -> None:
    library = await prepared(uri, "at once")
    await library.write("at once", embedded(draft("a", department="HR"), draft("b")))
    assert [(p.doc_id, p.text) for p in await visible(uri, "at once")] == [
        ("a", "first passage"),
        ("a", "second passage"),
        ("b", "first passage"),
        ("b", "second passage"),
    ]
    assert set(await library.hashes("at once")) == {"a", "b"}


async def test_metadata_comes_back_as_it_was_written(uri: str) -> None:
    metadata: dict[str, Any] = {
        "department": "R&D \"quoted\" \\ 'single'\nline 字",
        "Pick #": -3,
        "price": 2.5,
        "final": False,
        "published": "2024-02-29",
        "changed": "2024-02-29T10:00:00Z",
        "tags": ["A b", "公开"],
        "pages": [1, 2],
        "undeclared": {"deep": [1, "x"]},
    }
    library = await prepared(uri, "as written")
    await library.write("as written", embedded(draft("a", ("text",), **metadata)))
    (passage,) = await visible(uri, "as written")
    assert passage.metadata == metadata
    document = await MilvusDocuments(Connection(uri)).show("as written", "a", ALL)
    assert (document.metadata, document.chunks, document.title) == (metadata, 1, "Title of a")


async def test_replacing_leaves_nothing_of_the_old_version(uri: str) -> None:
    library = await prepared(uri, "replace")
    old = draft("a", [f"old passage {i}" for i in range(8)], department="public")
    await library.write("replace", embedded(old, draft("b")))
    await library.write("replace", embedded(draft("a", ("new 1", "new 2", "new 3"))))
    texts = [p.text for p in await visible(uri, "replace") if p.doc_id == "a"]
    assert texts == ["new 1", "new 2", "new 3"]
    assert await stored_chunks(uri, "replace") == 5


async def test_deleting_removes_document_chunks_and_versions(uri: str) -> None:
    library = await prepared(uri, "delete")
    await library.write("delete", embedded(draft("a"), draft("b")))
    await library.write("delete", embedded(draft("a", ("again",))))
    assert await library.delete("delete", ["a", "never there"]) == 1
    assert {p.doc_id for p in await visible(uri, "delete")} == {"b"}
    assert await stored_chunks(uri, "delete") == 2
    bases = Bases(Connection(uri))
    assert await archived(bases, (await bases.own("delete")).catalogue, ["a"]) == []


@pytest.mark.parametrize("changes", range(CHANGES))
async def test_a_write_cut_off_anywhere_leaves_one_whole_version(uri: str, changes: int) -> None:
    kb = f"cut off after {changes}"
    clock = Clock()
    library = await prepared(uri, kb, clock=clock)
    await library.write(kb, embedded(draft("a", ("v1 a", "v1 b", "v1 c")), draft("b")))
    await library.finish(kb)

    dying = MilvusLibrary(StoppingConnection(uri, changes), now=clock)
    try:
        await dying.write(kb, embedded(draft("a", ("v2 a", "v2 b"))))
    except StoreUnavailable:
        stopped = True
    else:
        stopped = False
    texts = [p.text for p in await visible(uri, kb) if p.doc_id == "a"]
    assert texts in (["v1 a", "v1 b", "v1 c"], ["v2 a", "v2 b"])
    assert stopped or texts == ["v2 a", "v2 b"]

    again = MilvusLibrary(Connection(uri), now=clock)
    await again.write(kb, embedded(draft("a", ("v3",))))
    assert [p.text for p in await visible(uri, kb) if p.doc_id == "a"] == ["v3"]
    assert await stored_chunks(uri, kb) == 3


async def test_the_cut_off_write_is_really_cut_off(uri: str) -> None:
    """The parametrised test above reaches past the last change of a write."""
    kb = "how many changes"
    library = await prepared(uri, kb)
    await library.write(kb, embedded(draft("a")))
    stopping = StoppingConnection(uri, 1_000)
    await MilvusLibrary(stopping, now=Clock()).write(kb, embedded(draft("a")))
    assert 4 <= 1_000 - stopping.changes < CHANGES


async def test_finish_sweeps_what_a_dead_process_left(uri: str) -> None:
    clock = Clock()
    library = await prepared(uri, "orphans", clock=clock)
    await library.write("orphans", embedded(draft("a")))
    await library.finish("orphans")
    dying = MilvusLibrary(StoppingConnection(uri, 2), now=clock)
    with pytest.raises(StoreUnavailable):
        await dying.write("orphans", embedded(draft("new", ("x", "y", "z"))))
    assert await stored_chunks(uri, "orphans") == 5
    assert {p.doc_id for p in await visible(uri, "orphans")} == {"a"}

    later = MilvusLibrary(Connection(uri), now=clock)
    await later.finish("orphans")
    assert await stored_chunks(uri, "orphans") == 5, "somebody may still be writing them"
    clock.pass_minutes(5)
    dying = MilvusLibrary(StoppingConnection(uri, 1), now=clock)
    with pytest.raises(StoreUnavailable):
        await dying.write("orphans", embedded(draft("new")))
    await later.finish("orphans")
    assert await stored_chunks(uri, "orphans") == 2


@pytest.mark.parametrize("action", ["set", "restore", "delete"])
@pytest.mark.parametrize("changes", range(2, 9))
async def test_a_change_cut_off_anywhere_is_cleared_up_by_the_next_run(
    uri: str, action: str, changes: int
) -> None:
    kb = f"{action} cut off after {changes}"
    clock = Clock()
    library = await prepared(uri, kb, clock=clock)
    await library.write(kb, embedded(draft("a", ("old 1", "old 2", "old 3"))))
    clock.pass_minutes(1)
    await library.write(kb, embedded(draft("a", ("v1 a", "v1 b")), draft("b")))
    await library.finish(kb)
    (version,) = await MilvusDocuments(Connection(uri)).versions(kb, "a", ALL)
    dying = MilvusLibrary(StoppingConnection(uri, changes), now=clock)
    with contextlib.suppress(StoreUnavailable):
        match action:
            case "set":
                await dying.set_metadata(kb, "a", {"price": 2.0})
            case "restore":
                await dying.restore(kb, "a", version.revision)
            case _:
                await dying.delete(kb, ["a"])
    texts = [p.text for p in await visible(uri, kb) if p.doc_id == "a"]
    assert texts in ([], ["v1 a", "v1 b"], ["old 1", "old 2", "old 3"])
    clock.pass_minutes(5)
    again = MilvusLibrary(Connection(uri), now=clock)
    await again.write(kb, embedded(draft("a", ("v3",))))
    await again.finish(kb)
    assert [p.text for p in await visible(uri, kb) if p.doc_id == "a"] == ["v3"]
    assert await stored_chunks(uri, kb) == 3


async def test_leftovers_too_young_to_be_judged_are_looked_for_again(uri: str) -> None:
    clock = Clock()
    library = await prepared(uri, "young", clock=clock)
    await library.write("young", embedded(draft("a")))
    await library.finish("young")
    dying = MilvusLibrary(StoppingConnection(uri, 2), now=clock)
    with pytest.raises(StoreUnavailable):
        await dying.write("young", embedded(draft("new")))
    for minutes, chunks in ((0, 4), (5, 2)):
        clock.pass_minutes(minutes)
        await MilvusLibrary(Connection(uri), now=clock).finish("young")
        assert await stored_chunks(uri, "young") == chunks


async def test_a_new_field_is_filterable_and_nothing_is_lost(uri: str) -> None:
    library = await prepared(uri, "grow", fields=FIELDS[:1])
    await library.write("grow", embedded(draft("a", department="HR", colour="Red")))
    before = await visible(uri, "grow")
    new = Field(name="colour", type=FieldType.STRING)
    await library.prepare(
        "grow", [new], dimension=DIMENSION, embedding_model=MODEL, access_fields=()
    )
    assert [(p.id, p.text) for p in await visible(uri, "grow")] == [(p.id, p.text) for p in before]
    connection = Connection(uri)
    collection = await MilvusCatalog(connection).describe("grow", ALL)
    assert [field.name for field in collection.fields] == ["department", "colour"]
    searcher = MilvusSearcher(connection, HashEmbedder())
    red = bound(collection, {"op": "eq", "field": "colour", "value": "red"})
    found = await searcher.search(Query("grow", "first passage", red, 5), ALL)
    assert [hit.passage.text for hit in found.hits] == ["first passage", "second passage"]
    assert found.hits[0].scores["dense"] == pytest.approx(1.0, abs=1e-5)
    await library.write("grow", embedded(draft("b", ("other",), colour="blue")))
    assert await searcher.count("grow", red, ALL) == 1


@pytest.mark.parametrize("changes", range(0, 12, 2))
async def test_a_rebuild_cut_off_anywhere_loses_nothing(uri: str, changes: int) -> None:
    kb = f"rebuild cut off after {changes}"
    library = await prepared(uri, kb, fields=FIELDS[:1])
    await library.write(kb, embedded(draft("a"), draft("b")))
    dying = MilvusLibrary(StoppingConnection(uri, changes), now=Clock())
    with contextlib.suppress(StoreUnavailable):
        await dying.prepare(
            kb, FIELDS, dimension=DIMENSION, embedding_model=MODEL, access_fields=ACCESS
        )
    assert [p.doc_id for p in await visible(uri, kb)] == ["a", "a", "b", "b"]
    await library.prepare(
        kb, FIELDS, dimension=DIMENSION, embedding_model=MODEL, access_fields=ACCESS
    )
    assert [p.doc_id for p in await visible(uri, kb)] == ["a", "a", "b", "b"]
    await library.finish(kb)
    kinds = [p.kind for p in await Bases(Connection(uri)).generations(kb)]
    assert sorted(kinds) == ["chunks", "documents"]


async def test_descriptions_are_taken_over_without_a_rebuild(uri: str) -> None:
    library = await prepared(uri, "describe")
    described = FIELDS[0].model_copy(update={"description": "newer", "synonyms": {"HR": ("人事",)}})
    await library.prepare(
        "describe", [described], dimension=DIMENSION, embedding_model=MODEL, access_fields=()
    )
    fields = await library.fields("describe")
    assert fields is not None
    assert (fields[0].description, dict(fields[0].synonyms)) == ("newer", {"HR": ("人事",)})
    assert [f.name for f in fields] == [f.name for f in FIELDS]
    assert all(p.generation == 1 for p in await Bases(Connection(uri)).generations("describe"))


async def test_another_type_of_a_known_field_is_refused(uri: str) -> None:
    library = await prepared(uri, "types")
    with pytest.raises(UsageError, match=r"'department'.*string.*int"):
        await library.prepare(
            "types",
            [Field(name="department", type=FieldType.INT)],
            dimension=DIMENSION,
            embedding_model=MODEL,
        )


@pytest.mark.parametrize(("dimension", "model"), [(16, MODEL), (DIMENSION, "another model")])
async def test_another_embedding_is_refused_before_anything_is_written(
    uri: str, dimension: int, model: str
) -> None:
    library = await prepared(uri, "dimension")
    with pytest.raises(DimensionMismatch) as caught:
        await library.prepare("dimension", FIELDS, dimension=dimension, embedding_model=model)
    assert MODEL in str(caught.value)
    assert str(dimension) in str(caught.value)
    assert "new knowledge base" in caught.value.remedy
    with pytest.raises(DimensionMismatch):
        await library.write("dimension", [(draft("a", ("x",)), [[0.5] * 16])])
    assert await library.hashes("dimension") == {}


async def test_a_document_that_cannot_be_stored_is_named(uri: str) -> None:
    library = await prepared(uri, "refused")
    long = draft("long one", department="字" * 30_000)
    with pytest.raises(DocumentsRefused, match=r"'long one'.*'department'.*90,000 bytes") as caught:
        await library.write("refused", embedded(draft("good"), long))
    assert set(caught.value.reasons) == {"long one"}
    assert await library.hashes("refused") == {}
    assert await stored_chunks(uri, "refused") == 0


async def test_oversized_undeclared_metadata_is_left_out_and_told(
    uri: str, caplog: pytest.LogCaptureFixture
) -> None:
    library = await prepared(uri, "oversized")
    big = draft("big", ("x",), department="HR", raw_html="<p>" * 60_000, small="kept")
    await library.write("oversized", embedded(big))
    (passage,) = await visible(uri, "oversized")
    assert passage.metadata == {"department": "HR", "small": "kept"}
    assert "'big'" in caplog.text
    assert "raw_html" in caplog.text


async def test_an_unknown_knowledge_base_names_the_known_ones(uri: str) -> None:
    library = await prepared(uri, "知识 库 #1")
    with pytest.raises(UnknownKnowledgeBase, match=r"'nix'.*'知识 库 #1'"):
        await library.write("nix", embedded(draft("a")))
    assert await library.hashes("nix") == {}
    assert await library.fields("nix") is None


async def test_names_that_differ_in_what_a_slug_drops_are_apart(uri: str) -> None:
    for kb in ("Café", "cafe", "caf é"):
        library = await prepared(uri, kb)
        await library.write(kb, embedded(draft(kb, ("x",))))
    for kb in ("Café", "cafe", "caf é"):
        assert [p.doc_id for p in await visible(uri, kb)] == [kb]


async def test_drop_removes_all_of_it(uri: str) -> None:
    library = await prepared(uri, "dropped")
    await library.write("dropped", embedded(draft("a")))
    await library.write("dropped", embedded(draft("a")))
    await library.drop("dropped")
    assert "dropped" not in await library.names()
    assert await Bases(Connection(uri)).generations("dropped") == []


async def test_a_disabled_document_stays_disabled_when_it_is_replaced(uri: str) -> None:
    library = await prepared(uri, "stays off")
    await library.write("stays off", embedded(draft("a"), draft("b")))
    await MilvusDocuments(Connection(uri)).set_enabled("stays off", "a", False)
    await library.write("stays off", embedded(draft("a", ("new",))))
    assert {p.doc_id for p in await visible(uri, "stays off")} == {"b"}
    assert set(await library.hashes("stays off")) == {"a", "b"}
    with pytest.raises(UnknownDocument, match="'nobody'"):
        await MilvusDocuments(Connection(uri)).set_enabled("stays off", "nobody", False)


async def test_no_store_is_one_clear_line() -> None:
    library = MilvusLibrary(
        Connection("http://127.0.0.1:9", patience=Patience(attempts=2, budget=1)), now=Clock()
    )
    with pytest.raises(StoreUnavailable, match="no vector store answers at http") as caught:
        await library.names()
    assert "\n" not in str(caught.value)
    assert caught.value.remedy
