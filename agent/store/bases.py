"""Which knowledge bases a store has, and how they are found."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent.store.connection import CollectionMissing, CollectionReleased, Connection
from agent.store.layout import CATALOGUE_KEY, VERSION_KEY, WRITER_KEY, Catalogue, read_catalogue
from agent.store.names import Physical, base_name, parse_name
from schemas.errors import LayoutUnsupported, StoreDamaged, UnknownKnowledgeBase

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Base:
    """A knowledge base of ours as it stands; `version` changes with every write, `writer` names
    who has written since the last finish.
    """

    catalogue: Catalogue
    version: str
    writer: str = ""


@dataclass(frozen=True)
class Foreign:
    """A Milvus collection made by somebody else, as described by the engine."""

    name: str
    description: Mapping[str, Any]


class Bases:
    """Finds knowledge bases by name. Keeps no state: another process may write."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    async def find(self, kb: str) -> Base | None:
        """The current generation of a knowledge base of ours."""
        generations = await self.generations(kb)
        for documents in reversed([p for p in generations if p.kind == "documents"]):
            found = await self._read(documents.name)
            if found is not None:
                return found
        return None

    async def own(self, kb: str) -> Base:
        """Raises UnknownKnowledgeBase naming the known ones."""
        found = await self.find(kb)
        if found is None:
            raise await self._unknown(kb)
        return found

    async def resolve(self, kb: str) -> Base | Foreign:
        """One of ours, else a collection of exactly this name."""
        found = await self.find(kb)
        if found is not None:
            return found
        if parse_name(kb) is None and kb in await self._collections():
            return Foreign(kb, await self.connection.call("describe_collection", kb))
        raise await self._unknown(kb)

    async def names(self) -> tuple[str, ...]:
        """Our knowledge bases, sorted."""
        found = {base.catalogue.name for base in await self._all()}
        return tuple(sorted(found))

    async def foreign_names(self) -> tuple[str, ...]:
        return tuple(sorted(n for n in await self._collections() if parse_name(n) is None))

    async def generations(self, kb: str) -> list[Physical]:
        """Our collections that belong to a knowledge base, oldest generation first."""
        parsed = (parse_name(name) for name in await self._collections())
        mine = [p for p in parsed if p is not None and p.base == base_name(kb)]
        return sorted(mine, key=lambda p: p.generation)

    async def read(self, method: str, collection: str, **kwargs: Any) -> Any:
        """A reading call on a collection, which is loaded first if it is not."""
        try:
            return await self.connection.call(method, collection, **kwargs)
        except CollectionReleased:
            await self.connection.call("load_collection", collection)
            return await self.connection.call(method, collection, **kwargs)

    async def property_of(self, collection: str, key: str) -> str | None:
        """A property of a collection; None also where there is no such collection."""
        try:
            described = await self.connection.call("describe_collection", collection)
        except CollectionMissing:
            return None
        found = (described.get("properties") or {}).get(key)
        return None if found is None else str(found)

    async def _all(self) -> list[Base]:
        parsed = [parse_name(name) for name in await self._collections()]
        documents = [p for p in parsed if p is not None and p.kind == "documents"]
        found = [await self._readable(p) for p in sorted(documents, key=lambda p: p.generation)]
        current = {base.catalogue.name: base for base in found if base is not None}
        return list(current.values())

    async def _readable(self, physical: Physical) -> Base | None:
        """One that is damaged is no reason to keep quiet about the others."""
        try:
            return await self._read(physical.name)
        except (StoreDamaged, LayoutUnsupported) as error:
            log.warning("a knowledge base cannot be used: %s", error)
            return None

    async def _collections(self) -> list[str]:
        return await self.connection.collections()

    async def _read(self, collection: str) -> Base | None:
        try:
            described = await self.connection.call("describe_collection", collection)
        except CollectionMissing:
            return None
        properties = described.get("properties") or {}
        text = properties.get(CATALOGUE_KEY)
        if text is None:
            return None
        return Base(
            read_catalogue(text, collection),
            properties.get(VERSION_KEY, ""),
            properties.get(WRITER_KEY, ""),
        )

    async def _unknown(self, kb: str) -> UnknownKnowledgeBase:
        known = [*await self.names(), *await self.foreign_names()]
        listed = ", ".join(repr(name) for name in known) or "none"
        return UnknownKnowledgeBase(f"unknown knowledge base {kb!r}; known: {listed}")
