"""From paths to text: which files, in which encoding, as which documents."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.ingest.decoding import decode
from agent.ingest.discovery import Discovery, Source, discover
from agent.ingest.identity import Identities, stamp
from agent.ingest.loaded import Loaded
from agent.ingest.loaders.markdown import MarkdownLoader
from agent.ingest.reading import DEFAULT_READING
from schemas.errors import IngestError, UsageError


def is_markdown(source: Source, *, named: bool) -> bool:
    return source.path.suffix == ".md"


def names(found: Discovery) -> list[str]:
    return [source.name for source in found.files]


def put(path: Path, text: str = "text") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_files_come_in_a_stable_order_and_the_rest_is_named(tmp_path: Path) -> None:
    for name in ["b/z.md", "b/a.md", "a.md", "b/c/x.md", "report.pdf", ".git/x.md", ".hidden.md"]:
        put(tmp_path / name)
    put(tmp_path / "LICENSE")
    found = discover([tmp_path], is_markdown)
    assert names(found) == ["a.md", "b/a.md", "b/z.md", "b/c/x.md"]
    reasons = {one.file: one.reason for one in found.skipped}
    assert reasons == {
        ".git/": "hidden",
        ".hidden.md": "hidden",
        "LICENSE": "no loader for files without a suffix",
        "report.pdf": "no loader for .pdf",
    }


def test_a_file_is_taken_once_however_it_is_named(tmp_path: Path) -> None:
    file = put(tmp_path / "hr" / "a.md")
    put(tmp_path / "b.md")
    found = discover(
        [file, tmp_path / "hr", tmp_path, tmp_path / "hr" / ".." / "b.md"], is_markdown
    )
    assert names(found) == ["b.md", "hr/a.md"]
    assert found.folders == [tmp_path.resolve()]


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = put(tmp_path / "outside" / "secret.md")
    root = tmp_path / "root"
    put(root / "a.md")
    (root / "loop").symlink_to(root, target_is_directory=True)
    (root / "secret.md").symlink_to(outside)
    (root / "broken.md").symlink_to(tmp_path / "nowhere.md")
    found = discover([root], is_markdown)
    assert names(found) == ["a.md"]
    assert {one.file for one in found.skipped} == {"loop/", "secret.md", "broken.md"}


def test_a_link_that_is_named_is_followed(tmp_path: Path) -> None:
    put(tmp_path / "real" / "a.md")
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    found = discover([tmp_path / "link"], is_markdown)
    assert found.files == discover([tmp_path / "real"], is_markdown).files


@pytest.mark.parametrize("name", ["missing", "a.md/below", "no\0name"])
def test_a_missing_path_is_named(tmp_path: Path, name: str) -> None:
    put(tmp_path / "a.md")
    with pytest.raises(UsageError, match=r"missing|a\.md|name"):
        discover([tmp_path, tmp_path / name], is_markdown)


def test_no_path_at_all_is_an_error() -> None:
    with pytest.raises(UsageError, match="no path"):
        discover([], is_markdown)


CHINESE = (
    "---\ntitle: 远程办公\ndepartment: 人力资源部\n---\n员工可以每周远程办公两天，需要经理批准。\n"
)


@pytest.mark.parametrize(
    ("text", "encoding", "guessed"),
    [
        (CHINESE, "utf-8", False),
        (CHINESE, "utf-8-sig", False),
        (CHINESE, "utf-16", False),
        (CHINESE, "utf-32", False),
        (CHINESE, "gb18030", True),
        ("plain ascii text", "utf-16-le", True),
        ("plain ascii text", "utf-16-be", True),
        ("dept,city\nhr,Malmö\n", "latin-1", True),
        ("제목: 휴가 정책\n직원은 매년 15일의 휴가를 받습니다.", "cp949", True),
        ("", "utf-8", False),
    ],
)
def test_encodings(text: str, encoding: str, guessed: bool) -> None:
    decoded = decode(text.encode(encoding))
    assert decoded.text == text
    assert decoded.guessed is guessed


def loaded_markdown(raw: bytes) -> Loaded:
    loaded = next(MarkdownLoader().load(io.BytesIO(raw), DEFAULT_READING))
    assert isinstance(loaded, Loaded)
    return loaded


def test_a_guessed_encoding_is_noted() -> None:
    loaded = loaded_markdown(CHINESE.encode("gb18030"))
    assert set(loaded.fields) == {"title", "department"}
    assert "gb18030" in loaded.notes[0].message


def test_a_byte_order_mark_does_not_hide_front_matter() -> None:
    loaded = loaded_markdown("\ufeff---\ntitle: A\nrole: hr-only\n---\nBody".encode())
    assert set(loaded.fields) == {"title", "role"}
    assert loaded.text == "Body"


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_line_ends_of_every_system(end: str) -> None:
    raw = end.join(["---", "title: A", "---", "Body", "more"]).encode()
    loaded = loaded_markdown(raw)
    assert set(loaded.fields) == {"title"}
    assert loaded.text == "Body\nmore"


@pytest.mark.parametrize(
    "raw",
    [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0", b"\xff\xfea\0b", b"\0\0\0\0", b"a\0b\0\0c"],
)
def test_what_is_no_text_is_refused(raw: bytes) -> None:
    with pytest.raises(IngestError, match=r"not a text file|not valid"):
        decode(raw)


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_decoded_or_refused(raw: bytes) -> None:
    try:
        text = decode(raw).text
    except IngestError:
        return
    assert not {"\0", "\r", "\x1f", "\x7f"} & set(text)


def identities(**stored: tuple[str, Path]) -> Identities:
    empty = Identities({})
    return Identities(
        {id_: stamp(text, empty.origin(root)) for id_, (text, root) in stored.items()}
    )


ROOT = Path("/kb/handbook")


@pytest.mark.parametrize(
    ("stored", "source", "id_", "known"),
    [
        ({}, Source(ROOT / "hr/a.md", ROOT), "hr/a.md", False),
        ({"hr/a.md": ("1", ROOT)}, Source(ROOT / "hr/a.md", ROOT), "hr/a.md", True),
        ({"hr/a.md": ("1", ROOT)}, Source(ROOT / "hr/a.md", ROOT / "hr"), "hr/a.md", True),
        ({"a.md": ("1", ROOT / "hr")}, Source(ROOT / "hr/a.md", ROOT), "a.md", True),
        ({"a.md": ("1", ROOT / "it")}, Source(ROOT / "hr/a.md", ROOT), "hr/a.md", False),
    ],
)
def test_a_file_keeps_its_id_however_it_is_named(
    stored: dict[str, tuple[str, Path]], source: Source, id_: str, known: bool
) -> None:
    identity = identities(**stored).identify(source)
    assert identity.id == id_
    assert (identity.stored is not None) is known
    assert not identity.foreign


def test_the_same_name_from_another_folder_is_foreign() -> None:
    known = identities(**{"readme.md": ("1", Path("/kb/a"))})
    identity = known.identify(Source(Path("/kb/b/readme.md"), Path("/kb/b")))
    assert (identity.id, identity.stored, identity.foreign) == ("readme.md", "1", True)


def test_a_document_stored_by_other_means_is_foreign() -> None:
    identity = Identities({"a.md": "somehash"}).identify(Source(ROOT / "a.md", ROOT))
    assert identity.foreign


def test_vanished_are_those_of_the_folders_given() -> None:
    known = identities(
        **{
            "hr/gone.md": ("1", ROOT),
            "hr/kept.md": ("1", ROOT),
            "it/other.md": ("1", ROOT),
            "single.md": ("1", ROOT / "hr"),
            "else.md": ("1", Path("/elsewhere")),
        }
    )
    found = Discovery(folders=[ROOT / "hr"], visited=[ROOT / "hr"])
    assert known.vanished(found, {"hr/kept.md"}) == ("hr/gone.md", "single.md")


def test_nothing_vanishes_in_a_folder_that_cannot_be_read() -> None:
    known = identities(**{"hr/a.md": ("1", ROOT), "b.md": ("1", ROOT)})
    found = Discovery(folders=[ROOT], visited=[ROOT], unreadable=[ROOT / "hr"])
    assert known.vanished(found, set()) == ("b.md",)


def test_composed_and_decomposed_names_are_one_document() -> None:
    composed = Identities({}).identify(Source(ROOT / "caf\u00e9.md", ROOT))
    decomposed = Identities({}).identify(Source(ROOT / "cafe\u0301.md", ROOT))
    assert composed == decomposed
