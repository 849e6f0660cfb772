"""A Milvus server of its own for the tests: the one that the `milvus` wheel brings along."""

from __future__ import annotations

import os
import platform
import signal
import socket
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import platformdirs
import pytest
from filelock import FileLock

WHEEL = "milvus==2.3.5"
START_S, STOP_S = 180, 3

# Runs in the wheel's environment. The server takes the place of this process, so that there is
# one process to stop, and it dies with the tests however they end.
_BECOME_SERVER = """
import ctypes, os, random, signal, sys
from milvus import MilvusServer, MilvusServerConfig, _initialize_data_files

home, port, health = sys.argv[1:]
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
config = MilvusServerConfig(data_dir=home, proxy_port=int(port))
config.resolve_storage()
for key in config.configurable_items:
    if key.endswith("_port") and key != "proxy_port":
        config.set(key, random.randrange(20_000, 30_000))
for part in ("proxy", "rootCoord", "queryCoord", "queryNode", "indexNode", "dataCoord", "dataNode"):
    config.set(f"{part}.ip", "127.0.0.1")
config.resolve()
_initialize_data_files(home)
binary = os.path.join(home, "bin", "milvus")
os.environ.update(
    DEPLOY_MODE="STANDALONE",
    METRICS_PORT=health,
    MILVUS_RUN_DIR=os.path.join(home, "run"),
    LD_LIBRARY_PATH=os.path.dirname(binary),
)
os.chdir(home)
os.execv(binary, [binary, "run", "standalone"])
"""


@contextmanager
def milvus_server(home: Path) -> Iterator[str]:
    """The address of a server on free ports that is stopped in the end. The server listens on
    all interfaces, which cannot be set; it is told to be reached by the loopback address only.
    """
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
        pytest.skip(f"there is no wheel of {WHEEL} for {sys.platform} on {platform.machine()}")
    python = _environment()
    port, health = _free_port(), _free_port()
    log = home / "server.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [python, "-c", _BECOME_SERVER, str(home), str(port), str(health)],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        uri = f"http://127.0.0.1:{port}"
        _await(uri, process, log)
        yield uri
    finally:
        _stop(process)


def _environment() -> Path:
    """The interpreter of an environment that holds the wheel, made once for this machine."""
    folder = Path(platformdirs.user_cache_dir("facetwise-tests")) / WHEEL.replace("==", "-")
    python, ready = folder / "bin" / "python", folder / ".ready"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not ready.exists():
            venv.create(folder, clear=True, with_pip=True)
            command: list[str | Path] = [
                python,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                WHEEL,
            ]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{WHEEL} could not be installed: {done.stderr}"
            ready.touch()
    return python


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _await(uri: str, process: subprocess.Popen[bytes], log: Path) -> None:
    from pymilvus import MilvusClient
    from pymilvus.exceptions import MilvusException

    deadline = time.monotonic() + START_S
    last: Exception | None = None
    while time.monotonic() < deadline:
        if process.poll() is not None:
            pytest.fail(f"the server ended with {process.returncode}: {_tail(log)}")
        try:
            client: Any = MilvusClient(uri, timeout=5)
            client.list_collections()
        except MilvusException as error:
            last = error
            time.sleep(0.5)
        else:
            client.close()
            return
    pytest.fail(f"the server did not answer within {START_S} s: {last}; {_tail(log)}")


def _tail(log: Path) -> str:
    return log.read_text(errors="replace")[-2_000:]


def _stop(process: subprocess.Popen[bytes]) -> None:
    """The server is the leader of its own group, which ends with it."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_S)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(STOP_S)
