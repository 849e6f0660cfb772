"""Reply schemas as the grammars that Ollama makes of them: llama.cpp's own converter in Python,
and another project's matcher for its output.

FACETWISE_GBNF names the converter's file, `llama_grammar.py` of llama-cpp-python; `scripts/slow`
fetches it. Releases of llama.cpp before 2026 do not escape backslashes in literals, as this
converter does not, so nothing in a schema may need one in JSON.
"""

from __future__ import annotations

import datetime as dt
import importlib
import importlib.util
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.app import Agent
from agent.planning.form import keyed, reply_schema
from agent.planning.planner import Planner
from agent.settings import Settings
from evals.bundled import bundled_handbook
from evals.sources import Sources, bundled_suite
from evals.suites import load_suite
from graph.ports import Ask
from schemas.collection import Collection, Field, FieldType
from schemas.mentions import Mention, MentionKind

CONVERTER = "FACETWISE_GBNF"
TODAY = dt.date(2026, 3, 15)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CONVERTER not in os.environ, reason=f"{CONVERTER} names no converter"),
]

Schema = Mapping[str, Any]
Convert = Callable[[Schema], str]
Accepts = Callable[[str, object], bool]

_TOKEN = re.compile(r'("(?:\\.|[^"\\])*")|([A-Za-z0-9-]+)')


@pytest.fixture(scope="module")
def convert() -> Convert:
    """The converter, made to write other scripts as the C++ one does: as they are."""
    spec = importlib.util.spec_from_file_location("llama_grammar", os.environ[CONVERTER])
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.json = SimpleNamespace(dumps=partial(json.dumps, ensure_ascii=False), loads=json.loads)
    return lambda schema: str(module.json_schema_to_gbnf(json.dumps(schema)))


@pytest.fixture(scope="module")
def accepts() -> Accepts:
    """Whether a grammar lets a reply pass, byte by byte."""
    llguidance: Any = importlib.import_module("llguidance")
    any_to_lark = importlib.import_module("llguidance.gbnf_to_lark").any_to_lark
    bytes_ = llguidance.LLTokenizer("byte")

    def accepts(grammar: str, reply: object) -> bool:
        lark = any_to_lark(_renamed(grammar))
        matcher = llguidance.LLMatcher(bytes_, llguidance.LLMatcher.grammar_from_lark(lark))
        assert not matcher.get_error(), matcher.get_error()
        text = bytes_.tokenize_str(json.dumps(reply, ensure_ascii=False))
        return bool(matcher.consume_tokens(text) and matcher.is_accepting())

    return accepts


def _renamed(grammar: str) -> str:
    """Rules called r1, r2 …: a key in another script becomes a rule called `-`, which llama.cpp
    takes and the matcher does not.
    """
    names: dict[str, str] = {"root": "root"}

    def short(match: re.Match[str]) -> str:
        literal, name = match.groups()
        return literal or names.setdefault(name, f"r{len(names)}")

    return _TOKEN.sub(short, grammar)


def first_words(schema: Schema) -> dict[str, str]:
    return {key: words["enum"][0] for key, words in schema["properties"].items()}


def check_schema(schema: Schema, convert: Convert, accepts: Accepts) -> None:
    """The first and last words of every key pass; another word, a missing key do not."""
    grammar = convert(schema)
    reply = first_words(schema)
    assert accepts(grammar, reply), grammar
    last = {key: words["enum"][-1] for key, words in schema["properties"].items()}
    assert accepts(grammar, last), grammar
    key = next(iter(reply))
    assert not accepts(grammar, reply | {key: "another word"})
    del reply[key]
    assert not accepts(grammar, reply)


def schemas_of(planner: Planner, collection: Collection, questions: Iterable[str]) -> list[Schema]:
    found: list[Schema] = []
    for question in questions:
        ask = Ask(question=question, today=TODAY)
        form = planner.form(ask, collection, planner.link(ask, collection))
        if form is not None:
            found.append(form.reply_schema)
    return found


async def test_the_forms_of_the_bundled_questions(convert: Convert, accepts: Accepts) -> None:
    async with Agent(Settings()) as agent:
        cases = (await load_suite(bundled_suite(), Sources(agent).find)).cases
    collection, _ = await bundled_handbook()
    found = schemas_of(Planner(), collection, [case.question for case in cases])
    assert len(found) > 30
    for schema in found:
        check_schema(schema, convert, accepts)


HOSTILE = (
    *("author", 'say "x"', "back\\slash", "单位 名称", "😀", "a:b, {c} [d] | e*", "$meta"),
    *("two\nlines", "root", "space", "-", "it's", "ё" * 60),
)


@pytest.mark.parametrize("name", HOSTILE)
def test_fields_of_any_name(name: str, convert: Convert, accepts: Accepts) -> None:
    collection = Collection(
        name="odd",
        fields=(
            Field(name=name, type=FieldType.STRING, values=("HR", "Finance", "研发中心")),
            Field(name="published", type=FieldType.DATE),
        ),
    )
    questions = ("HR or Finance since 2024, not 研发中心", "HR in 2024", "财务与研发中心的文档")
    found = schemas_of(Planner(), collection, questions)
    assert found
    for schema in found:
        check_schema(schema, convert, accepts)


def mention(number: int, words: str) -> Mention:
    return Mention(id=f"m{number}", kind=MentionKind.SPAN, words=words, start=0, end=len(words))


WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=300) | st.text(
    st.sampled_from("\"\\/{}[]()|:=*+?.$^'-_ \t\n\r\x00\x07\x7f\u2028研发é😀ab"), min_size=1
)


@given(st.lists(WORDS, min_size=1, max_size=6), st.integers(1, 400))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_keys_of_any_words(
    convert: Convert, accepts: Accepts, words: Sequence[str], count: int
) -> None:
    mentions = [mention(number, one) for number, one in enumerate(words)]
    offered = [f"field {number} is" for number in range(count)]
    check_schema(reply_schema(dict.fromkeys(keyed(mentions), offered)), convert, accepts)
