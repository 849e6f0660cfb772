"""The HTTP service over one agent."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError

from agent.app import Agent
from agent.backends import Notify
from agent.service.disconnect import ClientGone
from agent.service.errors import on_error, on_invalid
from agent.service.native import router
from agent.settings import Settings
from schemas.errors import FacetwiseError, UsageError

CLIENT_CLOSED_REQUEST = 499

log = logging.getLogger(__name__)


def create_app(agent: Agent, *, warm: bool = False) -> FastAPI:
    """The ASGI application; it closes the agent when it ends, and may warm its model first."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with agent:
            warming = asyncio.create_task(_warm(agent)) if warm else None
            yield
            if warming is not None:
                warming.cancel()

    app = FastAPI(title="facetwise", version="0.1.0", lifespan=lifespan)
    app.state.agent = agent
    app.add_exception_handler(FacetwiseError, on_error)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(ClientGone, _on_gone)
    app.include_router(router)
    return app


async def _warm(agent: Agent) -> None:
    """The first question should not wait for the model; without one, it will say so itself."""
    try:
        await agent.warm()
    except FacetwiseError as error:
        log.warning("the model is not warmed: %s", error)


def run_service(settings: Settings, host: str, port: int, notify: Notify) -> None:
    """Serve until interrupted. UsageError if the address cannot be bound."""
    logging.basicConfig(level=logging.WARNING)
    config = uvicorn.Config(
        create_app(Agent(settings, notify=notify), warm=True),
        host=host,
        port=port,
        log_level="warning",
    )
    try:
        listener = config.bind_socket()
    except SystemExit as error:
        raise UsageError(
            f"cannot listen on {host}:{port}", remedy="facetwise serve --port OTHER"
        ) from error
    notify(f"serving on http://{host}:{listener.getsockname()[1]} (Ctrl-C ends it)")
    uvicorn.Server(config).run(sockets=[listener])


async def _on_gone(request: Request, error: Exception) -> Response:
    return Response(status_code=CLIENT_CLOSED_REQUEST)
