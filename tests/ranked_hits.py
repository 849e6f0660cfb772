"""Hits and contexts for the tests of rerankers and boosts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from agent.ranking.strategy import RankingContext
from graph.ports import Wanted
from schemas.collection import Collection, Field, FieldType
from schemas.filters import EVERYTHING
from schemas.hits import Hit, Passage
from schemas.policy import Policy

TODAY = dt.date(2026, 3, 1)

SHELF = Collection(
    name="shelf",
    fields=(
        Field(name="publish_date", type=FieldType.DATE),
        Field(name="is_official", type=FieldType.BOOL),
        Field(name="tags", type=FieldType.STRING_LIST),
        Field(name="pages", type=FieldType.INT),
    ),
)


def a_hit(id_: str, text: str = "", score: float = 0.5, **parts: Any) -> Hit:
    """A hit of document `id_` up to a `#`; `scores` and fields of a passage may be given."""
    scores = parts.pop("scores", {})
    given = {"id": id_, "doc_id": id_.partition("#")[0], "kb": "shelf", "title": "", "text": text}
    return Hit(passage=Passage(**(given | parts)), score=score, scores=scores)


def a_context(query: str = "reset vpn", *, policy: Policy | None = None, **wanted: Any) -> Any:
    """Reranking is on; `wanted` are fields of Wanted."""
    given: dict[str, Any] = {
        "question": query,
        "query": query,
        "filter": EVERYTHING,
        "today": TODAY,
        "collections": {"shelf": SHELF},
    }
    chosen = policy or Policy(rerank_enabled=True)
    return RankingContext(Wanted(**(given | wanted)), chosen)


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.passage.id for hit in hits]


_WORDS = st.sampled_from(["vpn", "reset", "token", "menu", "年假", "申请年假", "!!!", "", "x" * 40])
_DATES = st.sampled_from(
    [None, "2024-01-01", "2099-01-01", "n/a", "2024-01-01T00:00:00+09:00", 2024, "", True, [1]]
)
_METADATA = st.fixed_dictionaries(
    {},
    optional={
        "publish_date": _DATES,
        "is_official": st.sampled_from([True, False, "yes", None, 3]),
        "tags": st.sampled_from([None, [], ["vpn"], "vpn", ["a", "VPN"]]),
        "entities": st.sampled_from([None, ["Acme"], "acme"]),
        "pagerank": st.sampled_from([None, 0, 50, 1e9, -3, "7", "many"]),
    },
)
_PARTS = st.dictionaries(
    st.sampled_from(["dense", "bm25", "fused", "similarity"]), st.floats(-1, 1), max_size=3
)


@st.composite
def many_hits(draw: st.DrawFn) -> list[Hit]:
    """Up to fourteen hits in any order, some of one document, some at odds with their fields."""
    count = draw(st.integers(0, 14))
    return [
        a_hit(
            f"d{draw(st.integers(0, 4))}#{number}",
            " ".join(draw(st.lists(_WORDS, max_size=6))),
            draw(st.floats(0, 1)),
            scores=draw(_PARTS),
            metadata=draw(_METADATA),
        )
        for number in range(count)
    ]
