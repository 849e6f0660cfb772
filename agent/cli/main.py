"""The command `facetwise`: data to stdout, notes to stderr, exit 0 done, 1 failed, 2 usage."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points

import typer

from agent.cli import (
    asking,
    backups,
    checking,
    compiling,
    configuring,
    demo,
    documents,
    ingesting,
    linting,
    reindexing,
    schemas,
    serving,
)

EXTRA_COMMANDS = "facetwise.commands"
INTERRUPTED = 130

app = typer.Typer(
    name="facetwise",
    help="Ask a document collection in plain words: a planned, checked metadata filter, "
    "filtered search, and answers with citations.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("ingest")(ingesting.ingest)
app.add_typer(schemas.schema, name="schema")
app.command("plan")(asking.plan)
app.command("search")(asking.search)
app.command("ask")(asking.ask)
app.command("reindex")(reindexing.reindex)
app.command("backup")(backups.backup)
app.command("restore")(backups.restore)
app.command("compile")(compiling.compile_)
app.add_typer(documents.docs, name="docs")
app.command("lint")(linting.lint)
app.command("doctor")(checking.doctor)
app.command("config")(configuring.config)
app.add_typer(serving.runtime, name="runtime")
app.command("serve")(serving.serve)
app.command("demo", hidden=True)(demo.demo)


def run() -> None:
    """The console script."""
    for entry in entry_points(group=EXTRA_COMMANDS):
        entry.load()(app)
    sys.exit(invoke(sys.argv[1:]))


def invoke(arguments: list[str]) -> int:
    """Run one command line; expected failures become one or two lines and an exit code."""
    from schemas.errors import FacetwiseError, UsageError

    command = typer.main.get_command(app)
    try:
        code = command.main(
            args=arguments or ["--help"], prog_name="facetwise", standalone_mode=False
        )
    except typer.TyperException as error:
        return _complain(error.format_message(), "facetwise --help", error.exit_code)
    except typer.Abort:
        return INTERRUPTED
    except UsageError as error:
        return _complain(str(error), error.remedy, 2)
    except FacetwiseError as error:
        return _complain(str(error), error.remedy, 1)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; what was finished is kept, the same command goes on\n")
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    return code if isinstance(code, int) else 0


def _complain(message: str, remedy: str, code: int) -> int:
    sys.stderr.write(f"error: {' '.join(message.split())}\n")
    if remedy:
        sys.stderr.write(f"  try: {' '.join(remedy.split())}\n")
    return code
