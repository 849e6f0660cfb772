"""The policy: which values hold for a knowledge base, a type of document, a call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from agent.cli.session import parse_policy
from agent.ranking.policy import chain_of
from agent.ranking.registry import Tools
from agent.settings import Settings, load_settings, origins
from schemas.errors import SettingsError, UsageError
from schemas.policy import Overrides, Policy

PROFILES: dict[str, Any] = {
    "grafana-guide": {
        "similarity_threshold": 0.6,
        "max_retrieval_results": 10,
        "max_total_chars": 8000,
    },
    "product-manual": {
        "similarity_threshold": 0.8,
        "max_total_chars": 3000,
        "rerank_enabled": False,
    },
    "产品手册": {"similarity_threshold": 0.8, "max_total_chars": 3000},
}

EXAMPLE = """
rag:
  filter:
    similarity-threshold: 0.75
    maxRetrievalResults: 6
    max_total_chars: 5000
    rerank-enabled: true
    max-per-source: 2
    knowledge-profiles:
      grafana-guide:
        similarity-threshold: 0.6
        maxRetrievalResults: 10
        max_total_chars: 8000
      productManual:
        rerankEnabled: false
      产品手册:
        maxTotalChars: 3000
    typeSpecificRules:
      操作手册:
        min-document-length: 20
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FACETWISE_CONFIG", raising=False)
    return tmp_path


def test_the_defaults() -> None:
    policy = Policy()
    assert (policy.similarity_threshold, policy.min_confidence_threshold) == (0.7, 0.5)
    assert (policy.min_document_length, policy.min_information_density) == (50, 0.3)
    assert (policy.max_retrieval_results, policy.max_total_chars) == (5, 4000)
    assert (policy.enabled, policy.statistics_enabled) == (True, True)
    assert (policy.rerank_enabled, policy.rerank_candidate_limit) == (False, 10)
    assert (policy.diversity_enabled, policy.max_per_source) == (True, 2)
    assert (policy.fallback_enabled, policy.fallback_top_k) == (True, 2)


def test_the_example_file_in_all_spellings(folder: Path) -> None:
    (folder / "facetwise.yaml").write_text(EXAMPLE, encoding="utf-8")
    policy = load_settings().rag.filter
    assert (policy.similarity_threshold, policy.max_retrieval_results) == (0.75, 6)
    assert (policy.max_total_chars, policy.rerank_enabled, policy.max_per_source) == (5000, True, 2)
    assert [*policy.knowledge_profiles] == ["grafana-guide", "productManual", "产品手册"]
    assert policy.for_kb("grafana-guide").max_retrieval_results == 10
    assert policy.for_kb("productManual").rerank_enabled is False
    assert policy.for_kb("产品手册").max_total_chars == 3000
    assert policy.for_type("操作手册").min_document_length == 20
    assert "rag.filter.knowledge_profiles.grafana-guide.max_retrieval_results" in origins()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("grafana-guide", (0.6, 10, 8000)),
        ("  Grafana-GUIDE ", (0.6, 10, 8000)),
        ("ｇｒａｆａｎａ-guide", (0.6, 10, 8000)),
        ("product-manual", (0.8, 5, 3000)),
        ("产品手册", (0.8, 5, 3000)),
        (" 产品手册", (0.8, 5, 3000)),
        ("产品", (0.7, 5, 4000)),
        ("grafana_guide", (0.7, 5, 4000)),
        ("", (0.7, 5, 4000)),
    ],
)
def test_the_policy_of_a_knowledge_base(name: str, expected: tuple[float, int, int]) -> None:
    policy = Policy.model_validate({"knowledge_profiles": PROFILES}).for_kb(name)
    found = (policy.similarity_threshold, policy.max_retrieval_results, policy.max_total_chars)
    assert found == expected


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"category": "Manual"}, 10),
        ({"category": ["news", "manual"]}, 10),
        ({"doc_type": " manual "}, 10),
        ({"category": "news", "file_type": "pdf"}, 20),
        ({"category": "manual", "file_type": "pdf"}, 10),
        ({"category": 3, "type": None}, 50),
        ({}, 50),
    ],
)
def test_the_type_of_a_document(metadata: dict[str, Any], expected: int) -> None:
    rules = {"manual": {"min_document_length": 10}, "PDF": {"min_document_length": 20}}
    policy = Policy.model_validate({"type_specific_rules": rules})
    assert policy.for_document(metadata).min_document_length == expected
    called = policy.with_(Overrides(min_document_length=7))
    assert called.for_document(metadata).min_document_length == 7


