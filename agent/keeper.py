"""The knowledge bases: filled, described, changed, kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

from agent.connected import Connected
from agent.ingest.declared_schema import DeclaredSchema
from agent.ingest.pipeline import Ingest
from agent.ingest.report import IngestReport
from agent.ingest.report import Progress as IngestProgress
from agent.lint.findings import Finding
from agent.lint.linter import lint
from agent.store.assignments import read_assignments
from agent.store.reindexing import Reindexed
from agent.taking_in import ingest_options, zone_of
from schemas.access import LOCAL, Principal, Scope
from schemas.check import bind
from schemas.collection import Collection
from schemas.errors import UnknownDocument
from schemas.filters import EVERYTHING, Filter
from schemas.hits import Document


class Keeper(Connected):
    """What is done with knowledge bases and their documents, apart from asking them. Methods that
    show something take a principal; those that change something are for whoever runs it.
    """

    async def ingest(
        self,
        paths: Sequence[Path],
        *,
        kb: str | None = None,
        tags: Sequence[str] = (),
        prune: bool = False,
        adopt: bool = False,
        type_map: Path | None = None,
        schema: DeclaredSchema | None = None,
        on_progress: Callable[[IngestProgress], None] | None = None,
    ) -> IngestReport:
        """Take documents into a knowledge base, which is created where it does not exist.

        `type_map` names a file with entries that come before those of the settings; `schema` is
        applied first. For `tags`, `prune` and `adopt` see `Ingest.run`.
        """
        if schema is not None:
            await self.apply_schema(schema, kb)
        options = ingest_options(
            self.settings.ingest,
            await self.schema_of(kb),
            zone=zone_of(self.settings.planning.timezone),
            type_map=type_map,
        )
        pipeline = Ingest(
            (await self.store()).library,
            await self.embedder(),
            options,
            chat=await self.chat() if options.extract else None,
        )
        return await pipeline.run(
            self.kb(kb),
            paths,
            tags=tags,
            prune=prune,
            adopt=adopt,
            on_progress=on_progress or (lambda progress: None),
        )

    async def describe(self, kb: str | None = None, principal: Principal = LOCAL) -> Collection:
        """Fields, types and values of a knowledge base, as far as the principal may see them."""
        name = self.kb(kb)
        scope = self._granted(name, principal)
        return await (await self.store()).catalog.describe(name, scope)

    async def schema_of(self, kb: str | None = None) -> DeclaredSchema:
        """What is declared of a knowledge base, its inferred fields included; for those who
        administer it, whatever they may see of its documents.
        """
        library = (await self.store()).library
        name = self.kb(kb)
        description, rules = await library.declared(name)
        return DeclaredSchema.of(await library.fields(name) or (), description, rules)

    async def apply_schema(self, declared: DeclaredSchema, kb: str | None = None) -> None:
        """Store a schema; the knowledge base is created where it does not exist. UsageError if
        a field that is there has another type.
        """
        library = (await self.store()).library
        name = self.kb(kb)
        declared.check_against(await library.fields(name) or ())
        embedder = await self.embedder()
        await library.prepare(
            name,
            declared.as_fields(),
            dimension=await embedder.dimension(),
            embedding_model=embedder.name,
            access_fields=(*self.settings.ingest.access_fields, *declared.named("access")),
        )
        await library.declare(
            name,
            declared.as_fields(),
            description=declared.description,
            rules=declared.rules(),
        )

    async def lint(
        self, kb: str | None = None, principal: Principal = LOCAL
    ) -> tuple[Finding, ...]:
        """What in the metadata that the principal may see is worth a look."""
        name = self.kb(kb)
        collection = await self.describe(name, principal)
        documents = await self.documents(name, principal)
        access = (await self.schema_of(name)).named("access")
        return lint(collection, documents, (*self.settings.ingest.access_fields, *access))

    async def kbs(self, principal: Principal = LOCAL) -> tuple[str, ...]:
        """The names of the knowledge bases of which the principal may see anything."""
        names = await (await self.store()).library.names()
        return tuple(name for name in names if self._access.scope(principal, name) != Scope())

    async def documents(
        self,
        kb: str | None = None,
        principal: Principal = LOCAL,
        *,
        filter_: Filter = EVERYTHING,
        limit: int | None = None,
    ) -> tuple[Document, ...]:
        """The documents that the principal may see and that match, by id, disabled ones too."""
        name = self.kb(kb)
        scope = self._granted(name, principal)
        store = await self.store()
        bound = None
        if filter_ != EVERYTHING:
            bound = bind(filter_, await store.catalog.describe(name, scope))
        return await store.documents.list(name, scope, bound, limit=limit)

    async def document(
        self, doc_id: str, kb: str | None = None, principal: Principal = LOCAL
    ) -> Document:
        """One document. UnknownDocument also where it may not be seen."""
        name = self.kb(kb)
        scope = self._granted(name, principal)
        return await (await self.store()).documents.show(name, doc_id, scope)

    async def set_enabled(
        self, doc_id: str, enabled: bool, kb: str | None = None, *, passage: int | None = None
    ) -> None:
        """Hide a document, or the one passage of it with this index, from every search, or show
        it again.
        """
        documents = (await self.store()).documents
        if passage is None:
            await documents.set_enabled(self.kb(kb), doc_id, enabled)
        else:
            await documents.set_passage_enabled(self.kb(kb), doc_id, passage, enabled)

    async def set_metadata(
        self, doc_id: str, changes: Mapping[str, JsonValue], kb: str | None = None
    ) -> Document:
        """Set values of a document and all its passages without embedding again; null takes one
        away. UsageError for an unknown field, and for a value that is none of its type.
        """
        name = self.kb(kb)
        await (await self.store()).library.set_metadata(name, doc_id, changes)
        return await self.document(doc_id, name)

    async def assign(
        self,
        doc_id: str,
        assigned: Mapping[str, Sequence[str]],
        unset: Sequence[str] = (),
        kb: str | None = None,
    ) -> Document:
        """As `set_metadata`, from texts that are read in the type of their field."""
        name = self.kb(kb)
        fields = await (await self.store()).library.fields(name) or ()
        changes = read_assignments(fields, assigned, name) | dict.fromkeys(unset)
        return await self.set_metadata(doc_id, changes, name)

    async def versions(
        self, doc_id: str, kb: str | None = None, principal: Principal = LOCAL
    ) -> tuple[Document, ...]:
        """Replaced versions of a document that the principal may see, newest first."""
        name = self.kb(kb)
        scope = self._granted(name, principal)
        return await (await self.store()).documents.versions(name, doc_id, scope)

    async def restore(self, doc_id: str, version: str, kb: str | None = None) -> Document:
        """Make a replaced version, named by its revision, the visible one again."""
        name = self.kb(kb)
        await (await self.store()).library.restore(name, doc_id, version)
        return await self.document(doc_id, name)

    async def reindex(
        self,
        kb: str | None = None,
        *,
        on_progress: Callable[[Reindexed], None] | None = None,
    ) -> int:
        """Embed every passage again with the configured model; how many there are."""
        library = (await self.store()).library
        return await library.reindex(
            self.kb(kb),
            await self.embedder(),
            batch=self.settings.ingest.embed_batch,
            on_progress=on_progress or (lambda progress: None),
        )

    async def backup(self, path: Path, kb: str | None = None) -> int:
        """Write a knowledge base with everything in it to one file; how many documents it has."""
        return await (await self.store()).library.backup(self.kb(kb), path)

    async def restore_backup(
        self, path: Path, kb: str | None = None, *, replace: bool = False
    ) -> str:
        """Make a knowledge base of a backup, under its own name unless one is given; the name."""
        library = (await self.store()).library
        return await library.restore_backup(path, kb, replace=replace)

    async def delete(self, doc_id: str, kb: str | None = None) -> None:
        """Delete a document with its passages."""
        name = self.kb(kb)
        if not await (await self.store()).library.delete(name, [doc_id]):
            raise UnknownDocument(f"there is no document {doc_id!r} in {name!r}")
