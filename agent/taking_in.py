"""Settings, the type map and what is declared of a knowledge base become the options of a run."""

from __future__ import annotations

import datetime as dt
import zoneinfo
from pathlib import Path

from dateutil import tz

from agent.ingest.declared_schema import DeclaredSchema
from agent.ingest.options import IngestOptions
from agent.ingest.tag_rules import rules_of
from agent.ingest.type_map import parse_type_map, read_type_map
from agent.sections import IngestSettings
from schemas.errors import SettingsError


def ingest_options(
    settings: IngestSettings,
    declared: DeclaredSchema,
    *,
    zone: dt.tzinfo,
    type_map: Path | None = None,
) -> IngestOptions:
    """Entries of the file `type_map` come before those of the settings."""
    entries = parse_type_map(settings.type_map, "ingest.type_map")
    if type_map is not None:
        entries = (*read_type_map(type_map), *entries)
    options = IngestOptions(
        chunk_size=settings.chunk_size,
        chunk_overlap=settings.chunk_overlap,
        access_fields=settings.access_fields,
        required_fields=settings.required_fields,
        types=settings.types,
        max_fields=settings.max_fields,
        max_file_bytes=settings.max_file_bytes,
        embed_batch=settings.embed_batch,
        write_chunks=settings.write_batch,
        tag_field=settings.tag_field,
        tag_rules=rules_of(settings.tag_rules),
        zone=zone,
        type_map=entries,
        file_fields=settings.file_fields,
        chunk_fields=settings.chunk_fields,
        extract=settings.extract,
    )
    return declared.over(options)


def zone_of(name: str) -> dt.tzinfo:
    """An IANA zone, or this machine's for an empty name. SettingsError for another."""
    try:
        return zoneinfo.ZoneInfo(name) if name else tz.tzlocal()
    except (zoneinfo.ZoneInfoNotFoundError, ValueError) as error:
        raise SettingsError(
            f"planning.timezone: {name!r} is not a time zone; give an IANA name such as "
            "Europe/Berlin"
        ) from error
