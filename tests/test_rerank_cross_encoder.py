"""The cross-encoder, against a server on this machine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.ranking.rerank.cross_encoder import CrossEncoder
from agent.sections import RerankSettings
from agent.settings import load_settings
from schemas.errors import ModelError, ModelUnavailable, SettingsError
from schemas.policy import Policy
from tests.ranked_hits import a_context, a_hit, ids
from tests.rerank_server import RerankScript, serving

HITS = [a_hit("x", "abbb"), a_hit("y", "aaaa"), a_hit("z", "aabb"), a_hit("rest", "aaaaaaaa")]
THREE = Policy(rerank_enabled=True, rerank_candidate_limit=3)


@pytest.fixture(scope="module")
def server() -> Iterator[RerankScript]:
    with serving(RerankScript()) as served:
        yield served


@pytest.fixture
def script(server: RerankScript) -> RerankScript:
    server.reset()
    return server


def encoder(script: RerankScript, format_: str = "tei", **more: Any) -> CrossEncoder:
    settings = {"url": f"{script.url}/{format_}", "format": format_, **more}
    return CrossEncoder(RerankSettings.model_validate(settings))


@pytest.mark.parametrize("format_", ["tei", "jina"])
async def test_the_first_candidates_are_ordered_and_the_rest_follow(
    script: RerankScript, format_: str
) -> None:
    ranked = await encoder(script, format_).apply(a_context("a?", policy=THREE), HITS)
    assert ids(ranked) == ["y", "z", "x", "rest"]
    assert [one.score for one in ranked[:3]] == [1.0, 0.5, 0.25]
    assert [one.scores.get("rerank.raw") for one in ranked] == [1.0, 0.5, 0.25, None]
    assert ranked[3] == HITS[3]


async def test_what_is_sent_to_text_embeddings_inference(script: RerankScript) -> None:
    context = a_context("other words", question="a?", policy=THREE)
    titled = a_hit("t", "text", title="Title", heading=("Title", "Part"))
    await encoder(script).apply(context, [titled])
    assert script.requests == [
        {"query": "a?", "texts": ["Title\nPart\ntext"], "truncate": True},
    ]
    assert script.keys == [None]


async def test_what_is_sent_to_jina_and_its_like(script: RerankScript) -> None:
    settings = {"model": "bge-reranker-v2-m3", "api_key": "s3cret"}
    await encoder(script, "jina", **settings).apply(a_context("a?"), HITS[:2])
    assert script.requests == [
        {
            "model": "bge-reranker-v2-m3",
            "query": "a?",
            "documents": ["abbb", "aaaa"],
            "top_n": 2,
        }
    ]
    assert script.keys == ["Bearer s3cret"]


async def test_logits_are_brought_between_zero_and_one_in_their_order(script: RerankScript) -> None:
    script.scale = 8.0
    ranked = await encoder(script).apply(a_context(policy=THREE), HITS)
    assert ids(ranked) == ["y", "z", "x", "rest"]
    expected = [1 / (1 + math.exp(-logit)) for logit in (8.0, 4.0, 2.0)]
    assert [one.score for one in ranked[:3]] == pytest.approx(expected)
    assert [one.scores["rerank.raw"] for one in ranked[:3]] == [8.0, 4.0, 2.0]


async def test_scores_too_large_to_be_told_apart_after_that_keep_their_order(
    script: RerankScript,
) -> None:
    script.scale = 400.0
    ranked = await encoder(script).apply(a_context(policy=THREE), HITS)
    assert ids(ranked) == ["y", "z", "x", "rest"]
    assert [one.score for one in ranked[:3]] == [1.0, 1.0, 1.0]


async def test_nothing_is_asked_about_no_candidates(script: RerankScript) -> None:
    assert await encoder(script).apply(a_context(), []) == []
    assert script.requests == []


TEI_FAULTS = {
    "not JSON": b"<html>",
    "not a list": b'{"results": []}',
    "one missing": b'[{"index": 0, "score": 0.5}]',
    "one twice": b'[{"index": 0, "score": 0.5}, {"index": 0, "score": 0.4}]',
    "out of range": b'[{"index": 0, "score": 0.5}, {"index": 2, "score": 0.4}]',
    "negative": b'[{"index": -1, "score": 0.5}, {"index": 0, "score": 0.4}]',
    "one too many": b'[{"index":0,"score":1},{"index":1,"score":1},{"index":2,"score":1}]',
    "NaN": b'[{"index": 0, "score": NaN}, {"index": 1, "score": 0.4}]',
    "infinite": b'[{"index": 0, "score": 1e999}, {"index": 1, "score": 0.4}]',
    "null": b'[{"index": 0, "score": null}, {"index": 1, "score": 0.4}]',
    "empty": b"",
}


@pytest.mark.parametrize("fault", TEI_FAULTS)
async def test_a_reply_that_is_not_one_score_each_is_refused(
    script: RerankScript, fault: str
) -> None:
    script.body = TEI_FAULTS[fault]
    with pytest.raises(ModelError, match="is no tei reply") as raised:
        await encoder(script).apply(a_context(), HITS[:2])
    assert not raised.value.retryable
    assert "rag.rerank.format" in raised.value.remedy


@pytest.mark.parametrize(
    "body",
    [b"[]", b'{"results": null}', b'{"results": [{"index": 1, "score": 1.0}]}', b'{"results": []}'],
)
async def test_so_is_one_of_the_other_kind(script: RerankScript, body: bytes) -> None:
    script.body = body
    with pytest.raises(ModelError, match="is no jina reply"):
        await encoder(script, "jina").apply(a_context(), HITS[:2])


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, ModelError), (413, ModelError), (302, ModelError), (500, ModelUnavailable),
     (503, ModelUnavailable)],
)  # fmt: skip
async def test_a_refusal_is_told_with_its_status_and_without_the_key(
    script: RerankScript, status: int, kind: type[ModelError]
) -> None:
    script.status = status
    with pytest.raises(ModelError, match=f"answers {status}") as raised:
        await encoder(script, api_key="s3cret").apply(a_context(), HITS[:2])
    assert type(raised.value) is kind
    assert "s3cret" not in f"{raised.value} {raised.value.remedy}"


async def test_a_reply_that_trickles_in_is_not_waited_for(script: RerankScript) -> None:
    script.trickle = 0.1
    with pytest.raises(ModelUnavailable, match=r"did not answer within 0\.3 s"):
        await encoder(script, timeout_s=0.3).apply(a_context("a?", policy=THREE), HITS)


async def test_a_late_reply_is_not_waited_for(script: RerankScript) -> None:
    script.late = 0.5
    with pytest.raises(ModelUnavailable, match=r"within 0\.05 s"):
        await encoder(script, timeout_s=0.05).apply(a_context(), HITS[:2])


async def test_nobody_answers() -> None:
    settings = RerankSettings(url="http://127.0.0.1:9/rerank")
    with pytest.raises(ModelUnavailable, match="no reranker answers at"):
        await CrossEncoder(settings).apply(a_context(), HITS[:2])


def test_an_address_that_is_none_is_refused_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError, match=r"rag\.rerank\.url"):
        load_settings(rag={"rerank": {"url": "localhost:8080/rerank"}})


def test_the_key_is_not_shown() -> None:
    assert "s3cret" not in repr(RerankSettings.model_validate({"api_key": "s3cret"}))
