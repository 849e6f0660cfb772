"""The node that adds to a question, before it is searched for, what finds more of the same."""

from __future__ import annotations

from langgraph.runtime import Runtime

from graph.context import Context
from graph.planning import described
from graph.ports import Worded
from graph.stages import stage
from graph.state import State
from schemas.enhanced import Enhanced


async def enhance(state: State, runtime: Runtime[Context]) -> State:
    """Keywords, translations, tags and names, as far as they are wanted. Nothing found here ever
    filters: words go to the full text leg, the rest to ranking.
    """
    context = runtime.context
    wanted = context.enhancing.overridden(state.get("enhance"))
    if context.enhancer is None or not wanted.anything:
        return {"enhanced": Enhanced()}
    with stage("enhance", state) as watch:
        collection = await described(state, runtime)
        made = await context.enhancer.enhance(worded(state), collection, wanted)
    return {"enhanced": made, "timings": watch.timings}


def worded(state: State) -> Worded:
    """The question and its search text: the whole question where branches search for different
    texts.
    """
    texts = dict.fromkeys(branch.query for branch in state["branches"])
    return Worded(
        question=state["question"],
        query=next(iter(texts)) if len(texts) == 1 else state["question"],
        mentions=state.get("mentions", ()),
    )
