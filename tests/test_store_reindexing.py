"""Knowledge bases embedded again: nothing else changes, and a run may be cut off."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from agent.ingest.splitting import Splitter, outline
from agent.store.analysis import index_text
from agent.store.bases import Bases
from agent.store.catalog import MilvusCatalog
from agent.store.connection import Connection
from agent.store.documents import MilvusDocuments
from agent.store.embedded_text import embedded_text
from agent.store.library import MilvusLibrary
from agent.store.reindexing import Reindexed
from agent.store.search import MilvusSearcher
from graph.ports import Query
from schemas.errors import DimensionMismatch, ModelUnavailable, StoreUnavailable
from schemas.hits import Hit
from tests.store_engine import (
    ALL,
    MODEL,
    Clock,
    HashEmbedder,
    StoppingConnection,
    bound,
    draft,
    embedded,
    prepared,
    served_lite,
    vector_of,
)

pytestmark = pytest.mark.lite

NEW = "another embedding"
WIDER = 12


class DocumentEmbedder:
    """Another model than the one that knowledge bases of these tests are made with; gives up
    after so many texts.
    """

    def __init__(self, *, name: str = NEW, dimension: int = WIDER, texts: int = 10_000) -> None:
        self.name = name
        self._dimension = dimension
        self._left = texts
        self.seen: list[str] = []
        self.begun = asyncio.Event()

    async def dimension(self) -> int:
        return self._dimension

    async def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        self._left -= len(texts)
        if self._left < 0:
            raise ModelUnavailable("gone")
        self.seen += texts
        self.begun.set()
        return [vector_of(text, self._dimension) for text in texts]


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served_lite(tmp_path_factory.mktemp("lite")) as address:
        yield address


async def reindex(
    library: MilvusLibrary, kb: str, embedder: DocumentEmbedder, batch: int = 4
) -> list[Reindexed]:
    said: list[Reindexed] = []
    await library.reindex(kb, embedder, batch=batch, on_progress=said.append)
    return said


async def hits(uri: str, kb: str, *, new: bool, text: str = "passage") -> tuple[Hit, ...]:
    connection = Connection(uri)
    collection = await MilvusCatalog(connection).describe(kb, ALL)
    embedder = HashEmbedder(WIDER, NEW) if new else HashEmbedder()
    searcher = MilvusSearcher(connection, embedder)
    return (await searcher.search(Query(kb, text, bound(collection), 100), ALL)).hits


async def test_all_passages_get_vectors_of_the_new_model(uri: str) -> None:
    kb = "new model"
    clock = Clock()
    library = await prepared(uri, kb, clock=clock)
    await library.write(kb, embedded(draft("a", ("first version",), department="HR")))
    clock.pass_minutes(1)
    new_a = draft("a", ("one", "two"), department="HR")
    await library.write(kb, embedded(new_a, *(draft(f"d{i}") for i in range(6))))
    documents = MilvusDocuments(Connection(uri))
    await documents.set_enabled(kb, "d1", False)
    await documents.set_passage_enabled(kb, "a", 1, False)
    before = await documents.list(kb, ALL)
    passages = {d.id: await documents.passages(kb, d.id, ALL) for d in before}
    with pytest.raises(DimensionMismatch, match=MODEL) as caught:
        await hits(uri, kb, new=True)
    assert "facetwise reindex --kb 'new model'" in caught.value.remedy

    embedder = DocumentEmbedder()
    said = await reindex(library, kb, embedder)
    assert (said[-1].done, said[-1].total) == (15, 15)
    assert [progress.done for progress in said] == sorted(progress.done for progress in said)
    assert "Title of a\none" in embedder.seen
    assert await documents.list(kb, ALL) == before
    assert {d.id: await documents.passages(kb, d.id, ALL) for d in before} == passages
    top = (await hits(uri, kb, new=True, text="Title of a\none"))[0]
    assert (top.passage.text, round(top.scores["dense"], 4)) == ("one", 1.0)
    with pytest.raises(DimensionMismatch, match=NEW):
        await hits(uri, kb, new=False)

    (version,) = await documents.versions(kb, "a", ALL)
    await library.restore(kb, "a", version.revision)
    top = (await hits(uri, kb, new=True, text="Title of a\nfirst version"))[0]
    assert (top.passage.text, round(top.scores["dense"], 4)) == ("first version", 1.0)
    kinds = [p.kind for p in await Bases(Connection(uri)).generations(kb)]
    assert sorted(kinds) == ["chunks", "documents", "versions"]


@pytest.mark.parametrize("texts", [0, 4, 13])
async def test_a_run_without_a_model_goes_on_where_it_was(uri: str, texts: int) -> None:
    kb = f"goes on after {texts}"
    library = await prepared(uri, kb)
    await library.write(kb, embedded(*(draft(f"d{i}") for i in range(10))))
    with pytest.raises(ModelUnavailable):
        await reindex(library, kb, DocumentEmbedder(texts=texts))
    assert len(await hits(uri, kb, new=False)) == 20
    await reindex(library, kb, DocumentEmbedder())
    assert len(await hits(uri, kb, new=True)) == 20


async def test_what_was_embedded_before_a_cut_is_not_embedded_again(
    uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.store.reindexing.ROWS", 5)
    kb = "not again"
    library = await prepared(uri, kb)
    await library.write(kb, embedded(*(draft(f"d{i}") for i in range(10))))
    with pytest.raises(ModelUnavailable):
        await reindex(library, kb, DocumentEmbedder(texts=12), batch=5)
    again = DocumentEmbedder()
    said = await reindex(library, kb, again, batch=5)
    assert len(again.seen) == 10
    assert (said[-1].done, said[-1].total) == (20, 20)
    assert len(await hits(uri, kb, new=True)) == 20


async def test_a_write_in_between_begins_the_run_anew(uri: str) -> None:
    kb = "anew"
    library = await prepared(uri, kb)
    await library.write(kb, embedded(*(draft(f"d{i}") for i in range(10))))
    with pytest.raises(ModelUnavailable):
        await reindex(library, kb, DocumentEmbedder(texts=12))
    await library.write(kb, embedded(draft("d3", ("changed",))))
    await reindex(library, kb, DocumentEmbedder())
    texts = [hit.passage.text for hit in await hits(uri, kb, new=True)]
    assert len(texts) == 19
    assert texts.count("changed") == 1


@pytest.mark.parametrize("changes", range(0, 16, 2))
async def test_a_run_cut_off_anywhere_loses_nothing(uri: str, changes: int) -> None:
    kb = f"reindex cut off after {changes}"
    library = await prepared(uri, kb)
    await library.write(kb, embedded(draft("a"), draft("b")))
    await library.write(kb, embedded(draft("a", ("x", "y", "z"))))
    dying = MilvusLibrary(StoppingConnection(uri, changes), now=Clock())
    with contextlib.suppress(StoreUnavailable):
        await reindex(dying, kb, DocumentEmbedder())
    fields = await library.fields(kb)
    assert fields
    new = (await Bases(Connection(uri)).own(kb)).catalogue.embedding_model == NEW
    assert len(await hits(uri, kb, new=new)) == 5
    await reindex(library, kb, DocumentEmbedder())
    await library.finish(kb)
    assert len(await hits(uri, kb, new=True)) == 5
    assert len(await MilvusDocuments(Connection(uri)).versions(kb, "a", ALL)) == 1
    kinds = [p.kind for p in await Bases(Connection(uri)).generations(kb)]
    assert sorted(kinds) == ["chunks", "documents", "versions"]


async def test_another_writer_waits_for_its_turn(uri: str, tmp_path: Path) -> None:
    """Two connections with one folder of locks stand for two processes."""
    kb = "turns"
    library = await prepared(uri, kb)
    await library.write(kb, embedded(*(draft(f"d{i}") for i in range(10))))
    one = MilvusLibrary(Connection(uri, locks=tmp_path), now=Clock())
    other = MilvusLibrary(Connection(uri, locks=tmp_path), now=Clock())
    embedder = DocumentEmbedder()
    running = asyncio.create_task(reindex(one, kb, embedder, batch=1))
    await embedder.begun.wait()
    await other.set_metadata(kb, "d1", {"department": "HR"})
    assert running.done()
    assert len(embedder.seen) == 20
    found = await hits(uri, kb, new=True)
    assert sum(hit.passage.metadata.get("department") == "HR" for hit in found) == 2


MARKDOWN = """# Handbook

