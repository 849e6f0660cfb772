"""Which loader reads a file: by content before name."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from agent.ingest.reading import Reading
from schemas.errors import IngestError
from tests.loading import FILES, LOADERS, document, documents, read, sample


@pytest.mark.parametrize(
    ("name", "head", "loader"),
    [
        ("a.md", b"# A", "markdown"),
        ("a.MD", b"# A", "markdown"),
        ("a.rst", b"A\n=\n", "markdown"),
        ("a.txt", b"A", "text"),
        ("a.log", b"A", "text"),
        ("a.csv", b"a,b", "csv"),
        ("a.tsv", b"a\tb", "tsv"),
        ("a.json", b"{}", "json"),
        ("a.jsonl", b"{}", "jsonl"),
        ("a.ndjson", b"{}", "jsonl"),
        ("a.html", b"text", "html"),
        ("a.htm", b"text", "html"),
        ("a.pdf", b"junk before %PDF-1.4", "pdf"),
        ("a.md", b"%PDF-1.7\n", "pdf"),
        ("a", b"%PDF-1.7\n", "pdf"),
        ("a.md", b"A text about %PDF-1.7", "markdown"),
        ("a.txt", b"\xef\xbb\xbf<!DOCTYPE html><html>", "html"),
        ("a.txt", b"<!-- saved --> <!-- from --> <html lang=en>", "html"),
        ("a.txt", b"<!-- x -->" * 300 + b"text", "text"),
        ("a.md", b"<htmlish> text", "markdown"),
        ("a.csv", b"[1, 2]", "csv"),
    ],
)
def test_content_counts_before_the_name(name: str, head: bytes, loader: str) -> None:
    assert LOADERS.choose(PurePosixPath(name), head, Reading()).name == loader


def test_a_pdf_under_another_name_is_a_pdf() -> None:
    assert document("notes.md", sample("handbook.pdf")).pages


def test_a_workbook_under_another_name_is_a_workbook() -> None:
    keys = [one.key for one in documents("staff.csv", sample("staff.xlsx"))]
    assert keys == ["Policies!2", "Policies!4", "Rooms!2"]


def test_the_type_map_counts_before_content() -> None:
    reading = Reading(loader="text")
    assert document("a.html", b"<html>x", reading).text == "<html>x"


def test_an_unknown_loader_names_those_there_are() -> None:
    with pytest.raises(IngestError, match="csv, excel, html, json, jsonl, markdown, pdf, text"):
        LOADERS.choose(PurePosixPath("a.md"), b"", Reading(loader="word"))


@pytest.mark.parametrize("name", ["a.docx", "LICENSE"])
def test_other_files_have_no_loader(name: str) -> None:
    assert not LOADERS.accepts(PurePosixPath(name))
    with pytest.raises(IngestError, match="no loader"):
        LOADERS.choose(PurePosixPath(name), b"x", Reading())


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.csv", "a.json", "a.jsonl", "a.tsv", "a.html"])
def test_binary_junk_under_a_name_of_text_is_refused(name: str) -> None:
    with pytest.raises(IngestError, match="zero bytes"):
        read(name, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0" * 50)


@pytest.mark.parametrize("name", ["a.pdf", "a.xlsx"])
def test_text_under_a_name_of_binary_is_refused(name: str) -> None:
    with pytest.raises(IngestError, match="damaged or none"):
        read(name, b"only text")


def test_every_sample_is_accepted_by_its_name() -> None:
    refused = {path.name for path in FILES.glob("[!.]*") if not LOADERS.accepts(path)}
    assert refused == set()
