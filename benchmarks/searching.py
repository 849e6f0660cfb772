"""What a filtered hybrid search costs beside the engine's own.

    python -m benchmarks.searching overhead --chunks 20000
    python -m benchmarks.searching growth --chunks 1000 10000 100000

`overhead` asks the same questions in turn of `MilvusSearcher.search` (look-up of the knowledge
base, both legs, cosines of what only BM25 found, visible documents, the second look at scope and
filter) and of one raw `hybrid_search` under the same expression for the same columns; the ratio is
the median over the pairs. It also times the engine's two legs by themselves, one after the other
and at once. `growth` does it for collections of several sizes. Vectors are generated, in clusters
as texts have them; questions are embedded by a hash.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from pymilvus import AnnSearchRequest, MilvusClient, WeightedRanker

from agent.store.bases import Bases
from agent.store.connection import Connection
from agent.store.guard import guard
from agent.store.layout import Catalogue
from agent.store.reading import every
from agent.store.search import MilvusSearcher, depth_for
from agent.store.targets import OwnTarget
from benchmarks.ingestion import DEPARTMENTS, WORDS, library_at, served
from graph.ports import Query
from schemas.access import Scope
from schemas.check import Bound, bind
from schemas.collection import Field, FieldType
from schemas.drafts import ChunkDraft, DocumentDraft
from schemas.filters import EVERYTHING, Filter, parse_filter

KB = "benchmark"
DIMENSION = 512
CLUSTERS = 200
CHUNKS_OF_A_DOCUMENT = 5
LIMIT = 50
WRITTEN = 200
YEARS = range(2000, 2027)
SEEN = Scope(filter=EVERYTHING)

FIELDS = (
    Field(name="department", type=FieldType.STRING),
    Field(name="year", type=FieldType.INT),
    Field(name="price", type=FieldType.NUMBER),
    Field(name="tags", type=FieldType.STRING_LIST),
)
FILTERS: dict[str, Filter] = {
    "no filter": EVERYTHING,
    "half of it": parse_filter({"op": "ge", "field": "year", "value": 2013}),
    "a seventh": parse_filter({"op": "eq", "field": "department", "value": "hr"}),
    "1 in 190": parse_filter(
        {
            "op": "and",
            "of": [
                {"op": "eq", "field": "department", "value": "hr"},
                {"op": "eq", "field": "year", "value": 2020},
            ],
        }
    ),
    "a tag": parse_filter({"op": "contains", "field": "tags", "value": "t3"}),
}


class Clustered:
    """Unit vectors around CLUSTERS centres; the same one for the same text."""

    name = "clustered"

    def __init__(self) -> None:
        self._centres = np.random.default_rng(0).normal(size=(CLUSTERS, DIMENSION))

    def vector(self, text: str) -> list[float]:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
        rng = np.random.default_rng(seed)
        raw = self._centres[rng.integers(CLUSTERS)] + 0.7 * rng.normal(size=DIMENSION)
        made: list[float] = (raw / np.linalg.norm(raw)).astype(np.float32).tolist()
        return made

    async def embed_query(self, text: str) -> list[float]:
        return self.vector(text)


def documents(chunks: int, embedder: Clustered) -> Iterator[tuple[DocumentDraft, Any]]:
    rng = np.random.default_rng(1)
    for number in range(chunks // CHUNKS_OF_A_DOCUMENT):
        texts = [" ".join(rng.choice(WORDS, size=60)) for _ in range(CHUNKS_OF_A_DOCUMENT)]
        draft = DocumentDraft(
            id=f"D{number:06}",
            source=f"d{number}.md",
            title=f"Report {number}",
            metadata={
                "department": str(rng.choice(DEPARTMENTS)),
                "year": int(rng.choice(YEARS)),
                "price": float(rng.integers(100_000)) / 100,
                "tags": [f"t{n}" for n in rng.integers(20, size=3)],
            },
            content_hash=str(number),
            chunks=tuple(
                ChunkDraft(index=i, text=text, embed_text=f"Report {number}\n{text}")
                for i, text in enumerate(texts)
            ),
        )
        yield draft, [embedder.vector(f"{number} {i}") for i in range(len(texts))]


def questions() -> Iterator[str]:
    rng = np.random.default_rng(2)
    while True:
        yield " ".join(rng.choice(WORDS, size=6))


@dataclass(frozen=True)
class Shelf:
    """A filled knowledge base, asked through the searcher and by the engine's own client."""

    searcher: MilvusSearcher
    client: MilvusClient
    catalogue: Catalogue
    connection: Connection
    embedder: Clustered

    def bound(self, filter_: Filter) -> Bound:
        return bind(filter_, self.catalogue.collection)

    async def expression(self, filter_: Filter) -> str:
        target = OwnTarget(self.catalogue)
        allowed = guard(self.bound(filter_), SEEN, await self.connection.dialect())
        return every(target.enabled, allowed.expression)

    async def ours(self, question: str, filter_: Filter) -> int:
        found = await self.searcher.search(Query(KB, question, self.bound(filter_), LIMIT), SEEN)
        return len(found.hits)

    async def raw(self, question: str, expression: str) -> int:
        target = OwnTarget(self.catalogue)
        depth = depth_for(LIMIT)
        dense = [self.embedder.vector(question)]
        terms = [target.query_terms(question)]
        (hits,) = await asyncio.to_thread(
            self.client.hybrid_search,
            target.chunks,
            [
                AnnSearchRequest(dense, "dense", {}, limit=depth, expr=expression),
                AnnSearchRequest(terms, "sparse", {}, limit=depth, expr=expression),
            ],
            WeightedRanker(0.95, 0.05),
            limit=LIMIT,
            output_fields=list(target.outputs),
        )
        return len(hits)

    async def leg(self, question: str, expression: str, column: str) -> int:
        """One leg by itself."""
        target = OwnTarget(self.catalogue)
        is_dense = column == "dense"
        data: list[Any] = (
            [self.embedder.vector(question)] if is_dense else [target.query_terms(question)]
        )
        (hits,) = await asyncio.to_thread(
            self.client.search,
            target.chunks,
            data=data,
            anns_field=column,
            filter=expression,
            limit=depth_for(LIMIT),
            output_fields=list(target.outputs),
        )
        return len(hits)

    async def both(self, question: str, expression: str) -> int:
        found = await asyncio.gather(
            self.leg(question, expression, "dense"), self.leg(question, expression, "sparse")
        )
        return sum(found)


