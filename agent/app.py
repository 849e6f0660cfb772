"""The one place where the rooms meet."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import AsyncIterator, Callable, Mapping
from functools import cached_property
from typing import Any

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph.state import CompiledStateGraph

from agent.backends import OLLAMA, Notify, Progress
from agent.deferred import DeferredChat, DeferredEmbedder, DeferredWriter
from agent.enhancing.enhancer import QuestionEnhancer
from agent.explained import explained
from agent.keeper import Keeper
from agent.models.chat import OllamaChat
from agent.models.extractive import ExtractiveWriter
from agent.models.orders import room_of
from agent.models.written import ModelWriter
from agent.planning.cache import PlanCache
from agent.planning.form import opening
from agent.planning.planner import Planner
from agent.ranking.policy import chain_of
from agent.ranking.registry import Tools
from agent.requests import AskOptions, read_options
from agent.results import answer_of, events_of, result_of
from agent.settings import Settings
from agent.store.described import DescribedCatalog
from graph.build import build_graph
from graph.context import Budgets, Context
from graph.explaining import counterfactuals
from graph.ports import Catalog, Message, Searcher, Writer
from graph.serde import state_serializer
from graph.state import Goal, Input, Output, State
from schemas.access import LOCAL, Principal
from schemas.answers import Answer, Event, EventKind, SearchResult
from schemas.errors import UsageError
from schemas.plan import Plan

Compiled = CompiledStateGraph[State, Context, Input, Output]

WARMING: Mapping[str, Any] = {
    "type": "object",
    "properties": {"-": {"enum": ["-"]}},
    "required": ["-"],
    "additionalProperties": False,
}
"""What a model has to say while it is warmed: an object, as for every plan."""


class Agent(Keeper):
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
        super().__init__(settings, notify=notify, progress=progress, now=now)
        self._threads: Compiled | None = None
        planning = self.settings.planning
        self._planner = Planner(fiscal_start=planning.fiscal_start, day_first=planning.day_first)
        self._plans = PlanCache(planning.cache)
        rag = self.settings.rag
        embedding = self.settings.models.embedding
        self._ranker = chain_of(
            rag.filter,
            Tools(
                embedding=embedding,
                embedder=DeferredEmbedder(embedding, self.embedder),
                rerank=rag.rerank,
                boosts=rag.boosts,
                tag_field=self.settings.ingest.tag_field,
            ),
        )
        self._enhancer = QuestionEnhancer(
            DeferredChat(self.settings.models.chat, self.chat),
            tag_field=self.settings.ingest.tag_field,
            size=planning.cache,
        )

    @cached_property
    def graph(self) -> Compiled:
        """The compiled graph without a memory; threads have their own, with a checkpointer."""
        return build_graph().compile(name="facetwise")

    async def plan(self, question: str, *, principal: Principal = LOCAL, **options: Any) -> Plan:
        """The checked filter for a question, without a search."""
        asked = read_options(options)
        context = await self._context(asked, principal, goal="plan")
        state = await self._finish(question, asked, context, "plan")
        return state["plan"]

    async def search(
        self, question: str, *, principal: Principal = LOCAL, **options: Any
    ) -> SearchResult:
        """Ranked passages."""
        asked = read_options(options)
        context = await self._context(asked, principal, goal="search")
        state = await self._finish(question, asked, context, "search")
        explain = None
        if asked.explain:
            explain = explained(state, context, await counterfactuals(state, context))
        return result_of(question, state, context, explain)

    async def ask(self, question: str, *, principal: Principal = LOCAL, **options: Any) -> Answer:
        """A whole answer with its references."""
        asked = read_options(options)
        context = await self._context(asked, principal, goal="answer")
        state = await self._finish(question, asked, context, "answer")
        return answer_of(question, state, context, asked.thread)

    async def stream(
        self, question: str, *, principal: Principal = LOCAL, **options: Any
    ) -> AsyncIterator[Event]:
        """Stages as they begin, the plan, pieces of text, then filter, references and done."""
        asked = read_options(options)
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

    async def _writer(self) -> Writer:
        """Who writes answers: the embedded model is too small to be trusted with it."""
        kind = self.settings.answer.writer
        if kind == "auto":
            kind = "model" if (await self.backends.chat()).origin == OLLAMA else "extractive"
        if kind == "model":
            chat = await self.chat()
            return ModelWriter(chat, context=await chat.window())
        return ExtractiveWriter(await self.embedder(), limit=self.settings.answer.sentences)

    async def _context(self, asked: AskOptions, principal: Principal, *, goal: Goal) -> Context:
        settings = self.settings
        if asked.collection is None:
            for kb in self.asked(asked):
                self._granted(kb, principal)
        catalog, searcher = await self._sources(asked, goal)
        return Context(
            access=self._access,
            catalog=catalog,
            planning=self._planner,
            chat=DeferredChat(settings.models.chat, self.chat),
            searcher=searcher,
            ranker=self._ranker,
            writer=DeferredWriter(self._writer),
            principal=principal,
            today=asked.today or self.today(),
            zone=settings.planning.timezone,
            plans=self._plans if settings.planning.cache else None,
            budgets=Budgets(
                repairs=settings.planning.repairs,
                loosen_steps=settings.loosen.steps if settings.loosen.enabled else 0,
                minimum_hits=settings.loosen.minimum,
                loosen_counts=settings.loosen.counts,
                loosen_actions=settings.loosen.actions,
                loosen_never=settings.loosen.never,
                threshold_step=settings.loosen.threshold_step if settings.loosen.enabled else 0,
                threshold_floor=settings.loosen.threshold_floor,
            ),
            search_after_failure=settings.planning.on_failure == "search",
            candidates=settings.rag.candidates,
            policy=settings.rag.filter,
            enhancer=self._enhancer,
            enhancing=settings.rag.enhance,
            room=self._room,
            model_digest=self._digest,
        )

    def asked(self, asked: AskOptions) -> tuple[str, ...]:
        """The knowledge bases of a request, each once; UsageError where it names them twice."""
        kbs = tuple(dict.fromkeys(self.kb(kb) for kb in asked.kbs))
        if asked.kb is not None and kbs not in ((), (asked.kb,)):
            raise UsageError(f"both kb ({asked.kb!r}) and kbs ({', '.join(kbs)}) are given")
        return kbs or (self.kb(asked.kb),)

    async def _digest(self) -> str:
        """Of the model's weights, where its server tells: a model pulled anew plans anew."""
        chat = await self.chat()
        return (await chat.facts()).digest if isinstance(chat, OllamaChat) else ""

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
        kbs = (asked.collection.name,) if asked.collection else self.asked(asked)
        given: Input = {
            "question": question.strip(),
            "kb": kbs[0],
            "kbs": kbs,
            "mode": asked.mode or settings.planning.mode,
            "keys": asked.keys,
            "caller": asked.filter,
            "history": asked.history,
            "goal": goal,
            "top": asked.top,
            "policy": asked.policy,
            "explain": asked.explain,
            "enhance": asked.enhance,
        }
        graph, config = self.graph, RunnableConfig()
        if asked.thread is not None:
            graph = await self._threaded()
            thread_id = json.dumps([context.principal.name, asked.thread])
            config = RunnableConfig(configurable={"thread_id": thread_id})
        try:
            async for kind, data in graph.astream(
                given, config, context=context, stream_mode=["custom", "values"]
            ):
                yield kind, data
        finally:
            await context.scouts.close()

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
