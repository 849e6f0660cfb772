"""PDF by ReportLab, fpdf2 and pypdf; and how printed lines become paragraphs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from agent.ingest.loaded import Markup
from agent.ingest.loaders.pdf import iso_moment
from agent.ingest.loaders.pdf_text import as_text
from schemas.errors import IngestError
from tests.loading import document, plain, read, sample


def test_text_pages_and_what_the_file_says_of_itself() -> None:
    loaded = document("handbook.pdf", sample("handbook.pdf"))
    fields = plain(loaded)
    assert str(fields.pop("created")).startswith("20")
    assert fields == {
        "title": "Working from home",
        "author": "HR team",
        "subject": "Policy",
        "keywords": ["remote work", "home office"],
    }
    assert loaded.markup is Markup.PLAIN
    starts = [loaded.text[at:].split("\n")[0] for at in loaded.pages]
    assert starts[0] == "Example Corp: Handbook"
    assert starts[1:] == [f"Section {letter}: rules" for letter in "BCDE"]


def test_headers_are_kept_once_and_page_numbers_never() -> None:
    text = document("handbook.pdf", sample("handbook.pdf")).text
    assert text.count("Example Corp: Handbook") == 1
    assert "Page 1 of 5" not in text


def test_lines_of_a_paragraph_are_one() -> None:
    text = document("handbook.pdf", sample("handbook.pdf")).text
    assert (
        "Anyone who works abroad for more than ten days a year asks the tax team first, because "
        "social security follows the place of work. Requests are answered within five working "
        "days.\n\nExpenses"
    ) in text


def test_titles_that_programs_put_in_are_no_titles() -> None:
    loaded = document("travel.pdf", sample("travel.pdf"))
    assert set(loaded.fields) == {"created"}
    assert loaded.text.startswith("Travel costs\n\nTrips are booked")


def test_a_scanned_file_is_refused_with_its_pages() -> None:
    with pytest.raises(IngestError, match="no text, 3 pages"):
        read("scanned.pdf", sample("scanned.pdf"))


def test_an_encrypted_file_is_refused() -> None:
    with pytest.raises(IngestError, match="encrypted"):
        read("encrypted.pdf", sample("encrypted.pdf"))


def test_junk_before_the_start_is_read_under_its_name() -> None:
    assert document("a.pdf", b"\n\n" + sample("travel.pdf")).text.startswith("Travel costs")


def test_files_are_read_in_many_threads() -> None:
    raw = sample("handbook.pdf")
    with ThreadPoolExecutor(4) as pool:
        texts = set(pool.map(lambda _: document("a.pdf", raw).text, range(12)))
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("D:20240131093000+08'00'", "2024-01-31T09:30:00+08:00"),
        ("D:20240131093000+08'00", "2024-01-31T09:30:00+08:00"),
        ("D:20240131093000Z", "2024-01-31T09:30:00Z"),
        ("D:20240131093000Z00'00'", "2024-01-31T09:30:00Z"),
        ("D:202401310930", "2024-01-31T09:30:00"),
        ("D:20240131", "2024-01-31"),
        ("D:20241331", ""),
        ("Thu Jan 4", ""),
        ("", ""),
    ],
)
def test_times_of_pdf(text: str, moment: str) -> None:
    assert iso_moment(text) == moment


FULL = "This line is as long as the lines of the column are on this page of print"


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (f"{FULL}\nand it ends here.\n{FULL}", f"{FULL} and it ends here.\n\n{FULL}"),
        (f"{FULL} exam-\nple of it\n{FULL}", f"{FULL} example of it\n\n{FULL}"),
        (f"{FULL} exam\u00ad\nple of it\n{FULL}", f"{FULL} example of it\n\n{FULL}"),
        (f"{FULL} Self-\nService\n{FULL}", f"{FULL} Self- Service\n\n{FULL}"),
        (f"{FULL}\n• point\n• other\n{FULL}", f"{FULL}\n\n• point\n\n• other\n\n{FULL}"),
        (f"{FULL}\nAbstract: what\n{FULL}", f"{FULL}\n\nAbstract: what\n\n{FULL}"),
        (f"{FULL}\nKeywords: a, b\n{FULL}", f"{FULL}\n\nKeywords: a, b\n\n{FULL}"),
        (
            "员工可以每周远程办公两天需要经理批准并且\n保持联系。\n关键词：远程；办公",
            "员工可以每周远程办公两天需要经理批准并且保持联系。\n\n关键词：远程；办公",
        ),
    ],
)
def test_paragraphs(page: str, text: str) -> None:
    assert as_text([page]) == (text, (0,))


def test_empty_pages_have_a_place() -> None:
    text, pages = as_text(["", "one", "", "two", ""])
    assert text == "one\n\ntwo"
    assert pages == (0, 0, 5, 5, 8)


def test_a_line_on_few_pages_stays() -> None:
    text, _ = as_text(["Same head\na", "Same head\nb", "Same head\nc"])
    assert text.count("Same head") == 3
