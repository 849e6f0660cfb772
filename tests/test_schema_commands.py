"""The commands `schema`, `schema apply` and `lint`, as far as they need no model."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.cli.schemas import schema_text
from schemas.collection import Collection, Field, FieldType, Profile
from tests.test_cli import facetwise


def test_a_line_a_field_and_what_is_declared_below() -> None:
    field = Field(
        name="department",
        type=FieldType.STRING,
        description="Who owns it",
        aliases=("dept", "部门"),
        default="nobody",
        profile=Profile(rows=4, missing=1, distinct=1, top=(("HR", 3),), complete=True),
    )
    plain = Field(name="day", type=FieldType.DATE)
    text = schema_text(Collection(name="kb", fields=(field, plain), description="Papers"))
    assert text.splitlines() == [
        "kb: 2 fields",
        "Papers",
        "department           string            1 values, 25% missing: HR (3)",
        "                     Who owns it",
        "                     also called dept, 部门",
        "                     missing values are shown as nobody",
        "day                  date",
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("schema", "--help"), "apply"),
        (("schema", "apply", "--help"), "{file}"),
        (("lint", "--help"), "--strict"),
    ],
)
def test_help(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    done = facetwise(*arguments, cwd=tmp_path)
    assert done.returncode == 0
    assert told in done.stdout


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("fields: {a: {type: text}}", "kb.yaml: fields.a.type: 'text' is not allowed; allowed: "),
        (None, "kb.yaml does not exist"),
    ],
)
def test_a_bad_file_is_told_in_a_line(tmp_path: Path, text: str | None, told: str) -> None:
    if text is not None:
        (tmp_path / "kb.yaml").write_text(text)
    done = facetwise("schema", "apply", "kb.yaml", "--kb", "x", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {told}")
    assert done.stdout == ""
