"""The life of the background process: started, found, killed, replaced, ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from pymilvus import MilvusClient

from agent.runtime.config import RuntimeConfig
from agent.runtime.lock import LockRecord, ProcessMark, read_record, write_record
from agent.runtime.process import RuntimeAddress, ensure_runtime, status, stop
from schemas.errors import RuntimeUnavailable
from tests.runtime_clients import PATIENCE_SECONDS, embeddings, eventually, make_config

pytestmark = pytest.mark.lite


@pytest.fixture
def config(tmp_path: Path) -> Iterator[RuntimeConfig]:
    """Of a runtime that the test starts itself."""
    config = make_config(tmp_path)
    yield config
    stop(config)


def owner_of(config: RuntimeConfig) -> LockRecord:
    record = read_record(config.record_path)
    assert record is not None
    return record


def fill(address: RuntimeAddress) -> None:
    client = MilvusClient(address.milvus_uri)
    client.create_collection("notes", dimension=2)
    client.insert("notes", [{"id": n, "vector": [1.0, float(n)]} for n in range(5)])
    client.close()


def count(address: RuntimeAddress) -> int:
    client = MilvusClient(address.milvus_uri)
    client.load_collection("notes")
    rows = client.query("notes", filter="id >= 0", output_fields=["id"])
    client.close()
    return len(rows)


def test_second_call_finds_the_first_runtime(config: RuntimeConfig) -> None:
    assert status(config) is None
    first = ensure_runtime(config, weights=False)
    assert ensure_runtime(config, weights=False) == first
    found = status(config)
    assert found is not None
    assert found.address == first
    assert found.answers
    assert found.memory > 0
    assert stop(config)
    assert status(config) is None
    assert not stop(config)


def test_nothing_is_left_after_stop(config: RuntimeConfig) -> None:
    address = ensure_runtime(config, weights=False)
    embeddings(address).embed_query("a worker is up")
    family = [psutil.Process(address.pid), *psutil.Process(address.pid).children(recursive=True)]
    assert len(family) >= 3
    stop(config)
    assert eventually(lambda: not any(p.is_running() for p in family))
    record = owner_of(config)
    assert (record.owner, record.milvus) == (None, None)


def test_two_terminals_at_the_same_moment(config: RuntimeConfig) -> None:
    code = (
        "import sys\n"
        "from agent.runtime.config import RuntimeConfig\n"
        "from agent.runtime.process import ensure_runtime\n"
        "config = RuntimeConfig.model_validate_json(sys.argv[1])\n"
        "print(ensure_runtime(config, weights=False))"
    )
    command = [sys.executable, "-c", code, config.model_dump_json()]
    terminals = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path.cwd())
        for _ in range(3)
    ]
    answers = {terminal.communicate(timeout=PATIENCE_SECONDS)[0] for terminal in terminals}
    assert len(answers) == 1
    assert str(owner_of(config).http_port) in answers.pop()


def test_a_client_killed_while_it_starts_the_runtime_is_no_obstacle(
    config: RuntimeConfig,
) -> None:
    code = (
        "import sys\n"
        "from agent.runtime.config import RuntimeConfig\n"
        "from agent.runtime.process import ensure_runtime\n"
        "ensure_runtime(RuntimeConfig.model_validate_json(sys.argv[1]), weights=False)"
    )
    client = subprocess.Popen([sys.executable, "-c", code, config.model_dump_json()])
    assert eventually(config.run_lock_path.exists)
    client.kill()
    client.wait()
    assert ensure_runtime(config, weights=False).pid > 0


def test_killed_runtime_is_replaced_at_the_same_address(config: RuntimeConfig) -> None:
    first = ensure_runtime(config, weights=False)
    fill(first)
    milvus = owner_of(config).milvus
    assert milvus is not None
    os.kill(first.pid, signal.SIGKILL)
    assert eventually(lambda: status(config) is None)
    second = ensure_runtime(config, weights=False)
    assert second.pid != first.pid
    assert milvus.process() is None
    assert (second.ollama_url, second.milvus_uri, second.token) == (
        first.ollama_url,
        first.milvus_uri,
        first.token,
    )
    assert count(second) == 5


def test_orphan_of_a_killed_runtime_is_ended(config: RuntimeConfig) -> None:
    ensure_runtime(config, weights=False)
    stop(config)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as orphan:
        left = owner_of(config).model_copy(update={"milvus": ProcessMark.of(orphan.pid)})
        write_record(config.record_path, left)
        ensure_runtime(config, weights=False)
        assert orphan.wait(timeout=PATIENCE_SECONDS) == -signal.SIGTERM


def test_milvus_that_falls_over_is_started_again(config: RuntimeConfig) -> None:
    address = ensure_runtime(config, weights=False)
    fill(address)
    before = owner_of(config).milvus
    assert before is not None
    os.kill(before.pid, signal.SIGKILL)
    assert eventually(lambda: owner_of(config).milvus not in (before, None))
    assert ensure_runtime(config, weights=False) == address
    assert count(address) == 5


def test_idle_runtime_ends_when_the_last_client_of_milvus_has_gone(tmp_path: Path) -> None:
    config = make_config(tmp_path, idle_minutes=0.05)
    code = (
        "import sys\n"
        "from pymilvus import MilvusClient\n"
        "print('ready', flush=True)\n"
        "client = MilvusClient(sys.stdin.readline().strip())\n"
        "print(client.list_collections(), flush=True)\n"
        "sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as client:
        assert client.stdin is not None
        assert client.stdout is not None
        assert client.stdout.readline() == "ready\n"
        address = ensure_runtime(config, weights=False)
        client.stdin.write(f"{address.milvus_uri}\n")
        assert client.stdout.readline() == "[]\n"
        time.sleep(5)
        assert owner_of(config).alive(), "ended under a connected client"
    assert eventually(lambda: not owner_of(config).alive())
    assert owner_of(config).owner is None


def test_another_version_or_other_settings_replace_it(config: RuntimeConfig) -> None:
    first = ensure_runtime(config, weights=False)
    write_record(config.record_path, owner_of(config).model_copy(update={"version": "0.0.1"}))
    second = ensure_runtime(config, weights=False)
    other = config.model_copy(update={"context": 4096})
    third = ensure_runtime(other, weights=False)
    assert len({first.pid, second.pid, third.pid}) == 3
    assert {first.ollama_url, second.ollama_url} == {third.ollama_url}


def test_failure_to_start_says_why(config: RuntimeConfig) -> None:
    config.data_dir.mkdir()
    config.milvus_dir.write_text("not a directory")
    with pytest.raises(RuntimeUnavailable, match=r"Milvus Lite ended with code") as caught:
        ensure_runtime(config, weights=False)
    assert str(config.log_path) in caught.value.remedy
    assert status(config) is None
