"""Runs of ingesting over real files into a library in memory."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.ingest.options import IngestOptions
from agent.ingest.pipeline import Ingest
from agent.ingest.report import IngestReport, Progress
from schemas.collection import FieldType
from schemas.errors import DimensionMismatch, ModelUnavailable, SettingsError, UsageError
from tests.fakes_ingest import UNEMBEDDABLE, UNWRITABLE, CountingEmbedder, MemoryLibrary

KB = "handbook"


class Desk:
    """A folder, a library and an embedder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.library = MemoryLibrary()
        self.embedder = CountingEmbedder()
        self.options = IngestOptions()

    def put(self, name: str, body: str = "Text.", **fields: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        front = "".join(f"{field}: {value}\n" for field, value in fields.items())
        path.write_text(f"---\n{front}---\n{body}" if front else body, encoding="utf-8")
        return path

    async def run(
        self,
        *paths: Path,
        tags: tuple[str, ...] = (),
        prune: bool = False,
        adopt: bool = False,
        seen: list[Progress] | None = None,
    ) -> IngestReport:
        ingest = Ingest(self.library, self.embedder, self.options)
        return await ingest.run(
            KB,
            paths or (self.root,),
            tags=tags,
            prune=prune,
            adopt=adopt,
            on_progress=(lambda one: None) if seen is None else seen.append,
        )

    @property
    def ids(self) -> set[str]:
        return set(self.library.documents(KB))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "handbook")


async def test_documents_arrive_with_typed_metadata_and_a_vector_per_chunk(desk: Desk) -> None:
    desk.put("hr/leave.md", "# Leave\n\n" + "Some words. " * 200, pages="12", date="2024-1-5")
    desk.put("it/vpn.md", "Use it.", title="VPN", tags="[a, b]")
    report = await desk.run()
    assert report.added == ("hr/leave.md", "it/vpn.md")
    assert (report.replaced, report.unchanged, report.failed) == ((), (), ())
    draft, vectors = desk.library.documents(KB)["hr/leave.md"]
    assert draft.metadata == {"pages": 12, "date": "2024-01-05", "title": "Leave"}
    assert (draft.id, draft.source, draft.title) == ("hr/leave.md", "hr/leave.md", "Leave")
    assert len(draft.chunks) > 2
    assert [vector[0] for vector in vectors] == [len(c.embed_text) for c in draft.chunks]
    types = {field.name: field.type for field in desk.library.shelves[KB].fields}
    assert types == {
        "title": FieldType.STRING,
        "pages": FieldType.INT,
        "date": FieldType.DATE,
        "tags": FieldType.STRING_LIST,
    }
    assert report.chunks == len(desk.embedder.texts) == len(draft.chunks) + 1
    assert set(report.seconds) >= {"survey", "read", "split", "embed", "write", "total"}
    assert desk.library.finished == 1


async def test_the_same_again_changes_nothing(desk: Desk) -> None:
    desk.put("a.md", "Text.", x="1")
    desk.put("b.md")
    await desk.run()
    before = dict(desk.library.documents(KB))
    desk.embedder.texts.clear()
    report = await desk.run()
    assert report.unchanged == ("a.md", "b.md")
    assert (report.added, report.replaced, report.chunks) == ((), (), 0)
    assert desk.embedder.texts == []
    assert desk.library.documents(KB) == before


async def test_a_changed_file_replaces_its_document(desk: Desk) -> None:
    file = desk.put("a.md", "\n\n".join(f"# H{i}\n\nold" for i in range(8)), role="public")
    desk.put("b.md")
    await desk.run()
    assert len(desk.library.draft(KB, "a.md").chunks) == 8
    file.write_text("---\nrole: hr-only\n---\n# New\n\nnew", encoding="utf-8")
    report = await desk.run()
    assert (report.replaced, report.unchanged) == (("a.md",), ("b.md",))
    draft = desk.library.draft(KB, "a.md")
    assert [chunk.text for chunk in draft.chunks] == ["# New\n\nnew"]
    assert draft.metadata["role"] == "hr-only"


