"""The one place where the rooms meet."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph.state import CompiledStateGraph
from pydantic import JsonValue

from agent.access.local import GrantedAccess
from agent.backends import OLLAMA, Backends, Notify, Progress
from agent.deferred import DeferredChat, DeferredEmbedder, DeferredWriter
from agent.ingest.declared_schema import DeclaredSchema
from agent.ingest.pipeline import Ingest
from agent.ingest.report import IngestReport
from agent.ingest.report import Progress as IngestProgress
from agent.lint.findings import Finding
from agent.lint.linter import lint
from agent.models.chat import OllamaChat
from agent.models.embedding import OllamaEmbedder
from agent.models.extractive import ExtractiveWriter
from agent.models.orders import room_of
from agent.models.written import ModelWriter
from agent.planning.cache import PlanCache
from agent.planning.form import opening
from agent.planning.planner import Planner
from agent.ranking.policy import chain_of
from agent.requests import AskOptions
from agent.results import answer_of, events_of, result_of
from agent.settings import Settings, load_settings
from agent.store.assignments import read_assignments
from agent.store.connection import Connection, Patience
from agent.store.described import DescribedCatalog
from agent.store.fusion import Fusion, Method
from agent.store.reindexing import Reindexed
from agent.store.store import MilvusStore
from agent.taking_in import ingest_options, zone_of
from graph.build import build_graph
from graph.context import Budgets, Context
from graph.ports import Catalog, Message, Searcher, Writer
from graph.serde import state_serializer
from graph.state import Goal, Input, Output, State
from schemas.access import LOCAL, Principal, Scope
from schemas.answers import Answer, Event, EventKind, SearchResult
from schemas.check import bind
from schemas.collection import Collection
from schemas.compile.milvus import Dialect
from schemas.errors import UnknownDocument, UnknownKnowledgeBase, UsageError
from schemas.filters import EVERYTHING, Filter
from schemas.hits import Document
from schemas.plan import Plan

Compiled = CompiledStateGraph[State, Context, Input, Output]

WARMING: Mapping[str, Any] = {
    "type": "object",
    "properties": {"-": {"enum": ["-"]}},
    "required": ["-"],
    "additionalProperties": False,
}
"""What a model has to say while it is warmed: an object, as for every plan."""


class Agent:
    """Everything facetwise does, over one set of settings. Use it as a context manager.

    What a principal may see is decided per call; without one, the local person's grants hold.
    `now` is the clock, with a zone; nothing else tells the time.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        notify: Notify | None = None,
        progress: Progress | None = None,
        now: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
    ) -> None:
        self.settings = settings or load_settings()
        self._now = now
        self.backends = Backends(self.settings, notify=notify, progress=progress)
        self._closing = AsyncExitStack()
        self._store: MilvusStore | None = None
        self._chat: OllamaChat | None = None
        self._embedder: OllamaEmbedder | None = None
        self._threads: Compiled | None = None
        planning = self.settings.planning
        self._planner = Planner(fiscal_start=planning.fiscal_start, day_first=planning.day_first)
        self._plans = PlanCache(planning.cache)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._closing.aclose()

    @cached_property
    def graph(self) -> Compiled:
        """The compiled graph without a memory; threads have their own, with a checkpointer."""
        return build_graph().compile(name="facetwise")

    async def plan(self, question: str, *, principal: Principal = LOCAL, **options: Any) -> Plan:
        """The checked filter for a question, without a search."""
        asked = AskOptions(**options)
        context = await self._context(asked, principal, goal="plan")
        state = await self._finish(question, asked, context, "plan")
        return state["plan"]

    async def search(
        self, question: str, *, principal: Principal = LOCAL, **options: Any
    ) -> SearchResult:
        """Ranked passages."""
        asked = AskOptions(**options)
        context = await self._context(asked, principal, goal="search")
        state = await self._finish(question, asked, context, "search")
        return result_of(question, state, context, explain=asked.explain)

    async def ask(self, question: str, *, principal: Principal = LOCAL, **options: Any) -> Answer:
        """A whole answer with its references."""
        asked = AskOptions(**options)
        context = await self._context(asked, principal, goal="answer")
        state = await self._finish(question, asked, context, "answer")
        return answer_of(question, state, context, asked.thread)

    async def stream(
        self, question: str, *, principal: Principal = LOCAL, **options: Any
    ) -> AsyncIterator[Event]:
        """Stages as they begin, the plan, pieces of text, then filter, references and done."""
        asked = AskOptions(**options)
        context = await self._context(asked, principal, goal="answer")
        state: State = {}
        async for kind, data in self._run(question, asked, context, "answer"):
            if kind == "custom":
                yield Event(kind=EventKind(data["kind"]), data=data["data"])
            else:
                state = data
        for event in events_of(answer_of(question, state, context, asked.thread)):
            yield event

    async def warm(self) -> None:
        """Have the chat model loaded and the opening of every plan read, before somebody waits."""
        messages = [Message(message.role, message.content) for message in opening()]
        await (await self.chat()).complete([*messages, Message("user", "-")], WARMING)

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

    def kb(self, name: str | None) -> str:
        return name or self.settings.kb

    def today(self) -> dt.date:
        """The present day in the configured zone."""
        return self._now().astimezone(zone_of(self.settings.planning.timezone)).date()

    async def store(self) -> MilvusStore:
        """The store, connected on first use."""
        if self._store is None:
            address = await self.backends.store()
            settings = self.settings.store
            connection = Connection(
                address.uri,
                address.token,
                dialect=Dialect(settings.dialect) if settings.dialect else None,
                patience=Patience(call=settings.timeout_s),
                locks=self.settings.paths.data / "locks",
                files=self.backends.runtime_config().milvus_dir if address.embedded else None,
            )
            self._closing.push_async_callback(connection.close)
            self._store = MilvusStore.over(
                connection,
                DeferredEmbedder(self.settings.models.embedding, self.embedder),
                fusion=Fusion(
                    method=Method(settings.fusion),
                    text=1 - settings.dense_weight,
                    vector=settings.dense_weight,
                ),
                profile_minutes=settings.profile_minutes,
                now=self._now,
            )
        return self._store

    async def chat(self) -> OllamaChat:
        if self._chat is None:
            models = self.settings.models
            self._chat = OllamaChat(
                await self.backends.chat(),
                context=models.context,
                keep_alive=models.keep_alive,
                timeout_s=models.timeout_s,
                connect_timeout_s=models.connect_timeout_s,
                temperature=self.settings.answer.temperature,
                parallel=models.parallel,
                budget=self.backends.budget,
            )
            self._closing.push_async_callback(self._chat.close)
        return self._chat

    async def embedder(self) -> OllamaEmbedder:
        if self._embedder is None:
            self._embedder = OllamaEmbedder(
                await self.backends.embedding(),
                timeout_s=self.settings.models.timeout_s,
                connect_timeout_s=self.settings.models.connect_timeout_s,
                budget=self.backends.budget,
            )
            self._closing.push_async_callback(self._embedder.close)
        return self._embedder

    async def _writer(self) -> Writer:
        """Who writes answers: the embedded model is too small to be trusted with it."""
        kind = self.settings.answer.writer
        if kind == "auto":
            kind = "model" if (await self.backends.chat()).origin == OLLAMA else "extractive"
        if kind == "model":
            chat = await self.chat()
            return ModelWriter(chat, context=await chat.window())
        return ExtractiveWriter(await self.embedder(), limit=self.settings.answer.sentences)

    def _granted(self, kb: str, principal: Principal) -> Scope:
        """The principal's scope; where it is empty, the base is as unknown as one that is not
        there, so that nobody learns names by trying.
        """
        scope = self._access.scope(principal, kb)
        if scope == Scope():
            raise UnknownKnowledgeBase(f"unknown knowledge base {kb!r}")
        return scope

    @cached_property
    def _access(self) -> GrantedAccess:
        return GrantedAccess()

    async def _context(self, asked: AskOptions, principal: Principal, *, goal: Goal) -> Context:
        settings = self.settings
        if asked.collection is None:
            self._granted(self.kb(asked.kb), principal)
        catalog, searcher = await self._sources(asked, goal)
        return Context(
            access=self._access,
            catalog=catalog,
            planning=self._planner,
            chat=DeferredChat(settings.models.chat, self.chat),
            searcher=searcher,
            ranker=chain_of(settings.rag.filter),
            writer=DeferredWriter(self._writer),
            principal=principal,
            today=asked.today or self.today(),
            zone=settings.planning.timezone,
            plans=self._plans if settings.planning.cache else None,
            budgets=Budgets(
                repairs=settings.planning.repairs,
                loosen_steps=settings.loosen.steps if settings.loosen.enabled else 0,
                minimum_hits=settings.loosen.minimum,
            ),
            search_after_failure=settings.planning.on_failure == "search",
            candidates=settings.rag.candidates,
            room=self._room,
        )

    async def _room(self) -> int:
        """Tokens that a prompt may have; of a model that does not tell, as configured."""
        chat = await self.chat()
        if isinstance(chat, OllamaChat):
            return await chat.room()
        return room_of(self.settings.models.context)

    async def _sources(self, asked: AskOptions, goal: Goal) -> tuple[Catalog, Searcher]:
        if asked.collection is None:
            store = await self.store()
            return store.catalog, store.searcher
        if goal != "plan":
            raise UsageError(
                f"the collection {asked.collection.name!r} is only described: it can be planned "
                "for, not searched"
            )
        described = DescribedCatalog(asked.collection, self.settings.store.dialect)
        return described, described

    async def _finish(
        self, question: str, asked: AskOptions, context: Context, goal: Goal
    ) -> State:
        state: State = {}
        async for kind, data in self._run(question, asked, context, goal):
            if kind == "values":
                state = data
        return state

    async def _run(
        self, question: str, asked: AskOptions, context: Context, goal: Goal
    ) -> AsyncIterator[tuple[str, Any]]:
        _check_text("question", question)
        _check_text("thread", asked.thread or "-")
        settings = self.settings
        kb = asked.collection.name if asked.collection else self.kb(asked.kb)
        given: Input = {
            "question": question.strip(),
            "kb": kb,
            "mode": asked.mode or settings.planning.mode,
            "keys": asked.keys,
            "caller": asked.filter,
            "history": asked.history,
            "goal": goal,
            "top": asked.top,
        }
        graph, config = self.graph, RunnableConfig()
        if asked.thread is not None:
            graph = await self._threaded()
            thread_id = json.dumps([context.principal.name, asked.thread])
            config = RunnableConfig(configurable={"thread_id": thread_id})
        async for kind, data in graph.astream(
            given, config, context=context, stream_mode=["custom", "values"]
        ):
            yield kind, data

    async def _threaded(self) -> Compiled:
        """The graph with a memory of threads in SQLite."""
        if self._threads is None:
            path = self.settings.paths.data / "threads.sqlite"
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = await self._closing.enter_async_context(aiosqlite.connect(path))
            saver = AsyncSqliteSaver(connection, serde=state_serializer())
            self._threads = build_graph().compile(name="facetwise", checkpointer=saver)
        return self._threads


def _check_text(what: str, text: str) -> None:
    """Half a surrogate pair is no text: neither a store nor an answer could carry it."""
    if not text.strip():
        raise UsageError(f"the {what} is empty")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"the {what} is not valid Unicode at character {error.start}", remedy="send it as UTF-8"
        ) from error
