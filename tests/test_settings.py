"""The settings tree: precedence, spellings, errors that name the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.settings import load_settings, origins
from schemas.errors import SettingsError
from schemas.policy import snake_case


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("FACETWISE_KB", "FACETWISE_CONFIG", "FACETWISE_MODELS__CHAT"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_environment_wins_over_the_file_and_the_file_over_defaults(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "facetwise.yaml").write_text("kb: file\nmodels:\n  chat: a:1b\n  threads: 3\n")
    monkeypatch.setenv("FACETWISE_KB", "environment")
    monkeypatch.setenv("FACETWISE_MODELS__CHAT", "b:2b")
    settings = load_settings()
    assert settings.kb == "environment"
    assert (settings.models.chat, settings.models.threads) == ("b:2b", 3)
    assert load_settings(kb="argument").kb == "argument"
    assert origins()["models.threads"] == "facetwise.yaml"
    assert origins()["models.chat"] == "environment"
    assert "store.uri" not in origins()


@pytest.mark.parametrize("key", ["max_total_chars", "maxTotalChars", "max-total-chars"])
def test_the_chain_section_takes_three_spellings(
    folder: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    (folder / "facetwise.yaml").write_text(f"rag:\n  filter:\n    {key}: 5000\n")
    assert load_settings().rag.filter.max_total_chars == 5000
    monkeypatch.setenv("FACETWISE_RAG__FILTER__MAX_TOTAL_CHARS", "6000")
    assert load_settings().rag.filter.max_total_chars == 6000


@pytest.mark.parametrize(
    ("yaml", "words"),
    [
        ("kbb: x", "kbb"),
        ("models:\n  treads: 3", r"models\.treads"),
        ("models:\n  threads: many", r"models\.threads.*many"),
        ("store:\n  dense_weight: 2", r"store\.dense_weight"),
        ("kb: [", "not YAML"),
    ],
)
def test_a_fault_names_its_key(folder: Path, yaml: str, words: str) -> None:
    (folder / "facetwise.yaml").write_text(yaml)
    with pytest.raises(SettingsError, match=words):
        load_settings()


def test_a_named_file_has_to_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACETWISE_CONFIG", "nowhere.yaml")
    with pytest.raises(SettingsError, match=r"nowhere\.yaml"):
        load_settings()


@pytest.mark.parametrize(
    ("name", "expected"),
    [("topK", "top_k"), ("top-k", "top_k"), ("top_k", "top_k"), ("maxPerSource", "max_per_source")],
)
def test_snake_case(name: str, expected: str) -> None:
    assert snake_case(name) == expected
