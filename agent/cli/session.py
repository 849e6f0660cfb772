"""What commands share: settings from options, an agent for the time of one command, output."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

if TYPE_CHECKING:
    from agent.app import Agent
    from schemas.collection import Collection
    from schemas.enhanced import Enhancements
    from schemas.filters import Filter
    from schemas.plan import Key
    from schemas.policy import Overrides

T = TypeVar("T")

ModeName = Literal["auto", "semi_auto", "manual", "off"]

Kb = Annotated[str | None, typer.Option("--kb", help="Knowledge base; default from settings.")]
Kbs = Annotated[
    list[str] | None,
    typer.Option(
        "--kb", help="Knowledge base; may be repeated, or comma separated. Default from settings."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
ModeOption = Annotated[
    ModeName | None, typer.Option("--mode", help="Who may set conditions; default from settings.")
]
KeysOption = Annotated[
    str | None,
    typer.Option(
        "--keys", help="semi_auto: fields for the model, such as author,year:ge (operator pinned)."
    ),
]
FilterOption = Annotated[
    str | None, typer.Option("--filter", help="A filter of your own, as JSON; always holds.")
]
KeywordsOption = Annotated[
    bool | None,
    typer.Option("--keywords/--no-keywords", help="Add the question's content words."),
]
LanguagesOption = Annotated[
    str | None,
    typer.Option("--languages", help="Also search in these languages, such as en,zh."),
]
TagsOption = Annotated[
    bool | None, typer.Option("--tags/--no-tags", help="Label the question with known tags.")
]
UseKgOption = Annotated[
    bool | None,
    typer.Option("--use-kg/--no-use-kg", help="Prefer passages that share the question's names."),
]
PolicyOption = Annotated[
    str | None,
    typer.Option(
        "--policy", help="Values of rag.filter for this question: '{\"max_per_source\": 1}'."
    ),
]
TodayOption = Annotated[
    str | None, typer.Option("--today", help="The day that 'last year' counts from (ISO).")
]


def note(line: str) -> None:
    """One line for the person who waits."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def show(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def show_json(data: Any) -> None:
    """Print one JSON document; shapes are dumped as they are named on the wire."""
    plain = data.model_dump(mode="json") if hasattr(data, "model_dump") else data
    sys.stdout.write(json.dumps(plain, ensure_ascii=False, indent=2) + "\n")


def with_agent(work: Callable[[Agent], Awaitable[T]]) -> T:
    """Run `work` with an agent over the effective settings, and close it."""
    from agent.app import Agent
    from agent.cli.progress import DownloadBar

    async def main() -> T:
        with DownloadBar() as bar:
            async with Agent(notify=note, progress=bar.update) as agent:
                return await work(agent)

    return asyncio.run(main())


def parse_filter_option(text: str | None) -> Filter:
    """The filter of `--filter`; UsageError if it is not JSON, FilterError if it is no filter."""
    from schemas.filters import EVERYTHING, parse_filter

    if text is None:
        return EVERYTHING
    return parse_filter(decode_json("--filter", text))


def parse_policy(text: str | None) -> Overrides | None:
    """The values of `--policy`; UsageError names what is no option, or no value of it."""
    from pydantic import ValidationError

    from schemas.errors import UsageError
    from schemas.policy import Overrides

    if text is None:
        return None
    try:
        return Overrides.model_validate(decode_json("--policy", text))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join(("--policy", *map(str, fault["loc"])))
        raise UsageError(f"{where}: {fault['msg'].removeprefix('Value error, ')}") from error


def decode_json(what: str, text: str) -> Any:
    """The decoded text; FilterError if it is not JSON, or JSON beyond any bound."""
    from schemas.errors import FilterError

    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise FilterError(f"{what} is not JSON: {error.msg} at character {error.pos}") from error
    except RecursionError as error:
        raise FilterError(f"{what} is nested too deeply") from error
    except ValueError as error:
        raise FilterError(f"{what}: {error}") from error


def parse_keys(text: str | None) -> tuple[Key, ...]:
    """`author,year:ge` as keys; an unknown operator is an error that names the allowed ones."""
    from schemas.operators import op_from
    from schemas.plan import Key

    keys = []
    for item in (part.strip() for part in (text or "").split(",")):
        if item:
            name, colon, op = item.rpartition(":")
            keys.append(Key(name=name, op=op_from(op)) if colon and name else Key(name=item))
    return tuple(keys)


def parse_kbs(given: list[str] | None) -> tuple[str, ...]:
    """Names from repeated options, each of which may list several."""
    names = (name.strip() for one in given or () for name in one.split(","))
    return tuple(dict.fromkeys(name for name in names if name))


def parse_enhancements(
    keywords: bool | None, languages: str | None, tags: bool | None, use_kg: bool | None
) -> Enhancements | None:
    """What is said of enhancement, if anything is; UsageError names a language that is unknown."""
    from schemas.enhanced import LANGUAGES, Enhancements
    from schemas.errors import UsageError

    codes = tuple(code.strip().lower() for code in (languages or "").split(",") if code.strip())
    known = {str(code): code for code in LANGUAGES}
    unknown = [code for code in codes if code not in known]
    if unknown:
        allowed = ", ".join(LANGUAGES)
        raise UsageError(f"--languages: {unknown[0]!r} is not known; allowed: {allowed}")
    said = Enhancements(
        keywords=keywords,
        cross_languages=None if languages is None else tuple(known[code] for code in codes),
        tags=tags,
        use_kg=use_kg,
    )
    return None if said == Enhancements() else said


def parse_today(text: str | None) -> dt.date | None:
    from schemas.errors import UsageError

    if text is None:
        return None
    try:
        return dt.date.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"--today {text!r} is not a day; write it as 2026-01-31") from error


def read_collection(path: Path) -> Collection:
    """A described collection from a JSON file; the error names each bad key."""
    from pydantic import ValidationError

    from schemas.collection import Collection
    from schemas.errors import UsageError

    try:
        return Collection.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UsageError(f"{path} does not exist") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, item['loc'])) or 'file'}: {item['msg']}"
            for item in error.errors(include_url=False)[:5]
        )
        raise UsageError(f"{path} does not describe a collection: {faults}") from error
