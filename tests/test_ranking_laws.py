"""What holds of the chain whatever the policy and the hits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.ranking.policy import chain_of
from schemas.hits import Hit
from schemas.policy import Policy
from tests.ranked_hits import ids, many_hits
from tests.test_ranking import NAMES, TOOLS, wanted

POLICIES = st.builds(
    Policy,
    enabled=st.booleans(),
    similarity_threshold=st.sampled_from([0.0, 0.7, 1.0]),
    min_confidence_threshold=st.floats(0, 1),
    min_document_length=st.integers(0, 60),
    min_information_density=st.floats(0, 1),
    max_retrieval_results=st.integers(1, 8),
    max_total_chars=st.integers(100, 300),
    rerank_enabled=st.booleans(),
    reranker=st.sampled_from(["rule", "six_factor"]),
    diversity_enabled=st.booleans(),
    max_per_source=st.integers(1, 3),
    duplicates_enabled=st.booleans(),
    boosts_enabled=st.booleans(),
    fallback_top_k=st.integers(0, 3),
)


@given(many_hits(), POLICIES, st.sets(st.sampled_from(NAMES[:-1])), st.integers(1, 3))
async def test_whatever_the_policy_no_hit_is_invented_and_the_budget_holds(
    hits: list[Hit], policy: Policy, off: set[str], kbs: int
) -> None:
    shelves = [
        hit.model_copy(
            update={"passage": hit.passage.model_copy(update={"kb": f"kb{number % kbs}"})}
        )
        for number, hit in enumerate(hits)
    ]
    used = policy.model_copy(update={"disabled_strategies": tuple(off)})
    chain_ = chain_of(used, TOOLS, plugins=())
    ranking = await chain_.rank(wanted(), shelves)
    assert not [one for one in ranking.problems if one.code != "all_removed"]
    given_ = {(hit.passage.kb, hit.passage.id): hit.passage.text for hit in shelves}
    found = [(hit.passage.kb, hit.passage.id) for hit in ranking.hits]
    assert len(set(found)) == len(found)
    assert set(found) <= set(given_)
    assert all(hit.passage.text in given_[hit.passage.kb, hit.passage.id] for hit in ranking.hits)
    assert len("\n\n".join(hit.passage.text for hit in ranking.hits)) <= policy.max_total_chars
    assert len(ranking.hits) <= policy.max_retrieval_results
    assert all(count >= 0 for count in ranking.removed.values())
    again = await chain_.rank(wanted(), shelves)
    assert again.hits == ranking.hits


OFF = Policy(enabled=False, max_retrieval_results=50, max_total_chars=100_000)


@given(many_hits())
async def test_where_nothing_applies_the_order_stays(hits: list[Hit]) -> None:
    chain_ = chain_of(OFF, TOOLS, plugins=())
    once = await chain_.rank(wanted(), hits)
    assert ids(once.hits) == ids(hits)
    assert (await chain_.rank(wanted(), once.hits)).hits == once.hits
