"""The native routes: plan, search, ask, knowledge bases."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import StreamingResponse

from agent.app import Agent
from agent.service.disconnect import in_own_task, unless_gone
from agent.service.errors import body_of
from agent.service.models import AskRequest, PlanRequest, SearchRequest
from agent.store.profiles import listed
from schemas.access import LOCAL, Principal
from schemas.answers import Answer, Event, EventKind, SearchResult
from schemas.errors import FacetwiseError
from schemas.plan import Plan

router = APIRouter()

EVENT_STREAM = "text/event-stream"
STREAM_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


def agent_of(request: Request) -> Agent:
    agent: Agent = request.app.state.agent
    return agent


def principal_of(request: Request) -> Principal:
    """Who asks. The service listens on loopback for the one person who owns the store."""
    return LOCAL


TheAgent = Annotated[Agent, Depends(agent_of)]
Caller = Annotated[Principal, Depends(principal_of)]


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    return {"status": "ok"}


@router.get("/v1/kbs")
async def kbs(agent: TheAgent, principal: Caller) -> dict[str, list[str]]:
    return {"kbs": list(await agent.kbs(principal))}


@router.get("/v1/kbs/{kb}/schema")
async def schema(kb: str, agent: TheAgent, principal: Caller) -> dict[str, Any]:
    collection = listed(await agent.describe(kb, principal))
    return collection.model_dump(mode="json", exclude={"fields": {"__all__": {"column"}}})


@router.post("/v1/plan")
async def plan(
    body: PlanRequest,
    request: Request,
    agent: TheAgent,
    principal: Caller,
) -> Plan:
    options = {**body.options(), "collection": body.collection}
    return await unless_gone(request, agent.plan(body.question, principal=principal, **options))


@router.post("/v1/search")
async def search(
    body: SearchRequest,
    request: Request,
    agent: TheAgent,
    principal: Caller,
) -> SearchResult:
    work = agent.search(body.question, principal=principal, **body.options())
    return await unless_gone(request, work)


@router.post("/v1/ask", response_model=Answer)
async def ask(
    body: AskRequest,
    request: Request,
    agent: TheAgent,
    principal: Caller,
) -> Answer | Response:
    """JSON, or server-sent events where `stream` is true or the client accepts only those."""
    if body.stream or EVENT_STREAM in request.headers.get("accept", ""):
        events = agent.stream(body.question, principal=principal, **body.options())
        return StreamingResponse(_sse(events), media_type=EVENT_STREAM, headers=STREAM_HEADERS)
    work = agent.ask(body.question, principal=principal, **body.options())
    return await unless_gone(request, work)


async def _sse(events: AsyncIterator[Event]) -> AsyncIterator[str]:
    """Frames `event: KIND` and `data: JSON`; an error is the last event of its stream."""
    try:
        async for event in in_own_task(events):
            yield _frame(event)
    except FacetwiseError as error:
        yield _frame(Event(kind=EventKind.ERROR, data=body_of(error)))


def _frame(event: Event) -> str:
    return f"event: {event.kind}\ndata: {json.dumps(event.data, ensure_ascii=False)}\n\n"