async def test_changed_metadata_alone_replaces_too(desk: Desk) -> None:
    desk.put("a.md", "Text.", role="public")
    await desk.run()
    desk.put("a.md", "Text.", role="hr")
    assert (await desk.run()).replaced == ("a.md",)


async def test_another_way_of_splitting_replaces_all(desk: Desk) -> None:
    desk.put("a.md")
    await desk.run()
    desk.options = IngestOptions(chunk_size=400, chunk_overlap=50)
    assert (await desk.run()).replaced == ("a.md",)


async def test_a_file_of_a_folder_is_the_same_document_by_itself(desk: Desk) -> None:
    file = desk.put("hr/leave.md")
    await desk.run()
    assert (await desk.run(file)).unchanged == ("hr/leave.md",)
    file.write_text("New text.", encoding="utf-8")
    assert (await desk.run(file)).replaced == ("hr/leave.md",)
    assert (await desk.run(desk.root / "hr")).unchanged == ("hr/leave.md",)
    assert desk.ids == {"hr/leave.md"}


async def test_a_file_taken_first_by_itself_is_not_doubled_by_its_folder(desk: Desk) -> None:
    file = desk.put("hr/leave.md")
    assert (await desk.run(file)).added == ("leave.md",)
    desk.put("hr/other.md")
    report = await desk.run()
    assert (report.unchanged, report.added) == (("leave.md",), ("hr/other.md",))


async def test_another_folder_does_not_take_the_place_of_a_document(
    desk: Desk, tmp_path: Path
) -> None:
    desk.put("readme.md", "First.")
    await desk.run()
    other = tmp_path / "other"
    other.mkdir()
    (other / "readme.md").write_text("Second.", encoding="utf-8")
    report = await desk.run(other)
    assert [one.file for one in report.failed] == ["readme.md"]
    assert "another folder" in report.failed[0].reason
    assert desk.library.draft(KB, "readme.md").chunks[0].text == "First."
    assert (await desk.run(other, adopt=True)).replaced == ("readme.md",)
    assert (await desk.run(other)).unchanged == ("readme.md",)


async def test_a_moved_folder_with_the_same_content_changes_nothing(
    desk: Desk, tmp_path: Path
) -> None:
    desk.put("a.md")
    await desk.run()
    moved = desk.root.rename(tmp_path / "moved")
    assert (await desk.run(moved)).unchanged == ("a.md",)


async def test_two_folders_of_one_run_cannot_give_the_same_id(desk: Desk, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "readme.md").write_text(name, encoding="utf-8")
    report = await desk.run(tmp_path / "one", tmp_path / "two")
    assert report.added == ("readme.md",)
    assert "another file of this run" in report.failed[0].reason
    assert desk.library.draft(KB, "readme.md").chunks[0].text == "one"


async def test_one_bad_file_never_stops_the_rest(desk: Desk) -> None:
    desk.put("good.md")
    desk.put("broken.md", "Text.", tags="[a, b")
    desk.put("empty.md", "", title="A")
    desk.put("refused.md", f"{UNEMBEDDABLE} text")
    desk.put("unstorable.md", f"{UNWRITABLE} text")
    (desk.root / "binary.md").write_bytes(b"\x89PNG\0\0\0")
    desk.options = IngestOptions(max_file_bytes=1000)
    desk.put("large.md", "x" * 2000)
    desk.put("picture.png")
    report = await desk.run()
    assert report.added == ("good.md",)
    reasons = {one.file: one.reason for one in report.failed}
    assert set(reasons) == {
        *("broken.md", "empty.md", "refused.md", "unstorable.md", "binary.md", "large.md"),
    }
    assert "line 2" in reasons["broken.md"]
    assert "no text" in reasons["empty.md"]
    assert "refused" in reasons["refused.md"]
    assert "1000" in reasons["large.md"]
    assert [one.file for one in report.skipped] == ["picture.png"]
    assert desk.ids == {"good.md"}


