"""What taking documents in costs, in time and in memory.

    python -m benchmarks.ingestion documents --count 100000
    python -m benchmarks.ingestion twice FOLDER
    python -m benchmarks.ingestion twice FOLDER --embedding hash

`documents` takes one generated file of many small documents through the whole pipeline into a
Milvus Lite of its own, with a hash in place of the embedding, and then inserts the very same rows
into another one with pymilvus alone. `twice` ingests a folder two times, and once its first
hundred files, each in a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import datetime as dt
import hashlib
import json
import pickle
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from pymilvus import MilvusClient

from agent.app import Agent
from agent.ingest.loaders.registry import DEFAULT_LOADERS, Loaders
from agent.ingest.options import IngestOptions
from agent.ingest.pipeline import Ingest
from agent.ingest.ports import Embedder, Vectors
from agent.ingest.reading import Reading
from agent.ingest.report import IngestReport, Progress, peak_rss
from agent.store.bases import Bases
from agent.store.batch import encoded
from agent.store.connection import Connection
from agent.store.layout import (
    Catalogue,
    chunks_indexes,
    chunks_schema,
    documents_indexes,
    documents_schema,
)
from agent.store.library import MilvusLibrary
from schemas.collection import Field
from schemas.drafts import DocumentDraft

KB = "benchmark"
FEW = 100
SHARES = (0.1, 0.5, 1.0)
DEPARTMENTS = ("hr", "it", "finance", "legal", "sales", "研发中心", "运维组")
TEXT = (
    "the order of a late answer is kept until somebody asks for the report about it again "
    "and every office sends its figures to the head of the department before noon"
)
WORDS = TEXT.split()


class HashEmbedder:
    """Vectors that cost next to nothing and are the same for the same text."""

    def __init__(self, size: int) -> None:
        self._size = size

    @property
    def name(self) -> str:
        return f"hash-{self._size}"

    async def dimension(self) -> int:
        return self._size

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        digest = hashlib.shake_128(text.encode()).digest(self._size)
        values: list[float] = (np.frombuffer(digest, np.uint8) / np.float32(128) - 1).tolist()
        return values


class Spool:
    """A library that only keeps the rows that would be written, in a file."""

    def __init__(self, path: Path, catalogue: Catalogue) -> None:
        self._file = path.open("wb")
        self._catalogue = catalogue

    def close(self) -> None:
        self._file.close()

    async def fields(self, kb: str) -> tuple[Field, ...] | None:
        return self._catalogue.fields

    async def hashes(self, kb: str) -> Mapping[str, str]:
        return {}

    async def prepare(self, kb: str, fields: Sequence[Field], **_: Any) -> None:
        """The catalogue is given."""

    async def write(self, kb: str, documents: Sequence[tuple[DocumentDraft, Vectors]]) -> None:
        chunks, rows = encoded(self._catalogue, documents, {}, dt.datetime.now(dt.UTC))
        slim = [{**row, "dense": np.asarray(row["dense"], np.float32)} for row in chunks]
        pickle.dump((slim, rows), self._file)

    async def delete(self, kb: str, ids: Sequence[str]) -> int:
        return 0

    async def finish(self, kb: str) -> None:
        """Nothing is searched."""


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, psutil.Process]]:
    """The URI of a Milvus Lite over a folder, and its process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, "-m", "milvus_lite", "server", "--host", "127.0.0.1"]
    process = subprocess.Popen(
        [*command, "--port", str(port), "--data-dir", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if process.poll() is not None:
                raise SystemExit("Milvus Lite did not start")
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}", psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(30)


@asynccontextmanager
async def library_at(uri: str) -> AsyncIterator[tuple[MilvusLibrary, Connection]]:
    connection = Connection(uri)
    try:
        yield MilvusLibrary(connection, now=lambda: dt.datetime.now(dt.UTC)), connection
    finally:
        await connection.close()


def generate(path: Path, count: int) -> None:
    """Documents of about 300 characters with five fields, in one CSV or JSON Lines file."""
    rng = random.Random(0)  # noqa: S311 (no secret)
    rows = (_row(number, rng) for number in range(count))
    with path.open("w", encoding="utf-8", newline="") as file:
        if path.suffix == ".jsonl":
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            return
        first = next(rows)
        writer = csv.DictWriter(file, list(first))
        writer.writeheader()
        writer.writerow(first)
        writer.writerows(rows)


def _row(number: int, rng: random.Random) -> dict[str, str | int | float]:
    return {
        "id": f"D{number:07}",
        "title": f"Report {number}",
        "text": " ".join(rng.choices(WORDS, k=55)),
        "department": rng.choice(DEPARTMENTS),
        "year": rng.randint(2000, 2026),
        "published": f"{rng.randint(2000, 2026)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
        "price": rng.randint(0, 100_000) / 100,
    }


READING = Reading(match="*", id="id", title="title", text=("text",))


class Peaks:
    """The largest resident size of both processes when a share of the documents is done."""

    def __init__(self, server: psutil.Process) -> None:
        self._server = server
        self._shares = list(SHARES)
        self.lines: list[str] = []

    def __call__(self, progress: Progress) -> None:
        while self._shares and progress.done >= self._shares[0] * progress.total:
            share = self._shares.pop(0)
            ours, store = (peak_rss() or 0) / 1e6, self._server.memory_info().rss / 1e6
            self.lines.append(f"  at {share:4.0%}: {ours:7.0f} MB, Milvus Lite {store:7.0f} MB now")


async def pipeline(
    folder: Path, file: Path, dimension: int
) -> tuple[IngestReport, Peaks, Catalogue]:
    with served(folder) as (uri, process):
        peaks = Peaks(process)
        async with library_at(uri) as (library, connection):
            ingest = Ingest(library, HashEmbedder(dimension), IngestOptions(type_map=(READING,)))
            report = await ingest.run(KB, [file], on_progress=peaks)
            return report, peaks, (await Bases(connection).own(KB)).catalogue


async def spool(path: Path, file: Path, dimension: int, catalogue: Catalogue) -> None:
    library = Spool(path, catalogue)
    options = IngestOptions(type_map=(READING,))
    await Ingest(library, HashEmbedder(dimension), options).run(KB, [file])
    library.close()


def raw(folder: Path, path: Path, catalogue: Catalogue) -> tuple[int, float]:
    """Rows inserted with pymilvus alone, into both collections, and the seconds it took."""
    with served(folder) as (uri, _):
        client = MilvusClient(uri)
        made = (
            (catalogue.chunks, chunks_schema(catalogue, lite=True), chunks_indexes),
            (catalogue.documents, documents_schema(catalogue), documents_indexes),
        )
        for name, schema, indexes in made:
            client.create_collection(name, schema=schema, consistency_level="Strong")
            client.create_index(name, indexes(catalogue, lite=True))
            client.load_collection(name)
        count, seconds = 0, 0.0
        for chunks, documents in _spooled(path):
            began = time.perf_counter()
            client.insert(catalogue.chunks, chunks)
            client.insert(catalogue.documents, documents)
            seconds += time.perf_counter() - began
            count += len(chunks) + len(documents)
        began = time.perf_counter()
        client.flush(catalogue.chunks)
        client.flush(catalogue.documents)
        seconds += time.perf_counter() - began
        client.close()
        return count, seconds


def _spooled(path: Path) -> Iterator[tuple[list[dict[str, Any]], list[dict[str, Any]]]]:
    with path.open("rb") as file:
        while True:
            try:
                chunks, documents = pickle.load(file)  # noqa: S301 (written by this program)
            except EOFError:
                return
            yield [{**row, "dense": row["dense"].tolist()} for row in chunks], documents


def documents(count: int, dimension: int, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        file = root / f"documents{suffix}"
        generate(file, count)
        print(f"{count:,} documents, {file.stat().st_size / 1e6:.1f} MB, {dimension} dimensions")
        report, peaks, catalogue = asyncio.run(pipeline(root / "ours", file, dimension))
        if report.failed:
            raise SystemExit(f"{len(report.failed)} failed, such as {report.failed[0]}")
        ours = report.seconds["total"]
        rows = len(report.added) + report.chunks
        parts = ", ".join(f"{part} {spent:.1f} s" for part, spent in report.seconds.items())
        print(f"pipeline: {rows:,} rows in {ours:.1f} s, {rows / ours:,.0f} rows/s ({parts})")
        print("peak resident size:", *peaks.lines, sep="\n")
        asyncio.run(spool(root / "rows", file, dimension, catalogue))
        inserted, seconds = raw(root / "raw", root / "rows", catalogue)
        print(f"pymilvus: {inserted:,} rows in {seconds:.1f} s, {inserted / seconds:,.0f} rows/s")
        print(f"pipeline / pymilvus: {rows / ours / (inserted / seconds):.0%}")


async def once(data: Path, paths: Sequence[Path], embedding: str) -> IngestReport:
    async with Agent() as agent:
        embedder: Embedder = HashEmbedder(512) if embedding == "hash" else await agent.embedder()
        with served(data) as (uri, _):
            async with library_at(uri) as (library, _):
                return await Ingest(library, embedder).run(KB, paths)


def child(data: Path, paths: Sequence[Path], embedding: str) -> IngestReport:
    """A run in a process of its own, whose peak is its own too."""
    command = [sys.executable, "-m", "benchmarks.ingestion", "once", "--data", str(data)]
    listed = "\n".join(map(str, paths))
    done = subprocess.run(
        [*command, "--embedding", embedding],
        input=listed,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return IngestReport.model_validate_json(done.stdout.splitlines()[-1])


def twice(folder: Path, embedding: str) -> None:
    suffixes = Loaders(DEFAULT_LOADERS)
    files = sorted(path for path in folder.rglob("*") if path.is_file() and suffixes.accepts(path))
    with tempfile.TemporaryDirectory() as name:
        few = child(Path(name) / "few", files[:FEW], embedding)
        first = child(Path(name) / "all", [folder], embedding)
        second = child(Path(name) / "all", [folder], embedding)
    before, after = first.seconds["total"], second.seconds["total"]
    print(f"first:  {len(first.added)} documents, {first.chunks} passages, {before:.1f} s")
    print(f"second: {len(second.unchanged)} unchanged, {second.chunks} embedded, {after:.1f} s")
    print(f"share of the second: {after / before:.1%}")
    for run in (few, first):
        size = (run.peak_rss_bytes or 0) / 1e6
        print(f"peak resident size with {len(run.added)} documents: {size:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    commands = parser.add_subparsers(dest="command", required=True)
    many = commands.add_parser("documents")
    many.add_argument("--count", type=int, default=100_000)
    many.add_argument("--dimension", type=int, default=512)
    many.add_argument("--format", choices=("jsonl", "csv"), default="jsonl")
    again = commands.add_parser("twice")
    again.add_argument("folder", type=Path)
    single = commands.add_parser("once")
    single.add_argument("--data", type=Path, required=True)
    for one in (again, single):
        one.add_argument("--embedding", choices=("configured", "hash"), default="configured")
    given = parser.parse_args()
    match given.command:
        case "documents":
            documents(given.count, given.dimension, f".{given.format}")
        case "twice":
            twice(given.folder, given.embedding)
        case _:
            paths = [Path(line) for line in sys.stdin.read().splitlines()]
            print(asyncio.run(once(given.data, paths, given.embedding)).model_dump_json())


if __name__ == "__main__":
    main()
