"""The collections of a knowledge base, and the catalogue kept with them.

A knowledge base is a pair of collections: `documents` with one row per document and `chunks`
with one row per chunk, the document's metadata copied on. The row of a document names the
revision that is visible; chunks of any other revision do not count. A pair has a generation,
because Lite cannot add a column: a new field means a new pair. The highest generation whose
documents collection carries a catalogue is the current one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field as Attribute
from pydantic import JsonValue, ValidationError
from pymilvus import CollectionSchema, DataType, Function, FunctionType, MilvusClient
from pymilvus.milvus_client.index import IndexParams

from agent.store.columns import ARRAY_LENGTH, VARCHAR_BYTES, located
from agent.store.names import Physical, base_name
from schemas.collection import Collection, ColumnKind, Field, FieldType
from schemas.errors import LayoutUnsupported, StoreDamaged
from schemas.model import Shape

LAYOUT = 1
"""Version of everything in this file and in columns.py."""

CATALOGUE_KEY = "facetwise.catalogue"
VERSION_KEY = "facetwise.version"
WRITER_KEY = "facetwise.writer"
"""Who has written since the last finish; if it is somebody else, a run may have been cut off."""
REINDEX_KEY = "facetwise.reindex"
"""On collections without a catalogue: what they are being filled from and with which model."""
ID_BYTES = 2_048
"""Longest document id."""

CHUNK_COLUMNS = (
    "id",
    "doc_id",
    "revision",
    "chunk_index",
    "text",
    "heading",
    "start",
    "stop",
    "enabled",
    "original",
    "terms",
    "dense",
)
"""Columns of a chunk that are written, without those of the fields."""

DOCUMENT_COLUMNS = (
    "id",
    "revision",
    "content_hash",
    "title",
    "source",
    "enabled",
    "chunks",
    "ingested_at",
    "original",
    "nothing",
)


class Catalogue(Shape):
    """What is kept of a knowledge base beside its rows. `chunk_fields` are the fields that
    differ between the chunks of a document; `rules` what was declared beside the fields, as
    whoever ingests understands it.
    """

    name: str
    generation: int
    archive: int = 0
    fields: tuple[Field, ...]
    dimension: int
    embedding_model: str
    access_fields: tuple[str, ...] = ()
    chunk_fields: tuple[str, ...] = ()
    description: str = ""
    rules: Mapping[str, JsonValue] = Attribute(default_factory=dict)
    analyzer: str
    unicode: str
    layout: int = LAYOUT

    @property
    def chunks(self) -> str:
        return Physical(base_name(self.name), "chunks", self.generation).name

    @property
    def documents(self) -> str:
        return Physical(base_name(self.name), "documents", self.generation).name

    @property
    def versions(self) -> str:
        """Of replaced documents; a new one is made for new vectors only."""
        return Physical(base_name(self.name), "versions", self.archive).name

    @property
    def collection(self) -> Collection:
        """Fields with their columns, without profiles."""
        return Collection(name=self.name, fields=self.fields, description=self.description)

    @property
    def columns(self) -> int:
        """Columns of the wider collection; servers take 64."""
        return 14 + sum(
            1 + (f.column.exact is not None) + (f.column.joined is not None)
            for f in self.fields
            if f.column is not None
        )


def read_catalogue(text: str, collection: str) -> Catalogue:
    """Raises StoreDamaged on what is none, LayoutUnsupported on one of another layout."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _unreadable(collection, "it is not JSON") from error
    if not isinstance(found, dict):
        raise _unreadable(collection, "it is not an object")
    _check_layout(found)
    try:
        return Catalogue.model_validate(found)
    except ValidationError as error:
        raise _unreadable(collection, f"{error.error_count()} faults") from error


def _check_layout(catalogue: Mapping[str, Any]) -> None:
    layout = catalogue.get("layout", LAYOUT)
    if layout == LAYOUT:
        return
    newer = isinstance(layout, int) and layout > LAYOUT
    raise LayoutUnsupported(
        f"knowledge base {catalogue.get('name')!r} has layout {layout!r};"
        f" this version reads {LAYOUT}",
        remedy="update facetwise"
        if newer
        else "ingest its documents into a new knowledge base; an older version can still read it",
    )


def _unreadable(collection: str, detail: str) -> StoreDamaged:
    return StoreDamaged(
        f"the catalogue in collection {collection!r} cannot be read ({detail})",
        remedy="restore the knowledge base with: facetwise restore FILE --replace, or ingest it"
        " again; a newer version may have written it",
    )


