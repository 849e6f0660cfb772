"""The base of every data shape that is parsed at a door."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Shape(BaseModel):
    """Frozen, and strict about unknown keys: what is not understood is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")
