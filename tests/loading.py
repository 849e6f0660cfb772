"""Files and bytes go through the loaders as a run would send them."""

from __future__ import annotations

import io
from pathlib import Path, PurePosixPath

from agent.ingest.loaded import Loaded, Unreadable
from agent.ingest.loaders.registry import DEFAULT_LOADERS, HEAD_BYTES, Loaders
from agent.ingest.reading import DEFAULT_READING, Reading
from agent.ingest.written import Value, Written

FILES = Path(__file__).parent / "files"
LOADERS = Loaders(DEFAULT_LOADERS)

Plain = dict[str, str | list[str]]


def sample(name: str) -> bytes:
    return (FILES / name).read_bytes()


def read(name: str, raw: bytes, reading: Reading = DEFAULT_READING) -> list[Loaded | Unreadable]:
    loader = LOADERS.choose(PurePosixPath(name), raw[:HEAD_BYTES], reading)
    return list(loader.load(io.BytesIO(raw), reading))


def documents(name: str, raw: bytes, reading: Reading = DEFAULT_READING) -> list[Loaded]:
    """All of them; a row that cannot be read is an error of the test."""
    read_ = read(name, raw, reading)
    assert not [one for one in read_ if isinstance(one, Unreadable)]
    return [one for one in read_ if isinstance(one, Loaded)]


def document(name: str, raw: bytes, reading: Reading = DEFAULT_READING) -> Loaded:
    (one,) = documents(name, raw, reading)
    return one


def plain(loaded: Loaded) -> Plain:
    def shown(value: Value) -> str | list[str]:
        return value.text if isinstance(value, Written) else [item.text for item in value]

    return {name: shown(value) for name, value in loaded.fields.items()}


def messages(loaded: Loaded) -> str:
    return "\n".join(note.message for note in loaded.notes)
