"""A served Milvus Lite, connections that fail or leak on purpose, and small documents."""

from __future__ import annotations

import datetime as dt
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from agent.store.connection import Connection, Patience
from agent.store.library import MilvusLibrary
from schemas.access import Scope
from schemas.check import Bound, bind
from schemas.collection import Collection, Field, FieldType
from schemas.drafts import ChunkDraft, DocumentDraft
from schemas.errors import StoreUnavailable
from schemas.filters import EVERYTHING, parse_filter

DIMENSION = 8
MODEL = "test-embedding"
ALL = Scope(filter=EVERYTHING)
START = dt.datetime(2026, 3, 15, 12, tzinfo=dt.UTC)

FIELDS = (
    Field(name="department", type=FieldType.STRING, description="who owns it"),
    Field(name="Pick #", type=FieldType.INT),
    Field(name="price", type=FieldType.NUMBER),
    Field(name="final", type=FieldType.BOOL),
    Field(name="published", type=FieldType.DATE),
    Field(name="changed", type=FieldType.DATETIME),
    Field(name="tags", type=FieldType.STRING_LIST),
    Field(name="pages", type=FieldType.INT_LIST),
)
ACCESS = ("department", "tags")

MUTATIONS = (
    "insert",
    "upsert",
    "delete",
    "create_collection",
    "create_index",
    "drop_collection",
    "alter_collection_properties",
)


@contextmanager
def served_lite(folder: Path, port: int | None = None) -> Iterator[str]:
    """The URI of a Milvus Lite that serves the folder; on a free port unless one is given."""
    with lite_process(folder, port or free_port()) as (uri, _):
        yield uri


@contextmanager
def lite_process(folder: Path, port: int) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The URI with the process, which may be killed."""
    command = [sys.executable, "-m", "milvus_lite", "server", "--host", "127.0.0.1"]
    process = subprocess.Popen(
        [*command, "--port", str(port), "--data-dir", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _await_port(port, process)
        yield f"http://127.0.0.1:{port}", process
    finally:
        process.terminate()
        process.wait(30)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _await_port(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert process.poll() is None, "Milvus Lite did not start"
        time.sleep(0.1)
    raise AssertionError("Milvus Lite does not listen")


class Clock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> dt.datetime:
        return self.now

    def pass_minutes(self, minutes: float) -> None:
        self.now += dt.timedelta(minutes=minutes)


class StoppingConnection(Connection):
    """Lets so many changes through, and none after them, as if the process had been killed."""

    def __init__(self, uri: str, changes: int) -> None:
        super().__init__(uri, patience=Patience(attempts=1))
        self.changes = changes

    async def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        if method in MUTATIONS:
            if self.changes == 0:
                raise StoreUnavailable("stopped")
            self.changes -= 1
        return await super().call(method, *args, **kwargs)


class WatchedConnection(Connection):
    """Notes every call."""

    def __init__(self, uri: str) -> None:
        super().__init__(uri)
        self.calls: list[tuple[str, dict[str, Any]]] = []

    async def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        self.calls.append((method, kwargs))
        return await super().call(method, *args, **kwargs)

    def filters(self, method: str) -> list[str]:
        return [kwargs["filter"] for name, kwargs in self.calls if name == method]


class LeakyConnection(Connection):
    """An engine that forgets the filter of a search."""

    async def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        if method == "search":
            kwargs["filter"] = ""
        return await super().call(method, *args, **kwargs)


class HashEmbedder:
    """The same unit vector for the same text, unlike ones for unlike texts."""

    def __init__(self, dimension: int = DIMENSION, name: str = MODEL) -> None:
        self.dimension = dimension
        self.name = name
        self.asked: list[str] = []

    async def embed_query(self, text: str) -> list[float]:
        self.asked.append(text)
        return vector_of(text, self.dimension)


def vector_of(text: str, dimension: int = DIMENSION) -> list[float]:
    rng = random.Random(text)  # noqa: S311  # no secret is made of it
    raw = [rng.gauss(0, 1) for _ in range(dimension)]
    size = sum(value * value for value in raw) ** 0.5
    return [value / size for value in raw]


def draft(
    id_: str,
    texts: Sequence[str] = ("first passage", "second passage"),
    chunk_metadata: Sequence[Mapping[str, JsonValue]] = (),
    **metadata: Any,
) -> DocumentDraft:
    own: list[Mapping[str, JsonValue]] = [
        *chunk_metadata,
        *([{}] * (len(texts) - len(chunk_metadata))),
    ]
    return DocumentDraft(
        id=id_,
        source=f"{id_}.md",
        title=f"Title of {id_}",
        metadata=metadata,
        content_hash=f"hash of {texts} {sorted(metadata)}",
        chunks=tuple(
            ChunkDraft(index=i, text=text, embed_text=f"{id_} {text}", metadata=own[i])
            for i, text in enumerate(texts)
        ),
    )


Written = tuple[DocumentDraft, list[list[float]]]


def embedded(*drafts: DocumentDraft) -> list[Written]:
    return [(each, [vector_of(chunk.text) for chunk in each.chunks]) for each in drafts]


async def prepared(
    uri: str, kb: str, *, fields: Sequence[Field] = FIELDS, clock: Clock | None = None
) -> MilvusLibrary:
    """A library with one new knowledge base."""
    library = MilvusLibrary(Connection(uri), now=clock or Clock())
    await library.prepare(
        kb, fields, dimension=DIMENSION, embedding_model=MODEL, access_fields=ACCESS
    )
    return library


def bound(collection: Collection, filter_: object = None) -> Bound:
    root = EVERYTHING if filter_ is None else parse_filter(filter_)
    return bind(root, collection)


def scoped(filter_: object) -> Scope:
    return Scope(filter=parse_filter(filter_))
