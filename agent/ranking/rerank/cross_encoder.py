"""Reranking by a cross-encoder that is served over HTTP."""

from __future__ import annotations

import asyncio
import math
import ssl
from collections.abc import Sequence
from typing import Annotated, Any

import httpx
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from agent.ranking.rerank.ordering import NAME, STAGE, best_first, rescored
from agent.ranking.rerank.wording import said
from agent.ranking.strategy import RankingContext
from agent.sections import RerankSettings
from schemas.errors import ModelError, ModelUnavailable, SettingsError
from schemas.hits import Hit

Finite = Annotated[float, Field(allow_inf_nan=False)]
Index = Annotated[int, Field(ge=0, strict=True)]

RAW = f"{NAME}.raw"
SERVER_FAULT = 500


class TeiScore(BaseModel):
    """An item of the reply of text-embeddings-inference, which is a list."""

    index: Index
    score: Finite


class JinaScore(BaseModel):
    index: Index
    relevance_score: Finite


class JinaReply(BaseModel):
    """The reply of Jina, Cohere and vLLM."""

    results: list[JinaScore]


_TEI_REPLY = TypeAdapter(list[TeiScore])


class CrossEncoder:
    """Orders the first `rerank_candidate_limit` hits by the scores that the server at
    `rag.rerank.url` gives them; the others follow in the order they had.

    Servers answer either in 0..1 or with logits; those are brought to 0..1 by the logistic
    function, and what the server said is kept as `rerank.raw`. Raises ModelUnavailable where it
    does not answer, ModelError where its reply is not one score for each passage.
    """

    name = NAME
    stage = STAGE

    def __init__(self, settings: RerankSettings) -> None:
        if settings.url is None:
            raise SettingsError(
                "rag.rerank.url: None; the cross_encoder needs the address of a server, such as"
                " http://127.0.0.1:8080/rerank"
            )
        self._url = settings.url
        self._settings = settings

    def supports(self, context: RankingContext) -> bool:
        return context.policy.rerank_enabled

    async def apply(self, context: RankingContext, hits: Sequence[Hit]) -> Sequence[Hit]:
        limit = context.policy.rerank_candidate_limit
        candidates = hits[:limit]
        if not candidates:
            return hits
        reply = await self._post(context.wanted.question, [said(hit.passage) for hit in candidates])
        raw = self._scores(reply, len(candidates))
        scored = (
            rescored(hit, score, {"raw": given})
            for hit, score, given in zip(candidates, _in_unit(raw), raw, strict=True)
        )
        return [*best_first(scored, RAW), *hits[limit:]]

    async def _post(self, question: str, texts: list[str]) -> bytes:
        settings = self._settings
        key = settings.api_key
        headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
        try:
            # httpx limits each step of a request; a reply that trickles in would never end.
            async with (
                asyncio.timeout(settings.timeout_s),
                httpx.AsyncClient(
                    timeout=settings.timeout_s, trust_env=False, verify=await _trusted(self._url)
                ) as client,
            ):
                response = await client.post(
                    self._url, json=self._body(question, texts), headers=headers
                )
        except (TimeoutError, httpx.TimeoutException) as error:
            raise ModelUnavailable(
                f"the reranker at {self._url} did not answer within {settings.timeout_s:g} s",
                remedy="raise rag.rerank.timeout_s, or lower rag.filter.rerank_candidate_limit",
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ModelUnavailable(
                f"no reranker answers at {self._url}: {type(error).__name__}",
                remedy="start it, or correct rag.rerank.url",
            ) from error
        return self._accepted(response)

    def _accepted(self, response: httpx.Response) -> bytes:
        if response.is_success:
            return response.content
        message = f"the reranker at {self._url} answers {response.status_code}"
        if response.status_code >= SERVER_FAULT:
            raise ModelUnavailable(message, remedy="see what its server logs")
        raise ModelError(message, remedy="check url, format, model and api_key of rag.rerank")

    def _body(self, question: str, texts: list[str]) -> dict[str, Any]:
        if self._settings.format == "tei":
            return {"query": question, "texts": texts, "truncate": True}
        body = {"query": question, "documents": texts, "top_n": len(texts)}
        return {"model": self._settings.model, **body} if self._settings.model else body

    def _scores(self, reply: bytes, count: int) -> list[float]:
        """The scores in the order of the passages."""
        try:
            if self._settings.format == "tei":
                scores = [(one.index, one.score) for one in _TEI_REPLY.validate_json(reply)]
            else:
                results = JinaReply.model_validate_json(reply).results
                scores = [(one.index, one.relevance_score) for one in results]
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, fault["loc"])) or "reply"
            raise self._unusable(f"{where}: {fault['msg']}") from error
        if sorted(index for index, _ in scores) != list(range(count)):
            raise self._unusable(f"it scores {len(scores)} items for {count} passages")
        return [score for _, score in sorted(scores)]

    def _unusable(self, why: str) -> ModelError:
        return ModelError(
            f"the reply of the reranker at {self._url} is no {self._settings.format} reply: {why}",
            remedy="set rag.rerank.format to what its server speaks: tei or jina",
        )


async def _trusted(url: str) -> ssl.SSLContext:
    """The certificates that count, none for an http address: to load them takes 30 ms."""
    if url.startswith("https:"):
        return await asyncio.to_thread(httpx.create_ssl_context, trust_env=False)
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _in_unit(raw: Sequence[float]) -> list[float]:
    if all(0 <= score <= 1 for score in raw):
        return list(raw)
    return [(1 + math.tanh(score / 2)) / 2 for score in raw]
