"""The command line as a process: output, exit codes, one or two lines for what went wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.settings import Settings

COLLECTION = {
    "name": "papers",
    "fields": [
        {"name": "year", "type": "int"},
        {"name": "author", "type": "string"},
        {"name": "tags", "type": "string_list"},
        {"name": "day", "type": "date"},
    ],
}


def facetwise(
    *arguments: str, cwd: Path, stdin: str = "", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "agent.cli", *arguments],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent), **(env or {})},
    )


@pytest.fixture
def collection_file(tmp_path: Path) -> Path:
    path = tmp_path / "papers.json"
    path.write_text(json.dumps(COLLECTION))
    return path


def test_help_names_the_commands(tmp_path: Path) -> None:
    done = facetwise("--help", cwd=tmp_path)
    assert done.returncode == 0
    for command in ("ingest", "schema", "plan", "search", "ask", "compile", "doctor", "serve"):
        assert command in done.stdout


@pytest.mark.parametrize(
    ("to", "filter_", "expected"),
    [
        ("milvus", {"op": "lt", "field": "year", "value": 2.5}, "year <= 2"),
        ("text", {"op": "eq", "field": "author", "value": "O'Neill"}, "author is O'Neill"),
        ("text-zh", {"op": "eq", "field": "author", "value": "王小明"}, "author 为 王小明"),
        ("ragflow", {"op": "ne", "field": "author", "value": "x"}, "≠"),
        ("dify", {"op": "not_empty", "field": "author"}, "not empty"),
        ("jsonschema", {"op": "and", "of": []}, '"author"'),
    ],
)
def test_compile(
    tmp_path: Path, collection_file: Path, to: str, filter_: dict[str, object], expected: str
) -> None:
    arguments = ("compile", "--collection", str(collection_file), "--to", to)
    done = facetwise(*arguments, cwd=tmp_path, stdin=json.dumps(filter_))
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout


@pytest.mark.parametrize(
    ("stdin", "words"),
    [
        ("{", "not JSON"),
        ('{"op": "like", "field": "year", "value": 1}', "unknown operator 'like'"),
        ('{"op": "eq", "field": "yaer", "value": 1}', "unknown field 'yaer'"),
        ('{"op": "eq", "field": "year", "value": "soon"}', "'soon'"),
        ('{"op": "contains", "field": "year", "value": 1}', "allowed: eq"),
        ("[" * 100_000, "too deeply"),
        ('{"op":"not","of":' * 5_000 + "1" + "}" * 5_000, "deep"),
        ('{"op": "eq", "field": "year", "value": ' + "9" * 5_000 + "}", "digit"),
    ],
)
def test_a_filter_that_cannot_be_said_is_a_usage_error(
    tmp_path: Path, collection_file: Path, stdin: str, words: str
) -> None:
    arguments = ("compile", "--collection", str(collection_file), "--to", "milvus")
    done = facetwise(*arguments, cwd=tmp_path, stdin=stdin)
    assert done.returncode == 2
    assert words in done.stderr
    assert_short(done.stderr)
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("plan", "q", "--mode", "magic", "--kb", "x"), "magic"),
        (("plan", "q", "--today", "someday", "--kb", "x"), "someday"),
        (("plan", "q", "--collection", "nowhere.json"), "nowhere.json"),
        (("search", "q", "--filter", "{", "--kb", "x"), "not JSON"),
        (("frobnicate",), "frobnicate"),
        (("plan",), "question"),
        (("search", "a\udcff\udcfeb", "--kb", "x", "--mode", "off"), "Unicode"),
    ],
)
def test_a_command_that_has_to_change_exits_with_2(
    tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = facetwise(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert_short(done.stderr)


def test_plan_without_a_model_or_a_store(tmp_path: Path, collection_file: Path) -> None:
    """`manual` needs neither; nothing is started for it."""
    arguments = ("plan", "anything", "--collection", str(collection_file), "--mode", "manual")
    filter_ = ("--filter", '{"op": "ge", "field": "day", "value": "2024"}', "--json")
    env = {"FACETWISE_PATHS__DATA": str(tmp_path / "data")}
    done = facetwise(*arguments, *filter_, cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    assert plan["outcome"] == "planned"
    assert plan["expression"] == "(day >= 19723)"
    assert not (tmp_path / "data").exists()


def test_config_tells_the_origin_and_hides_secrets(tmp_path: Path) -> None:
    env = {"FACETWISE_STORE__TOKEN": "root:hidden", "FACETWISE_KB": "mine"}
    done = facetwise("config", "--json", cwd=tmp_path, env=env)
    shown = json.loads(done.stdout)
    assert shown["kb"] == {"value": "mine", "origin": "environment"}
    assert shown["store.fusion"]["origin"] == "default"
    assert shown["rag.filter.knowledge_profiles"] == {"value": {}, "origin": "default"}
    assert "hidden" not in done.stdout


@pytest.mark.parametrize(
    ("content", "words"), [(b"modles: {}\n", "modles"), (b"\xff\xfe\x00", "facetwise.yaml")]
)
def test_a_fault_in_the_settings_is_one_line(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "facetwise.yaml").write_bytes(content)
    done = facetwise("config", cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert_short(done.stderr)


def test_a_password_in_an_address_is_hidden(tmp_path: Path) -> None:
    env = {"FACETWISE_STORE__URI": "http://user:secret@127.0.0.1:1"}
    shown = facetwise("config", cwd=tmp_path, env=env).stdout
    assert "127.0.0.1:1" in shown
    assert "secret" not in shown


def test_a_data_folder_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    env = {"FACETWISE_PATHS__DATA": str(tmp_path / "file" / "data")}
    done = facetwise("schema", "--kb", "x", cwd=tmp_path, env=env)
    assert done.returncode == 1
    assert "paths.data" in done.stderr
    assert_short(done.stderr)


@pytest.mark.parametrize("fallback", ["none"])
def test_an_ollama_that_does_not_answer_without_fallback(
    tmp_path: Path, collection_file: Path, fallback: str
) -> None:
    env = {
        "FACETWISE_MODELS__OLLAMA_URL": "http://127.0.0.1:9",
        "FACETWISE_MODELS__FALLBACK": fallback,
    }
    arguments = ("plan", "papers by Ada since 2020", "--collection", str(collection_file))
    done = facetwise(*arguments, cwd=tmp_path, env=env)
    assert done.returncode == 1
    assert "http://127.0.0.1:9 does not answer" in done.stderr
    assert "ollama serve" in done.stderr
    assert_short(done.stderr)


@pytest.mark.lite
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("ingest", "no/such/folder"), 2, "no/such/folder"),
        (("ask", "What?", "--kb", "nowhere"), 2, "nowhere"),
        (("schema", "--kb", "nowhere"), 2, "nowhere"),
        (("docs", "list", "--kb", "nowhere"), 2, "nowhere"),
    ],
)
def test_what_is_not_there(
    tmp_path: Path,
    lite_settings: Settings,
    arguments: tuple[str, ...],
    code: int,
    words: str,
) -> None:
    done = facetwise(*arguments, cwd=tmp_path, env=runtime_env(lite_settings))
    assert done.returncode == code
    assert words in done.stderr
    assert_short(done.stderr)


def runtime_env(settings: Settings) -> dict[str, str]:
    return {
        "FACETWISE_PATHS__DATA": str(settings.paths.data),
        "FACETWISE_MODELS__CHAT": settings.models.chat,
        "FACETWISE_MODELS__PROVIDER": "embedded",
    }


def assert_short(stderr: str) -> None:
    assert "Traceback" not in stderr
    lines = [line for line in stderr.splitlines() if not line.startswith("…")]
    assert 1 <= len(lines) <= 2, stderr


def test_an_interruption_while_modules_are_loaded_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt\n", encoding="utf-8")
    done = facetwise("--help", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