Intro text.

## Travel

### Rates

The per diem is 52 EUR.

Setext
------

Underlined heading above.

```
# not a heading
code
```
"""


def test_the_embedded_text_is_made_again_as_it_was() -> None:
    chunks = Splitter(120, 30).split(MARKDOWN, outline(MARKDOWN), "Handbook")
    assert len(chunks) >= 3
    for chunk in chunks:
        terms = index_text(chunk.embed_text)
        assert embedded_text("Handbook", chunk.heading, chunk.text, terms) == chunk.embed_text


@pytest.mark.parametrize(
    ("heading", "text", "embedded_before", "again"),
    [
        (("H",), "# H\n\nbody", "T\nH\nbody", "T\nH\nbody"),
        (("T", "H"), "## H\nbody", "T\nH\nper diem; travel\nbody", "T\nH\nper diem travel\nbody"),
        ((), "| 1 |", "T\n| a |\n|---|\n| 1 |", "T\na\n| 1 |"),
        ((), "body", "T\nbody", "T\nbody"),
        (("H",), "# H", "T\nH", "T\nH"),
        (("H",), "# H\nbody", "something else", "T\nH\n# H\nbody"),
        (("H",), "# H\n\n```\ncode\n```", "T\nH\n```\ncode\n```", "T\nH\n```\ncode\n```"),
    ],
)
def test_words_beside_the_text_are_embedded_again(
    heading: tuple[str, ...], text: str, embedded_before: str, again: str
) -> None:
    assert embedded_text("T", heading, text, index_text(embedded_before)) == again
