"""How hits are ordered and cut: the thresholds and switches of `rag.filter`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Literal, Self

from pydantic import Field, JsonValue, model_validator

from schemas.folding import fold
from schemas.model import Shape

Reranker = Literal["rule", "six_factor", "embedding", "cross_encoder"]

TYPE_FIELDS = ("category", "doc_type", "type", "file_type")
"""Where the type of a document is looked for; the first of these with a rule decides."""

LOWEST_THRESHOLD = 0.05
"""A lower one would cut nothing: it was meant for another score, such as that of reciprocal rank
fusion, whose best is about 0.033.
"""

Points = tuple[tuple[float, float], ...]
"""Pairs (cosine, similarity), both rising."""


def snake_case(name: str) -> str:
    """`maxTotalChars` and `max-total-chars` as `max_total_chars`."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).replace("-", "_").lower()


def snake_keys(options: Mapping[Any, Any]) -> dict[str, Any]:
    """Options by their names in snake case. ValueError where one is given twice."""
    found: dict[str, Any] = {}
    for key, value in options.items():
        name = snake_case(str(key))
        if name in found:
            raise ValueError(f"option {name!r} is given twice, in two spellings")
        found[name] = value
    return found


class _Options(Shape):
    """Takes its options in snake, kebab and camel case."""

    @model_validator(mode="before")
    @classmethod
    def _in_snake_case(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        options = snake_keys(data)
        unknown = [name for name in options if name not in cls.model_fields]
        if unknown:
            raise ValueError(
                f"unknown option {', '.join(map(repr, unknown))}; allowed: "
                f"{', '.join(cls.model_fields)}"
            )
        return options


class Overrides(_Options):
    """Single values of a policy, for a knowledge base, a type of document, or one call; what is
    not given stays as it is.
    """

    enabled: bool | None = None
    statistics_enabled: bool | None = None
    disabled_strategies: tuple[str, ...] | None = None
    similarity_threshold: float | None = Field(None, ge=0, le=1)
    min_confidence_threshold: float | None = Field(None, ge=0, le=1)
    similarity_floor: float | None = Field(None, ge=0, le=1)
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

    @property
    def given(self) -> dict[str, Any]:
        return {name: value for name, value in self if value is not None}

    @model_validator(mode="after")
    def _on_the_scale(self) -> Self:
        _check_scale(self.similarity_threshold)
        return self


PER_TYPE = frozenset(
    (
        *("similarity_threshold", "min_confidence_threshold", "similarity_floor"),
        *("min_document_length", "max_document_length", "min_information_density"),
        *("max_per_source", "max_retrieval_results", "max_total_chars"),
    )
)
"""What a rule for a type of document may set; the last two limit the share of that type."""


class Policy(_Options):
    """One policy. `similarity_threshold` is compared with the similarity that is calibrated for
    the embedding model, never with a fused or reranked score.
    """

    enabled: bool = Field(True, description="off: passages are only packed")
    statistics_enabled: bool = True
    disabled_strategies: tuple[str, ...] = Field((), description="names of single strategies")
    similarity_threshold: float = Field(0.7, ge=0, le=1)
    min_confidence_threshold: float = Field(0.5, ge=0, le=1)
    similarity_floor: float = Field(0.0, ge=0, le=1, description="less is never kept")
    min_document_length: int = Field(50, ge=0, description="characters; a CJK one counts two")
    max_document_length: int | None = Field(None, ge=1, description="counted likewise")
    min_information_density: float = Field(0.3, ge=0, le=1)
    max_retrieval_results: int = Field(5, ge=1)
    max_total_chars: int = Field(4000, ge=100)
    max_total_tokens: int | None = Field(None, ge=50, description="instead of max_total_chars")
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
    calibration: dict[str, Points] = Field(
        default_factory=dict, description="(cosine, similarity) points by embedding model"
    )

    def for_kb(self, name: str) -> Policy:
        """The policy of a knowledge base; names are compared folded, an unknown one has none of
        its own.
        """
        profile = _named(self.knowledge_profiles, name)
        return self if profile is None else self.model_copy(update=profile.given)

    def rule_for(self, document_type: str) -> Overrides | None:
        return _named(self.type_specific_rules, document_type)

    def for_type(self, document_type: str) -> Policy:
        rule = self.rule_for(document_type)
        return self if rule is None else self.model_copy(update=rule.given)

    def for_document(self, metadata: Mapping[str, JsonValue]) -> Policy:
        """The policy of a document's type, see `TYPE_FIELDS`."""
        document_type = self.type_of(metadata)
        return self if document_type is None else self.for_type(document_type)

    def type_of(self, metadata: Mapping[str, JsonValue]) -> str | None:
        """The folded name of the rule that a document falls under."""
        if not self.type_specific_rules:
            return None
        values = (metadata.get(field) for field in TYPE_FIELDS)
        names = (one for value in values for one in (value if isinstance(value, list) else [value]))
        return next(
            (fold(n) for n in names if isinstance(n, str) and _named(self.type_specific_rules, n)),
            None,
        )

    def with_(self, overrides: Overrides | None) -> Policy:
        """With the values of one call, which also win over the rules for types."""
        if overrides is None:
            return self
        rules = {
            name: rule.model_copy(update=dict.fromkeys(overrides.given))
            for name, rule in self.type_specific_rules.items()
        }
        return self.model_copy(update={**overrides.given, "type_specific_rules": rules})

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        for option in ("knowledge_profiles", "type_specific_rules"):
            _check_names(option, getattr(self, option))
        for name, rule in self.type_specific_rules.items():
            _check_rule(name, rule)
            _check(f"type_specific_rules.{name}: ", self.for_type(name))
        _check("", self)
        for name in self.knowledge_profiles:
            _check(f"knowledge_profiles.{name}: ", self.for_kb(name))
            for kind in self.type_specific_rules:
                where = f"knowledge_profiles.{name} with type_specific_rules.{kind}: "
                _check(where, self.for_kb(name).for_type(kind))
        for model, points in self.calibration.items():
            _check_points(model, points)
        return self


def _named(options: Mapping[str, Overrides], name: str) -> Overrides | None:
    wanted = fold(name)
    return next((value for key, value in options.items() if fold(key) == wanted), None)


def _check_names(option: str, named: Mapping[str, Overrides]) -> None:
    seen: dict[str, str] = {}
    for name in named:
        if not fold(name):
            raise ValueError(f"{option}: a name is empty")
        if fold(name) in seen:
            raise ValueError(f"{option}: {seen[fold(name)]!r} and {name!r} are the same name")
        seen[fold(name)] = name


def _check_rule(name: str, rule: Overrides) -> None:
    wrong = [option for option in rule.given if option not in PER_TYPE]
    if wrong:
        raise ValueError(
            f"type_specific_rules.{name}: {', '.join(wrong)} cannot depend on the type of a "
            f"document; allowed: {', '.join(sorted(PER_TYPE))}"
        )


def _check(where: str, policy: Policy) -> None:
    """Cutoffs that nothing could pass, or that belong to another scale."""
    _check_scale(policy.similarity_threshold)
    longest = policy.max_document_length
    if longest is not None and longest < policy.min_document_length:
        raise ValueError(
            f"{where}max_document_length {longest} is less than min_document_length "
            f"{policy.min_document_length}: no passage could pass"
        )


def _check_scale(threshold: float | None) -> None:
    if threshold is not None and 0 < threshold < LOWEST_THRESHOLD:
        raise ValueError(
            f"similarity_threshold {threshold} does not fit its scale: it is compared with the "
            "similarity calibrated for the embedding model, not with a fused score; allowed: 0 "
            f"(off), or {LOWEST_THRESHOLD} to 1"
        )


def _check_points(model: str, points: Points) -> None:
    rising = all(a[0] < b[0] and a[1] <= b[1] for a, b in pairwise(points))
    if len(points) < 2 or not rising or not all(0 <= point[1] <= 1 for point in points):
        raise ValueError(
            f"calibration.{model}: {[*points]} is no scale; allowed: two or more pairs "
            "[cosine, similarity] with rising cosines and similarities from 0 to 1"
        )