@asynccontextmanager
async def shelf_of(chunks: int, data: Path) -> AsyncIterator[Shelf]:
    """A knowledge base of so many chunks below `data`, which is filled if it is not there."""
    folder = data / str(chunks)
    is_new = not folder.exists()
    embedder = Clustered()
    with served(folder) as (uri, _):
        async with library_at(uri) as (library, connection):
            if is_new:
                await library.prepare(
                    KB, FIELDS, dimension=DIMENSION, embedding_model="clustered", access_fields=()
                )
                batch: list[tuple[DocumentDraft, Any]] = []
                for each in documents(chunks, embedder):
                    batch.append(each)
                    if len(batch) == WRITTEN:
                        await library.write(KB, batch)
                        batch = []
                await library.write(KB, batch)
                await library.finish(KB)
            catalogue = (await Bases(connection).own(KB)).catalogue
            client = MilvusClient(uri)
            yield Shelf(
                MilvusSearcher(connection, embedder), client, catalogue, connection, embedder
            )
            client.close()


async def timed(*runs: Callable[[str], Awaitable[int]], rounds: int) -> list[list[float]]:
    """Milliseconds of each run by question. They take turns, and so does who is first."""
    taken: list[list[float]] = [[] for _ in runs]
    asked = questions()
    for run in runs:
        await run(next(asked))
    for number in range(rounds):
        question = next(asked)
        order = list(zip(runs, taken, strict=True))
        turned = number % len(order)
        for run, times in (*order[turned:], *order[:turned]):
            started = time.perf_counter()
            await run(question)
            times.append((time.perf_counter() - started) * 1000)
    return taken


async def measured(shelf: Shelf, filter_: Filter, rounds: int) -> list[list[float]]:
    """Milliseconds of our search, of `hybrid_search`, and of both legs at once."""
    expression = await shelf.expression(filter_)
    return await timed(
        lambda question: shelf.ours(question, filter_),
        lambda question: shelf.raw(question, expression),
        lambda question: shelf.both(question, expression),
        rounds=rounds,
    )


def _more(ours: Sequence[float], raw: Sequence[float]) -> tuple[float, float]:
    """Medians over the pairs: the ratio, and the difference in milliseconds."""
    pairs = list(zip(ours, raw, strict=True))
    return median(a / b for a, b in pairs), median(a - b for a, b in pairs)


async def overhead(chunks: int, data: Path, rounds: int) -> None:
    print("| filter | search, ms | hybrid_search, ms | ratio | more, ms | both legs at once, ms |")
    print("|---|---|---|---|---|---|")
    async with shelf_of(chunks, data) as shelf:
        for name, filter_ in FILTERS.items():
            ours, raw, both = await measured(shelf, filter_, rounds)
            ratio, more = _more(ours, raw)
            print(
                f"| {name} | {median(ours):.1f} | {median(raw):.1f} | {ratio:.2f} | {more:+.1f}"
                f" | {median(both):.1f} |",
                flush=True,
            )


async def growth(sizes: Sequence[int], data: Path, rounds: int) -> None:
    print(f"| chunks | {' | '.join(f'{name}, ms' for name in FILTERS)} |")
    print("|---" * (len(FILTERS) + 1) + "|")
    for chunks in sizes:
        cells = []
        async with shelf_of(chunks, data) as shelf:
            for filter_ in FILTERS.values():
                ours, raw, _ = await measured(shelf, filter_, rounds)
                cells.append(f"{median(ours):.1f} ({median(raw):.1f})")
        print(f"| {chunks:,} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, help="folder in which the collections are kept")
    parser.add_argument("--rounds", type=int, default=25)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("overhead")
    one.add_argument("--chunks", type=int, default=20_000)
    several = commands.add_parser("growth")
    several.add_argument("--chunks", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        data = given.data or Path(name)
        data.mkdir(parents=True, exist_ok=True)
        match given.command:
            case "overhead":
                asyncio.run(overhead(given.chunks, data, given.rounds))
            case _:
                asyncio.run(growth(given.chunks, data, given.rounds))


if __name__ == "__main__":
    main()
