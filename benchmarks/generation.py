"""What threads and waiting cost the embedded model, alone and beside a busy process.

    python -m benchmarks.generation MODEL.gguf

Prints tokens per second of prompts and of replies (median of three) for one thread and for all
cores, with threads that spin and with threads that sleep while they wait for each other.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from agent.runtime.llama import PATIENT

PROMPT = "The quick brown fox jumps over the lazy dog and then sleeps. " * 16
REPLY_TOKENS = 24
ROUNDS = 3


def serve(model: Path, threads: int) -> None:
    """The child: one model in this process, timed, and the timings printed as JSON."""
    import xllamacpp  # noqa: PLC0415  (the parent needs no engine)

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.n_ctx = 2048
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.verbosity = 0
    url = xllamacpp.Server(params).listening_address
    timings = [ask(url, f"{number} {PROMPT}") for number in range(ROUNDS + 1)][1:]
    sys.stdout.write(
        json.dumps(
            [
                statistics.median(timing[name] for timing in timings)
                for name in ("prompt_per_second", "predicted_per_second")
            ]
        )
    )
    sys.stdout.flush()
    os._exit(0)


def ask(url: str, prompt: str) -> dict[str, float]:
    order = {
        "prompt": prompt,
        "n_predict": REPLY_TOKENS,
        "cache_prompt": False,
        "ignore_eos": True,
    }
    reply = httpx.post(f"{url}/completion", json=order, timeout=600, trust_env=False)
    found: dict[str, float] = reply.raise_for_status().json()["timings"]
    return found


@contextmanager
def busy(on: bool) -> Iterator[None]:
    """One process that never rests, where asked for."""
    if not on:
        yield
        return
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        yield
        process.kill()


def measured(model: Path, threads: int, patient: bool) -> tuple[float, float]:
    environment = {key: value for key, value in os.environ.items() if key not in PATIENT}
    child = subprocess.run(
        [sys.executable, "-m", "benchmarks.generation", str(model), "--serve", str(threads)],
        env={**environment, **(PATIENT if patient else {})},
        stdout=subprocess.PIPE,
        check=True,
    )
    prompt, reply = json.loads(child.stdout)
    return prompt, reply


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("model", type=Path)
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve(args.model, args.serve)
    print(
        "| threads | waiting | beside | prompt tokens/s | reply tokens/s |\n|---|---|---|---|---|"
    )
    for beside in (False, True):
        for threads, patient in (
            (1, False),
            (os.cpu_count() or 1, False),
            (os.cpu_count() or 1, True),
        ):
            with busy(beside):
                prompt, reply = measured(args.model, threads, patient)
            waiting = "sleeping" if patient else "spinning"
            other = "a busy process" if beside else "nothing"
            print(f"| {threads} | {waiting} | {other} | {prompt:.0f} | {reply:.1f} |", flush=True)


if __name__ == "__main__":
    main()
