"""The header of a GGUF file: what a model is, without loading it.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from schemas.errors import WeightsUnavailable

_MAGIC = b"GGUF"
_STRING, _ARRAY = 8, 9
_SCALARS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i",
    6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d",
}  # fmt: skip
# llama_ftype, for the quantizations that are published; others show as their number.
_FILE_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K",
    11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S",
    17: "Q5_K_M", 18: "Q6_K", 32: "BF16",
}  # fmt: skip
_MAX_STRING = 1 << 24

Value = str | int | float | bool


@dataclass(frozen=True)
class GgufHeader:
    """Scalar metadata of the file; arrays (vocabulary, merges) are left out."""

    values: dict[str, Value]

    @property
    def architecture(self) -> str:
        return str(self.values.get("general.architecture", "unknown"))

    @property
    def context_length(self) -> int | None:
        """Tokens the model was trained for."""
        found = self.values.get(f"{self.architecture}.context_length")
        return int(found) if found is not None else None

    @property
    def parameter_size(self) -> str:
        return str(self.values.get("general.size_label", ""))

    @property
    def quantization(self) -> str:
        number = self.values.get("general.file_type")
        return _FILE_TYPES.get(int(number), str(number)) if number is not None else "unknown"

    @property
    def embeds(self) -> bool:
        """Whether the file is an embedding model: it names how to pool its tokens."""
        return f"{self.architecture}.pooling_type" in self.values


def read_header(path: Path) -> GgufHeader:
    """Raise `WeightsUnavailable` if `path` is not a readable GGUF file."""
    try:
        with path.open("rb") as file:
            return GgufHeader(_read_values(file))
    except OSError as error:
        raise WeightsUnavailable(f"{path} cannot be read: {error.strerror}") from error
    except (struct.error, ValueError, UnicodeDecodeError) as error:
        raise WeightsUnavailable(
            f"{path} is not a GGUF model file ({error})",
            remedy="give the path of a file that ends in .gguf",
        ) from error


def _read_values(file: BinaryIO) -> dict[str, Value]:
    if file.read(4) != _MAGIC:
        raise ValueError("it does not begin with GGUF")
    version, _tensors, count = _unpack(file, "<IQQ")
    if version not in (2, 3):
        raise ValueError(f"version {version} of the format; 2 and 3 are known")
    values: dict[str, Value] = {}
    for _ in range(count):
        key = _string(file)
        (kind,) = _unpack(file, "<I")
        value = _value(file, kind)
        if value is not None:
            values[key] = value
    return values


def _value(file: BinaryIO, kind: int) -> Value | None:
    if kind == _STRING:
        return _string(file)
    if kind == _ARRAY:
        item, count = _unpack(file, "<IQ")
        _skip_array(file, item, count)
        return None
    if kind not in _SCALARS:
        raise ValueError(f"unknown value type {kind}")
    value: Value = _unpack(file, _SCALARS[kind])[0]
    return value


def _skip_array(file: BinaryIO, item: int, count: int) -> None:
    if item in _SCALARS:
        file.seek(struct.calcsize(_SCALARS[item]) * count, 1)
        return
    for _ in range(count):
        _value(file, item)


def _string(file: BinaryIO) -> str:
    (length,) = _unpack(file, "<Q")
    if length > _MAX_STRING:
        raise ValueError(f"a string of {length} bytes")
    return file.read(length).decode("utf-8")


def _unpack(file: BinaryIO, layout: str) -> tuple[int, ...]:
    return struct.unpack(layout, file.read(struct.calcsize(layout)))
