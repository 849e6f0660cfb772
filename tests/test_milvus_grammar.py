"""What is compiled for newer servers is read by Milvus's own grammar, and as it was meant."""

from __future__ import annotations

import random
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput

from schemas.check import bind
from schemas.collection import Collection, Column, ColumnKind, Encoding, Field, FieldType
from schemas.compile.literals import is_plain_path, json_path
from schemas.compile.milvus import Dialect, split, to_milvus
from schemas.filters import AllOf, Compare, Filter, Op
from schemas.folding import fold
from tests.filter_columns import KINDS
from tests.hostile import HOSTILE_NAMES, HOSTILE_TEXTS
from tests.strategies import collection_of, compare_of, filter_of

NEWER = (Dialect.V26, Dialect.V30)


@cache
def grammar() -> Lark:
    text = Path(__file__).with_name("milvus_grammar.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer="basic", maybe_placeholders=False)


def parsed(expression: str) -> Tree[Token]:
    return grammar().parse(expression)


VALID = [
    'a == "x" and not (b in [1, 2])', 'A != "x" OR NOT b', "a is null", "a is not null and b > 0",
    "doc[\"a\"]['b'][0] > -1.5e3", '$meta["k"] like "a%"', "exists doc[\"a\"]", "0 < a <= 5",
    "array_contains_any(tags, [1, 2,])", "array_length(tags) != 0", "a not in []", "x in {list}",
    "text_match(t, 'a b', minimum_should_match=2)", "match_least(a, $[b] > 1, threshold=2)",
    "random_sample(0.1)", "a % 2 == 0 && b ** 2 > 4", 'a =~ r"\\d+"', "-a + 3 * 2 < 0x1F",
]  # fmt: skip
INVALID = [
    "", "a =", 'a == "x', "a == 'x\ny'", "a is  null", "(a == 1", "a == 1)", "a = 1", "not in [1]",
    "a and", "a b", '"x" "y"', "doc[a b]", "doc [\"a\"] == 1", "a like", "array_length(1)", "a;b",
    "in == 1", "a == 1 /* b */", "[1", "{a b}", "a == @b",
]  # fmt: skip


@pytest.mark.parametrize("expression", VALID)
def test_grammar_takes(expression: str) -> None:
    assert parsed(expression).data == "start"


@pytest.mark.parametrize("expression", INVALID)
def test_grammar_refuses(expression: str) -> None:
    with pytest.raises(UnexpectedInput):
        parsed(expression)


def test_not_binds_tighter_than_a_comparison() -> None:
    (root,) = parsed("not a == 1").children
    assert isinstance(root, Tree)
    assert root.data == "equality"


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 2**32))
def test_every_expression_is_read(kind: str, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311  # repeatable, not secret
    made = KINDS[kind](rng)
    root: Filter = filter_of(rng, lambda: compare_of(rng, made))
    bound = bind(root, collection_of(made))
    for dialect in NEWER:
        pushed = split(bound, dialect).pushed
        if pushed:
            assert _negations_are_in_parentheses(parsed(pushed))


def _negations_are_in_parentheses(tree: Tree[Token]) -> bool:
    """`not` stands before a parenthesis only, so that its precedence does not matter."""
    unaries = [node for node in tree.iter_subtrees() if node.data == "unary"]
    negations = [node for node in unaries if str(node.children[0]) == "not"]
    return all(
        isinstance(node.children[1], Tree) and node.children[1].data == "parens"
        for node in negations
    )


KB = Collection(
    name="kb",
    fields=(
        Field(
            name="note",
            type=FieldType.STRING,
            column=Column(name="note", kind=ColumnKind.VARCHAR, encoding=Encoding.FOLDED),
        ),
        Field(
            name="tags",
            type=FieldType.STRING_LIST,
            column=Column(name="tags", kind=ColumnKind.ARRAY, encoding=Encoding.FOLDED),
        ),
        Field(
            name="raw",
            type=FieldType.STRING,
            column=Column(name="doc", kind=ColumnKind.JSON, path=("k",)),
        ),
    ),
)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}


def unquoted(literal: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPED[found[1]], literal[1:-1], flags=re.DOTALL)


def strings_of(tree: Tree[Token]) -> list[str]:
    tokens = tree.scan_values(lambda token: isinstance(token, Token) and token.type == "STRING")
    return [unquoted(str(token)) for token in tokens]


def shape(node: Tree[Token] | Token) -> Any:
    if isinstance(node, Token):
        return "STRING" if node.type == "STRING" else str(node)
    return (str(node.data), *map(shape, node.children))


PLAIN = (Op.EQ, Op.NE, Op.IN, Op.NOT_IN, Op.GT, Op.LE)


@given(HOSTILE_TEXTS, st.sampled_from(["note", "tags", "raw"]), st.sampled_from(PLAIN))
def test_a_value_comes_back_as_it_was(text: str, field: str, op: Op) -> None:
    def expression(value: str, dialect: Dialect) -> Tree[Token]:
        leaf = Compare(op=op, field=field, value=(value,) if op.takes_list else value)
        beside = AllOf(of=(leaf, Compare(op=Op.EQ, field="note", value="beside")))
        return parsed(split(bind(beside, KB), dialect).pushed)

    assume(field != "tags" or op not in (Op.GT, Op.LE))
    for dialect in NEWER:
        read = expression(text, dialect)
        assert shape(read) == shape(expression("x", dialect))
        meant = text if field == "raw" else fold(text)
        assert list(dict.fromkeys(filter(None, strings_of(read)))) == [meant, "beside"]


@given(HOSTILE_TEXTS, st.sampled_from([Op.CONTAINS, Op.ENDS_WITH, Op.NOT_CONTAINS]))
def test_a_pattern_means_the_text_only(text: str, op: Op) -> None:
    for dialect in NEWER:
        leaf = Compare(op=op, field="note", value=text)
        (pattern,) = strings_of(parsed(to_milvus(bind(leaf, KB), dialect)))
        inner = pattern[1:] if op is Op.ENDS_WITH else pattern[1:-1]
        assert not re.search(r"[%_]", re.sub(r"\\[%_\\]", "", inner))
        assert re.sub(r"\\([%_\\])", r"\1", inner) == fold(text)


@given(st.lists(HOSTILE_NAMES, min_size=1, max_size=3).map(tuple))
def test_a_key_comes_back_or_is_not_sent(keys: tuple[str, ...]) -> None:
    column = Column(name="doc", kind=ColumnKind.JSON, path=keys)
    c = Collection(name="c", fields=(Field(name="x", type=FieldType.INT, column=column),))
    parts = split(bind(Compare(op=Op.EQ, field="x", value=1), c), Dialect.V26)
    assert parts.rest is not None
    if not is_plain_path(keys):
        assert parts.pushed == ""
        return
    (token,) = parsed(parts.pushed).scan_values(
        lambda token: isinstance(token, Token) and token.type == "JSON_IDENTIFIER"
    )
    assert str(token) == json_path("doc", keys)
    # As servers take the path apart.
    pieces = str(token)[len("doc") :].split("][")
    assert tuple(piece.strip("[]")[1:-1] for piece in pieces) == keys


@given(HOSTILE_NAMES)
def test_a_key_is_one_token_on_any_engine(key: str) -> None:
    (root,) = parsed(f"{json_path('$meta', (key,))} == 1").children
    assert isinstance(root, Tree)
    path = root.children[0]
    assert isinstance(path, Token)
    assert path.type == "JSON_IDENTIFIER"
    assert unquoted(path[len("$meta[") : -1]) == key
