"""What a filter costs: to read, check and compile, and to find documents with.

    python -m benchmarks.filters
    python -m benchmarks.filters --documents 1000 10000

The ten best documents under a condition are found in three ways: by one search with the pushed
down expression in Milvus Lite; by the predicate over rows that are in memory already, and a search
among the ids that it leaves; and by a table from values to ids as RAGFlow makes one, and a search
among the ids that it yields. RAGFlow loads the table anew for each request.
"""

from __future__ import annotations

import argparse
import ast
import logging
import random
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from milvus_lite.server_manager import server_manager_instance
from pymilvus import DataType, MilvusClient

from schemas.check import bind
from schemas.collection import Collection, Column, ColumnKind, Encoding, Field, FieldType
from schemas.compile.literals import literal_list
from schemas.compile.milvus import Dialect, split
from schemas.compile.predicate import to_predicate
from schemas.filters import AllOf, Compare, Filter, Op, parse_filter, to_json

DISTINCT = (20, 5_000, 100_000)
QUESTION = [1.0] + [0.0] * 63

Row = Mapping[str, Any]


def field(name: str, type_: FieldType, kind: ColumnKind, encoding: Encoding) -> Field:
    return Field(name=name, type=type_, column=Column(name=name, kind=kind, encoding=encoding))


TEXTS = tuple(
    field(f"of_{count}", FieldType.STRING, ColumnKind.VARCHAR, Encoding.FOLDED)
    for count in DISTINCT
)
KB = Collection(
    name="benchmark",
    fields=(
        *TEXTS,
        field("year", FieldType.INT, ColumnKind.INT, Encoding.EXACT),
        field("score", FieldType.NUMBER, ColumnKind.DOUBLE, Encoding.EXACT),
        field("open", FieldType.BOOL, ColumnKind.BOOL, Encoding.EXACT),
        field("published", FieldType.DATE, ColumnKind.INT, Encoding.DAY_NUMBER),
    ),
)


def medians_ms(*runs: Callable[[], object], rounds: int) -> list[float]:
    """The median of each. They take turns, so that other load on the machine meets them alike."""
    taken: list[list[float]] = [[] for _ in runs]
    for _ in range(rounds):
        for run, times in zip(runs, taken, strict=True):
            started = time.perf_counter()
            run()
            times.append((time.perf_counter() - started) * 1000)
    return [median(times) for times in taken]


def twenty_conditions() -> Filter:
    """Each operator on a type that has it, values as people write them."""
    given: list[tuple[Op, str, Any]] = [
        (Op.EQ, "of_20", "Research & Development"), (Op.NE, "of_20", "legal"),
        (Op.IN, "of_20", ("HR", "IT", "Finance")), (Op.NOT_IN, "of_5000", ("a", "b")),
        (Op.CONTAINS, "of_5000", "report"), (Op.NOT_CONTAINS, "of_5000", "draft"),
        (Op.STARTS_WITH, "of_100000", "ticket"), (Op.ENDS_WITH, "of_100000", "7"),
        (Op.GT, "year", 2019), (Op.LE, "year", "2024"), (Op.NE, "year", 2020.0),
        (Op.IN, "year", (2021, 2022, 2023)), (Op.GE, "score", 0.5), (Op.LT, "score", 3),
        (Op.EQ, "open", "yes"), (Op.GE, "published", "2024-05"), (Op.LT, "published", 2025),
        (Op.NE, "published", "2024-12-24"), (Op.NOT_EMPTY, "score", None),
        (Op.EMPTY, "of_20", None),
    ]  # fmt: skip
    return AllOf(of=tuple(Compare(op=op, field=name, value=value) for op, name, value in given))


def measure_language() -> None:
    listed = {"op": "in", "field": "of_5000", "value": [f"Name {i}" for i in range(10_000)]}
    numbers = {"op": "in", "field": "year", "value": list(range(10_000))}
    print("| parse, check and compile | median ms |\n|---|---|")
    for name, given, times in (
        ("20 conditions", to_json(twenty_conditions()), 500),
        ("a list of 10,000 strings", listed, 30),
        ("a list of 10,000 numbers", numbers, 30),
    ):
        (taken,) = medians_ms(partial(_compiled, given), rounds=times)
        print(f"| {name} | {taken:.2f} |")


def _compiled(given: object) -> str:
    return split(bind(parse_filter(given), KB), Dialect.LITE).pushed


def rows_of(count: int) -> list[dict[str, Any]]:
    rng = random.Random(count)  # noqa: S311  # repeatable, not secret

    def vector() -> list[float]:
        return [rng.gauss(0, 1) for _ in QUESTION]

    return [
        {"id": i, "vec": vector(), **{f"of_{n}": f"value {rng.randrange(n)}" for n in DISTINCT}}
        for i in range(count)
    ]


