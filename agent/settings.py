"""The one settings tree: CLI > environment (`FACETWISE_…`, `__` between levels) > `.env` >
`facetwise.yaml` (or the file named by `FACETWISE_CONFIG`) > defaults.

Every setting is described in `agent/sections.py`; `facetwise config` prints the effective tree with
the origin of each value.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    YamlConfigSettingsSource,
)
from pydantic_settings.exceptions import SettingsError as SourceError
from yaml import YAMLError

from agent.sections import (
    AnswerSettings,
    IngestSettings,
    LoosenSettings,
    ModelSettings,
    PathSettings,
    PlanningSettings,
    RagSettings,
    RuntimeSettings,
    ServiceSettings,
    StoreSettings,
)
from schemas.errors import SettingsError
from schemas.policy import snake_keys

CONFIG_VARIABLE = "FACETWISE_CONFIG"
DEFAULT_CONFIG = "facetwise.yaml"


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