def add_text(schema: CollectionSchema, name: str, limit: int = VARCHAR_BYTES, **kw: Any) -> None:
    schema.add_field(name, DataType.VARCHAR, max_length=limit, **kw)


def add_field_columns(schema: CollectionSchema, fields: Sequence[Field]) -> None:
    types = {
        ColumnKind.VARCHAR: DataType.VARCHAR,
        ColumnKind.INT: DataType.INT64,
        ColumnKind.DOUBLE: DataType.DOUBLE,
        ColumnKind.BOOL: DataType.BOOL,
    }
    for field in fields:
        column = located(field)
        if column.kind is ColumnKind.VARCHAR:
            add_text(schema, column.name, nullable=True)
        elif column.kind is ColumnKind.ARRAY:
            _add_array(schema, column.name, field.type)
        else:
            schema.add_field(column.name, types[column.kind], nullable=True)
        for companion in (column.exact, column.joined):
            if companion is not None:
                add_text(schema, companion, nullable=True)


def _add_array(schema: CollectionSchema, name: str, type_: FieldType) -> None:
    is_text = type_ is FieldType.STRING_LIST
    schema.add_field(
        name,
        DataType.ARRAY,
        element_type=DataType.VARCHAR if is_text else DataType.INT64,
        max_capacity=ARRAY_LENGTH,
        nullable=True,
        **({"max_length": VARCHAR_BYTES} if is_text else {}),
    )


def chunks_schema(catalogue: Catalogue, *, lite: bool) -> Any:
    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    add_text(schema, "id", 64, is_primary=True)
    add_text(schema, "doc_id", ID_BYTES)
    add_text(schema, "revision", 32)
    schema.add_field("chunk_index", DataType.INT64)
    add_text(schema, "text")
    add_text(schema, "heading")
    schema.add_field("start", DataType.INT64)
    schema.add_field("stop", DataType.INT64)
    schema.add_field("enabled", DataType.BOOL)
    schema.add_field("original", DataType.JSON)
    # Terms are cut by analysis.py and joined by spaces: both tokenizers give them back as they are.
    tokenizer = {"tokenizer": "standard" if lite else "whitespace"}
    add_text(schema, "terms", enable_analyzer=True, analyzer_params=tokenizer)
    schema.add_field("dense", DataType.FLOAT_VECTOR, dim=catalogue.dimension)
    schema.add_field("sparse", DataType.SPARSE_FLOAT_VECTOR)
    schema.add_function(
        Function(
            name="bm25",
            function_type=FunctionType.BM25,
            input_field_names=["terms"],
            output_field_names=["sparse"],
        )
    )
    add_field_columns(schema, catalogue.fields)
    return schema


def documents_schema(catalogue: Catalogue) -> Any:
    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    add_text(schema, "id", ID_BYTES, is_primary=True)
    add_text(schema, "revision", 32)
    add_text(schema, "content_hash", 256)
    add_text(schema, "title")
    add_text(schema, "source")
    schema.add_field("enabled", DataType.BOOL)
    schema.add_field("chunks", DataType.INT64)
    add_text(schema, "ingested_at", 64)
    schema.add_field("original", DataType.JSON)
    # The engine demands a vector.
    schema.add_field("nothing", DataType.FLOAT_VECTOR, dim=2)
    add_field_columns(schema, catalogue.fields)
    return schema


def chunks_indexes(catalogue: Catalogue, *, lite: bool) -> IndexParams:
    """On Lite FLAT, whose graph index loses hits under selective filters, and no scalar index:
    its scans are as fast, and its INVERTED index errs on nulls.
    """
    params = MilvusClient.prepare_index_params()
    if lite:
        params.add_index("dense", index_type="FLAT", metric_type="COSINE")
    else:
        params.add_index(
            "dense",
            index_type="HNSW",
            metric_type="COSINE",
            params={"M": 16, "efConstruction": 200},
        )
        _scalar_indexes(params, ("doc_id", *_indexed(catalogue.fields)))
    params.add_index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25")
    return params


def documents_indexes(catalogue: Catalogue, *, lite: bool) -> IndexParams:
    params = MilvusClient.prepare_index_params()
    params.add_index("nothing", index_type="FLAT", metric_type="L2")
    if not lite:
        _scalar_indexes(params, _indexed(catalogue.fields))
    return params


def _indexed(fields: Sequence[Field]) -> tuple[str, ...]:
    columns = [field.column for field in fields if field.column is not None]
    return tuple(
        name for column in columns for name in (column.name, column.exact) if name is not None
    )


def _scalar_indexes(params: IndexParams, names: Sequence[str]) -> None:
    for name in names:
        params.add_index(name, index_type="INVERTED")
