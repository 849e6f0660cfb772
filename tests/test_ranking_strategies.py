"""Each built-in strategy by itself."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.ranking.calibration import CALIBRATED, Calibration
from agent.ranking.density import density
from agent.ranking.diversity import Diversity
from agent.ranking.duplicates import NearDuplicates
from agent.ranking.hard_filter import HardFilter, length
from agent.ranking.scoring import Scoring
from agent.ranking.similarity import Similarity
from agent.ranking.strategy import RankingContext
from agent.ranking.subject import confidence, subject_of
from schemas.filters import EVERYTHING, Compare, Filter, Op, parse_filter
from schemas.hits import Hit
from schemas.policy import Policy
from tests.ranked_hits import a_context, a_hit, ids

PROSE = "Remote days are agreed with the line manager and entered in the calendar by Thursday. "
MODEL = "use-multilingual-v3"


def policy_of(**options: Any) -> Policy:
    return Policy.model_validate(options)


def context_of(query: str = "reset vpn", **options: Any) -> RankingContext:
    context: RankingContext = a_context(query, policy=policy_of(**options))
    return context


def named(names: str, text: str = PROSE) -> list[Hit]:
    """`A1` is the first passage of document A."""
    return [a_hit(name, text, doc_id=name[0]) for name in names.split()]


@pytest.mark.parametrize(
    ("given_", "per_source", "expected"),
    [
        ("A1 A2 A3 B1 B2 C1", 2, "A1 B1 C1 A2 B2 A3"),
        ("A1 A2 B1 B2 C1", 2, "A1 B1 C1 A2 B2"),
        ("A1 A2 A3", 2, "A1 A2 A3"),
        ("B1 A1 A2", 1, "B1 A1 A2"),
        ("A2 B1 A1", 2, "A2 B1 A1"),
        ("", 2, ""),
    ],
)
async def test_diversity(given_: str, per_source: int, expected: str) -> None:
    context = context_of(max_per_source=per_source)
    assert ids(await Diversity().apply(context, named(given_))) == expected.split()


async def test_diversity_knows_documents_of_equal_ids_in_two_knowledge_bases_apart() -> None:
    hits = [a_hit("A1", doc_id="A"), a_hit("A2", doc_id="A"), a_hit("A9", doc_id="A", kb="other")]
    assert ids(await Diversity().apply(context_of(), hits)) == ["A1", "A9", "A2"]


@pytest.mark.parametrize(
    ("filter_", "expected"),
    [
        ({"op": "eq", "field": "doc_id", "value": "a"}, False),
        ({"op": "in", "field": "source", "value": ["a"]}, False),
        ({"op": "in", "field": "doc_id", "value": ["a", "b"]}, True),
        ({"op": "ne", "field": "doc_id", "value": "a"}, True),
        ({"op": "eq", "field": "department", "value": "HR"}, True),
        (
            {
                "op": "and",
                "of": [
                    {"op": "eq", "field": "department", "value": "HR"},
                    {"op": "eq", "field": "doc_id", "value": "a"},
                ],
            },
            False,
        ),
        (
            {
                "op": "or",
                "of": [
                    {"op": "eq", "field": "doc_id", "value": "b"},
                    {"op": "eq", "field": "doc_id", "value": "a"},
                ],
            },
            True,
        ),
        (EVERYTHING, True),
    ],
)
def test_diversity_is_off_where_one_document_is_asked_for(filter_: Any, expected: bool) -> None:
    context = a_context(policy=Policy(), filter=parse_filter(filter_))
    assert Diversity().supports(context) is expected


@pytest.mark.parametrize(
    ("text", "options", "kept"),
    [
        ("", {}, False),
        (" \n\t", {"min_document_length": 0}, False),
        ("a b  c", {"min_document_length": 6}, False),
        ("a b  c", {"min_document_length": 5}, True),
        ("申请年假需要提前两周", {"min_document_length": 20}, True),
        ("申请年假需要提前两周", {"min_document_length": 21}, False),
        (PROSE, {"max_document_length": 80}, False),
        (PROSE, {"max_document_length": 90}, True),
        ("-- | -- | -- | -- | -- | -- | -- | -- | -- | a", {"min_document_length": 0}, False),
        ("哈" * 60, {}, False),
        ("reset " * 30, {}, False),
        (PROSE * 3, {}, True),
        (
            "| P1 | 5 min |\n| P2 | 30 min |\n| P3 | next working day |",
            {"min_document_length": 20},
            True,
        ),
    ],
)
async def test_the_hard_filter(text: str, options: dict[str, Any], kept: bool) -> None:
    assert bool(await HardFilter().apply(context_of(**options), [a_hit("a", text)])) is kept


async def test_a_passage_that_is_the_whole_document_may_be_short_but_not_empty() -> None:
    hits = [a_hit("a", "Closed.", whole=True), a_hit("b", "", whole=True), a_hit("c", "Closed.")]
    assert ids(await HardFilter().apply(context_of(), hits)) == ["a"]


async def test_rules_for_types_hold_for_their_documents_only() -> None:
    hits = [a_hit("a", "Closed.", metadata={"category": "news"}), a_hit("b", "Closed.")]
    context = context_of(type_specific_rules={"News": {"min_document_length": 5}})
    assert ids(await HardFilter().apply(context, hits)) == ["a"]


@given(st.text(max_size=300))
def test_density_and_length_stay_in_their_ranges(text: str) -> None:
    assert 0 <= density(text) <= 1
    assert 0 <= length(text) <= 2 * len(text)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=2), st.sampled_from([*CALIBRATED]))
def test_a_calibrated_similarity_never_falls_as_the_cosine_rises(
    cosines: list[float], model: str
) -> None:
    less, more = (Calibration(model).similarity(cosine) for cosine in sorted(cosines))
    assert 0 <= less <= more <= 1


def test_a_scale_of_the_settings_comes_before_the_built_in_one() -> None:
    points = {MODEL: ((0.0, 0.0), (1.0, 1.0)), "nomic": ((0.5, 0.0), (0.9, 1.0))}
    assert Calibration(MODEL, points).similarity(0.3) == pytest.approx(0.3)
    assert Calibration("nomic:latest", points).similarity(0.7) == pytest.approx(0.5)
    assert not Calibration("nomic").known
    with pytest.raises(ValueError, match="no scale"):
        Calibration("nomic").similarity(0.7)


@pytest.mark.parametrize(
    ("query", "filter_", "expected"),
    [
        ("How do I reset the VPN tokens?", EVERYTHING, {"reset", "vpn", "token"}),
        ("List all documents published last year", EVERYTHING, set()),
        ("Which policies did HR publish in 2023?", EVERYTHING, {"polic", "hr"}),
        (
            "HR policies about travel",
            {"op": "eq", "field": "category", "value": "policy"},
            {"hr", "travel"},
        ),
        ("怎么申请年假？", EVERYTHING, {"申请", "请年", "年假"}),
        ("周婷负责的文档有哪些？", {"op": "eq", "field": "owner", "value": "周婷"}, set()),
        ("", EVERYTHING, set()),
    ],
)
def test_the_subject_of_a_question(query: str, filter_: Any, expected: set[str]) -> None:
    wanted = a_context(query, filter=parse_filter(filter_)).wanted
    assert subject_of(wanted) == expected


@pytest.mark.parametrize(
    ("text", "entities", "expected"),
    [
        ("Resetting a VPN token takes a minute.", (), 1.0),
        ("The VPN is down.", (), 1 / 3),
        ("The VPN is down at Acme Ltd.", ("ACME",), 2 / 4),
        ("The menu.", (), 0.0),
    ],
)
def test_confidence(text: str, entities: tuple[str, ...], expected: float) -> None:
    subject = subject_of(a_context("reset vpn tokens").wanted)
    assert confidence(subject, entities, a_hit("a", text).passage) == pytest.approx(expected)
    assert confidence(frozenset(), (), a_hit("a", text).passage) == 0


async def judged(query: str, hits: list[Hit], model: str = MODEL, **options: Any) -> list[str]:
    context = context_of(query, **options)
    scored = await Scoring(model).apply(context, hits)
    assert ids(scored) == ids(hits)
    if not Similarity().supports(context):
        return ids(scored)
    return ids(await Similarity().apply(context, scored))


SEEN = [
    a_hit("near", "Anything at all.", scores={"dense": 0.4}),
    a_hit("worded", "Reset the VPN token.", scores={"dense": 0.05}),
    a_hit("far", "The menu of the canteen.", scores={"dense": 0.05}),
    a_hit("unseen", "The menu of the canteen.", scores={"bm25": 3.0}),
]


@pytest.mark.parametrize(
    ("query", "options", "expected"),
    [
        ("reset vpn", {}, "near worded unseen"),
        ("reset vpn", {"min_confidence_threshold": 0}, "near unseen"),
        ("reset vpn", {"similarity_threshold": 0}, "near worded far unseen"),
        ("reset vpn", {"similarity_threshold": 0.9}, "worded unseen"),
        ("list all documents", {}, "near worded far unseen"),
    ],
)
async def test_only_what_is_neither_near_nor_worded_is_taken_away(
    query: str, options: dict[str, Any], expected: str
) -> None:
    assert await judged(query, SEEN, **options) == expected.split()


@pytest.mark.parametrize("query", ["reset vpn", "list all documents"])
@pytest.mark.parametrize("filter_", [EVERYTHING, Compare(op=Op.EQ, field="department", value="HR")])
async def test_below_the_floor_nothing_stays_whatever_was_asked(
    query: str, filter_: Filter
) -> None:
    policy = Policy(similarity_floor=0.5, min_document_length=0)
    context = a_context(query, policy=policy, filter=filter_)
    scored = await Scoring(MODEL).apply(context, SEEN)
    assert ids(await HardFilter().apply(context, scored)) == ["near", "unseen"]


async def test_nothing_is_cut_where_the_scale_of_the_model_is_not_known() -> None:
    assert len(await judged("reset vpn", SEEN, model="hash")) == len(SEEN)
    points = {"hash": [[0.0, 0.0], [1.0, 1.0]]}
    found = await judged("reset vpn", SEEN, model="hash", calibration=points)
    assert found == ["worded", "unseen"]


@pytest.mark.parametrize(("best", "expected"), [(0.2, "best far"), (0.5, "best")])
async def test_passages_that_meet_conditions_are_measured_only_beside_one_clearly_near(
    best: float, expected: str
) -> None:
    hits = [a_hit("best", "-", scores={"dense": best}), a_hit("far", "-", scores={"dense": 0.05})]
    condition = parse_filter({"op": "eq", "field": "department", "value": "HR"})
    context = a_context("reports with pages", policy=Policy(), filter=condition)
    scored = await Scoring(MODEL).apply(context, hits)
    assert ids(await Similarity().apply(context, scored)) == expected.split()


OTHER = "Invoices have to show the tax number of the buyer, otherwise they are sent back unpaid."


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([PROSE, PROSE, OTHER], "0 2"),
        ([PROSE, PROSE.replace("line manager", "line  manager,").upper()], "0"),
        ([PROSE, PROSE.replace("Thursday", "Friday")], "0"),
        ([PROSE + "Rate 45 EUR.", PROSE + "Rate 52 EUR."], "0 1"),
        (["远程办公需要经理批准并登记。", "远程办公需要经理批准并登记！"], "0"),
        ([PROSE, OTHER], "0 1"),
        ([], ""),
    ],
)
async def test_near_duplicates_across_documents(texts: list[str], expected: str) -> None:
    hits = [a_hit(str(number), text) for number, text in enumerate(texts)]
    assert ids(await NearDuplicates().apply(context_of(), hits)) == expected.split()


@given(st.text(alphabet="eyingsd ", max_size=30))
def test_any_words_have_a_confidence(text: str) -> None:
    found = confidence(frozenset({"eye"}), (), a_hit("a", text).passage)
    assert 0 <= found <= 1
