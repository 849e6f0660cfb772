"""Commands about processes that stay: the service and the embedded runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent.cli.session import Json, note, show, show_json

if TYPE_CHECKING:
    from agent.runtime.process import RuntimeStatus

runtime = typer.Typer(
    help="The embedded background process.", no_args_is_help=True, rich_markup_mode=None
)


def serve(
    host: Annotated[str | None, typer.Option("--host", help="Default from settings.")] = None,
    port: Annotated[int | None, typer.Option("--port", min=0, max=65535)] = None,
) -> None:
    """Serve plan, search and ask over HTTP."""
    from agent.service.server import run_service
    from agent.settings import load_settings

    settings = load_settings()
    run_service(settings, host or settings.service.host, port or settings.service.port, note)


@runtime.command("status")
def runtime_status(as_json: Json = False) -> None:
    """Show whether the runtime is up, its addresses and its log."""
    from agent.backends import Backends
    from agent.runtime.process import status
    from agent.settings import load_settings

    found = status(Backends(load_settings()).runtime_config())
    if as_json:
        show_json({"running": False} if found is None else {"running": True, **_facts(found)})
    elif found is None:
        show("not running; the next command that needs it starts it")
    else:
        for name, value in _facts(found).items():
            show(f"{name:<8} {value}")


def _facts(found: RuntimeStatus) -> dict[str, Any]:
    return {
        "pid": found.address.pid,
        "answers": found.answers,
        "ollama": found.address.ollama_url,
        "milvus": found.address.milvus_uri,
        "models": list(found.models),
        "memory": f"{found.memory // 1_000_000} MB",
        "log": str(found.log_path),
    }


@runtime.command("stop")
def runtime_stop(as_json: Json = False) -> None:
    """End the runtime; the next command that needs it starts it again."""
    from agent.backends import Backends
    from agent.runtime.process import stop
    from agent.settings import load_settings

    stopped = stop(Backends(load_settings()).runtime_config())
    if as_json:
        show_json({"stopped": stopped})
    else:
        show("stopped" if stopped else "was not running")
