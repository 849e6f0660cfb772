"""Which Milvus says what."""

from __future__ import annotations

import re
from enum import StrEnum

from schemas.errors import FilterError

_VERSION = re.compile(r"v?(\d+)\.(\d+)")


class Dialect(StrEnum):
    """Milvus Lite 3.2, and servers from 2.3, 2.5 (null values, full `like`) and 3.0."""

    LITE = "lite"
    V23 = "v23"
    V26 = "v26"
    V30 = "v30"

    @classmethod
    def of(cls, server_version: str) -> Dialect:
        """The dialect of what `get_server_version` reports, such as `milvus_lite-3.2.2`,
        `v2.3.5-lite` (a standalone server) or `2.6.9`. Raises FilterError on older servers.
        """
        text = server_version.strip().casefold()
        if text.startswith(("milvus_lite", "milvus-lite")):
            return cls.LITE
        found = _VERSION.match(text)
        version = (int(found[1]), int(found[2])) if found else (0, 0)
        if version >= (3, 0):
            return cls.V30
        if version >= (2, 5):
            return cls.V26
        if version >= (2, 3):
            return cls.V23
        raise FilterError(
            f"unknown Milvus version {server_version!r}; allowed: Milvus Lite, 2.3 and later"
        )

    @property
    def has_nulls(self) -> bool:
        return self is not Dialect.V23

    @property
    def has_infix(self) -> bool:
        """Whether `like` takes a `%` before the text."""
        return self is not Dialect.V23

    @property
    def has_escapes(self) -> bool:
        """Whether `%`, `_` and `\\` can stand for themselves in a pattern. Lite forgets about
        escapes as soon as a JSON term stands in the same expression.
        """
        return self in (Dialect.V26, Dialect.V30)

    @property
    def confuses_bool_and_number(self) -> bool:
        """Whether `true` equals 1 in a JSON path."""
        return self is Dialect.LITE
