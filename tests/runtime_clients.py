"""A runtime in a folder of its own, and unchanged clients of Ollama that talk to it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import ollama
import platformdirs
from langchain_ollama import ChatOllama, OllamaEmbeddings

from agent.runtime.config import RuntimeConfig
from agent.runtime.process import RuntimeAddress

CHAT = "qwen2.5-coder:0.5b"
EMBEDDING = "use-multilingual-v3"
PATIENCE_SECONDS = 60
MODELS = Path(os.environ.get("FACETWISE_TEST_MODELS", platformdirs.user_cache_dir("facetwise")))


def make_config(folder: Path, **changes: object) -> RuntimeConfig:
    base = {"data_dir": folder / "data", "cache_dir": MODELS, "chat_model": CHAT, "context": 1024}
    return RuntimeConfig.model_validate({**base, **changes})


def eventually(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.05)
    return False


def reach(address: RuntimeAddress, model: str) -> dict[str, Any]:
    """Connection settings of an unchanged client; connections are not kept, so none stays open."""
    limits = httpx.Limits(max_keepalive_connections=0)
    kwargs = {"headers": address.headers, "limits": limits}
    return {"model": model, "base_url": address.ollama_url, "client_kwargs": kwargs}


def embeddings(address: RuntimeAddress) -> OllamaEmbeddings:
    return OllamaEmbeddings.model_validate(reach(address, EMBEDDING))


def chat_model(address: RuntimeAddress, **changes: object) -> ChatOllama:
    fields = {**reach(address, CHAT), "temperature": 0, "num_predict": 60}
    return ChatOllama.model_validate({**fields, **changes})


def ollama_client(address: RuntimeAddress) -> ollama.Client:
    limits = httpx.Limits(max_keepalive_connections=0)
    return ollama.Client(address.ollama_url, headers=address.headers, limits=limits)


def http(address: RuntimeAddress) -> httpx.Client:
    return httpx.Client(base_url=address.ollama_url, headers=address.headers, timeout=120)
