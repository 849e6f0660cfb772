"""What fits into the context."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent.ranking.chain import StrategyChain
from agent.ranking.excerpts import excerpt_span
from agent.ranking.packing import SEPARATOR, Packing
from agent.ranking.strategy import RankingContext
from graph.context import Context
from graph.tokens import tokens_of
from schemas.hits import Hit, Passage, excerpt
from schemas.policy import Overrides, Policy
from tests.conftest import MemoryStore, passage
from tests.graph_runs import run
from tests.ranked_hits import a_context, a_hit, ids


def policy_of(**options: Any) -> Policy:
    return Policy.model_validate(options)


def context_of(query: str = "reset vpn", **options: Any) -> RankingContext:
    context: RankingContext = a_context(query, policy=policy_of(**options))
    return context


def sizes(hits: Any) -> list[int]:
    return [len(hit.passage.text) for hit in hits]


async def packed(hits: list[Hit], query: str = "reset vpn", **options: Any) -> list[Hit]:
    return [*await Packing().apply(context_of(query, **options), hits)]


async def test_a_first_passage_larger_than_the_budget_leaves_room_for_the_others() -> None:
    big = "".join(f"Sentence number {n} is about something else. " for n in range(40))
    big = big[:900] + "To reset the VPN token call the desk. " + big[900:]
    hits = [a_hit("a", big), a_hit("b", "x" * 200), a_hit("c", "y" * 300)]
    found = await packed(hits, max_total_chars=800)
    assert ids(found) == ["a", "b", "c"]
    assert sum(sizes(found)) + 2 * len(SEPARATOR) <= 800
    assert "reset the VPN token" in found[0].passage.text
    assert found[0].passage.text.endswith(".")
    assert found[0].span is not None
    assert big[slice(*found[0].span)] == found[0].passage.text


async def test_a_passage_that_does_not_fit_any_more_makes_way_for_a_shorter_one() -> None:
    hits = [a_hit("a", "x" * 90), a_hit("b", "y" * 50), a_hit("c", "z" * 8), a_hit("d", "w")]
    assert ids(await packed(hits, max_total_chars=100)) == ["a", "c"]
    hits[1] = a_hit("b", "One of two. " * 4)
    assert ids(await packed(hits, max_total_chars=130)) == ["a", "b", "d"]
    assert ids(await packed(hits, max_retrieval_results=1)) == ["a"]


async def test_a_budget_in_tokens_takes_the_place_of_that_in_characters() -> None:
    hits = [a_hit(str(n), "远程办公需要经理批准并登记在日历中。" * 3) for n in range(5)]
    found = await packed(hits, max_total_tokens=100, max_total_chars=100_000)
    assert 0 < sum(tokens_of(hit.passage.text) for hit in found) <= 100


async def test_a_caller_who_asks_for_ten_gets_ten() -> None:
    hits = [a_hit(str(n), "x" * 900) for n in range(12)]
    context = a_context(policy=Policy(), top=10)
    assert len(await Packing().apply(context, hits)) == 10
    called = RankingContext(
        replace(context.wanted, policy=Overrides(max_total_chars=2000)),
        policy_of(max_total_chars=2000),
    )
    assert 0 < len(await Packing().apply(called, hits)) < 10


async def test_a_rule_limits_the_share_of_a_type() -> None:
    hits = [a_hit(str(n), "x" * 90, metadata={"category": "faq"}) for n in range(4)]
    hits.append(a_hit("other", "y" * 90))
    rule = {"faq": {"max_retrieval_results": 2}}
    assert ids(await packed(hits, type_specific_rules=rule)) == ["0", "1", "other"]
    rule = {"faq": {"max_total_chars": 100}}
    assert ids(await packed(hits, type_specific_rules=rule)) == ["0", "other"]
    assert len(await packed(hits, type_specific_rules={"faq": {"max_per_source": 1}})) == 5


TEXTS = st.lists(
    st.text(alphabet=st.sampled_from("ab vpn.。\n假!"), max_size=400).filter(str.strip), max_size=8
)


@given(TEXTS, st.integers(100, 500), st.booleans())
async def test_packing_is_never_over_budget_and_never_empty(
    texts: list[str], budget: int, in_tokens: bool
) -> None:
    hits = [a_hit(str(number), text) for number, text in enumerate(texts)]
    limit: dict[str, Any] = {"max_total_tokens" if in_tokens else "max_total_chars": budget}
    found = await packed(hits, **limit)
    measure = tokens_of if in_tokens else len
    together = SEPARATOR.join(hit.passage.text for hit in found)
    assert not found or measure(together) <= budget
    assert bool(found) is bool(hits)
    assert all(hit.passage.text.strip() for hit in found)
    given_ = {hit.passage.id: hit.passage.text for hit in hits}
    assert all(hit.passage.text in given_[hit.passage.id] for hit in found)


@given(st.text(alphabet=st.sampled_from("ab vpn.。\n假!"), max_size=300), st.integers(1, 80))
def test_an_excerpt_is_part_of_its_text_and_within_the_limit(text: str, limit: int) -> None:
    span = excerpt_span(text, ["vpn"], limit, len)
    if span is not None:
        piece = text[slice(*span)]
        assert 0 < len(piece) <= limit
        assert piece == piece.strip()
    else:
        assert not text.strip()


@dataclass
class Reading:
    """Keeps the passages that it is given to write from."""

    name: str = "reading"
    read: list[str] = field(default_factory=list)

    async def write(
        self, question: str, passages: Sequence[Passage], notes: Sequence[str]
    ) -> AsyncIterator[str]:
        self.read += [passage.text for passage in passages]
        yield "Done [1]."


async def test_an_answer_is_written_from_what_was_packed(
    make_context: Callable[..., Context], store: MemoryStore
) -> None:
    long = passage(1, "Lunch is at noon. " * 10 + "Remote work is allowed. " + "Bye. " * 20)
    store.stored[:] = [long]
    writer = Reading()
    ranker = StrategyChain([Packing()], policy=Policy(max_total_chars=100))
    state = await run(make_context(ranker=ranker, writer=writer), "remote work")
    (text,) = writer.read
    assert len(text) <= 100
    assert "Remote work is allowed." in text
    assert state["hits"][0].span is not None
    assert excerpt(long, state["hits"][0].span).text == text
