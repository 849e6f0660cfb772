"""What a cosine means, by embedding model."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from schemas.policy import Points

CALIBRATED: Mapping[str, Points] = {
    "use-multilingual-v3": (
        (0.02, 0.0),
        (0.1, 0.5),
        (0.18, 0.7),
        (0.28, 0.8),
        (0.45, 0.9),
        (1.0, 1.0),
    ),
}
"""Measured with `python -m benchmarks.calibration`, see docs/ranking.md."""


class Calibration:
    """The scale of one embedding model; `points` of the settings come before the table.

    Of a model in neither nothing is known: its cosines may all be above 0.7, or below 0.3.
    """

    def __init__(self, model: str, points: Mapping[str, Points] | None = None) -> None:
        self._points = _of(model, points or {}) or _of(model, CALIBRATED)

    @property
    def known(self) -> bool:
        return bool(self._points)

    def similarity(self, cosine: float) -> float:
        """In 0..1, on the straight lines between the points. ValueError if the scale is not
        known.
        """
        if not self._points:
            raise ValueError("there is no scale for this embedding model")
        if cosine <= self._points[0][0]:
            return self._points[0][1]
        for (low, worth), (high, more) in pairwise(self._points):
            if cosine <= high:
                return worth + (more - worth) * (cosine - low) / (high - low)
        return self._points[-1][1]


def _of(model: str, table: Mapping[str, Points]) -> Points:
    """`nomic-embed-text:latest` is found as `nomic-embed-text`, too."""
    return table.get(model) or table.get(model.partition(":")[0]) or ()
