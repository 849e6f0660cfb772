"""The command that tells what works and what to do about what does not."""

from __future__ import annotations

import typer

from agent.cli.session import Json, show, show_json, with_agent


def doctor(as_json: Json = False) -> None:
    """Check models, store and settings; exit 1 if something is broken."""
    from agent.diagnosis import diagnose

    findings = with_agent(diagnose)
    if as_json:
        show_json([finding.model_dump(mode="json") for finding in findings])
    else:
        for finding in findings:
            show(f"{'ok  ' if finding.ok else 'FAIL'} {finding.what:<24} {finding.detail}")
            if finding.remedy and not finding.ok:
                show(f"     try: {finding.remedy}")
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)
