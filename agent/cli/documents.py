"""Commands about what a knowledge base holds: schema, docs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agent.cli.session import Json, Kb, show, show_json, with_agent

if TYPE_CHECKING:
    from schemas.collection import Collection, Field

docs = typer.Typer(
    help="Documents of a knowledge base.", no_args_is_help=True, rich_markup_mode=None
)

DocId = Annotated[str, typer.Argument(help="The document's id, as `docs list` shows it.")]

TOP_VALUES = 8


def schema(kb: Kb = None, as_json: Json = False) -> None:
    """Show fields, types, values and what is missing."""
    collection = with_agent(lambda agent: agent.describe(kb))
    if as_json:
        show_json(collection.model_dump(mode="json", exclude={"fields": {"__all__": {"values"}}}))
    else:
        show(schema_text(collection))


def schema_text(collection: Collection) -> str:
    """One line a field: type, number of values, top values or range, share missing."""
    lines = [f"{collection.name}: {len(collection.fields)} fields"]
    lines += [_field_line(field) for field in collection.fields]
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


@docs.command("list")
def list_documents(kb: Kb = None, as_json: Json = False) -> None:
    """List the documents."""
    documents = with_agent(lambda agent: agent.documents(kb))
    if as_json:
        show_json([document.model_dump(mode="json") for document in documents])
        return
    for document in documents:
        state = "" if document.enabled else "  (disabled)"
        show(f"{document.id}\t{document.title}\t{document.chunks} passages{state}")


@docs.command("show")
def show_document(doc_id: DocId, kb: Kb = None, as_json: Json = False) -> None:
    """Show one document's metadata."""
    document = with_agent(lambda agent: agent.document(doc_id, kb))
    if as_json:
        show_json(document)
        return
    show(f"{document.id}: {document.title}\nsource: {document.source}")
    for name, value in document.metadata.items():
        show(f"{name}: {', '.join(map(str, value)) if isinstance(value, list) else value}")


@docs.command("disable")
def disable(
    doc_id: DocId,
    kb: Kb = None,
    undo: Annotated[bool, typer.Option("--undo", help="Show it again.")] = False,
    as_json: Json = False,
) -> None:
    """Hide a document from every search, without deleting it."""
    with_agent(lambda agent: agent.set_enabled(doc_id, undo, kb))
    if as_json:
        show_json({"id": doc_id, "enabled": undo})
    else:
        show(f"{doc_id} is {'enabled' if undo else 'disabled'}")


@docs.command("delete")
def delete(doc_id: DocId, kb: Kb = None, as_json: Json = False) -> None:
    """Delete a document and its passages."""
    with_agent(lambda agent: agent.delete(doc_id, kb))
    if as_json:
        show_json({"id": doc_id, "deleted": True})
    else:
        show(f"{doc_id} is deleted")
