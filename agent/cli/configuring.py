"""The command that shows the effective settings."""

from __future__ import annotations

import re
from typing import Any

from agent.cli.session import Json, show, show_json


def config(as_json: Json = False) -> None:
    """Show every setting with where it comes from; secrets are hidden."""
    from agent.settings import load_settings, origins

    settings = load_settings()
    from_where = origins()
    rows = [
        (key, _without_password(value), from_where.get(key, "default"))
        for key, value in _leaves(settings.model_dump(mode="json"))
    ]
    if as_json:
        show_json({key: {"value": value, "origin": origin} for key, value, origin in rows})
        return
    for key, value, origin in rows:
        show(f"{key:<32} {value!s:<44} {origin}")


def _leaves(tree: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for name, value in tree.items():
        path = f"{prefix}{name}"
        filled = isinstance(value, dict) and value
        rows += _leaves(value, f"{path}.") if filled else [(path, value)]
    return rows


def _without_password(value: Any) -> Any:
    """An address without the name and password that may stand in it."""
    return re.sub(r"(?<=://)[^/@]*@", "***@", value) if isinstance(value, str) else value
