"""Backups: what comes out is what went in, and nothing else is let in."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import io
import json
import random
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import JsonValue

from agent.store.bases import Bases
from agent.store.catalog import MilvusCatalog
from agent.store.connection import Connection
from agent.store.documents import MilvusDocuments
from agent.store.layout import LAYOUT
from agent.store.library import MilvusLibrary
from agent.store.search import MilvusSearcher
from graph.ports import Query
from schemas.access import Scope
from schemas.errors import (
    BackupDamaged,
    FacetwiseError,
    LayoutUnsupported,
    StoreUnavailable,
    UnknownKnowledgeBase,
    UsageError,
)
from tests.store_engine import (
    ALL,
    FIELDS,
    Clock,
    HashEmbedder,
    StoppingConnection,
    bound,
    draft,
    embedded,
    prepared,
    scoped,
    served_lite,
)

pytestmark = pytest.mark.lite

KB = "Handbuch 知识"
HR = {"op": "eq", "field": "department", "value": "hr"}


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served_lite(tmp_path_factory.mktemp("lite")) as address:
        yield address


@pytest.fixture(scope="module")
def backup(uri: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("backup") / "kb.zip"
    asyncio.run(make_backup(uri, path))
    return path


async def make_backup(uri: str, path: Path) -> None:
    """Of a knowledge base with all that there is: versions, disabled parts, values of chunks."""
    clock = Clock()
    described = [FIELDS[0].model_copy(update={"synonyms": {"HR": ("人事",)}}), *FIELDS[1:]]
    library = await prepared(uri, KB, fields=described, clock=clock)
    values: dict[str, Any] = {"Pick #": -3, "price": 2.5, "final": False, "tags": ["A b", "公开"]}
    await library.write(KB, embedded(draft("a", ("before",), department="HR", **values)))
    clock.pass_minutes(1)
    own: list[dict[str, JsonValue]] = [{"pages": [1]}, {"pages": [2, 3]}]
    crowd = [
        draft(f"d{i}", (f"first passage of {i}", f"second {i}"), department=("Sales", "HR")[i % 2])
        for i in range(9)
    ]
    await library.write(
        KB,
        embedded(
            draft("a", chunk_metadata=own, department="HR", published="2024-02-29", **values),
            draft("空", ("字" * 60, 'quo"te\n\\x'), undeclared={"deep": [1, None]}),
            *crowd,
        ),
    )
    await library.finish(KB)
    documents = MilvusDocuments(Connection(uri))
    await documents.set_enabled(KB, "d1", False)
    await documents.set_passage_enabled(KB, "d2", 1, False)
    assert await library.backup(KB, path) == 11


async def answers(uri: str, kb: str) -> dict[str, Any]:
    """All that can be asked of a knowledge base, without its name."""
    connection = Connection(uri)
    documents = MilvusDocuments(connection)
    collection = await MilvusCatalog(connection).describe(kb, ALL)
    searcher = MilvusSearcher(connection, HashEmbedder())

    async def found(text: str, filter_: object, scope: Scope = ALL) -> list[Any]:
        hits = (await searcher.search(Query(kb, text, bound(collection, filter_), 99), scope)).hits
        return [
            {
                "passage": hit.passage.model_dump(exclude={"kb"}),
                # Sums of single floats differ in the last digits with how rows lie in memory.
                "scores": {name: round(score, 3) for name, score in hit.scores.items()},
            }
            for hit in hits
        ]

    listed = await documents.list(kb, ALL)
    return {
        "fields": [field.model_dump() for field in collection.fields],
        "all": await found("second passage", None),
        "listed": await found("", None),
        "filtered": await found("second passage", HR),
        "by chunk": await found("passage", {"op": "contains", "field": "pages", "value": 2}),
        "in scope": await found("passage", None, scoped({**HR, "value": "HR"})),
        "out of scope": await found("passage", None, scoped(HR)),
        "count": await searcher.count(kb, bound(collection, HR), ALL),
        "documents": [d.model_dump(exclude={"kb"}) for d in listed],
        "versions": {
            d.id: [v.model_dump(exclude={"kb"}) for v in await documents.versions(kb, d.id, ALL)]
            for d in listed
        },
    }


async def collections(uri: str) -> set[str]:
    return set(await Connection(uri).call("list_collections"))


async def test_a_restored_knowledge_base_answers_identically(uri: str, backup: Path) -> None:
    before = await answers(uri, KB)
    assert before["count"] == 4
    assert len(before["versions"]["a"]) == 1
    assert before["out of scope"] == []
    library = MilvusLibrary(Connection(uri), now=Clock())
    assert await library.restore_backup(backup, "copy") == "copy"
    assert await answers(uri, "copy") == before
    (version,) = await MilvusDocuments(Connection(uri)).versions("copy", "a", ALL)
    await library.restore("copy", "a", version.revision)
    assert await answers(uri, KB) == before
    collection = await MilvusCatalog(Connection(uri)).describe("copy", ALL)
    searcher = MilvusSearcher(Connection(uri), HashEmbedder())
    (first, *_) = (await searcher.search(Query("copy", "before", bound(collection), 3), ALL)).hits
    assert (first.passage.text, round(first.scores["dense"], 4)) == ("before", 1.0)
    hashes = await library.hashes("copy")
    assert hashes.pop("a") != (await library.hashes(KB)).pop("a")
    assert set(hashes) == set(await library.hashes(KB)) - {"a"}


async def test_another_store_takes_it_under_its_own_name(backup: Path, tmp_path: Path) -> None:
    with served_lite(tmp_path) as elsewhere:
        library = MilvusLibrary(Connection(elsewhere), now=Clock())
        assert await library.restore_backup(backup) == KB
        assert len(await library.hashes(KB)) == 11
        await library.write(KB, embedded(draft("new", department="HR")))
        assert (await answers(elsewhere, KB))["count"] == 5


async def test_a_backup_of_many_parts(
    uri: str, backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.store.backup_file.PART_ROWS", 3)
    monkeypatch.setattr("agent.store.backup.ROWS", 5)
    library = MilvusLibrary(Connection(uri), now=Clock())
    await library.backup(KB, tmp_path / "parts.zip")
    with zipfile.ZipFile(tmp_path / "parts.zip") as archive:
        assert len(archive.namelist()) > 20
    await library.restore_backup(tmp_path / "parts.zip", "from parts")
    assert await answers(uri, "from parts") == await answers(uri, KB)


async def test_one_that_is_there_is_only_replaced_on_demand(uri: str, backup: Path) -> None:
    library = await prepared(uri, "there")
    await library.write("there", embedded(draft("mine")))
    with pytest.raises(UsageError, match="a knowledge base 'there' already") as caught:
        await library.restore_backup(backup, "there")
    assert "--replace" in caught.value.remedy
    assert set(await library.hashes("there")) == {"mine"}
    await library.restore_backup(backup, "there", replace=True)
    assert "mine" not in await library.hashes("there")
    assert await answers(uri, "there") == await answers(uri, KB)
    kinds = [p.kind for p in await Bases(Connection(uri)).generations("there")]
    assert sorted(kinds) == ["chunks", "documents", "versions"]


@pytest.mark.parametrize("changes", range(0, 16, 3))
async def test_a_restore_cut_off_anywhere_shows_nothing(
    uri: str, backup: Path, changes: int
) -> None:
    kb = f"restore cut off after {changes}"
    library = await prepared(uri, kb)
    await library.write(kb, embedded(draft("mine")))
    dying = MilvusLibrary(StoppingConnection(uri, changes), now=Clock())
    with contextlib.suppress(StoreUnavailable):
        await dying.restore_backup(backup, kb, replace=True)
    assert set(await library.hashes(kb)) in ({"mine"}, set(await library.hashes(KB)))
    await library.restore_backup(backup, kb, replace=True)
    assert await answers(uri, kb) == await answers(uri, KB)


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flipped(at: float) -> Callable[[bytes], bytes]:
    def flip(data: bytes) -> bytes:
        index = int(len(data) * at)
        return data[:index] + bytes([data[index] ^ 0x55]) + data[index + 1 :]

    return flip


def write_damaged(backup: Path, path: Path, damage: Callable[[bytes], bytes]) -> None:
    path.write_bytes(damage(backup.read_bytes()))


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


Members = dict[str, bytes]


def repacked(change: Callable[[Members], None]) -> Callable[[bytes], bytes]:
    """The archive with other members; the sums in the manifest are made to fit."""

    def pack(data: bytes) -> bytes:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        change(members)
        if "manifest.json" in members and members["manifest.json"].startswith(b'{"format":"face'):
            manifest = json.loads(members["manifest.json"])
            for number, part in enumerate(manifest["parts"]):
                for key, ending in (("lines", "jsonl"), ("vectors", "npy")):
                    member = members.get(f"{part['kind']}/{number:06}.{ending}")
                    if member is not None:
                        part[key] = hashlib.sha256(member).hexdigest()
            members["manifest.json"] = json.dumps(manifest).encode()
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return buffer.getvalue()

    return pack


def in_manifest(**changes: Any) -> Callable[[bytes], bytes]:
    def change(members: Members) -> None:
        manifest = json.loads(members["manifest.json"]) | changes
        members["manifest.json"] = json.dumps(manifest, separators=(",", ":")).encode()

    return repacked(change)


def in_catalogue(**changes: Any) -> Callable[[bytes], bytes]:
    def change(members: Members) -> None:
        manifest = json.loads(members["manifest.json"])
        manifest["catalogue"] |= changes
        members["manifest.json"] = json.dumps(manifest, separators=(",", ":")).encode()

    return repacked(change)


def in_member(ending: str, make: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    def change(members: Members) -> None:
        name = next(name for name in sorted(members) if name.endswith(ending))
        members[name] = make(members[name])

    return repacked(change)


def climb(members: Members) -> None:
    members["../../outside.txt"] = b"x"


def without_a_part(members: Members) -> None:
    del members[next(name for name in members if name.endswith(".npy"))]


def lying_header(data: bytes) -> bytes:
    """An array that says it has more rows than memory has."""
    buffer = io.BytesIO()
    header = {"descr": "<f4", "fortran_order": False, "shape": (2**40, 8)}
    np.lib.format.write_array_header_1_0(buffer, header)
    return buffer.getvalue() + b"\0" * 64


def pickled(data: bytes) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return buffer.getvalue()


def a_row_less(data: bytes) -> bytes:
    return b"\n".join(data.split(b"\n")[1:])


def odd_row(data: bytes) -> bytes:
    lines = data.split(b"\n")
    row = json.loads(lines[0]) | {"revision": 7}
    return b"\n".join([json.dumps(row).encode(), *lines[1:]])


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (cut, "not a zip file"),
        (lambda data: b"", "not a zip file"),
        (lambda data: b"# Notes\n", "not a zip file"),
        (flipped(0.05), "cannot be"),
        (flipped(0.3), "cannot be"),
        (flipped(0.6), "cannot be"),
        (repacked(lambda members: members.clear()), "no manifest"),
        (repacked(climb), "parts are not those"),
        (repacked(without_a_part), "parts are not those"),
        (in_manifest(format="other"), "no backup"),
        (in_manifest(version=2), "version 2 of the format"),
        (in_manifest(parts=[{"kind": "../x"}]), "manifest has"),
        (in_catalogue(layout=LAYOUT + 1), f"layout {LAYOUT + 1}"),
        (in_catalogue(fields=7), "catalogue"),
        (in_catalogue(dimension=9), "shape"),
        (in_member(".npy", lying_header), "shape"),
        (in_member(".npy", pickled), "cannot be read"),
        (in_member(".jsonl", a_row_less), "does not hold the rows|cannot be read"),
        (in_member(".jsonl", odd_row), "does not hold the rows"),
        (in_member(".jsonl", lambda data: b"[" * 200_000), "cannot be read"),
    ],
)
async def test_a_damaged_or_foreign_file_changes_nothing(
    uri: str, backup: Path, tmp_path: Path, damage: Callable[[bytes], bytes], words: str
) -> None:
    path = tmp_path / "damaged.zip"
    write_damaged(backup, path, damage)
    library = MilvusLibrary(Connection(uri), now=Clock())
    before = await collections(uri)
    for name in (None, "from damaged"):
        with pytest.raises((BackupDamaged, LayoutUnsupported), match=words) as caught:
            await library.restore_backup(path, name, replace=True)
        assert "\n" not in str(caught.value)
        assert caught.value.remedy
    assert await collections(uri) == before
    assert names_in(tmp_path) == ["damaged.zip"]


@pytest.mark.parametrize("seed", range(40))
async def test_a_file_with_any_byte_changed_is_told_or_the_same(
    uri: str, backup: Path, tmp_path: Path, seed: int
) -> None:
    """Some bytes of an archive mean nothing, such as dates; those may change."""
    rng = random.Random(seed)  # noqa: S311  # no secret is made of it
    path = tmp_path / "changed.zip"
    write_damaged(backup, path, flipped(rng.random()))
    library = MilvusLibrary(Connection(uri), now=Clock())
    before = await collections(uri)
    try:
        await library.restore_backup(path, f"changed {seed}")
    except FacetwiseError:
        assert await collections(uri) == before
    else:
        assert await answers(uri, f"changed {seed}") == await answers(uri, KB)


async def test_a_packed_bomb_is_not_unpacked(uri: str, backup: Path, tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(backup) as archive,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for name in archive.namelist():
            bomb = name.endswith("000.jsonl")
            packed.writestr(name, b"\0" * 100_000_000 if bomb else archive.read(name))
    path.write_bytes(buffer.getvalue())
    with pytest.raises(BackupDamaged, match="more than a part can have"):
        await MilvusLibrary(Connection(uri), now=Clock()).restore_backup(path, "bomb")


async def test_places_that_cannot_be_written(uri: str, tmp_path: Path, backup: Path) -> None:
    library = MilvusLibrary(Connection(uri), now=Clock())
    notes = tmp_path / "notes.md"
    notes.write_text("mine")
    with pytest.raises(UsageError, match="is no backup, so it is not replaced"):
        await library.backup(KB, notes)
    with pytest.raises(UsageError, match="cannot be written"):
        await library.backup(KB, tmp_path / "no" / "folder.zip")
    with pytest.raises(UnknownKnowledgeBase):
        await library.backup("nix", tmp_path / "nix.zip")
    with pytest.raises(UsageError, match="does not exist"):
        await library.restore_backup(tmp_path / "nix.zip")
    with pytest.raises(UsageError, match="cannot be read"):
        await library.restore_backup(tmp_path)
    assert names_in(tmp_path) == ["notes.md"]
    await library.backup(KB, tmp_path / "again.zip")
    await library.backup(KB, tmp_path / "again.zip")
    assert notes.read_text() == "mine"
