"""The question put to the model."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agent.planning.cuts import first_clause
from agent.planning.examples import EXAMPLES
from agent.planning.form import asked_of, keyed, offered, opening
from agent.planning.legible import legible, legible_name
from graph.tokens import prompt_tokens
from schemas.collection import Collection, Field, FieldType
from schemas.filters import leaves
from schemas.mentions import Choice, Form, Mention, MentionKind
from schemas.plan import Key
from tests.planning_cases import HANDBOOK, IGNORE, PLANNER, ask, link

QUESTION = "final guides by Guido van Rossum since 2020, not by Ada Palmer"


def form(question: str, **more: object) -> Form | None:
    asked = ask(question, **more)
    return PLANNER.form(asked, HANDBOOK, PLANNER.link(asked, HANDBOOK))


def made(question: str) -> Form:
    found = form(question)
    assert found is not None
    return found


@pytest.mark.parametrize("question", ["What is photosynthesis?", "thanks", "公司的愿景是什么？"])
def test_nothing_linked_means_no_call(question: str) -> None:
    assert form(question) is None


def test_one_required_key_per_mention_in_the_order_of_the_question() -> None:
    schema = made(QUESTION).reply_schema
    keys = list(schema["properties"])  # type: ignore[arg-type]  # a JSON object
    assert keys == ["final", "guides", "Guido van Rossum", "2020"]
    assert schema["required"] == keys
    assert schema["additionalProperties"] is False


def test_every_mention_may_be_a_mere_topic() -> None:
    for words in made(QUESTION).reply_schema["properties"].values():  # type: ignore[union-attr]
        assert words["enum"][-1] == IGNORE  # type: ignore[call-overload,index]


def test_the_schema_is_valid_flat_and_without_references() -> None:
    schema = made(QUESTION).reply_schema
    Draft202012Validator.check_schema(schema)
    text = json.dumps(schema)
    assert "$ref" not in text
    assert "pattern" not in text
    depth = max(text[:i].count("{") - text[:i].count("}") for i in range(len(text)))
    assert depth <= 3


def test_everything_before_the_question_is_the_same_for_all_questions() -> None:
    first, second = made(QUESTION), made("草案有哪些？")
    assert first.messages[:-1] == second.messages[:-1]
    ends = [m.messages[-1].content.index("Question:") for m in (first, second)]
    assert first.messages[-1].content[: ends[0]] == second.messages[-1].content[: ends[1]]


def test_values_stand_in_the_question_only() -> None:
    text = "".join(m.content for m in made("drafts by the people team").messages)
    assert "Konstantin" not in text
    assert "department HR" in text


def test_the_prompt_version_is_told() -> None:
    assert len(made(QUESTION).prompt_version) == 12


def test_a_clear_comparison_is_not_asked_about() -> None:
    schema = made("guides with more than 20 pages").reply_schema
    assert schema["required"] == ["guides"]
    assert len(link("guides with more than 20 pages")) == 2


HOSTILE = st.text(st.sampled_from("\"'\\/ab \n\t\r\x00\x1f\x7f研"), max_size=8)
UNSAID = re.compile(r'["\\\x00-\x1f\x7f-\x9f]')


@given(HOSTILE)
def test_what_is_legible_needs_no_escape_in_json(text: str) -> None:
    plain = legible(text)
    assert UNSAID.search(plain) is None
    assert json.dumps(plain, ensure_ascii=False) == f'"{plain}"'
    assert legible(plain) == plain
    if UNSAID.search(text) is None:
        assert plain == text


@given(st.lists(HOSTILE, unique=True, max_size=6))
def test_names_stay_as_many_as_they_are(names: list[str]) -> None:
    shown = [legible_name(name, names) for name in names]
    assert len(set(shown)) == len(names)
    for name, seen in zip(names, shown, strict=True):
        assert UNSAID.search(seen) is None
        assert seen == name or UNSAID.search(name)


NAMES = st.lists(HOSTILE.filter(bool), min_size=1, unique=True, max_size=5)


@given(NAMES, st.lists(HOSTILE, max_size=5))
@settings(deadline=None)
def test_every_allowed_reply_means_its_own_use(names: list[str], words: list[str]) -> None:
    collection = Collection(
        name="odd", fields=tuple(Field(name=name, type=FieldType.STRING) for name in names)
    )
    choices = tuple(Choice(field=name, value="x") for name in names)
    mentions = [
        Mention(
            id=f"m{number}", kind=MentionKind.VALUE, words=said, start=0, end=1, choices=choices
        )
        for number, said in enumerate(words)
    ]
    asked = ask("which are x?")
    allowed = asked_of(asked, collection, mentions)
    assert len(keyed(mentions)) == len(allowed) == len(mentions)
    for key, mention in keyed(mentions).items():
        assert UNSAID.search(key) is None
        uses = offered(asked, collection, mention)
        assert [*uses, IGNORE] == [*allowed[key]]
        assert [use.field for use in uses.values()] == names
        for word, use in uses.items():
            assert UNSAID.search(word) is None
            assert word == use.word
    for word in offered(asked, collection, mentions[0]) if mentions else ():
        reply = dict.fromkeys(allowed, IGNORE) | {next(iter(allowed)): word}
        made = PLANNER.assemble(asked, collection, mentions, reply)
        meant = offered(asked, collection, mentions[0])[word].field
        assert {leaf.field for leaf in leaves(made.branches[0].filter)} == {meant}


def test_a_pinned_operator_and_a_date_are_said_legibly_too() -> None:
    collection = Collection(
        name="odd",
        fields=(
            Field(name='day "of" \\ it', type=FieldType.DATE),
            Field(name="day 'of' / it", type=FieldType.DATE),
        ),
    )
    for keys in ((), (Key(name='day "of" \\ it', op="ge"),)):
        asked = ask("since 2024", keys=keys)
        mentions = PLANNER.link(asked, collection)
        form = PLANNER.form(asked, collection, mentions)
        assert form is not None
        assert UNSAID.search("".join(_words(form))) is None
        assert "- day 'of' / it (2) (date)" in form.messages[-1].content


def _words(form: Form) -> list[str]:
    properties: Any = form.reply_schema["properties"]
    return [*properties, *(word for words in properties.values() for word in words["enum"])]


WIDE = Collection(
    name="wide",
    fields=(
        *HANDBOOK.fields,
        *(
            Field(name=f"extra {n}", type=FieldType.STRING, description=f"Thing {n}; " + "so " * 40)
            for n in range(60)
        ),
    ),
)
EARLIER = tuple(f"drafts about topic {n} " + "and more " * 20 for n in range(5))


def fitted(room: int | None, collection: Collection = WIDE) -> Form:
    asked = ask(QUESTION, history=EARLIER, room=room)
    found = PLANNER.form(asked, collection, PLANNER.link(asked, collection))
    assert found is not None
    return found


def test_a_form_with_room_enough_is_the_whole_form() -> None:
    whole = fitted(None)
    assert fitted(prompt_tokens(whole.messages)) == whole


def test_descriptions_go_first_then_turns_then_fields_then_examples() -> None:
    whole = prompt_tokens(fitted(None).messages)
    seen: list[tuple[bool, ...]] = []
    for room in range(whole, 0, -50):
        form = fitted(room)
        put = form.messages[-1].content
        if prompt_tokens(form.messages) > room:
            break
        kept = (
            "so so so" in put,
            "Thing 3" in put,
            "Earlier: " in put,
            "extra 3" in put,
            len(form.messages) == len(opening()) + 1,
        )
        assert form.messages[0] == fitted(None).messages[0]
        assert form.reply_schema == fitted(None).reply_schema
        assert QUESTION in put
        if kept not in seen:
            seen.append(kept)
    assert seen == [tuple(n >= gone for n in range(5)) for gone in range(6)]
    least = fitted(1).messages
    assert prompt_tokens(least) > 1
    assert len(least) == 2
    shown = [line for line in least[1].content.splitlines() if line.startswith("- ")]
    assert "- published (date)" in shown
    assert not [line for line in shown if ":" in line or "extra" in line]


def test_the_last_examples_stay_longest() -> None:
    kept = opening(2)[1:]
    assert [one.content for one in kept[::2]] == [one.question for one in EXAMPLES[-2:]]
    assert opening(0) == opening()[:1]


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("Day of publication.", "Day of publication"),
        ("Owner (if any); else empty", "Owner"),
        ("版本号，例如 1.2", "版本号"),
        ("Version 1.2 or later. More.", "Version 1.2 or later"),
        ("", ""),
    ],
)
def test_first_clauses(text: str, clause: str) -> None:
    assert first_clause(text) == clause
