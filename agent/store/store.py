"""One store with its faces: writing, describing, searching, documents."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

from agent.store.catalog import PROFILE_MINUTES, MilvusCatalog
from agent.store.connection import Connection
from agent.store.documents import MilvusDocuments
from agent.store.fusion import Fusion
from agent.store.library import MilvusLibrary
from agent.store.questions import QueryEmbedder
from agent.store.search import MilvusSearcher


@dataclass(frozen=True)
class MilvusStore:
    """Everything over one connection."""

    connection: Connection
    library: MilvusLibrary
    catalog: MilvusCatalog
    searcher: MilvusSearcher
    documents: MilvusDocuments

    @classmethod
    def over(
        cls,
        connection: Connection,
        embedder: QueryEmbedder,
        *,
        fusion: Fusion | None = None,
        profile_minutes: float = PROFILE_MINUTES,
        now: Callable[[], dt.datetime],
    ) -> MilvusStore:
        """`now` gives the time, with a zone, that documents are stamped with."""
        return cls(
            connection=connection,
            library=MilvusLibrary(connection, now=now),
            catalog=MilvusCatalog(connection, profile_minutes=profile_minutes),
            searcher=MilvusSearcher(connection, embedder, fusion=fusion),
            documents=MilvusDocuments(connection),
        )
