"""Files that hold many documents: what is added, replaced, deleted and left alone."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from agent.ingest.loaders.registry import DEFAULT_LOADERS
from agent.ingest.options import IngestOptions
from agent.ingest.pipeline import Ingest
from agent.ingest.reading import Reading
from agent.ingest.report import IngestReport, Progress
from schemas.collection import FieldType
from schemas.errors import ModelUnavailable
from tests.fakes_ingest import (
    UNEMBEDDABLE,
    UNWRITABLE,
    CountingEmbedder,
    LinesLoader,
    MemoryLibrary,
)

KB = "staff"
ONE, TWO, THREE = "a|Ann works here.|year=2020", "b|Bob works there.|year=2021", "c|Cy rests."


class Desk:
    """A folder with a file of lines, a library and an embedder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        self.file = root / "staff.lines"
        self.library = MemoryLibrary()
        self.embedder = CountingEmbedder()
        self.loader = LinesLoader()
        self.options = IngestOptions()

    def put(self, *lines: str) -> None:
        self.file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    async def run(
        self,
        *paths: Path,
        prune: bool = False,
        adopt: bool = False,
        seen: list[Progress] | None = None,
    ) -> IngestReport:
        self.embedder.texts.clear()
        ingest = Ingest(
            self.library, self.embedder, self.options, loaders=(self.loader, *DEFAULT_LOADERS)
        )
        return await ingest.run(
            KB,
            paths or (self.root,),
            prune=prune,
            adopt=adopt,
            on_progress=(lambda one: None) if seen is None else seen.append,
        )

    @property
    def texts(self) -> dict[str, str]:
        stored = self.library.documents(KB)
        return {id_: draft.chunks[0].text for id_, (draft, _) in stored.items()}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "records")


def ids(*keys: str) -> tuple[str, ...]:
    return tuple(f"staff.lines#{key}" for key in keys)


async def test_every_line_is_a_document_with_its_own_metadata(desk: Desk) -> None:
    desk.put(ONE, TWO, THREE)
    report = await desk.run()
    assert report.added == ids("a", "b", "c")
    assert report.failed == ()
    draft = desk.library.draft(KB, "staff.lines#b")
    assert (draft.source, draft.metadata["year"]) == ("staff.lines#b", 2021)
    types = {field.name: field.type for field in desk.library.shelves[KB].fields}
    assert types["year"] is FieldType.INT


