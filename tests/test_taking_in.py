"""Settings become the options of a run."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from dateutil import tz

from agent.ingest.declared_schema import DeclaredSchema
from agent.sections import IngestSettings
from agent.settings import load_settings
from agent.taking_in import ingest_options, zone_of
from schemas.collection import FieldType
from schemas.errors import SettingsError, UsageError

NOTHING = DeclaredSchema()


def test_every_setting_reaches_the_run() -> None:
    settings = IngestSettings(
        chunk_size=500,
        chunk_overlap=50,
        embed_batch=3,
        write_batch=4,
        access_fields=("role",),
        required_fields=("year",),
        types={"year": FieldType.INT},
        max_fields=5,
        max_file_bytes=6,
        tag_field="labels",
        tag_rules={"policy": ("rule",)},
        file_fields=("folder",),
        chunk_fields=("section",),
        extract=("author",),
        type_map=({"match": "*.csv", "id": "number"},),
    )
    zone = dt.timezone(dt.timedelta(hours=8))
    options = ingest_options(settings, NOTHING, zone=zone)
    assert (options.chunk_size, options.chunk_overlap) == (500, 50)
    assert (options.embed_batch, options.write_chunks) == (3, 4)
    assert (options.access_fields, options.required_fields) == (("role",), ("year",))
    assert options.types == {"year": FieldType.INT}
    assert (options.max_fields, options.max_file_bytes) == (5, 6)
    assert (options.tag_field, options.tag_rules) == ("labels", {"policy": ("rule",)})
    assert (options.file_fields, options.chunk_fields) == (("folder",), ("section",))
    assert (options.extract, options.zone) == (("author",), zone)
    assert [entry.id for entry in options.type_map] == ["number"]


def test_entries_of_a_file_come_before_those_of_the_settings(tmp_path: Path) -> None:
    file = tmp_path / "types.yaml"
    file.write_text("- match: '*.csv'\n  id: first\n", encoding="utf-8")
    settings = IngestSettings(type_map=({"match": "*", "id": "second"},))
    options = ingest_options(settings, NOTHING, zone=dt.UTC, type_map=file)
    assert [entry.id for entry in options.type_map] == ["first", "second"]


def test_a_wrong_entry_of_the_settings_is_named() -> None:
    settings = IngestSettings(type_map=({"match": "*"}, {"documents": "page"}))
    with pytest.raises(UsageError, match=r"ingest\.type_map, entry 2: documents.*'page'"):
        ingest_options(settings, NOTHING, zone=dt.UTC)


def test_a_list_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACETWISE_INGEST__TYPE_MAP", '[{"match": "*.log", "loader": "text"}]')
    monkeypatch.setenv("FACETWISE_INGEST__TAG_RULES", "builtin")
    options = ingest_options(load_settings().ingest, NOTHING, zone=dt.UTC)
    assert options.type_map[0].loader == "text"
    assert options.tag_rules


@pytest.mark.parametrize("name", ["file_fields", "chunk_fields"])
def test_a_field_that_there_is_not(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"FACETWISE_INGEST__{name.upper()}", '["colour"]')
    with pytest.raises(SettingsError, match=f"{name}.*colour"):
        load_settings()


def test_zones() -> None:
    assert str(zone_of("Asia/Shanghai")) == "Asia/Shanghai"
    assert isinstance(zone_of(""), tz.tzlocal)
    with pytest.raises(SettingsError, match="'Mars'"):
        zone_of("Mars")
