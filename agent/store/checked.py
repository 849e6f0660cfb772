"""From what the engine found to hits: the last look of the store at every row."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from itertools import islice

from agent.store.bases import Bases
from agent.store.guard import Guard
from agent.store.targets import Row, Target
from schemas.hits import Hit

log = logging.getLogger(__name__)


async def first_visible(
    bases: Bases,
    target: Target,
    allowed: Guard,
    ranked: Iterable[tuple[Row, Mapping[str, float]]],
    limit: int,
) -> list[Hit]:
    """At most `limit` hits in the order of `ranked` (rows with their scores): those that scope and
    filter keep, of visible documents. No more rows are judged and looked up than are needed, since
    nearly all of them are kept.
    """
    kept = ((row, scores) for row, scores in ranked if _keeps(target, allowed, row))
    hits: list[Hit] = []
    while len(hits) < limit and (looked := list(islice(kept, limit - len(hits)))):
        visible = await target.visible(bases, [row for row, _ in looked])
        hits += [
            Hit(passage=visible[id_], score=scores["fused"], scores=scores)
            for row, scores in looked
            if (id_ := target.id_of(row)) in visible
        ]
    return hits


def _keeps(target: Target, allowed: Guard, row: Row) -> bool:
    if allowed.keeps(target.metadata(row)):
        return True
    if allowed.complete:
        log.error(
            "fault: %r returned a row against its filter, dropped: %s (%s)",
            target.chunks,
            target.id_of(row),
            allowed.expression,
        )
    return False
