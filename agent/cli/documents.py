"""Commands about the documents of a knowledge base."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agent.cli.session import (
    FilterOption,
    Json,
    Kb,
    parse_filter_option,
    show,
    show_json,
    with_agent,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.app import Agent
    from schemas.collection import Field
    from schemas.hits import Document

docs = typer.Typer(
    help="Documents of a knowledge base.", no_args_is_help=True, rich_markup_mode=None
)

DocId = Annotated[str, typer.Argument(help="The document's id, as `docs list` shows it.")]


@docs.command("list")
def list_documents(
    kb: Kb = None,
    filter_: FilterOption = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="At most so many.")] = None,
    as_json: Json = False,
) -> None:
    """List the documents, disabled ones too."""
    asked = parse_filter_option(filter_)
    documents = with_agent(lambda agent: agent.documents(kb, filter_=asked, limit=limit))
    if as_json:
        show_json([document.model_dump(mode="json") for document in documents])
        return
    for document in documents:
        state = "" if document.enabled else "  (disabled)"
        title = " ".join(document.title.split())
        show(f"{document.id}\t{title}\t{document.chunks} passages{state}")


@docs.command("show")
def show_document(
    doc_id: DocId,
    kb: Kb = None,
    versions: Annotated[
        bool, typer.Option("--versions", help="With the versions that it replaced.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show one document's metadata."""

    async def work(agent: Agent) -> tuple[Document, tuple[Document, ...], tuple[Field, ...]]:
        replaced = await agent.versions(doc_id, kb) if versions else ()
        document = await agent.document(doc_id, kb)
        return document, replaced, () if as_json else (await agent.describe(kb)).fields

    document, replaced, fields = with_agent(work)
    if as_json:
        shown = document.model_dump(mode="json")
        if versions:
            shown["versions"] = [version.model_dump(mode="json") for version in replaced]
        show_json(shown)
        return
    show(document_text(document, fields))
    for version in replaced:
        show(version_line(version))


def document_text(document: Document, fields: Sequence[Field] = ()) -> str:
    """Metadata a line each; what is missing as the default of its field, where there is one."""
    from schemas.defaults import with_defaults

    state = "" if document.enabled else "\ndisabled"
    lines = [f"{document.id}: {document.title}\nsource: {document.source}{state}"]
    for name, value in with_defaults(document.metadata, fields).items():
        lines.append(f"{name}: {', '.join(map(str, value)) if isinstance(value, list) else value}")
    return "\n".join(lines)


def version_line(version: Document) -> str:
    """With when this version was made: setting a value is another version, but no ingest."""
    from agent.store.revisions import begun_at

    made = begun_at(version.revision).isoformat(sep=" ", timespec="milliseconds")
    return (
        f"version {version.revision}\t{made.removesuffix('+00:00')}\t{version.chunks} passages\t"
        f"{version.title}"
    )


@docs.command("set")
def set_values(
    doc_id: DocId,
    values: Annotated[
        list[str] | None,
        typer.Argument(help="FIELD=VALUE …; a list as tags=a,b or as tags=a tags=b."),
    ] = None,
    unset: Annotated[
        list[str] | None,
        typer.Option("--unset", help="Take a field's value away; may be repeated."),
    ] = None,
    kb: Kb = None,
    as_json: Json = False,
) -> None:
    """Set metadata of a document and all its passages, without embedding again."""
    assigned = parse_assignments(values or ())
    check_asked(assigned, unset or ())
    document = with_agent(lambda agent: agent.assign(doc_id, assigned, tuple(unset or ()), kb))
    show_json(document) if as_json else show(document_text(document))


def parse_assignments(texts: Sequence[str]) -> dict[str, list[str]]:
    """`field=value` texts by field. UsageError for one without a field."""
    from schemas.errors import UsageError

    assigned: dict[str, list[str]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"{text!r} sets nothing; write FIELD=VALUE")
        assigned.setdefault(name.strip(), []).append(value)
    return assigned


def check_asked(assigned: Mapping[str, object], unset: Sequence[str]) -> None:
    """UsageError if nothing is asked for, or two things of one field."""
    from schemas.errors import UsageError

    if not assigned and not unset:
        raise UsageError("nothing is set; write FIELD=VALUE or --unset FIELD")
    for name in unset:
        if name in assigned:
            raise UsageError(f"field {name!r} is both set and unset; write one of them")


@docs.command("versions")
def versions(doc_id: DocId, kb: Kb = None, as_json: Json = False) -> None:
    """List the versions that a document has replaced, newest first."""
    found = with_agent(lambda agent: agent.versions(doc_id, kb))
    if as_json:
        show_json([version.model_dump(mode="json") for version in found])
        return
    for version in found:
        show(version_line(version))


@docs.command("restore")
def restore(
    doc_id: DocId,
    version: Annotated[str, typer.Argument(help="The version, as `docs versions` shows it.")],
    kb: Kb = None,
    as_json: Json = False,
) -> None:
    """Make a replaced version the visible one again; the present one becomes a version."""
    document = with_agent(lambda agent: agent.restore(doc_id, version, kb))
    show_json(document) if as_json else show(f"{doc_id} is again as in version {version}")


@docs.command("disable")
def disable(
    doc_id: DocId,
    kb: Kb = None,
    passage: Annotated[
        int | None, typer.Option("--passage", min=0, help="Only the passage with this number.")
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Show it again.")] = False,
    as_json: Json = False,
) -> None:
    """Hide a document, or one passage of it, from every search, without deleting it."""
    with_agent(lambda agent: agent.set_enabled(doc_id, undo, kb, passage=passage))
    if as_json:
        show_json(
            {"id": doc_id, "enabled": undo} | ({} if passage is None else {"passage": passage})
        )
        return
    what = doc_id if passage is None else f"passage {passage} of {doc_id}"
    show(f"{what} is {'enabled' if undo else 'disabled'}")


@docs.command("delete")
def delete(doc_id: DocId, kb: Kb = None, as_json: Json = False) -> None:
    """Delete a document and its passages."""
    with_agent(lambda agent: agent.delete(doc_id, kb))
    if as_json:
        show_json({"id": doc_id, "deleted": True})
    else:
        show(f"{doc_id} is deleted")
