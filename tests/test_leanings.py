"""Names that no field's word stands beside: kinds, people, places, counts, and their echoes."""

from __future__ import annotations

import pytest

from agent.planning.echoes import is_of_a_people, looks
from schemas.collection import Collection, Field, FieldType
from tests.planning_cases import link


def text(name: str, description: str = "", *values: str) -> Field:
    return Field(name=name, type=FieldType.STRING, description=description, values=values)


MOVIES = Collection(
    name="movies",
    fields=(
        text("movie_name", "Name of the movie"),
        text("genre", "Genre of the movie"),
        text("director", "Director of the movie"),
        text("actors", "Actors in the movie"),
    ),
)
SONGS = Collection(
    name="songs",
    fields=(
        text("song_name", "Name of the song"),
        text("artist", "Artist who performed the song"),
        text("genre", "Genre of the song"),
    ),
)
DINERS = Collection(
    name="diners",
    fields=(
        text("restaurant_name", "Name of the restaurant"),
        text("location", "City"),
        text("category", "Cuisine"),
        text("has_vegetarian_options", "", "True", "False"),
        text("number_of_seats", "Seats to reserve", "1", "2", "3", "4"),
    ),
)
HOTELS = Collection(
    name="hotels",
    fields=(
        text("hotel_name", "Name of the hotel"),
        text("destination", "City"),
        text("number_of_rooms", "Rooms to reserve", "1", "2", "3"),
        text("free_parking", "Whether parking costs nothing", "True", "False"),
    ),
)


def first(question: str, collection: Collection, *history: str) -> list[tuple[str, str]]:
    """The mentions of the question with the field that is offered first."""
    return [
        (mention.words, mention.choices[0].field)
        for mention in link(question, collection, history=history)
        if mention.turn == 0
    ]


@pytest.mark.parametrize(
    ("question", "collection", "expected"),
    [
        ("Can you find a drama film for me?", MOVIES, [("drama", "genre")]),
        ("I like mystery movies.", MOVIES, [("mystery", "genre")]),
        ("Find me a comedy.", MOVIES, [("comedy", "genre")]),
        ("A love story, please.", MOVIES, [("love story", "genre")]),
        ("How about fantasy?", MOVIES, [("fantasy", "genre")]),
        ("I love science fiction", MOVIES, [("science fiction", "genre")]),
        ("any country songs?", SONGS, [("country", "genre")]),
        ("find me some pop", SONGS, [("pop", "genre")]),
        ("breakfast & brunch.", DINERS, [("breakfast & brunch", "category")]),
        ("other movies please", MOVIES, []),
        ("find me a movie", MOVIES, []),
        ("thanks a lot", MOVIES, []),
        ("find me a table", DINERS, []),
    ],
)
def test_kinds(question: str, collection: Collection, expected: list[tuple[str, str]]) -> None:
    assert first(question, collection) == expected


@pytest.mark.parametrize(
    ("question", "collection", "expected"),
    [
        (
            "by Grace Roy with Ada Byron",
            MOVIES,
            [("Grace Roy", "director"), ("Ada Byron", "actors")],
        ),
        (
            "starred by Ada Byron and directed by Grace Roy",
            MOVIES,
            [("Ada Byron", "actors"), ("Grace Roy", "director")],
        ),
        ("I really like Ada Byron.", SONGS, [("Ada Byron", "artist")]),
        ("I want to visit Rome", HOTELS, [("Rome", "destination")]),
        ("a hotel in Leeds", HOTELS, [("Leeds", "destination")]),
        ("Boston would be great.", DINERS, [("Boston", "location")]),
        ("In San Ramon", DINERS, [("San Ramon", "location")]),
        ("San Ramon then.", DINERS, [("San Ramon", "location")]),
        ("Boston", DINERS, [("Boston", "location")]),
        ("Sure, Chinese sounds good.", DINERS, [("Chinese", "category")]),
        ("3 hotel rooms", HOTELS, [("3", "number_of_rooms")]),
        ("three hotel rooms", HOTELS, [("three", "number_of_rooms")]),
        ("2", HOTELS, [("2", "number_of_rooms")]),
        ("a table for 2 at noon", DINERS, [("2", "number_of_seats")]),
    ],
)
def test_people_places_and_counts(
    question: str, collection: Collection, expected: list[tuple[str, str]]
) -> None:
    assert first(question, collection)[: len(expected)] == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("no entrance fee please", ["free_parking"]),
        ("without paying", ["free_parking"]),
        ("somewhere you don't have to pay", ["free_parking"]),
        ("free of charge", ["free_parking"]),
        ("without a pool", []),
    ],
)
def test_what_costs_nothing(question: str, expected: list[str]) -> None:
    assert [field for _, field in first(question, HOTELS) if field == "free_parking"] == expected


def test_other_options_are_no_condition() -> None:
    assert first("do you have other options?", DINERS) == []
    assert first("vegetarian options", DINERS) == [("vegetarian", "has_vegetarian_options")]


@pytest.mark.parametrize(
    ("history", "question", "expected"),
    [
        ("an Italian restaurant in San Jose", "Actually, make it Oakland", ("Oakland", "location")),
        ("an Italian restaurant in San Jose", "What about Mexican?", ("Mexican", "category")),
    ],
)
def test_a_name_takes_the_place_of_one_like_it(
    history: str, question: str, expected: tuple[str, str]
) -> None:
    assert first(question, DINERS, history) == [expected]


def test_an_artist_takes_the_place_of_an_artist() -> None:
    assert first("What about Drake?", SONGS, "songs by Adele") == [("Drake", "artist")]
    assert first("What about Drake?", SONGS) == [("Drake", "song_name")]


def test_looks() -> None:
    assert looks("Italian") == looks("Chinese") != looks("Oakland")
    assert looks("rock") != looks("Rock")
    assert is_of_a_people("Spanish")
    assert not is_of_a_people("Boston")