def stored(client: MilvusClient, rows: Sequence[Row]) -> str:
    """A collection with a row for each document, as our own collections of documents have it."""
    name = f"documents_{len(rows)}"
    schema = client.create_schema()
    schema.add_field("id", DataType.INT64, is_primary=True)
    schema.add_field("vec", DataType.FLOAT_VECTOR, dim=len(QUESTION))
    for each in TEXTS:
        schema.add_field(each.name, DataType.VARCHAR, max_length=100, nullable=True)
    params = client.prepare_index_params()
    params.add_index("vec", index_type="FLAT", metric_type="COSINE")
    client.create_collection(name, schema=schema, index_params=params)
    for start in range(0, len(rows), 5_000):
        client.insert(name, list(rows[start : start + 5_000]))
    client.flush(name)
    return name


class ValueTable:
    """Documents by field and value, all as text, and a look at every value for every condition:
    RAGFlow's way of filtering.
    """

    def __init__(self) -> None:
        self._table: dict[str, dict[str, list[int]]] = {}

    def load(self, rows: Sequence[Row]) -> None:
        for row in rows:
            for each in TEXTS:
                by_value = self._table.setdefault(each.name, {})
                by_value.setdefault(str(row[each.name]), []).append(row["id"])

    def find(self, name: str, operator: str, wanted: str) -> set[int]:
        found: set[int] = set()
        for value, ids in self._table[name].items():
            if _matches(value, operator, wanted):
                found.update(ids)
        return found


def _matches(value: str, operator: str, wanted: str) -> bool:
    if operator == "contains":
        return wanted.lower() in value.lower()
    left, right = _number_or_text(value), _number_or_text(wanted)
    return bool(left == right)


def _number_or_text(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text.lower()


@dataclass(frozen=True)
class Shelf:
    """A collection of documents, in the engine and in memory. `loading` is in milliseconds."""

    client: MilvusClient
    name: str
    rows: Sequence[Row]
    table: ValueTable
    loading: float

    def best(self, expression: str) -> set[int]:
        """The ids of the ten best documents that the expression leaves."""
        (hits,) = self.client.search(
            self.name, data=[QUESTION], filter=expression, limit=10, output_fields=["id"]
        )
        return {hit["id"] for hit in hits}

    def among(self, ids: Sequence[int]) -> set[int]:
        return self.best(f"(id in {literal_list([str(id_) for id_ in ids])})") if ids else set()


HEAD = (
    "| documents | distinct values | condition | found | pushed down, ms | predicate, ms |"
    " table, ms | its look-up alone | with its loading | pushed down is |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)


def shelved(client: MilvusClient, count: int) -> Shelf:
    rows = rows_of(count)
    name = stored(client, rows)
    table = ValueTable()
    started = time.perf_counter()
    outputs = ["id", *(each.name for each in TEXTS)]
    table.load(client.query(name, filter="", output_fields=outputs, limit=count))
    return Shelf(client, name, rows, table, (time.perf_counter() - started) * 1000)


def measure_finding(shelf: Shelf) -> None:
    for each in TEXTS:
        value = str(shelf.rows[len(shelf.rows) // 2][each.name])
        print(_line(shelf, Compare(op=Op.EQ, field=each.name, value=value), "="))
        part = Compare(op=Op.CONTAINS, field=each.name, value=value[-3:])
        print(_line(shelf, part, "contains"))


def _line(shelf: Shelf, condition: Compare, wire: str) -> str:
    """Times of one condition, after a look whether all ways find the same."""
    matches = to_predicate(bind(condition, KB))
    name, value = condition.field, str(condition.value)

    def pushed() -> set[int]:
        return shelf.best(split(bind(condition, KB), Dialect.LITE).pushed)

    def predicate() -> list[int]:
        return [row["id"] for row in shelf.rows if matches(row)]

    def look_up() -> list[int]:
        return sorted(shelf.table.find(name, wire, value))

    found = predicate()
    if look_up() != found or not pushed() == shelf.among(found) <= set(found):
        raise AssertionError(f"the three ways differ on {condition}")
    by_engine, by_predicate, by_table, alone = medians_ms(
        pushed,
        lambda: shelf.among(predicate()),
        lambda: shelf.among(look_up()),
        look_up,
        rounds=9 if len(shelf.rows) > 10_000 else 25,
    )
    others = {"predicate": by_predicate, "table once loaded": by_table}
    faster = [way for way, taken in others.items() if taken < by_engine]
    cells = (
        f"{len(shelf.rows):,}",
        f"{len({row[name] for row in shelf.rows}):,}",
        "one value" if condition.op is Op.EQ else "part of a text",
        f"{len(found):,}",
        f"{by_engine:.1f}",
        f"{by_predicate:.1f}",
        f"{by_table:.1f}",
        f"{alone:.1f}",
        f"{shelf.loading + by_table:.0f}",
        f"slower than the {' and the '.join(faster)}" if faster else "fastest",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    counts = parser.parse_args().documents
    logging.disable(logging.WARNING)
    measure_language()
    print(f"\n{HEAD}")
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "benchmark.db")
        client = MilvusClient(path)
        for count in counts:
            measure_finding(shelved(client, count))
        client.close()
        server_manager_instance.release_server(path)


if __name__ == "__main__":
    main()
