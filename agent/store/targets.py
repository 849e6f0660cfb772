"""What a search needs to know of a collection, ours or somebody else's."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from agent.store.analysis import query_text
from agent.store.bases import Bases, Foreign
from agent.store.guesses import Roles, guess_fields, guess_roles, value_of
from agent.store.layout import Catalogue
from agent.store.reading import pages, rows_by
from agent.store.rows import check_dimension, original, to_passage
from schemas.collection import Collection
from schemas.compile.literals import DYNAMIC
from schemas.errors import DimensionMismatch, StoreError
from schemas.hits import Passage

Row = Mapping[str, Any]

SAMPLE = 200
"""Rows of a foreign collection from which the meaning of its columns is guessed."""


class Target(ABC):
    """A searchable collection. `enabled` is the condition that rows must meet to count at all;
    `outputs` are the columns that a passage is made of, `unlisted` those of them without facets.
    `overtaken` once rows were looked at of documents that have been replaced since.
    """

    kb: str
    chunks: str
    key: str
    dense: str | None
    sparse: str | None
    metric: str
    enabled: str
    outputs: tuple[str, ...]
    unlisted: tuple[str, ...]
    collection: Collection
    overtaken: bool = False

    @abstractmethod
    def check(self, dimension: int, model: str) -> None:
        """Raises DimensionMismatch if vectors of this model do not belong here."""

    @abstractmethod
    def metadata(self, row: Row) -> dict[str, JsonValue]:
        """Field values of a row as people write them."""

    @abstractmethod
    def document_of(self, row: Row) -> str:
        """Id of the document that a row belongs to."""

    @abstractmethod
    async def visible(self, bases: Bases, rows: Sequence[Row]) -> Mapping[str, Passage]:
        """Passages, by row id, of the rows that belong to a visible document."""

    @abstractmethod
    def query_terms(self, text: str) -> str:
        """A question as the BM25 index takes it."""

    @abstractmethod
    async def rows(self, bases: Bases, ids: Sequence[str]) -> Sequence[Row]:
        """The rows with these passage ids, in no order."""

    def id_of(self, row: Row) -> str:
        return str(row[self.key])

    def keys(self, ids: Sequence[str]) -> list[int] | list[str]:
        """Row ids as the engine has them, without those that can be none."""
        return list(ids)


class OwnTarget(Target):
    """A knowledge base of ours: a row counts if its document is enabled and at its revision."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self.kb = catalogue.name
        self.chunks = catalogue.chunks
        self.key = "id"
        self.dense = "dense"
        self.sparse = "sparse"
        self.metric = "COSINE"
        self.enabled = "enabled == true"
        self.outputs = (
            *("id", "doc_id", "revision", "chunk_index"),
            *("text", "heading", "enabled", "original"),
        )
        self.unlisted = ("text", "heading")
        self.collection = catalogue.collection

    def check(self, dimension: int, model: str) -> None:
        check_dimension(self.catalogue, dimension, model)

    def query_terms(self, text: str) -> str:
        return query_text(text)

    def metadata(self, row: Row) -> dict[str, JsonValue]:
        return original(row)

    def document_of(self, row: Row) -> str:
        return str(row["doc_id"])

    async def rows(self, bases: Bases, ids: Sequence[str]) -> Sequence[Row]:
        return await rows_by(bases, self.chunks, "id", ids, self.outputs)

    async def visible(self, bases: Bases, rows: Sequence[Row]) -> Mapping[str, Passage]:
        ids = {row["doc_id"] for row in rows}
        fields = ["revision", "enabled", "title", "source", "chunks"]
        found = await rows_by(bases, self.catalogue.documents, "id", ids, fields)
        documents = {row["id"]: row for row in found if row["enabled"]}
        passages: dict[str, Passage] = {}
        for row in rows:
            document = documents.get(row["doc_id"])
            if document is None or not row["enabled"]:
                continue
            if document["revision"] == row["revision"]:
                passages[row["id"]] = to_passage(self.kb, row, document)
            elif document["revision"] > row["revision"]:
                self.overtaken = True
        return passages


