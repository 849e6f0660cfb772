"""Physical names: an ASCII slug for people, a short hash for uniqueness."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

PREFIX = "fw_"
_FORM = re.compile(r"(fw_[a-z0-9_]*_[0-9a-f]{10})_(chunks|documents|versions)_(\d{4,})")


def slug(text: str, limit: int = 32) -> str:
    """Lower-case ASCII letters and digits joined by `_`; may be empty."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower())[:limit].strip("_")


def digest(text: str, length: int = 10) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def base_name(kb: str) -> str:
    """The common start of the names of a knowledge base's collections."""
    return f"{PREFIX}{slug(kb) or 'kb'}_{digest(kb)}"


def column_name(field: str) -> str:
    """The physical column of a field; never a word of an expression language."""
    return f"f_{slug(field) or 'x'}_{digest(field)}"


@dataclass(frozen=True)
class Physical:
    """The parsed name of one of our collections."""

    base: str
    kind: str
    generation: int

    @property
    def name(self) -> str:
        return f"{self.base}_{self.kind}_{self.generation:04d}"


def parse_name(name: str) -> Physical | None:
    """None for a collection that is not ours."""
    found = _FORM.fullmatch(name)
    return Physical(found[1], found[2], int(found[3])) if found else None
