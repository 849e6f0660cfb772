"""What is added to a question before the search, and what of it is wanted."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field

from schemas.model import Shape
from schemas.plan import Problem

LanguageCode = Literal["en", "zh", "de", "fr", "es", "it", "pt", "nl", "pl", "ru", "ja", "ko"]
"""ISO 639-1."""

LANGUAGES: tuple[LanguageCode, ...] = get_args(LanguageCode)

KeywordSource = Literal["words", "model"]


class Enhancements(Shape):
    """Single switches for one call; what is not given stays as it is set."""

    keywords: bool | None = None
    keywords_from: KeywordSource | None = None
    cross_languages: tuple[LanguageCode, ...] | None = None
    tags: bool | None = None
    use_kg: bool | None = None


class Enhancing(Shape):
    """Which additions are made. Only translations, and keywords from the model, cost a call."""

    keywords: bool = Field(False, description="the words that carry the question's meaning")
    keywords_from: KeywordSource = Field(
        "words", description="words: cut out by rule; model: chosen by the chat model"
    )
    cross_languages: tuple[LanguageCode, ...] = Field(
        (), description="languages that the search text is also put into for full text search"
    )
    tags: bool = Field(True, description="tags of the knowledge base that the question names")
    use_kg: bool = Field(False, description="names in the question, for passages with `entities`")
    timeout_s: float = Field(
        30.0, gt=0, description="longest wait for the model; then the search goes on without it"
    )

    @property
    def asks_model(self) -> bool:
        return bool(self.cross_languages) or (self.keywords and self.keywords_from == "model")

    @property
    def anything(self) -> bool:
        return self.asks_model or self.keywords or self.tags or self.use_kg

    def overridden(self, by: Enhancements | None) -> Enhancing:
        """These, with what one call says otherwise."""
        given = {} if by is None else by.model_dump(exclude_none=True)
        return self.model_copy(update=given)


class Enhanced(Shape):
    """What was found: `keywords` are words of the question, `translations` its search text in
    other languages, `tags` and `entities` values as the knowledge base writes them (a name that
    it does not list is kept where not all of its names are listed). `problems` are the parts
    that failed and were left out; `model_calls` is how many requests it took.
    """

    keywords: tuple[str, ...] = ()
    translations: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    model_calls: int = 0

    @property
    def terms(self) -> str:
        """The further words for full text search."""
        return " ".join((*self.keywords, *self.translations))