CHANGES = {
    "nothing": ((ONE, TWO, THREE), "", "", "", "abc"),
    "a line at the end": ((ONE, TWO, THREE, "d|Di is new."), "d", "", "", "abc"),
    "another text": ((ONE, "b|Bob left.|year=2021", THREE), "", "b", "", "ac"),
    "another value": ((ONE, "b|Bob works there.|year=2022", THREE), "", "b", "", "ac"),
    "a line less": ((ONE, THREE), "", "", "b", "ac"),
    "another order": ((THREE, ONE, TWO), "", "", "", "abc"),
    "another key": ((ONE, "x|Bob works there.|year=2021", THREE), "x", "", "b", "ac"),
    "all at once": (("d|Di is new.", "c|Cy works."), "d", "c", "ab", ""),
    "no line left": ((), "", "", "abc", ""),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_a_file_is_the_truth_for_its_lines(desk: Desk, change: str) -> None:
    lines, added, replaced, pruned, unchanged = CHANGES[change]
    desk.put(ONE, TWO, THREE)
    await desk.run()
    desk.put(*lines)
    report = await desk.run()
    assert report.added == ids(*added)
    assert report.replaced == ids(*replaced)
    assert report.pruned == ids(*pruned)
    assert report.unchanged == ids(*unchanged)
    assert len(desk.embedder.texts) == len(added) + len(replaced)
    assert set(desk.texts) == {f"staff.lines#{line[0]}" for line in lines}


async def test_without_keys_a_line_is_known_by_its_number(desk: Desk) -> None:
    desk.put("|One.", "|Two.", "|Three.")
    await desk.run()
    desk.put("|Three.", "|Two.", "|One.")
    report = await desk.run()
    assert report.replaced == ids("1", "3")
    assert report.unchanged == ids("2")
    assert desk.texts == dict(zip(ids("1", "2", "3"), ("Three.", "Two.", "One."), strict=True))


async def test_a_key_given_twice_fails_where_it_comes_again(desk: Desk) -> None:
    desk.put(ONE, TWO, "a|Another Ann.|year=1")
    report = await desk.run()
    assert report.added == ids("a", "b")
    (failed,) = report.failed
    assert (failed.file, failed.line) == ("staff.lines#a", 3)
    assert desk.texts["staff.lines#a"] == "Ann works here."
    again = await desk.run()
    assert again.unchanged == ids("a", "b")
    assert len(again.failed) == 1


async def test_lines_that_fail_do_not_stop_the_others(desk: Desk) -> None:
    desk.options = IngestOptions(required_fields=("year",))
    desk.put(
        ONE, "?x", "b|No year.", f"c|{UNEMBEDDABLE}|year=1", f"d|{UNWRITABLE}|year=1", "e||y=1"
    )
    desk.put(ONE, "?x", "b|No year.", f"c|{UNEMBEDDABLE}|year=1", f"d|{UNWRITABLE}|year=1")
    report = await desk.run()
    assert report.added == ids("a")
    reasons = {one.file: one for one in report.failed}
    assert tuple(reasons) == ids("b", "c", "d", "x")
    assert (reasons["staff.lines#x"].reason, reasons["staff.lines#x"].line) == ("it is odd", 2)
    assert "'year' is missing" in reasons["staff.lines#b"].reason


async def test_a_refused_line_is_found_among_many_in_a_few_steps(desk: Desk) -> None:
    lines = [f"{number}|Line {number}." for number in range(200)]
    lines[77] = f"77|{UNEMBEDDABLE}"
    lines[133] = f"133|{UNWRITABLE}"
    desk.put(*lines)
    report = await desk.run()
    assert {one.file for one in report.failed} == set(ids("77", "133"))
    assert len(report.added) == 198
    assert desk.embedder.requests < 20
    assert len(desk.library.batches) < 20


async def test_a_line_that_cannot_be_read_any_more_keeps_its_document(desk: Desk) -> None:
    desk.put(ONE, TWO)
    await desk.run()
    desk.put(ONE, "?b")
    report = await desk.run()
    assert (report.unchanged, report.pruned) == (ids("a"), ())
    assert set(desk.texts) == set(ids("a", "b"))


async def test_where_it_is_not_known_which_line_failed_none_is_deleted(desk: Desk) -> None:
    desk.put(ONE, TWO, THREE)
    await desk.run()
    desk.put(ONE, "?")
    report = await desk.run()
    assert report.pruned == ()
    assert [(one.file, one.line) for one in report.failed] == [("staff.lines", 2)]


async def test_a_file_that_breaks_off_gives_whole_documents_and_deletes_none(desk: Desk) -> None:
    desk.put(ONE, TWO, THREE)
    await desk.run()
    desk.put(ONE, "b|Bob left.", "!", THREE)
    report = await desk.run()
    assert (report.unchanged, report.replaced, report.pruned) == (ids("a"), ids("b"), ())
    assert [one.file for one in report.failed] == ["staff.lines"]
    assert "line 3" in report.failed[0].reason
    assert set(desk.texts) == set(ids("a", "b", "c"))


async def test_lines_keep_their_ids_however_the_file_is_named(desk: Desk) -> None:
    (desk.root / "hr").mkdir()
    desk.file = desk.root / "hr" / "staff.lines"
    desk.put(ONE, TWO)
    assert (await desk.run()).added == ("hr/staff.lines#a", "hr/staff.lines#b")
    desk.put(ONE)
    report = await desk.run(desk.file)
    assert report.unchanged == ("hr/staff.lines#a",)
    assert report.pruned == ("hr/staff.lines#b",)


async def test_pruning_deletes_all_documents_of_a_file_that_is_gone(desk: Desk) -> None:
    desk.put(ONE, TWO)
    (desk.root / "kept.md").write_text("Text.", encoding="utf-8")
    await desk.run()
    desk.file.unlink()
    assert (await desk.run()).pruned == ()
    assert (await desk.run(prune=True)).pruned == ids("a", "b")
    assert set(desk.texts) == {"kept.md"}


async def test_pruning_leaves_the_documents_of_a_file_that_fails(desk: Desk) -> None:
    desk.put(ONE, TWO)
    await desk.run()
    desk.put("!")
    assert (await desk.run(prune=True)).pruned == ()
    assert set(desk.texts) == set(ids("a", "b"))


async def test_a_file_read_as_a_whole_from_now_on_leaves_no_lines(desk: Desk) -> None:
    desk.put(ONE, TWO)
    await desk.run()
    desk.options = IngestOptions(type_map=(Reading(match="*.lines", documents="file"),))
    report = await desk.run()
    assert (report.added, report.pruned) == (("staff.lines",), ids("a", "b"))
    desk.options = IngestOptions()
    report = await desk.run()
    assert (report.added, report.pruned) == (ids("a", "b"), ("staff.lines",))


async def test_a_file_with_the_mark_in_its_name_is_no_line_of_another(desk: Desk) -> None:
    (desk.root / "notes.md").write_text("Notes.", encoding="utf-8")
    (desk.root / "notes.md#1.md").write_text("More notes.", encoding="utf-8")
    await desk.run()
    (desk.root / "notes.md").write_text("Other notes.", encoding="utf-8")
    report = await desk.run(desk.root / "notes.md")
    assert (report.replaced, report.pruned) == (("notes.md",), ())


async def test_another_folder_does_not_take_the_place_of_lines(desk: Desk, tmp_path: Path) -> None:
    desk.put(ONE, TWO)
    await desk.run()
    other = Desk(tmp_path / "other")
    other.library = desk.library
    other.put(ONE, "b|Another Bob.", "d|Di.")
    report = await other.run()
    assert (report.unchanged, report.pruned) == (ids("a"), ())
    assert "another folder" in report.failed[0].reason
    assert set(desk.texts) == set(ids("a", "b"))
    report = await other.run(adopt=True)
    assert (report.added, report.replaced) == (ids("d"), ids("a", "b"))
    other.put("d|Di.")
    assert (await other.run(adopt=True)).pruned == ids("a", "b")


async def test_a_run_cut_off_goes_on_with_the_lines_that_are_missing(desk: Desk) -> None:
    desk.options = IngestOptions(embed_batch=1, embed_parallel=1, write_chunks=1)
    desk.put(*(f"{number}|Line {number}." for number in range(9)))
    desk.embedder.outage_after = 4
    with pytest.raises(ModelUnavailable):
        await desk.run()
    written = set(desk.texts)
    assert 0 < len(written) <= 4
    desk.embedder.outage_after = None
    report = await desk.run()
    assert set(report.unchanged) == written
    assert len(desk.texts) == 9


async def test_nothing_is_deleted_by_a_run_that_is_cut_off(desk: Desk) -> None:
    desk.put(ONE, TWO)
    await desk.run()
    desk.put("d|Di.")
    desk.library.hold = True
    desk.library.writing.clear()
    run = asyncio.create_task(desk.run())
    await desk.library.writing.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert set(desk.texts) == set(ids("a", "b", "d"))
    desk.library.hold = False
    assert (await desk.run()).pruned == ids("a", "b")


async def test_a_file_that_changes_between_the_two_readings(desk: Desk) -> None:
    class Meddling(LinesLoader):
        """Writes other lines once the first reading is over."""

        def load(self, file, reading):  # type: ignore[no-untyped-def]  # as in LinesLoader
            yield from super().load(file, reading)
            desk.put(ONE, "b|Bob left.")

    desk.loader = Meddling()
    desk.put(ONE, TWO, THREE)
    report = await desk.run()
    assert report.added == ids("a")
    assert [one.file for one in report.failed] == ["staff.lines", "staff.lines#b"]
    assert all("changed while" in one.reason for one in report.failed)
    assert report.pruned == ()


async def test_progress_counts_lines_not_files(desk: Desk) -> None:
    desk.options = IngestOptions(embed_batch=10, write_chunks=10, required_fields=("year",))
    lines = [f"{number}|{'Some words. ' * 20}|year={number}" for number in range(200)]
    desk.put(*lines, "x|No year.")
    seen: list[Progress] = []
    report = await desk.run(seen=seen)
    assert len(report.added) == 200
    assert seen[0] == Progress(done=0, total=201)
    assert (seen[-1].done, seen[-1].total) == (201, 201)
    assert [one.done for one in seen] == sorted(one.done for one in seen)
    assert any(one.seconds_left for one in seen)
    assert seen[-1].seconds_left == 0


async def test_a_stream_is_read_while_it_is_written(desk: Desk) -> None:
    """Of a long file no more is read ahead than waits to be written."""
    desk.options = IngestOptions(embed_batch=10, write_chunks=10)
    desk.put(*(f"{number}|Line {number}." for number in range(3000)))
    desk.library.hold = True
    run = asyncio.create_task(desk.run())
    await desk.library.writing.wait()
    await asyncio.sleep(0.05)
    ahead = desk.loader.read - 3000
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert ahead < 500


async def test_a_thousand_odd_lines_are_not_told_one_by_one(desk: Desk) -> None:
    desk.put(*(f"{number}|Text.|year={number}" for number in range(10)))
    await desk.run()
    desk.put(*(f"{number}|Text.|year=none" for number in range(300)))
    report = await desk.run()
    assert len(report.notes) == 101
    assert any("200 more" in note.message for note in report.notes)


ALL = ("file_name", "file_type", "folder", "modified_day", "size_bytes")


async def test_fields_of_the_file_system(desk: Desk) -> None:
    desk.options = IngestOptions(file_fields=ALL)
    desk.put(ONE)
    (desk.root / "hr").mkdir()
    file = desk.root / "hr" / "Leave.MD"
    file.write_text("---\nFolder: mine\n---\nText.", encoding="utf-8")
    os.utime(file, (1_710_500_000, 1_710_500_000))
    await desk.run()
    types = {field.name: field.type for field in desk.library.shelves[KB].fields}
    assert types["modified_day"] is FieldType.DATE
    assert types["size_bytes"] is FieldType.INT
    assert types["file_name"] is FieldType.STRING
    values = desk.library.draft(KB, "hr/Leave.MD").metadata
    assert values["file_name"] == "Leave.MD"
    assert values["file_type"] == "md"
    assert values["modified_day"] == "2024-03-15"
    assert values["size_bytes"] == file.stat().st_size
    assert [value for name, value in values.items() if name.casefold() == "folder"] == ["mine"]
    row = desk.library.draft(KB, "staff.lines#a").metadata
    assert {name for name in row if name in ALL} == {"file_name", "file_type"}


async def test_the_file_system_never_gives_an_access_field(desk: Desk) -> None:
    desk.options = IngestOptions(file_fields=ALL, access_fields=("Folder",))
    (desk.root / "public").mkdir()
    (desk.root / "public" / "a.md").write_text("Text.", encoding="utf-8")
    await desk.run()
    values = desk.library.draft(KB, "public/a.md").metadata
    assert "file_name" in values
    assert "folder" not in {name.casefold() for name in values}


async def test_fields_of_the_file_system_that_change_replace_the_document(desk: Desk) -> None:
    desk.options = IngestOptions(file_fields=("modified_day",))
    file = desk.root / "a.md"
    file.write_text("Text.", encoding="utf-8")
    await desk.run()
    assert (await desk.run()).unchanged == ("a.md",)
    os.utime(file, (0, 0))
    assert (await desk.run()).replaced == ("a.md",)


async def test_one_object_is_one_document_until_it_is_a_list(desk: Desk) -> None:
    file = desk.root / "a.json"
    file.write_text('{"title": "One", "text": "First text."}', encoding="utf-8")
    assert (await desk.run()).added == ("a.json",)
    assert (await desk.run()).unchanged == ("a.json",)
    file.write_text('[{"text": "First text."}, {"text": "Second text."}]', encoding="utf-8")
    report = await desk.run()
    assert (report.added, report.pruned) == (("a.json#1", "a.json#2"), ("a.json",))
    file.write_text('{"title": "One", "text": "First text."}', encoding="utf-8")
    report = await desk.run()
    assert (report.added, report.pruned) == (("a.json",), ("a.json#1", "a.json#2"))


async def test_files_of_many_kinds_in_one_run(desk: Desk) -> None:
    for name, text in {
        "a.csv": "id,text,year\n1,First row.,2020\n2,Second row.,2021\n",
        "b.jsonl": '{"text": "A line.", "year": 2022}\nbroken\n',
        "c.md": "---\nyear: 2023\n---\nProse.",
        "d.txt": "Plain text.",
        "e.html": "<html><head><title>T</title></head><body><p>Some words.</p></body></html>",
    }.items():
        (desk.root / name).write_text(text, encoding="utf-8")
    desk.options = IngestOptions(type_map=(Reading(match="*.csv", id="id"),))
    report = await desk.run()
    assert report.added == ("a.csv#1", "a.csv#2", "b.jsonl#1", "c.md", "d.txt", "e.html")
    assert [(one.file, one.line) for one in report.failed] == [("b.jsonl#2", 2)]
    again = await desk.run(prune=True)
    assert (again.unchanged, again.pruned, again.chunks) == (report.added, (), 0)


async def test_a_file_that_is_adopted_as_it_is_is_known_by_its_new_folder(desk: Desk) -> None:
    (desk.root / "a.md").write_text("# A\n\nText.", encoding="utf-8")
    await desk.run()
    desk.root = desk.root.rename(desk.root.with_name("moved"))
    report = await desk.run(adopt=True)
    assert report.replaced == ("a.md",)
    (desk.root / "a.md").write_text("# A\n\nAnother text.", encoding="utf-8")
    report = await desk.run()
    assert (report.replaced, report.failed) == (("a.md",), ())
