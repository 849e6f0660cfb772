"""The one settings tree: CLI > environment (`FACETWISE_…`, `__` between levels) > `.env` >
`facetwise.yaml` (or the file named by `FACETWISE_CONFIG`) > defaults.

Every setting is documented here, beside its default; `facetwise config` prints the effective
tree with the origin of each value.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    YamlConfigSettingsSource,
)
from pydantic_settings.exceptions import SettingsError as SourceError
from yaml import YAMLError

from schemas.collection import FieldType
from schemas.enhanced import Enhancing
from schemas.errors import SettingsError
from schemas.ladder import ACCESS_FIELDS
from schemas.loosen import ACTIONS, Action
from schemas.plan import Mode
from schemas.policy import Policy, snake_keys

CONFIG_VARIABLE = "FACETWISE_CONFIG"
DEFAULT_CONFIG = "facetwise.yaml"


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


class _Yaml(YamlConfigSettingsSource):
    """The YAML file, with the keys of `rag.filter` brought to snake case. A section in which
    nothing stands, as where all of it is commented out, is none.
    """

    def __call__(self) -> dict[str, Any]:
        data = _filled(super().__call__())
        rag = data.get("rag")
        if isinstance(rag, dict):
            data = {**data, "rag": (rag := _filled(rag))}
        if isinstance(rag, dict) and isinstance(rag.get("filter"), dict):
            data = {**data, "rag": {**rag, "filter": _options(rag["filter"])}}
        return data


def _filled(tree: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in tree.items() if value is not None}


def _options(given: Mapping[Any, Any]) -> dict[str, Any]:
    """The keys of options in snake case, here and in profiles and rules, whose names stay as they
    are; SettingsError where an option is given in two spellings.
    """
    try:
        options = snake_keys(given)
        for group in ("knowledge_profiles", "type_specific_rules"):
            named = options.get(group)
            if group in options and named is None:
                del options[group]
            if isinstance(named, dict):
                options[group] = {
                    str(name): snake_keys(one or {}) if isinstance(one, dict | None) else one
                    for name, one in named.items()
                }
    except ValueError as error:
        raise SettingsError(f"settings: rag.filter: {error}") from error
    return options


class Settings(BaseSettings):
    """All settings. Hand it to `Agent`; nothing reads the environment later."""

    model_config = SettingsConfigDict(
        env_prefix="FACETWISE_",
        env_nested_delimiter="__",
        env_file=".env",
        extra="forbid",
        frozen=True,
    )

    kb: str = Field("handbook", description="knowledge base used where none is named")
    paths: PathSettings = PathSettings()
    models: ModelSettings = ModelSettings()
    runtime: RuntimeSettings = RuntimeSettings()
    store: StoreSettings = StoreSettings()
    ingest: IngestSettings = IngestSettings()
    planning: PlanningSettings = PlanningSettings()
    loosen: LoosenSettings = LoosenSettings()
    rag: RagSettings = RagSettings()
    answer: AnswerSettings = AnswerSettings()
    service: ServiceSettings = ServiceSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings, env_settings, dotenv_settings, _Yaml(settings_cls, config_path()))


def config_path() -> Path:
    """The settings file; one named by FACETWISE_CONFIG has to exist."""
    named = os.environ.get(CONFIG_VARIABLE)
    path = Path(named or DEFAULT_CONFIG)
    if named and not path.exists():
        raise SettingsError(f"settings file {named!r} (from {CONFIG_VARIABLE}) does not exist")
    if path.exists() and not path.is_file():
        raise SettingsError(f"settings: {path} is not a file")
    return path


def load_settings(**overrides: Any) -> Settings:
    """Settings from all sources, or SettingsError naming each bad key, its value and the rule."""
    try:
        return Settings(**overrides)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, item['loc']))}: {item['msg']}"
            + ("" if _is_told(item) else f" (got {item['input']!r})")
            for item in error.errors(include_url=False)
        )
        raise SettingsError(f"settings: {faults}") from error
    except YAMLError as error:
        raise SettingsError(f"settings: {config_path()} is not YAML: {_one_line(error)}") from error
    except (UnicodeDecodeError, OSError) as error:
        raise SettingsError(f"settings: {config_path()} cannot be read: {error}") from error
    except SourceError as error:
        raise SettingsError(f"settings: {_one_line(error)}") from error


def _is_told(item: ErrorDetails) -> bool:
    """Whether the message names what is wrong: an unknown key, or a rule over several keys."""
    return item["type"] == "extra_forbidden" or isinstance(item["input"], dict)


def origins() -> dict[str, str]:
    """For each dotted setting that is not a default, where its value comes from."""
    found: dict[str, str] = {}
    for name, source in _sources():
        for key in _leaves(source()):
            found.setdefault(key, name)
    return found


def _sources() -> list[tuple[str, PydanticBaseSettingsSource]]:
    from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource  # noqa: PLC0415 (cold path)

    return [
        ("environment", EnvSettingsSource(Settings)),
        (".env", DotEnvSettingsSource(Settings)),
        (str(config_path()), _Yaml(Settings, config_path())),
    ]


def _leaves(tree: dict[str, Any], prefix: str = "") -> list[str]:
    keys: list[str] = []
    for name, value in tree.items():
        path = f"{prefix}{name}"
        keys += _leaves(value, f"{path}.") if isinstance(value, dict) else [path]
    return keys


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
