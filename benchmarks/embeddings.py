"""Embedding models side by side: what dense search alone finds, and how long a folder takes.

    python -m benchmarks.embeddings --suite S.jsonl --corpus C.jsonl --folder DIR \
        --model use-multilingual-v3 --model /models/other.gguf

Models are served by the embedded runtime, or by an Ollama with `--ollama URL`.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import httpx
import numpy as np
import platformdirs
from numpy.typing import NDArray

from agent.runtime.config import RuntimeConfig
from agent.runtime.process import ensure_runtime, stop

BATCH = 64
CHUNK = 800
DEPTH = 10

# Models trained with a word before each text do worse without it.
PREFIXES = {"e5": ("query: ", "passage: ")}


@dataclass(frozen=True)
class Case:
    question: str
    relevant: frozenset[str]


@dataclass(frozen=True)
class Quality:
    """Means over the cases, each from 0 to 1."""

    recall_4: float
    recall_10: float
    map_10: float
    mrr_10: float


@dataclass(frozen=True)
class Speed:
    """`seconds` for the `embedded` chunks measured, of `chunks` in all."""

    chunks: int
    embedded: int
    seconds: float

    @property
    def total_seconds(self) -> float:
        return self.seconds * self.chunks / self.embedded


class Embedder:
    """One model behind an address that speaks Ollama's protocol."""

    def __init__(self, client: httpx.Client, model: str) -> None:
        self._client = client
        self.model = model
        prefixes = (found for name, found in PREFIXES.items() if name in model.casefold())
        self.query_prefix, self.passage_prefix = next(prefixes, ("", ""))

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed([self.query_prefix + text for text in texts])

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed([self.passage_prefix + text for text in texts])

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows: list[list[float]] = []
        for batch in _cut(texts):
            body = {"model": self.model, "input": list(batch)}
            answer = self._client.post("/api/embed", json=body)
            answer.raise_for_status()
            rows += answer.json()["embeddings"]
        return np.array(rows, dtype=np.float32)


def measure_quality(embedder: Embedder, suite: Path, corpus: Path) -> Quality:
    """Dense search over the corpus, title and text embedded together."""
    passages = [json.loads(line) for line in corpus.open(encoding="utf-8")]
    ids = [str(p["id"]) for p in passages]
    matrix = embedder.passages([f"{p['metadata'].get('title', '')}\n{p['text']}" for p in passages])
    cases = [
        Case(row["question"], frozenset(map(str, row["relevant"])))
        for row in map(json.loads, suite.open(encoding="utf-8"))
        if row.get("relevant")
    ]
    scores = embedder.queries([c.question for c in cases]) @ matrix.T
    found = [[ids[i] for i in np.argsort(-row, kind="stable")[:DEPTH]] for row in scores]
    pairs = list(zip(cases, found, strict=True))

    def over(score: Callable[[Sequence[str], frozenset[str]], float]) -> float:
        return mean(score(hits, case.relevant) for case, hits in pairs)

    return Quality(
        recall_4=over(lambda hits, right: recall(hits[:4], right)),
        recall_10=over(recall),
        map_10=over(average_precision),
        mrr_10=over(reciprocal_rank),
    )


def recall(hits: Sequence[str], relevant: frozenset[str]) -> float:
    return len(relevant.intersection(hits)) / len(relevant)


def average_precision(hits: Sequence[str], relevant: frozenset[str]) -> float:
    """Precision at each relevant hit, over the number that could have been found."""
    right = 0
    total = 0.0
    for rank, hit in enumerate(hits, start=1):
        if hit in relevant:
            right += 1
            total += right / rank
    return total / min(len(relevant), len(hits))


def reciprocal_rank(hits: Sequence[str], relevant: frozenset[str]) -> float:
    return next((1 / rank for rank, hit in enumerate(hits, start=1) if hit in relevant), 0.0)


def measure_speed(embedder: Embedder, folder: Path, sample: int) -> Speed:
    """Embed a fixed random sample of the folder's chunks (all of them if `sample` is 0)."""
    chunks = [
        chunk for file in sorted(folder.rglob("*")) if file.is_file() for chunk in _chunks(file)
    ]
    if not chunks:
        raise SystemExit(f"no text in {folder}")
    taken = chunks if not sample else random.Random(0).sample(chunks, min(sample, len(chunks)))  # noqa: S311  a sample, not a secret
    embedder.passages(taken[:1])
    begun = time.perf_counter()
    embedder.passages(taken)
    return Speed(len(chunks), len(taken), time.perf_counter() - begun)


def _chunks(file: Path) -> Iterator[str]:
    text = file.read_text(encoding="utf-8", errors="replace")
    return (text[i : i + CHUNK] for i in range(0, len(text), CHUNK))


def _cut(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    return (texts[i : i + BATCH] for i in range(0, len(texts), BATCH))


@contextmanager
def serving(model: str, ollama: str | None) -> Iterator[Embedder]:
    """A client of the Ollama given, or of a runtime that lives as long as the block."""
    if ollama:
        with httpx.Client(base_url=ollama, timeout=None) as client:  # noqa: S113  slow models are measured, too
            yield Embedder(client, model)
        return
    folder = Path(tempfile.mkdtemp())
    config = RuntimeConfig(
        data_dir=folder,
        cache_dir=Path(platformdirs.user_cache_dir("facetwise")),
        embedding_model=model,
    )
    try:
        address = ensure_runtime(config, weights=False)
        with httpx.Client(
            base_url=address.ollama_url,
            headers=address.headers,
            timeout=None,  # noqa: S113  slow models are measured, too
        ) as client:
            yield Embedder(client, model)
    finally:
        stop(config)
        shutil.rmtree(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", action="append", required=True)
    parser.add_argument("--ollama", help="address of an Ollama that serves the models")
    parser.add_argument("--suite", type=Path, help="questions with the ids of relevant passages")
    parser.add_argument("--corpus", type=Path, help="passages: id, text, metadata")
    parser.add_argument("--folder", type=Path, help="text files for the speed")
    parser.add_argument("--sample", type=int, default=2000, help="chunks to embed; 0 for all")
    args = parser.parse_args()
    print(f"{'model':<40} {'R@4':>6} {'R@10':>6} {'MAP@10':>7} {'MRR@10':>7}  folder")
    for model in args.model:
        with serving(model, args.ollama) as embedder:
            quality = measure_quality(embedder, args.suite, args.corpus) if args.suite else None
            speed = measure_speed(embedder, args.folder, args.sample) if args.folder else None
        print(f"{Path(model).name[:40]:<40} {_quality(quality)}  {_speed(speed)}")


def _quality(found: Quality | None) -> str:
    if found is None:
        return f"{'-':>6} {'-':>6} {'-':>7} {'-':>7}"
    return f"{found.recall_4:6.3f} {found.recall_10:6.3f} {found.map_10:7.3f} {found.mrr_10:7.3f}"


def _speed(found: Speed | None) -> str:
    if found is None:
        return "-"
    rate = found.embedded / found.seconds
    measured = "all measured" if found.embedded == found.chunks else f"from {found.embedded}"
    return f"{found.total_seconds:.0f} s for {found.chunks} chunks ({rate:.0f}/s, {measured})"


if __name__ == "__main__":
    main()
