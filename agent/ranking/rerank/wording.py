"""Which words of hits and questions are compared."""

from __future__ import annotations

from graph.ports import Wanted
from schemas.hits import Passage
from schemas.terms import telling_terms


def said(passage: Passage) -> str:
    """Title, headings and text, a line each: a passage rarely repeats what it stands under."""
    lines = dict.fromkeys((passage.title, *passage.heading))
    return "\n".join([*(line for line in lines if line), passage.text])


def asked_terms(wanted: Wanted) -> tuple[str, ...]:
    """The telling terms of the text searched for and of the keywords found in the question."""
    return telling_terms(" ".join((wanted.query or wanted.question, *wanted.keywords)))
