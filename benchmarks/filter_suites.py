"""Planned filters over all suites of a folder, and the other arms on a sample of each.

    python -m benchmarks.filter_suites FOLDER --out RUNS [--sample 40] [--limit N]

Prints one Markdown table. What is finished in RUNS is not done again.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evals.crew import Crew
from evals.filters import BASELINES, FilterRun, run_filters
from evals.progress import RunProgress, duration
from evals.sources import bundled_suite
from evals.suites import suite_name

HEAD = (
    "| suite | cases | exact | accept | execution | precision | recall | false | missed "
    "| p50 ms | p95 ms | planned, plain, link_only on the sample |"
)


async def measured(suite: Path, out: Path, sample: int, limit: int | None) -> str:
    """One row of the table. The sample comes first; the folder then holds the whole suite."""
    folder = out / suite_name(suite)
    async with Crew() as crew:
        few = FilterRun(suites=(suite,), baselines=BASELINES, limit=sample, out=folder)
        compared = await run_filters(few, crew, RunProgress())
        every = FilterRun(suites=(suite,), limit=limit, out=folder)
        return row(suite_name(suite), await run_filters(every, crew, RunProgress()), compared)


def row(name: str, whole: Mapping[str, Any], compared: Mapping[str, Any]) -> str:
    arms = [compared, *(compared["baselines"][arm] for arm in BASELINES)]
    cells = [
        name,
        str(whole["cases"]),
        *(
            shown(whole.get(key))
            for key in (
                "exact",
                "accept",
                "execution",
                "condition_precision",
                "condition_recall",
                "false_filter_rate",
                "missed_filter_rate",
            )
        ),
        str(whole["latency_ms"]["p50"]),
        str(whole["latency_ms"]["p95"]),
        " / ".join(shown(arm["accept"]) for arm in arms) + f" of {compared['cases']}",
    ]
    return f"| {' | '.join(cells)} |"


def shown(rate: Mapping[str, Any] | None) -> str:
    return "–" if rate is None or rate["rate"] is None else f"{rate['rate']:.3f}"


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, help="holds NAME.filters.jsonl")
    parser.add_argument("--out", type=Path, required=True, help="run folders, one per suite")
    parser.add_argument("--sample", type=int, default=40, help="cases for the other arms")
    parser.add_argument("--limit", type=int, help="cases of each suite for the planned arm")
    args = parser.parse_args()
    began = time.monotonic()
    suites = [*sorted(args.folder.glob("*.filters.jsonl")), bundled_suite()]
    rows = [await measured(suite, args.out, args.sample, args.limit) for suite in suites]
    print("\n".join([HEAD, "|" + "---|" * HEAD.count(" | ") + "---|", *rows]))
    print(f"\n{duration(time.monotonic() - began)}")


if __name__ == "__main__":
    asyncio.run(main())
