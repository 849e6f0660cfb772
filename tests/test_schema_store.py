"""A declared schema kept with its knowledge base, in a real Milvus Lite."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent.ingest.declared_schema import DeclaredSchema, parse_schema
from agent.store.catalog import MilvusCatalog
from agent.store.connection import Connection
from agent.store.described import as_stored
from agent.store.guard import bound_scope
from schemas.access import Scope
from schemas.collection import Collection, Field, FieldType
from schemas.compile.predicate import to_predicate
from schemas.errors import UnknownKnowledgeBase
from schemas.filters import parse_filter
from tests.store_engine import ALL, draft, embedded, prepared, served_lite

pytestmark = pytest.mark.lite

DECLARED = parse_schema(
    "description: Papers\nclosed: true\n"
    "fields: {department: {aliases: dept, default: nobody's, required: true}}\n"
)


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served_lite(tmp_path_factory.mktemp("lite")) as address:
        yield address


async def test_what_is_declared_comes_back_and_survives_writes(uri: str) -> None:
    library = await prepared(uri, "declared")
    catalog = MilvusCatalog(Connection(uri))
    assert (await catalog.describe("declared", ALL)).description == ""
    await library.declare(
        "declared", DECLARED.as_fields(), description="Papers", rules=DECLARED.rules()
    )
    await library.write("declared", embedded(draft("a", department="HR")))
    await library.finish("declared")
    description, rules = await library.declared("declared")
    fields = await library.fields("declared") or ()
    read = DeclaredSchema.of(fields, description, rules)
    assert read.fields["department"] == DECLARED.fields["department"]
    assert (read.closed, read.description) == (True, "Papers")
    described = await catalog.describe("declared", ALL)
    assert described.description == "Papers"
    assert described.field("department").default == "nobody's"
    assert described.field("department").aliases == ("dept",)


async def test_nothing_is_declared_of_what_is_not_there(uri: str) -> None:
    library = await prepared(uri, "other")
    assert await library.declared("none") == ("", {})
    with pytest.raises(UnknownKnowledgeBase):
        await library.declare("none", (), description="", rules={})


def test_a_grant_is_not_read_through_words_for_display() -> None:
    field = Field(name="department", type=FieldType.STRING, default="nobody's")
    collection = as_stored(Collection(name="kb", fields=(field,)))
    scope = Scope(filter=parse_filter({"op": "eq", "field": "department", "value": "nobody's"}))
    allowed = bound_scope(scope, collection)
    assert allowed is not None
    assert allowed.root == scope.filter
    assert not to_predicate(allowed, exact=True)({})