async def test_a_failed_new_version_leaves_the_old_one_whole(desk: Desk) -> None:
    file = desk.put("a.md", "Old text.", role="public")
    await desk.run()
    file.write_text("---\nrole: [a\n---\nNew text.", encoding="utf-8")
    report = await desk.run()
    assert [one.file for one in report.failed] == ["a.md"]
    assert desk.library.draft(KB, "a.md").chunks[0].text == "Old text."


async def test_an_unclear_access_field_keeps_a_document_out(desk: Desk) -> None:
    desk.options = IngestOptions(access_fields=("role",))
    desk.put("a.md", "Text.", role="hr")
    (desk.root / "b.md").write_text("---\nrole: hr\nrole: public\n---\nText.", encoding="utf-8")
    report = await desk.run()
    assert report.added == ("a.md",)
    assert "given twice" in report.failed[0].reason
    assert desk.library.shelves[KB].access_fields == ("role",)


async def test_values_that_do_not_fit_a_known_field_are_reported(desk: Desk) -> None:
    desk.put("a.md", "Text.", year="2023")
    await desk.run()
    desk.put("b.md", "Text.", year="unknown")
    report = await desk.run()
    assert report.added == ("b.md",)
    (note,) = report.notes
    assert (note.file, note.field, note.line) == ("b.md", "year", 2)
    assert "'unknown' is not a whole number" in note.message
    assert desk.library.draft(KB, "b.md").metadata["_unread"] == {"year": "unknown"}


async def test_new_fields_join_the_known_ones(desk: Desk) -> None:
    desk.put("a.md", "Text.", year="2023")
    await desk.run()
    desk.put("b.md", "Text.", Year="2024", owner="Ann")
    await desk.run()
    assert [field.name for field in desk.library.shelves[KB].fields] == ["title", "year", "owner"]
    assert desk.library.draft(KB, "b.md").metadata["year"] == 2024


async def test_tags_of_a_run_are_part_of_the_documents(desk: Desk) -> None:
    desk.put("a.md", "Text.", tags="[own]")
    desk.put("b.md")
    await desk.run(tags=("policy",))
    assert desk.library.draft(KB, "a.md").metadata["tags"] == ["own", "policy"]
    assert desk.library.draft(KB, "b.md").metadata["tags"] == ["policy"]
    assert (await desk.run(tags=("policy",))).unchanged == ("a.md", "b.md")
    assert (await desk.run()).replaced == ("a.md", "b.md")
    assert "tags" not in desk.library.draft(KB, "b.md").metadata


async def test_what_has_vanished_stays_unless_pruned(desk: Desk, tmp_path: Path) -> None:
    gone = desk.put("hr/gone.md")
    desk.put("hr/kept.md")
    elsewhere = tmp_path / "else"
    elsewhere.mkdir()
    (elsewhere / "other.md").write_text("Text.", encoding="utf-8")
    await desk.run()
    await desk.run(elsewhere)
    gone.unlink()
    assert (await desk.run()).pruned == ()
    assert "hr/gone.md" in desk.ids
    assert (await desk.run(prune=True)).pruned == ("hr/gone.md",)
    assert desk.ids == {"hr/kept.md", "other.md"}


async def test_a_file_that_fails_is_not_pruned(desk: Desk) -> None:
    desk.put("a.md")
    desk.put("b.md")
    await desk.run()
    desk.put("a.md", "Text.", tags="[a")
    report = await desk.run(prune=True)
    assert [one.file for one in report.failed] == ["a.md"]
    assert report.pruned == ()


