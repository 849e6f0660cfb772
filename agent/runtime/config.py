"""What one runtime is told when it starts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import psutil
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

DEFAULT_CHAT_MODEL = "qwen2.5-coder:1.5b"
DEFAULT_EMBEDDING_MODEL = "use-multilingual-v3"


def _absolute(path: Path) -> Path:
    """The runtime has its own working directory."""
    return path.expanduser().absolute()


def _absolute_if_file(model: str) -> str:
    if model.endswith(".gguf") and not Path(model).expanduser().is_absolute():
        raise ValueError(f"the path of an embedding model must be absolute, not {model}")
    return model


AbsolutePath = Annotated[Path, AfterValidator(_absolute)]


class RuntimeConfig(BaseModel):
    """Settings of the background process; two equal configs share one process per `data_dir`.

    `threads` None means all cores: threads that wait for each other sleep instead of spinning
    (see runtime.llama), so that another busy process costs its share and no more. `context` is
    in tokens. `idle_minutes` 0 means that the runtime never ends by itself. `embedding_model` is
    a built-in name or the path of a GGUF file. `hub` False leaves the model hub out of the
    places weights are fetched from.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    data_dir: AbsolutePath
    cache_dir: AbsolutePath
    chat_model: str = DEFAULT_CHAT_MODEL
    gguf_path: AbsolutePath | None = None
    embedding_model: Annotated[str, AfterValidator(_absolute_if_file)] = DEFAULT_EMBEDDING_MODEL
    threads: int | None = Field(default=None, ge=1)
    context: int = Field(default=4096, ge=512)
    idle_minutes: float = Field(default=30, ge=0)
    hub: bool = True

    @property
    def thread_count(self) -> int:
        return self.threads or psutil.cpu_count(logical=False) or os.cpu_count() or 1

    @property
    def milvus_dir(self) -> Path:
        return self.data_dir / "milvus"

    @property
    def record_path(self) -> Path:
        """The lock file clients read: addresses, process ids and the token."""
        return self.data_dir / "runtime.json"

    @property
    def start_lock_path(self) -> Path:
        """Held by the client that starts the runtime, while it starts."""
        return self.data_dir / "runtime.start.lock"

    @property
    def run_lock_path(self) -> Path:
        """Held by the runtime as long as it lives, so that there are never two."""
        return self.data_dir / "runtime.run.lock"

    @property
    def log_path(self) -> Path:
        return self.data_dir / "runtime.log"

    def serves_like(self, other: RuntimeConfig) -> bool:
        """Whether a runtime with this config is as good for a client that asks for `other`."""
        minor = {"idle_minutes", "hub"}
        if self.gguf_path is None:
            # All fetched models are served, whichever is the chosen one.
            minor = minor | {"chat_model"}
        same = self.model_dump(exclude=minor) == other.model_dump(exclude=minor)
        return same and self.thread_count == other.thread_count