def test_a_call_wins_over_everything_and_changes_nothing_else() -> None:
    policy = Policy.model_validate({"knowledge_profiles": PROFILES}).for_kb("grafana-guide")
    called = policy.with_(Overrides(similarity_threshold=0.1, fallback_enabled=False))
    assert called.similarity_threshold == 0.1
    assert called.fallback_enabled is False
    assert called.max_retrieval_results == 10
    assert policy.with_(None) is policy


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"similarity_threshold": 0.033}, r"similarity_threshold 0\.033.*fused.*0\.05 to 1"),
        ({"similarity_threshold": 70}, "less than or equal to 1"),
        ({"knowledge_profiles": {"a": {"similarityThreshold": 0.01}}}, "similarity_threshold 0.01"),
        ({"min_document_length": 60, "max_document_length": 50}, "no passage could pass"),
        ({"knowledge_profiles": {"a": {"max_document_length": 9}}}, "knowledge_profiles.a.*9"),
        (
            {"type_specific_rules": {"faq": {"max_document_length": 9}}},
            "type_specific_rules.faq.*9",
        ),
        (
            {
                "knowledge_profiles": {"手册": {"min_document_length": 400}},
                "type_specific_rules": {"faq": {"max_document_length": 100}},
            },
            "手册 with type_specific_rules.faq.*100",
        ),
        ({"max_results": 3}, r"'max_results'.*allowed:.*max_retrieval_results"),
        ({"knowledge_profiles": {"a": {"topK": 3}}}, "'top_k'.*allowed"),
        ({"max_per_source": 1, "maxPerSource": 2}, "'max_per_source' is given twice"),
        ({"knowledge_profiles": {"a": {}, " A": {}}}, "the same name"),
        ({"type_specific_rules": {"a": {"rerank_enabled": True}}}, "cannot depend on the type"),
        ({"reranker": "best"}, "'rule', 'six_factor'"),
        ({"calibration": {"m": [[0.5, 0.7]]}}, "two or more pairs"),
        ({"calibration": {"m": [[0.5, 0.7], [0.4, 0.9]]}}, "rising"),
    ],
)
def test_a_wrong_option_names_itself_and_what_is_allowed(
    options: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValidationError, match=words):
        Policy.model_validate(options)
    with pytest.raises(SettingsError, match=r"rag\.filter"):
        load_settings(rag={"filter": options})


def test_an_option_in_two_spellings_in_the_file_is_refused(folder: Path) -> None:
    (folder / "facetwise.yaml").write_text("rag:\n  filter: {max-per-source: 1, maxPerSource: 2}\n")
    with pytest.raises(SettingsError, match=r"max_per_source.*twice"):
        load_settings()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rerank_enabled": True, "reranker": "cross_encoder"}, "rag.rerank.url"),
        (
            {"knowledge_profiles": {"a": {"rerank_enabled": True, "reranker": "embedding"}}},
            "embedding",
        ),
        ({"disabled_strategies": ["diversty"]}, r"'diversty'.*allowed:.*diversity"),
        ({"knowledge_profiles": {"a": {"disabledStrategies": ["x"]}}}, r"profiles\.a.*'x'"),
    ],
)
def test_a_chain_that_cannot_be_made_is_refused_at_the_start(
    options: dict[str, Any], words: str
) -> None:
    with pytest.raises(SettingsError, match=words):
        chain_of(Policy.model_validate(options), Tools(), plugins=())


@pytest.mark.parametrize(
    "yaml",
    [
        "rag:",
        "rag:\n  filter:",
        "rag:\n  filter:\n  rerank:\n  boosts:",
        "rag:\n  filter:\n    knowledgeProfiles:\n    type-specific-rules:",
        "store:\nrag:\n  filter: {}",
    ],
)
def test_a_section_in_which_nothing_stands_is_none(folder: Path, yaml: str) -> None:
    (folder / "facetwise.yaml").write_text(yaml)
    assert load_settings() == Settings()
    assert load_settings().rag.filter == Policy()


def test_a_profile_in_which_nothing_stands_overrides_nothing(folder: Path) -> None:
    yaml = "rag:\n  filter:\n    maxPerSource: 4\n    knowledge_profiles:\n      产品手册:\n"
    (folder / "facetwise.yaml").write_text(yaml, encoding="utf-8")
    policy = load_settings().rag.filter
    assert policy.for_kb("产品手册") == policy
    assert policy.max_per_source == 4


def test_values_for_one_question_are_read_from_the_command_line() -> None:
    assert parse_policy(None) is None
    given = parse_policy('{"maxPerSource": 1, "rerank-enabled": true}')
    assert given == Overrides(max_per_source=1, rerank_enabled=True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"max_sources": 1}', "--policy: unknown option 'max_sources'; allowed: "),
        ('{"max_per_source": 0}', "--policy.max_per_source: .*greater than or equal to 1"),
        ("[]", "--policy: "),
        ("{", "--policy is not JSON"),
    ],
)
def test_values_that_are_none_of_the_policy_are_told(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parse_policy(text)
