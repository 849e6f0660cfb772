"""General words in one language find values and fields in the other."""

from __future__ import annotations

import pytest

from schemas.collection import Collection, Field, FieldType
from tests.planning_cases import link

SHOP = Collection(
    name="shop",
    version="1",
    fields=(
        Field(name="category", type=FieldType.STRING, values=("smartwatch", "tablet", "camera")),
        Field(name="colour", type=FieldType.STRING, values=("black", "silver")),
        Field(name="waterproof", type=FieldType.BOOL),
        Field(name="in_stock", type=FieldType.BOOL),
        Field(name="owner", type=FieldType.STRING, values=("Ada", "Grace", "Alan")),
    ),
)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("防水的手表", {"防水": "waterproof", "手表": "category"}),
        ("黑色的平板电脑", {"黑色": "colour", "平板电脑": "category"}),
        ("有现货的相机", {"现货": "in_stock", "相机": "category"}),
        ("silver smart watches", {"silver": "colour", "smart watches": "category"}),
    ],
)
def test_a_general_word_is_known_in_either_language(question: str, found: dict[str, str]) -> None:
    assert {m.words: m.choices[0].field for m in link(question, SHOP)} == found
