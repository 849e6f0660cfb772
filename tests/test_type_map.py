"""The type map: which entry holds for a file, and what a wrong one is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.ingest.discovery import Source, discover
from agent.ingest.loaders.registry import DEFAULT_LOADERS, Loaders
from agent.ingest.opening import Opener
from agent.ingest.options import IngestOptions
from agent.ingest.pipeline import Ingest
from agent.ingest.reading import DEFAULT_READING, Reading
from agent.ingest.type_map import TypeMap, read_type_map
from schemas.errors import SettingsError, UsageError
from tests.fakes_ingest import CountingEmbedder, LinesLoader, MemoryLibrary

MAP = TypeMap(
    (
        Reading(match="hr/*.csv", id="number"),
        Reading(match="*.csv", documents="file"),
        Reading(match="README", loader="markdown"),
    )
)


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("hr/staff.csv", "hr/*.csv"),
        ("hr/2024/staff.csv", "hr/*.csv"),
        ("HR/Staff.CSV", "hr/*.csv"),
        ("it/staff.csv", "*.csv"),
        ("staff.csv", "*.csv"),
        ("it/README", "README"),
        ("it/readme.md", "*"),
    ],
)
def test_the_first_entry_that_fits_holds(name: str, match: str) -> None:
    assert MAP.reading(name).match == match


def test_without_an_entry_the_defaults_hold() -> None:
    assert MAP.reading("a.md") == DEFAULT_READING


def read(tmp_path: Path, text: str) -> tuple[Reading, ...]:
    path = tmp_path / "types.yaml"
    path.write_text(text, encoding="utf-8")
    return read_type_map(path)


def test_entries_of_a_file(tmp_path: Path) -> None:
    entries = read(
        tmp_path,
        """
- match: "*.csv"
  id: number
  text: [summary, notes]
  chunk_size: 400
- match: "*.log"
  loader: text
""",
    )
    assert entries[0] == Reading(
        match="*.csv", id="number", text=("summary", "notes"), chunk_size=400
    )
    assert entries[1].loader == "text"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("match: '*.csv'", ["must be a list", "chunk_size"]),
        ("- '*.csv'", ["entry 1", "'*.csv'", "not a mapping", "match"]),
        ("- match: '*'\n- colour: red", ["entry 2", "'colour'", "allowed", "loader"]),
        ("- documents: page", ["entry 1", "documents", "'page'", "'row' or 'file'"]),
        ("- chunk_size: 5", ["entry 1", "chunk_size", "5", "100"]),
        ("- {chunk_size: 200, chunk_overlap: 200}", ["entry 1", "chunk_overlap 200"]),
        ("- text: summary", ["entry 1", "text", "'summary'"]),
        ("- delimiter: ';;'", ["entry 1", "delimiter", "';;'"]),
        ("- [", ["not YAML"]),
    ],
)
def test_a_wrong_entry_is_named(tmp_path: Path, text: str, says: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    assert all(part in str(caught.value) for part in says), str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere\.yaml"):
        read_type_map(tmp_path / "nowhere.yaml")


def test_a_loader_that_there_is_not() -> None:
    options = IngestOptions(type_map=(Reading(), Reading(match="*.x", loader="word")))
    with pytest.raises(UsageError, match=r"entry 2 \(\*\.x\): loader is 'word'; .*markdown"):
        Ingest(MemoryLibrary(), CountingEmbedder(), options)


def test_sizes_of_an_entry() -> None:
    options = IngestOptions(chunk_size=800, chunk_overlap=200)
    assert options.sizes(Reading()) == (800, 200)
    assert options.sizes(Reading(chunk_size=400)) == (400, 100)
    assert options.sizes(Reading(chunk_size=2000)) == (2000, 200)
    assert options.sizes(Reading(chunk_overlap=50)) == (800, 50)
    with pytest.raises(SettingsError, match="chunk_overlap is 900"):
        IngestOptions(type_map=(Reading(chunk_overlap=900),))


async def test_an_entry_sets_how_its_files_are_split_and_no_others(tmp_path: Path) -> None:
    for name in ("a.md", "long/b.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Some words here. " * 100, encoding="utf-8")
    library = MemoryLibrary()
    await Ingest(library, CountingEmbedder()).run("kb", [tmp_path])
    before = len(library.draft("kb", "a.md").chunks)
    types = (Reading(match="long/*", chunk_size=3000),)
    ingest = Ingest(library, CountingEmbedder(), IngestOptions(type_map=types))
    report = await ingest.run("kb", [tmp_path])
    assert (report.unchanged, report.replaced) == (("a.md",), ("long/b.md",))
    assert len(library.draft("kb", "a.md").chunks) == before > 1
    assert len(library.draft("kb", "long/b.md").chunks) == 1


def accepted(paths: list[Path], types: TypeMap) -> list[str]:
    opener = Opener(Loaders((LinesLoader(), *DEFAULT_LOADERS)), types, 1000)
    return [source.name for source in discover(paths, opener.accepts).files]


def test_files_with_an_unknown_suffix(tmp_path: Path) -> None:
    for name, text in {"a.lines": "a|b", "b.odd": "LINES\na|b", "c.odd": "\0\1\2"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert accepted([tmp_path], TypeMap()) == ["a.lines"]
    named = [tmp_path / "b.odd", tmp_path / "c.odd"]
    assert accepted(named, TypeMap()) == ["b.odd"]
    mapped = TypeMap((Reading(match="*.odd", loader="lines"),))
    assert accepted([tmp_path], mapped) == ["a.lines", "b.odd", "c.odd"]


def test_an_entry_holds_by_the_id_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a.lines"
    file.write_text("a|b", encoding="utf-8")
    types = TypeMap((Reading(match="hr/*", documents="file"),))
    opener = Opener(Loaders((LinesLoader(),)), types, 1000)
    source = Source(file, tmp_path)
    with opener.open(source, "hr/a.lines") as opened:
        assert not opened.divided
    with opener.open(source, "a.lines") as opened:
        assert opened.divided
