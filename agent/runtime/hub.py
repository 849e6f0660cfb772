"""Weights from a model hub that serves files by repository and name, as Hugging Face does."""

from __future__ import annotations

import os
from pathlib import Path

import httpx

from agent.runtime.weights import Progress, SourceFailed, Weights, file_sha256

_DEFAULT_ENDPOINT = "https://huggingface.co"
_BLOCK = 1 << 20
# A machine without a way out should learn it in seconds; a slow one may take long between blocks.
_TIMEOUT = httpx.Timeout(60.0, connect=5.0)


def fetch_from_hub(weights: Weights, target: Path, report: Progress) -> None:
    """Download to a `.part` file (going on where an earlier try ended), verify, move into place.

    The address of the hub is `HF_ENDPOINT`, as for the hub's own tools.
    """
    endpoint = os.environ.get("HF_ENDPOINT", _DEFAULT_ENDPOINT).rstrip("/")
    url = f"{endpoint}/{weights.hub.repository}/resolve/main/{weights.hub.name}"
    draft = target.with_name(f"{target.name}.part")
    try:
        with httpx.Client(timeout=_TIMEOUT, follow_redirects=True) as client:
            _download(client, url, draft, weights, report)
    except httpx.HTTPError as error:
        raise SourceFailed(f"{url}: {error or type(error).__name__}") from error
    found = file_sha256(
        draft,
        lambda done: report(f"verifying {weights.model}", min(done, weights.size), weights.size),
    )
    if found != weights.sha256:
        draft.unlink()
        raise SourceFailed(f"{url} has SHA-256 {found}, not {weights.sha256}")
    draft.replace(target)


def _download(
    client: httpx.Client, url: str, draft: Path, weights: Weights, report: Progress
) -> None:
    begun = draft.stat().st_size if draft.exists() else 0
    if begun >= weights.size:
        return
    headers = {"Range": f"bytes={begun}-"} if begun else {}
    with client.stream("GET", url, headers=headers) as response:
        response.raise_for_status()
        resumed = response.status_code == httpx.codes.PARTIAL_CONTENT
        done = begun if resumed else 0
        with draft.open("ab" if resumed else "wb") as out:
            for block in response.iter_bytes(_BLOCK):
                out.write(block)
                done += len(block)
                report(f"fetching {weights.model}", min(done, weights.size), weights.size)
