"""What the words beside a name say of its field."""

from __future__ import annotations

import pytest

from agent.planning.roles import period_bonus, role_bonus
from schemas.collection import Field, FieldType


def best(text: str, words: str, *names: str) -> str | None:
    """The field that the words beside speak for most; None where they speak for none."""
    start = text.index(words)
    scores = {
        name: role_bonus(text, start, start + len(words), Field(name=name, type=FieldType.STRING))
        for name in names
    }
    name, score = max(scores.items(), key=lambda item: item[1])
    return name if score > 0 else None


@pytest.mark.parametrize(
    ("text", "words", "names", "expected"),
    [
        ("a film by Ana Roy", "Ana Roy", ("title", "director", "city"), "director"),
        ("an Ana Roy film", "Ana Roy", ("title", "genre", "director"), "director"),
        ("papers that Ana Roy did not write", "Ana Roy", ("venue", "authors"), "authors"),
        ("Cantonese restaurants", "Cantonese", ("restaurant_name", "cuisine"), "cuisine"),
        ("a place that serves Barbecue", "Barbecue", ("name", "category"), "category"),
        ("parsing papers", "parsing", ("authors", "keyphrases"), "keyphrases"),
        ("flights to Oslo", "Oslo", ("origin_city", "destination_city"), "destination_city"),
        ("flights that land in Oslo", "Oslo", ("source_city", "dest_city"), "dest_city"),
        ("a vacation to Oslo", "Oslo", ("venue_name", "city_of_event"), "city_of_event"),
        ("leaving from Oslo", "Oslo", ("origin_airport", "origin_city"), "origin_city"),
        ("a room in Oslo", "Oslo", ("address", "city", "title"), "city"),
        ("which code corresponds to Jetwing", "Jetwing", ("country", "title"), None),
        ("the language for Canale Sei", "Canale Sei", ("country", "service"), None),
    ],
)
def test_a_name_goes_where_its_neighbours_point(
    text: str, words: str, names: tuple[str, ...], expected: str | None
) -> None:
    assert best(text, words, *names) == expected


@pytest.mark.parametrize(
    ("text", "day", "expected"),
    [
        ("I need it from May 1", "May 1", "pickup_date"),
        ("until May 4", "May 4", "dropoff_date"),
        ("I return it on May 4", "May 4", "dropoff_date"),
        ("on May 1, please", "May 1", "pickup_date"),
    ],
)
def test_a_day_is_a_beginning_unless_an_end_is_spoken_of(
    text: str, day: str, expected: str
) -> None:
    fields = [Field(name=name, type=FieldType.DATE) for name in ("pickup_date", "dropoff_date")]
    assert max(fields, key=lambda f: period_bonus(text, text.index(day), f)).name == expected


def test_births_count_only_where_they_are_spoken_of() -> None:
    birth = Field(name="birth_date", type=FieldType.DATE)
    assert period_bonus("players rated above 80 from 2008", 28, birth) < 0
    assert period_bonus("players born in 1998", 16, birth) == 0