async def test_an_empty_folder_prunes_nothing(desk: Desk) -> None:
    file = desk.put("a.md")
    await desk.run()
    file.unlink()
    with pytest.raises(UsageError, match="would delete all 1"):
        await desk.run(prune=True)
    assert desk.ids == {"a.md"}


async def test_a_run_cut_off_leaves_whole_documents_and_goes_on_later(desk: Desk) -> None:
    for index in range(6):
        desk.put(f"{index}.md", "Some words. " * 300)
    desk.library.hold = True
    run = asyncio.create_task(desk.run())
    await desk.library.writing.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert desk.ids == {"0.md"}
    desk.library.hold = False
    report = await desk.run()
    assert report.unchanged == ("0.md",)
    assert len(report.added) == 5
    assert len(desk.ids) == 6


async def test_an_outage_is_raised_and_what_was_written_stays(desk: Desk) -> None:
    for index in range(5):
        desk.put(f"{index}.md")
    desk.options = IngestOptions(embed_batch=1, embed_parallel=1, write_chunks=1)
    desk.embedder.outage_after = 3
    with pytest.raises(ModelUnavailable):
        await desk.run()
    written = desk.ids
    assert 0 < len(written) <= 3
    desk.embedder.outage_after = None
    report = await desk.run()
    assert set(report.unchanged) == written
    assert len(desk.ids) == 5


async def test_a_wrong_dimension_fails_before_anything_is_written(desk: Desk) -> None:
    desk.put("a.md")
    await desk.run()
    desk.put("b.md")
    desk.embedder = CountingEmbedder(size=5)
    with pytest.raises(DimensionMismatch):
        await desk.run()
    assert desk.embedder.texts == []
    assert desk.ids == {"a.md"}


async def test_embedding_and_writing_go_in_batches(desk: Desk) -> None:
    for index in range(30):
        desk.put(f"{index:02}.md", "\n\n".join(f"# {part}\n\nText." for part in range(10)))
    desk.options = IngestOptions(embed_batch=16, embed_parallel=2, write_chunks=100)
    report = await desk.run()
    assert report.chunks == 300
    assert desk.embedder.requests == 19
    assert desk.embedder.most_at_once == 2
    assert desk.library.batches == [100, 100, 100]


async def test_progress_counts_every_document(desk: Desk) -> None:
    for index in range(20):
        desk.put(f"{index:02}.md", "Some words. " * 100)
    desk.put("broken.md", "")
    desk.options = IngestOptions(embed_batch=2, write_chunks=4)
    seen: list[Progress] = []
    report = await desk.run(seen=seen)
    assert seen[0] == Progress(done=0, total=21)
    assert (seen[-1].done, seen[-1].total) == (21, 21)
    assert seen[-1].chunks == report.chunks
    assert [one.done for one in seen] == sorted(one.done for one in seen)
    assert any(one.seconds_left for one in seen)
    assert seen[-1].seconds_left == 0


async def test_a_missing_path_is_named_before_anything_happens(desk: Desk) -> None:
    desk.put("a.md")
    with pytest.raises(UsageError, match=r"nowhere\.md"):
        await desk.run(desk.root, desk.root / "nowhere.md")
    assert desk.ids == set()


async def test_nothing_to_take_in_creates_nothing(desk: Desk) -> None:
    desk.put("picture.png")
    report = await desk.run()
    assert report.added == ()
    assert desk.library.shelves == {}


async def test_a_report_is_json(desk: Desk) -> None:
    desk.put("a.md", "Text.", date="2024-13-45")
    report = await desk.run()
    assert IngestReport.model_validate_json(report.model_dump_json()) == report


@pytest.mark.parametrize("overlap", [-1, 800])
def test_options_out_of_range_are_refused(overlap: int) -> None:
    with pytest.raises(SettingsError, match=f"chunk_overlap is {overlap}"):
        IngestOptions(chunk_overlap=overlap)
    with pytest.raises(SettingsError, match="embed_batch is 0"):
        IngestOptions(embed_batch=0)