class ForeignTarget(Target):
    """A collection made by somebody else: every row counts, columns mean what they seem to."""

    def __init__(self, name: str, roles: Roles, collection: Collection, *, dynamic: bool) -> None:
        self.roles = roles
        self.kb = name
        self.chunks = name
        self.key = roles.key
        self.dense = roles.dense
        self.sparse = roles.sparse
        self.metric = "COSINE"
        self.enabled = ""
        self.collection = collection
        columns = [f.column for f in collection.fields if f.column is not None]
        plain = [roles.key, roles.text, roles.document, roles.title, roles.source]
        plain += [column.name for column in columns]
        # `$meta` yields every dynamic key; a key of its own name is not needed.
        names = dict.fromkeys(name for name in plain if name is not None)
        if dynamic:
            names[DYNAMIC] = None
        self.outputs = tuple(names)
        self.unlisted = () if roles.text is None else (roles.text,)

    def check(self, dimension: int, model: str) -> None:
        if self.dense is None:
            raise StoreError(f"collection {self.kb!r} has no column of float vectors to search")
        if dimension != self.roles.dimension:
            raise DimensionMismatch(
                f"collection {self.kb!r} holds vectors with {self.roles.dimension} dimensions;"
                f" {model!r} makes {dimension}",
                remedy="use the embedding model that the collection was filled with",
            )

    def query_terms(self, text: str) -> str:
        return text.strip()

    def metadata(self, row: Row) -> dict[str, JsonValue]:
        found = {field.name: value_of(row, field) for field in self.collection.fields}
        return {name: value for name, value in found.items() if value is not None}

    def keys(self, ids: Sequence[str]) -> list[int] | list[str]:
        if not self.roles.numbered:
            return list(ids)
        return [int(id_) for id_ in ids if re.fullmatch(r"-?[0-9]{1,19}", id_)]

    async def rows(self, bases: Bases, ids: Sequence[str]) -> Sequence[Row]:
        keys = self.keys(ids)
        if not keys:
            return []
        found = await bases.read("get", self.chunks, ids=keys, output_fields=list(self.outputs))
        return [dict(row) for row in found]

    def document_of(self, row: Row) -> str:
        return str(row[self.roles.document])

    async def visible(self, bases: Bases, rows: Sequence[Row]) -> Mapping[str, Passage]:
        return {self.id_of(row): self._passage(row) for row in rows}

    def _passage(self, row: Row) -> Passage:
        def text(column: str | None) -> str:
            return "" if column is None else str(row.get(column) or "")

        return Passage(
            id=self.id_of(row),
            doc_id=self.document_of(row),
            kb=self.kb,
            title=text(self.roles.title) or self.document_of(row),
            text=text(self.roles.text),
            source=text(self.roles.source),
            whole=self.roles.document == self.key,
            metadata=self.metadata(row),
        )


async def foreign_target(bases: Bases, foreign: Foreign) -> ForeignTarget:
    """A description of the collection with guessed roles and fields, from SAMPLE rows."""
    target, _ = await sampled_target(bases, foreign)
    target.metric = await _metric(bases, foreign.name, target.roles)
    return target


async def sampled_target(bases: Bases, foreign: Foreign) -> tuple[ForeignTarget, Sequence[Row]]:
    """The same, with the rows that it is guessed from: the first by key. For a look at its
    fields, not for a search: nothing is asked of its index.
    """
    description = foreign.description
    scalars = [f["name"] for f in description["fields"] if int(f["type"]) < 100]
    dynamic = bool(description.get("enable_dynamic_field"))
    key = next(f["name"] for f in description["fields"] if f.get("is_primary"))
    columns = [*scalars, *([DYNAMIC] if dynamic else [])]
    first = pages(bases, foreign.name, "", columns, size=SAMPLE, key=key)
    sample: Sequence[Row] = await anext(first, [])
    roles = guess_roles(description, sample)
    collection = Collection(
        name=foreign.name,
        fields=guess_fields(description, sample, roles),
        description=description.get("description") or "",
    )
    return ForeignTarget(foreign.name, roles, collection, dynamic=dynamic), sample


async def _metric(bases: Bases, collection: str, roles: Roles) -> str:
    if roles.dense is None:
        return "COSINE"
    names = await bases.connection.call("list_indexes", collection, field_name=roles.dense)
    if not names:
        return "COSINE"
    index = await bases.connection.call("describe_index", collection, index_name=names[0])
    return str((index or {}).get("metric_type") or "COSINE")
