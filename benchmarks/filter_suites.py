"""Planned filters over all suites of a folder, and the other arms on a sample of each.

    python -m benchmarks.filter_suites FOLDER --out RUNS [--kb peps] [--sample 40] [--limit N]

Prints one Markdown table, and how long each arm took. What is finished in RUNS is not done again.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.arms.planned import PLANNED
from evals.crew import Crew
from evals.filters import BASELINES, FilterRun, run_filters
from evals.progress import RunProgress, duration
from evals.sources import bundled_suite
from evals.suites import suite_name

HEAD = (
    "| suite | cases | exact | accept | execution | precision | recall | false | missed "
    "| p50 ms | p95 ms | planned, plain, link_only on the sample |"
)


@dataclass(frozen=True)
class Measured:
    """A suite's figures: of the planned arm over the `whole` suite, and of all arms over a
    sample of it.
    """

    name: str
    whole: Mapping[str, Any]
    compared: Mapping[str, Any]

    def arms(self) -> Mapping[str, Mapping[str, Any]]:
        return {PLANNED: self.compared, **{a: self.compared["baselines"][a] for a in BASELINES}}


async def measured(
    suite: Path, kb: str | None, out: Path, sample: int, limit: int | None
) -> Measured:
    """The sample comes first; the folder then holds the whole suite."""
    name = suite_name(suite) if kb is None else f"{suite_name(suite)} (--kb {kb})"
    folder = out / (suite_name(suite) if kb is None else f"{suite_name(suite)}-kb")
    async with Crew() as crew:
        few = FilterRun(suites=(suite,), kb=kb, baselines=BASELINES, limit=sample, out=folder)
        compared = await run_filters(few, crew, RunProgress())
        every = FilterRun(suites=(suite,), kb=kb, limit=limit, out=folder)
        return Measured(name, await run_filters(every, crew, RunProgress()), compared)


def plan_of(folder: Path, kbs: Sequence[str]) -> list[tuple[Path, str | None]]:
    """Every suite with gold filters and the bundled one; a suite with the name of one of the
    knowledge bases is measured a second time over that.
    """
    found = [
        *sorted([*folder.glob("*.filters.jsonl"), *folder.glob("*.retrieval.jsonl")]),
        bundled_suite(),
    ]
    return [
        (suite, kb) for suite in found for kb in (None, *(k for k in kbs if k == suite_name(suite)))
    ]


def row(one: Measured) -> str:
    whole = one.whole
    cells = [
        one.name,
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
        " / ".join(shown(arm["accept"]) for arm in one.arms().values())
        + f" of {one.compared['cases']}",
    ]
    return f"| {' | '.join(cells)} |"


def shown(rate: Mapping[str, Any] | None) -> str:
    return "–" if rate is None or rate["rate"] is None else f"{rate['rate']:.3f}"


def spent(all_measured: Sequence[Measured]) -> str:
    """The time of the cases themselves, whenever they were done; a resumed run counts whole."""
    whole = sum(one.whole["seconds"] for one in all_measured)
    cases = sum(one.whole["cases"] for one in all_measured)
    lines = [f"planned, all suites: {cases} cases in {duration(whole)}"]
    for arm in (PLANNED, *BASELINES):
        figures = [one.arms()[arm] for one in all_measured]
        seconds = sum(f["seconds"] for f in figures)
        right = sum(f["accept"]["rate"] * f["accept"]["n"] for f in figures)
        n = sum(f["accept"]["n"] for f in figures)
        lines.append(f"{arm}, samples: {round(n - right)} errors of {n} in {duration(seconds)}")
    return "\n".join(lines)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, help="holds NAME.filters.jsonl, NAME.retrieval.jsonl")
    parser.add_argument("--out", type=Path, required=True, help="run folders, one per suite")
    parser.add_argument("--kb", action="append", default=[], help="a suite's knowledge base")
    parser.add_argument("--sample", type=int, default=40, help="cases for the other arms")
    parser.add_argument("--limit", type=int, help="cases of each suite for the planned arm")
    args = parser.parse_args()
    done: list[Measured] = []
    for suite, kb in plan_of(args.folder, args.kb):
        done.append(await measured(suite, kb, args.out, args.sample, args.limit))
        print(row(done[-1]), file=sys.stderr, flush=True)
    print("\n".join([HEAD, "|" + "---|" * HEAD.count(" | ") + "---|", *map(row, done)]))
    print(f"\n{spent(done)}")


if __name__ == "__main__":
    asyncio.run(main())
