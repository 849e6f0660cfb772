"""The command `lint`: what in a knowledge base's metadata is worth a look."""

from __future__ import annotations

from typing import Annotated

import typer

from agent.cli.session import Json, Kb, show, show_json, with_agent


def lint(
    kb: Kb = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if anything is found.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List near-duplicate values, undated documents, and fields that cannot filter."""
    found = with_agent(lambda agent: agent.lint(kb))
    if as_json:
        show_json([finding.model_dump(mode="json") for finding in found])
    for finding in () if as_json else found:
        show(f"{finding.kind}: {finding.message}")
        if finding.documents:
            more = " …" if finding.count > len(finding.documents) else ""
            show(f"    {', '.join(finding.documents)}{more}")
        show(f"    try: {finding.remedy}")
    if not as_json and not found:
        show("nothing to mend")
    if found and strict:
        raise typer.Exit(1)
