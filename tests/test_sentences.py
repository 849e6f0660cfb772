"""What an extractive answer may quote."""

from __future__ import annotations

import pytest

from agent.models.extractive import ExtractiveWriter
from agent.models.sentences import sentences
from tests.conftest import passage


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One rule is here. Two rules are there.", ("One rule is here.", "Two rules are there.")),
        ("补贴为每天52欧元。票据须按时提交！", ("补贴为每天52欧元。", "票据须按时提交！")),
        ("## A heading\n\nThe text under it stays.", ("The text under it stays.",)),
        ("A heading too\n=============\n\nThe text under it stays.", ("The text under it stays.",)),
        ("A line that is\nbroken in two parts.", ("A line that is broken in two parts.",)),
        ("这一行被\n分成了两行。", ("这一行被分成了两行。",)),
        (
            "- first item of a list\n- one more item too",
            ("first item of a list", "one more item too"),
        ),
        ("```\ncode(); not().a(sentence)\n```\nThis is a sentence.", ("This is a sentence.",)),
        (
            "| What | Limit |\n|---|---|\n| Hotel | 130 EUR a night |",
            ("Hotel 130 EUR a night",),
        ),
        (
            "An example follows here::\n\n    def code(x):\n        return x\n\nThen text goes on.",
            ("An example follows here:", "Then text goes on."),
        ),
        (
            ".. note:: spec\n   This is markup.\n\nThe text goes on here.",
            ("The text goes on here.",),
        ),
        ("See :pep:`484` and `the docs <x_>`_ for it.", ("See 484 and the docs for it.",)),
        ("if typing.TYPE_CHECKING == x: call(a)(b)", ()),
        ("Version 2.3 needs 8 GB of memory.", ("Version 2.3 needs 8 GB of memory.",)),
        ("Ok.", ()),
        ("", ()),
    ],
)
def test_sentences(text: str, expected: tuple[str, ...]) -> None:
    assert sentences(text) == expected


class LetterEmbedder:
    """Texts are near where they share letters."""

    async def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[float(text.lower().count(chr(97 + i))) for i in range(26)] for text in texts]

    async def embed_query(self, text: str) -> list[float]:
        return (await self.embed_documents([text]))[0]


async def written(question: str, *texts: str, limit: int = 2) -> str:
    writer = ExtractiveWriter(LetterEmbedder(), limit=limit)  # type: ignore[arg-type] # list is enough
    passages = [passage(number, text) for number, text in enumerate(texts, start=1)]
    return "".join([piece async for piece in writer.write(question, passages, ())])


async def test_the_sentence_that_answers_is_quoted_with_the_marker_of_its_passage() -> None:
    text = await written(
        "What is the per diem for travel?",
        "Laptops are collected on the first day. The badge is printed there too.",
        "The per diem for travel is 52 EUR. Zebras graze quietly.",
        limit=1,
    )
    assert text == "The per diem for travel is 52 EUR. [2]"


async def test_the_same_sentence_in_two_passages_is_said_once() -> None:
    said = "The per diem for travel is 52 EUR."
    assert await written("per diem for travel", said, said) == f"{said} [1]"


async def test_a_passage_without_sentences_is_quoted_as_it_is() -> None:
    assert await written("anything", "x = 1\ny = 2", limit=1) in ("x = 1 y = 2 [1]",)
