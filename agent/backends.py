"""Where the models and the store are: an Ollama or Milvus that was configured, or the embedded
runtime, started on first need.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import httpx

from agent.models.transport import Budget, Endpoint
from agent.runtime.config import RuntimeConfig
from agent.runtime.process import RuntimeAddress, ensure_runtime
from agent.settings import Settings
from schemas.errors import ModelNotFound, ModelUnavailable

OLLAMA, EMBEDDED = "ollama", "embedded"

Notify = Callable[[str], None]
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class StoreAddress:
    uri: str
    token: str
    embedded: bool


@dataclass(frozen=True)
class OllamaState:
    """What the configured Ollama said: the names of its models, or why it said nothing."""

    models: tuple[str, ...] = ()
    fault: str = ""

    def has(self, model: str) -> bool:
        """Ollama's own rule: a name without a tag means `latest`."""
        wanted = model if ":" in model else f"{model}:latest"
        return wanted in self.models


class Backends:
    """Answers once per process where each thing is. `notify` gets one line for the person who
    waits whenever something other than the configured thing is used; `progress` gets
    (what, bytes done, bytes in all) while weights are fetched.
    """

    def __init__(
        self, settings: Settings, *, notify: Notify | None = None, progress: Progress | None = None
    ) -> None:
        self._settings = settings
        self._notify = notify or (lambda line: None)
        self._progress = progress
        self._ollama: OllamaState | None = None
        self._told: set[str] = set()

    @property
    def budget(self) -> Budget:
        return Budget(attempts=self._settings.models.attempts)

    async def chat(self) -> Endpoint:
        return await self._endpoint(self._settings.models.chat, weights=True)

    async def embedding(self) -> Endpoint:
        return await self._endpoint(self._settings.models.embedding, weights=False)

    async def store(self) -> StoreAddress:
        store = self._settings.store
        if store.uri is not None:
            token = store.token.get_secret_value() if store.token else ""
            return StoreAddress(store.uri, token, embedded=False)
        address = await self.runtime(weights=False)
        return StoreAddress(address.milvus_uri, "", embedded=True)

    async def runtime(self, *, weights: bool) -> RuntimeAddress:
        """The running runtime; started, and its weights fetched, where needed."""
        return await asyncio.to_thread(
            ensure_runtime, self.runtime_config(), self._progress, weights=weights
        )

    def runtime_config(self) -> RuntimeConfig:
        settings = self._settings
        return RuntimeConfig(
            data_dir=settings.paths.data,
            cache_dir=settings.paths.cache,
            chat_model=settings.models.chat,
            gguf_path=settings.models.gguf,
            embedding_model=settings.models.embedding,
            threads=settings.models.threads,
            context=settings.models.context,
            idle_minutes=settings.runtime.idle_minutes,
            hub=settings.models.hub,
        )

    async def ollama(self) -> OllamaState:
        """What the configured Ollama offers, asked once."""
        if self._ollama is None:
            self._ollama = await self._ask_ollama()
        return self._ollama

    async def _endpoint(self, model: str, *, weights: bool) -> Endpoint:
        models = self._settings.models
        if models.provider != EMBEDDED:
            state = await self.ollama()
            if state.has(model):
                return Endpoint(models.ollama_url, model, OLLAMA)
            if models.fallback == "none":
                raise self._missing(model, state)
            self._explain(model, state)
        address = await self.runtime(weights=weights)
        return Endpoint(address.ollama_url, model, EMBEDDED, address.headers)

    def _missing(self, model: str, state: OllamaState) -> ModelUnavailable | ModelNotFound:
        url = self._settings.models.ollama_url
        if state.fault:
            return ModelUnavailable(
                f"the configured Ollama at {url} does not answer ({state.fault}), and "
                "models.fallback is none",
                remedy="start Ollama (ollama serve), correct models.ollama_url, or set "
                "models.fallback: embedded",
            )
        return ModelNotFound(
            f"the Ollama at {url} has no model {model!r}, and models.fallback is none",
            remedy=f"ollama pull {model}, name another in models.chat / models.embedding, or set "
            "models.fallback: embedded",
        )

    def _explain(self, model: str, state: OllamaState) -> None:
        """Say what is used instead, where an Ollama was asked for and cannot serve."""
        models = self._settings.models
        asked_for = models.provider == OLLAMA or "ollama_url" in models.model_fields_set
        if state.fault and not asked_for:
            return
        why = f"does not answer ({state.fault})" if state.fault else f"has no model {model!r}"
        line = f"Ollama at {models.ollama_url} {why}; using the embedded {model} instead"
        if line not in self._told:
            self._told.add(line)
            self._notify(line)

    async def _ask_ollama(self) -> OllamaState:
        models = self._settings.models
        timeout = httpx.Timeout(models.connect_timeout_s)
        try:
            async with httpx.AsyncClient(timeout=timeout, trust_env=False) as client:
                reply = await client.get(f"{models.ollama_url.rstrip('/')}/api/tags")
                reply.raise_for_status()
                listed = reply.json()["models"]
            return OllamaState(tuple(str(item.get("model") or item["name"]) for item in listed))
        except httpx.HTTPStatusError as error:
            return OllamaState(fault=f"HTTP {error.response.status_code}")
        except httpx.HTTPError as error:
            return OllamaState(fault=str(error) or type(error).__name__)
        except (ValueError, KeyError, TypeError, AttributeError):
            return OllamaState(fault="not an Ollama server")
