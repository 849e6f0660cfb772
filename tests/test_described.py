"""Collections that are only described get columns that can stand in an expression."""

from __future__ import annotations

import pytest

from agent.store.described import DescribedCatalog, as_stored
from schemas.access import Scope
from schemas.check import bind
from schemas.collection import Collection, Field, FieldType
from schemas.errors import UsageError
from schemas.filters import Compare, Op


@pytest.mark.parametrize(
    ("name", "kept"),
    [("year", True), ("Pick #", False), ("酒店", False), ("in", False), ('a" or 1 == 1', False)],
)
async def test_a_name_that_no_expression_takes_is_replaced(name: str, kept: bool) -> None:
    collection = Collection(name="c", fields=(Field(name=name, type=FieldType.STRING),))
    catalog = DescribedCatalog(collection)
    stored = await catalog.describe("c", Scope())
    column = stored.field(name).column
    assert column is not None
    assert (column.name == name) is kept
    filter_ = Compare(op=Op.EQ, field=name, value="x")
    assert await catalog.expression(bind(filter_, stored)) == f'({column.name} == "x")'


async def test_it_cannot_be_searched() -> None:
    catalog = DescribedCatalog(as_stored(Collection(name="c", fields=())))
    with pytest.raises(UsageError, match="only described"):
        await catalog.passages("c", ["x"], Scope())
