"""The command that embeds a knowledge base again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from agent.cli.session import Json, Kb, show, show_json, with_agent

if TYPE_CHECKING:
    from agent.app import Agent


def reindex(kb: Kb = None, as_json: Json = False) -> None:
    """Embed every passage again with the configured embedding model.

    The old vectors answer until all is done; a run that was cut off goes on where it was.
    """
    from agent.cli.progress import ReindexBar

    async def work(agent: Agent) -> tuple[str, str, int]:
        with ReindexBar() as bar:
            passages = await agent.reindex(kb, on_progress=bar.update)
            return agent.kb(kb), agent.settings.models.embedding, passages

    started = time.monotonic()
    name, model, passages = with_agent(work)
    seconds = time.monotonic() - started
    if as_json:
        show_json({"kb": name, "model": model, "passages": passages, "seconds": seconds})
    else:
        show(f"{name}: {passages} passages embedded with {model} in {seconds:.1f} s")
