"""Damaged files: a loader gives documents or an IngestError, and nothing else."""

from __future__ import annotations

import io
import random
import zipfile
from pathlib import PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.ingest.reading import Reading
from schemas.errors import IngestError
from tests.loading import FILES, read

SAMPLES = sorted(path.name for path in FILES.iterdir() if path.suffix not in {"", ".md"})
SUFFIXES = sorted({PurePosixPath(name).suffix for name in SAMPLES} | {".md", ".txt", ".tsv"})
READINGS = (Reading(), Reading(documents="file"))


def survives(name: str, raw: bytes, reading: Reading) -> None:
    try:
        read_ = read(name, raw, reading)
    except IngestError as error:
        assert str(error)  # noqa: PT017 - both ends are good ones
        return
    assert len(read_) <= max(1, len(raw))


def damaged(raw: bytes, chance: random.Random) -> bytes:
    kind = chance.randrange(4)
    if kind == 0:
        return raw[: chance.randrange(len(raw) + 1)]
    changed = bytearray(raw)
    for _ in range(chance.choice((1, 3, 30))):
        at = chance.randrange(len(changed))
        if kind == 1:
            changed[at] ^= 1 << chance.randrange(8)
        elif kind == 2:
            changed[at : at + chance.randrange(1, 20)] = chance.randbytes(chance.randrange(20))
        else:
            start = chance.randrange(len(changed))
            changed[at:at] = changed[start : start + 40]
        if not changed:
            break
    return bytes(changed)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("seed", range(40))
def test_damaged_files(name: str, seed: int) -> None:
    chance = random.Random(f"{name}{seed}")  # noqa: S311 - reproducible, no secret
    raw = damaged((FILES / name).read_bytes(), chance)
    survives(name, raw, READINGS[seed % 2])


@pytest.mark.parametrize("seed", range(60))
def test_workbooks_with_a_damaged_part(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - reproducible, no secret
    file = io.BytesIO()
    with zipfile.ZipFile(FILES / "staff.xlsx") as old, zipfile.ZipFile(file, "w") as new:
        hit = chance.choice(old.namelist())
        for name in old.namelist():
            raw = old.read(name)
            new.writestr(name, damaged(raw, chance) if name == hit else raw)
    survives("staff.xlsx", file.getvalue(), READINGS[seed % 2])


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(SUFFIXES), st.binary(max_size=300), st.sampled_from(READINGS))
def test_any_bytes(suffix: str, raw: bytes, reading: Reading) -> None:
    survives(f"a{suffix}", raw, reading)


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(SUFFIXES), st.text(max_size=300), st.sampled_from(READINGS))
def test_any_text(suffix: str, text: str, reading: Reading) -> None:
    survives(f"a{suffix}", text.encode(), reading)
