"""The whole graph on one screen."""

from __future__ import annotations

from langgraph.graph import START, StateGraph

from graph.answering import answer
from graph.context import Context
from graph.enhancing import enhance
from graph.listing import listing
from graph.loosening import loosen
from graph.planning import introspect, link, plan, validate
from graph.ranking import rank
from graph.searching import search
from graph.state import Input, Output, State


def build_graph() -> StateGraph[State, Context, Input, Output]:
    """The builder; whoever compiles it brings the checkpointer.

    introspect ─► link ─► plan ─► validate ─► enhance ─► search ─► rank ─► answer
        └─ manual, off ───────────────┘ │                  ▲         └─► loosen ─┐ ▲
                                        │                  └────────────────────┘ │
                                        └─► listing ───────────────────────────────┘
    """
    builder = StateGraph(State, context_schema=Context, input_schema=Input, output_schema=Output)
    for node in (introspect, link, plan, validate, listing, enhance, search, rank, loosen, answer):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "introspect")
    builder.add_edge("link", "plan")
    builder.add_edge("plan", "validate")
    builder.add_edge("enhance", "search")
    builder.add_edge("search", "rank")
    return builder
