"""The command `schema`: what a knowledge base has, and what is declared of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent.cli.session import Json, Kb, show, show_json, with_agent

if TYPE_CHECKING:
    from agent.app import Agent
    from schemas.collection import Collection, Field

TOP_VALUES = 8
INDENT = " " * 20

schema = typer.Typer(
    help="Show fields, types, values and what is missing; declare them.",
    invoke_without_command=True,
    rich_markup_mode=None,
)


@schema.callback()
def show_schema(
    context: typer.Context,
    kb: Kb = None,
    as_yaml: Annotated[
        bool, typer.Option("--yaml", help="Print a file to edit, for `schema apply`.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show fields, types, values and what is missing."""
    if context.invoked_subcommand is not None:
        context.obj = kb
        return
    if as_yaml:
        _show_yaml(kb)
        return
    collection = with_agent(lambda agent: agent.describe(kb))
    if as_json:
        show_json(collection.model_dump(mode="json", exclude={"fields": {"__all__": {"values"}}}))
    else:
        show(schema_text(collection))


@schema.command("apply")
def apply_schema(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A YAML file, such as `schema --yaml` prints.")],
    kb: Kb = None,
    as_json: Json = False,
) -> None:
    """Store what a file declares; the knowledge base is created where it does not exist."""
    from agent.ingest.declared_schema import load_schema

    declared = load_schema(file)
    name = kb or context.obj

    async def work(agent: Agent) -> str:
        await agent.apply_schema(declared, name)
        return agent.kb(name)

    applied = with_agent(work)
    if as_json:
        show_json({"kb": applied, "fields": list(declared.fields)})
    else:
        show(f"{applied}: {len(declared.fields)} fields are declared; the next ingest follows them")


def _show_yaml(kb: str | None) -> None:
    from agent.ingest.declared_schema import to_yaml

    async def work(agent: Agent) -> str:
        await agent.describe(kb)
        return to_yaml(await agent.schema_of(kb))

    show(with_agent(work).rstrip())


def schema_text(collection: Collection) -> str:
    """One line a field: type, number of values, top values or range, share missing; what was
    declared of it below.
    """
    lines = [f"{collection.name}: {len(collection.fields)} fields"]
    if collection.description:
        lines.append(collection.description)
    for field in collection.fields:
        lines.append(_field_line(field))
        lines += [f"{INDENT} {line}" for line in _declared_lines(field)]
    return "\n".join(lines)


def _field_line(field: Field) -> str:
    profile = field.profile
    if profile is None:
        return f"{field.name:<20} {field.type}"
    distinct = "?" if profile.distinct is None else str(profile.distinct)
    if profile.minimum is not None:
        values = f"{profile.minimum} … {profile.maximum}"
    else:
        values = ", ".join(f"{value} ({count})" for value, count in profile.top[:TOP_VALUES])
    missing = f"{profile.missing_share:.0%} missing"
    partial = "" if profile.complete else ", from a sample"
    return f"{field.name:<20} {field.type:<12} {distinct:>6} values{partial}, {missing}: {values}"


def _declared_lines(field: Field) -> list[str]:
    lines = [field.description] if field.description else []
    if field.aliases:
        lines.append(f"also called {', '.join(field.aliases)}")
    if field.default:
        lines.append(f"missing values are shown as {field.default}")
    return lines
