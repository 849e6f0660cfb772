"""Commands on documents that are stored: listed, changed, restored, embedded again, backed up."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.cli.documents import check_asked, parse_assignments
from agent.cli.main import invoke
from agent.settings import Settings
from schemas.errors import UsageError
from tests.test_cli import runtime_env

DOCUMENTS = {
    "a.md": "department: HR\npages: 3\ntags: [travel]",
    "b.md": "department: Sales\npages: 12\ntags: [travel, price]",
    "c.md": "department: HR\npages: 40\ntags: [leave]",
}

Run = Callable[..., Any]


@pytest.fixture
def run(
    lite_settings: Settings, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Run:
    """Runs a command on the knowledge base `shelf`; its JSON, or its message where it fails."""
    for name, value in runtime_env(lite_settings).items():
        monkeypatch.setenv(name, value)

    def command(*arguments: str, code: int = 0, kb: str = "shelf") -> Any:
        capfd.readouterr()
        assert invoke([*arguments, "--kb", kb, "--json"]) == code
        out, err = capfd.readouterr()
        return err if code else json.loads(out)

    return command


@pytest.fixture
def shelf(run: Run, tmp_path: Path) -> Path:
    folder = tmp_path / "shelf"
    folder.mkdir()
    for name, header in DOCUMENTS.items():
        title = f"title: {name[0].upper()}"
        (folder / name).write_text(f"---\n{title}\n{header}\n---\n\nText of {name}.\n")
    run("ingest", str(folder), "--prune")
    return folder


def test_assignments() -> None:
    given = ["tags=a,b", "tags=c", "title=x=y", "note="]
    assert parse_assignments(given) == {"tags": ["a,b", "c"], "title": ["x=y"], "note": [""]}
    for wrong in ("tags", "=x", ""):
        with pytest.raises(UsageError, match="write FIELD=VALUE"):
            parse_assignments([wrong])


def test_an_assignment_asks_for_one_thing_of_a_field() -> None:
    check_asked({"title": ["x"]}, ["pages"])
    with pytest.raises(UsageError, match="nothing is set"):
        check_asked({}, [])
    with pytest.raises(UsageError, match="'pages' is both set and unset"):
        check_asked({"pages": ["3"]}, ["pages"])


@pytest.mark.lite
@pytest.mark.usefixtures("shelf")
def test_documents_are_listed_by_filter(run: Run) -> None:
    hr = '{"op": "eq", "field": "department", "value": "hr"}'
    assert [d["id"] for d in run("docs", "list", "--filter", hr)] == ["a.md", "c.md"]
    assert [d["id"] for d in run("docs", "list", "--limit", "2")] == ["a.md", "b.md"]
    assert "colour" in run(
        *("docs", "list", "--filter", '{"op": "eq", "field": "colour", "value": 1}'), code=2
    )


@pytest.mark.lite
@pytest.mark.usefixtures("shelf")
def test_metadata_is_set_and_a_version_restored(run: Run) -> None:
    changed = run("docs", "set", "a.md", "pages=7", "tags=x, y", "department=Human Resources")
    assert changed["metadata"] | {"title": "A"} == {
        "title": "A",
        "pages": 7,
        "tags": ["x", "y"],
        "department": "Human Resources",
    }
    without = run("docs", "set", "a.md", "--unset", "tags")
    assert "tags" not in without["metadata"]
    versions = run("docs", "versions", "a.md")
    assert [v["metadata"].get("pages") for v in versions] == [7, 3]
    shown = run("docs", "show", "a.md", "--versions")
    assert [v["revision"] for v in shown["versions"]] == [v["revision"] for v in versions]
    restored = run("docs", "restore", "a.md", versions[1]["revision"])
    assert restored["metadata"]["tags"] == ["travel"]
    assert "no version 'x'" in run("docs", "restore", "a.md", "x", code=2)


@pytest.mark.lite
@pytest.mark.usefixtures("shelf")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("docs", "set", "a.md", "pages=many"), "'pages' of type int cannot be 'many'"),
        (("docs", "set", "a.md", "colour=red"), "unknown field 'colour' in 'shelf'; known fields"),
        (("docs", "set", "a.md", "--unset", "colour"), "unknown field 'colour'"),
        (("docs", "set", "z.md", "pages=1"), "no document 'z.md'"),
        (("docs", "disable", "a.md", "--passage", "5"), "no passage 5"),
        (("docs", "versions", "z.md"), "no document 'z.md'"),
    ],
)
def test_what_cannot_be_is_told(run: Run, arguments: tuple[str, ...], words: str) -> None:
    assert words in run(*arguments, code=2)


@pytest.mark.lite
@pytest.mark.usefixtures("shelf")
def test_a_passage_is_disabled(run: Run) -> None:
    assert run("docs", "disable", "b.md", "--passage", "0") == {
        "id": "b.md",
        "enabled": False,
        "passage": 0,
    }
    found = run("search", "Text of b.md", "--mode", "off")
    assert "b.md" not in {hit["doc_id"] for hit in found["hits"]}
    run("docs", "disable", "b.md", "--passage", "0", "--undo")
    found = run("search", "Text of b.md", "--mode", "off")
    assert "b.md" in {hit["doc_id"] for hit in found["hits"]}


def without_scores(hits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in hit.items() if "score" not in key} for hit in hits]


@pytest.mark.lite
@pytest.mark.usefixtures("shelf")
def test_embedded_again_it_finds_the_same(run: Run) -> None:
    question = ("search", "Text of c.md", "--mode", "off")
    before = run(*question)["hits"]
    assert run("reindex")["passages"] >= 3
    after = run(*question)["hits"]
    assert without_scores(after) == without_scores(before)
    # The weight of words differs a little with the segments that Lite keeps rows in.
    scores = [hit["score"] for hit in before]
    assert [hit["score"] for hit in after] == pytest.approx(scores, abs=0.03)


@pytest.mark.lite
@pytest.mark.usefixtures("shelf")
def test_a_backup_comes_back(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "shelf.zip"
    assert run("backup", str(file))["documents"] == 3
    assert "already" in run("restore", str(file), code=2)
    run("docs", "delete", "a.md")
    assert run("restore", str(file), "--replace") == {"file": str(file), "kb": "shelf"}
    assert len(run("docs", "list")) == 3
    run("restore", str(file), "--replace", kb="other shelf")
    assert len(run("docs", "list", kb="other shelf")) == 3
    file.write_bytes(file.read_bytes()[:-30])
    assert "cannot be restored" in run("restore", str(file), "--replace", code=1)
