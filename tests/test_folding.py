from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.folding import fold, is_blank

PAIRS = [
    ("ACME", "acme"),
    ("Ｈｕｍａｎ  Resources", "human resources"),
    ("Straße", "STRASSE"),
    ("ﬁle", "FILE"),
    ("e\u0301tude", "ÉTUDE"),
    ("a\u00a0 b\t\nc", " A B C "),
    ("ⅷ", "VIII"),
    ("ℌR", "hr"),
    ("新能源", "新能源"),
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_same_under_folding(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(("one", "other"), [("é", "e"), ("001", "1"), ("a_b", "axb"), ("İ", "i")])
def test_different_under_folding(one: str, other: str) -> None:
    assert fold(one) != fold(other)


@pytest.mark.parametrize("text", ["", " ", "\t\r\n", "\u3000", "\x1f", "\u00a0\u2003"])
def test_blank_folds_to_nothing(text: str) -> None:
    assert fold(text) == ""


@settings(deadline=None)
@given(st.text())
def test_folding_again_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@settings(deadline=None)
@given(st.text())
def test_no_separator_is_left(text: str) -> None:
    assert "\x1f" not in fold(text)
    assert fold(text) == fold(text).strip()


@given(st.text(st.sampled_from(" \t\n\x1c\x85\xa0\u2000\u2028\u3000\u200b\u00adaＡ\u0301")))
def test_blank_is_what_folds_to_nothing(text: str) -> None:
    assert is_blank(text) is (fold(text) == "")
