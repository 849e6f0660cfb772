"""What a cosine of an embedding model means: of questions with passages that answer them, and with
all others.

    python -m benchmarks.calibration --model use-multilingual-v3
    python -m benchmarks.calibration --model M --suite S.jsonl --corpus C.jsonl

Rows of the suite name their `relevant` passages (ids of the corpus) or, without a corpus, files of
the bundled handbook; a `kind` gives figures of its own. The points printed can be put below
`rag.filter.calibration` in the settings.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

import numpy as np

from agent.ingest.front_matter import split_front_matter
from agent.ingest.splitting import Splitter, outline
from agent.ingest.written import Written
from agent.ranking.calibration import Calibration
from benchmarks.embeddings import Embedder, serving

SUITE = Path(__file__).parent / "questions" / "handbook.calibration.jsonl"
KEPT = 0.98
"""Share of the right passages that the default threshold of 0.7 has to keep."""

PERCENTILES = (0, 1, 2, 5, 10, 25, 50, 75, 90, 95, 99)


@dataclass(frozen=True)
class Text:
    """A passage as it is embedded, and the id of the document or row that it is of."""

    id: str
    text: str


@dataclass
class Cosines:
    """Of one kind of questions: with the best passage of each right document, and with the best
    of each other document.
    """

    right: list[float] = field(default_factory=list)
    other: list[float] = field(default_factory=list)


def handbook() -> Iterator[Text]:
    """The chunks that an ingest with default settings makes."""
    folder = Path(str(files("agent") / "data" / "handbook"))
    for path in sorted(folder.rglob("*.md")):
        matter, body = split_front_matter(path.read_text(encoding="utf-8"))
        title = matter.fields.get("title")
        named = title.text if isinstance(title, Written) else path.stem
        for chunk in Splitter().split(body, outline(body), named):
            yield Text(path.relative_to(folder).as_posix(), chunk.embed_text)


def corpus(path: Path) -> Iterator[Text]:
    for row in map(json.loads, path.open(encoding="utf-8")):
        title = row.get("title") or row.get("metadata", {}).get("title", "")
        yield Text(str(row["id"]), f"{title}\n{row['text']}")


def measured(embedder: Embedder, texts: Sequence[Text], suite: Path) -> dict[str, Cosines]:
    rows = [row for row in map(json.loads, suite.open(encoding="utf-8")) if row.get("relevant")]
    matrix = embedder.passages([text.text for text in texts])
    near = embedder.queries([row["question"] for row in rows]) @ matrix.T
    found: dict[str, Cosines] = defaultdict(Cosines)
    for row, cosines in zip(rows, near, strict=True):
        best: dict[str, float] = {}
        for text, cosine in zip(texts, cosines, strict=True):
            best[text.id] = max(best.get(text.id, -1.0), float(cosine))
        kind = found[row.get("kind", "all")]
        right = set(map(str, row["relevant"]))
        for id_, cosine in best.items():
            (kind.right if id_ in right else kind.other).append(cosine)
    return found


def report(model: str, found: dict[str, Cosines]) -> None:
    scale = Calibration(model)
    print(f"{'':<14}" + "".join(f"{f'p{p}':>7}" for p in PERCENTILES))
    for kind, one in found.items():
        for name, values in (("right", one.right), ("other", one.other)):
            marks = np.percentile(values, PERCENTILES)
            print(f"{kind:<6} {name:<7}" + "".join(f"{mark:7.3f}" for mark in marks))
        if scale.known:
            print(
                f"{kind:<6} at 0.7: keeps {_share(scale, one.right):.1%} of {len(one.right)} right,"
                f" {_share(scale, one.other):.1%} of {len(one.other)} others"
            )
    print(f"points: {_points(found)}")


def _share(scale: Calibration, cosines: Sequence[float]) -> float:
    return float(np.mean([scale.similarity(cosine) >= 0.7 for cosine in cosines]))


def _points(found: dict[str, Cosines]) -> list[list[float]]:
    """0.5 at the median of the others; of the right ones 98 % have 0.7, 90 % have 0.8 and half
    have 0.9 or more.
    """
    right = [cosine for one in found.values() for cosine in one.right]
    least, usual, middle = np.percentile(right, [100 * (1 - KEPT), 10, 50])
    low = min(np.median([c for one in found.values() for c in one.other]), least - 0.05)
    marks = (2 * low - least, low, least, usual, middle, 1.0)
    worth = (0.0, 0.5, 0.7, 0.8, 0.9, 1.0)
    return [[round(float(m), 2), w] for m, w in zip(marks, worth, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", action="append", required=True)
    parser.add_argument("--ollama", help="address of an Ollama that serves the models")
    parser.add_argument("--suite", type=Path, default=SUITE)
    parser.add_argument("--corpus", type=Path, help="passages: id, text, metadata")
    args = parser.parse_args()
    texts = list(corpus(args.corpus) if args.corpus else handbook())
    for model in args.model:
        print(f"{model}, {len(texts)} passages")
        with serving(model, args.ollama) as embedder:
            report(Path(model).name, measured(embedder, texts, args.suite))


if __name__ == "__main__":
    main()
