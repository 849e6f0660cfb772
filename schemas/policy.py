"""How hits are ordered and cut: the thresholds and switches of `rag.filter`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from schemas.model import Shape

Reranker = Literal["rule", "six_factor", "embedding", "cross_encoder"]


class Overrides(Shape):
    """Single values of a policy, for a knowledge base, a type of document, or one call; what is
    not given stays as it is.
    """

    enabled: bool | None = None
    statistics_enabled: bool | None = None
    similarity_threshold: float | None = Field(None, ge=0, le=1)
    min_confidence_threshold: float | None = Field(None, ge=0, le=1)
    min_document_length: int | None = Field(None, ge=0)
    max_document_length: int | None = Field(None, ge=1)
    min_information_density: float | None = Field(None, ge=0, le=1)
    max_retrieval_results: int | None = Field(None, ge=1)
    max_total_chars: int | None = Field(None, ge=100)
    max_total_tokens: int | None = Field(None, ge=50)
    rerank_enabled: bool | None = None
    reranker: Reranker | None = None
    rerank_candidate_limit: int | None = Field(None, ge=1)
    diversity_enabled: bool | None = None
    max_per_source: int | None = Field(None, ge=1)
    duplicates_enabled: bool | None = None
    duplicate_threshold: float | None = Field(None, gt=0, le=1)
    boosts_enabled: bool | None = None
    fallback_enabled: bool | None = None
    fallback_top_k: int | None = Field(None, ge=0)


class Policy(Shape):
    """One policy. `similarity_threshold` is compared with the similarity that is calibrated for
    the embedding model, never with a fused or reranked score.
    """

    enabled: bool = True
    statistics_enabled: bool = True
    similarity_threshold: float = Field(0.7, ge=0, le=1)
    min_confidence_threshold: float = Field(0.5, ge=0, le=1)
    min_document_length: int = Field(50, ge=0, description="characters")
    max_document_length: int | None = Field(None, ge=1, description="characters")
    min_information_density: float = Field(0.3, ge=0, le=1)
    max_retrieval_results: int = Field(5, ge=1)
    max_total_chars: int = Field(4000, ge=100)
    max_total_tokens: int | None = Field(None, ge=50)
    rerank_enabled: bool = False
    reranker: Reranker = "rule"
    rerank_candidate_limit: int = Field(10, ge=1)
    diversity_enabled: bool = True
    max_per_source: int = Field(2, ge=1)
    duplicates_enabled: bool = True
    duplicate_threshold: float = Field(0.9, gt=0, le=1)
    boosts_enabled: bool = True
    fallback_enabled: bool = True
    fallback_top_k: int = Field(2, ge=0)
    knowledge_profiles: dict[str, Overrides] = Field(default_factory=dict)
    type_specific_rules: dict[str, Overrides] = Field(default_factory=dict)
