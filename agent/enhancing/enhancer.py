"""Keywords, translations, tags and names of a question."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Iterator

from agent.enhancing.asking import LONGEST_TEXT, Reply, Wish, failed, messages, read, reply_schema
from agent.enhancing.kept import Kept
from agent.enhancing.names import names
from agent.enhancing.scripts import is_in
from agent.enhancing.vocabulary import Vocabulary
from agent.enhancing.words import keywords
from graph.ports import Chat, Worded
from schemas.collection import Collection, Field, FieldType
from schemas.enhanced import Enhanced, Enhancing
from schemas.errors import ModelError, ModelOutputCut, RuntimeUnavailable
from schemas.folding import fold
from schemas.mentions import Mention, MentionKind

ENTITIES = "entities"
_TAGS = ("tags", "标签")
_TEXT = (FieldType.STRING_LIST, FieldType.STRING)
_VOCABULARIES = 16


class QuestionEnhancer:
    """Implements graph.ports.Enhancer. Results are kept by question, collection version and what
    was wanted; those of a call that failed are not.
    """

    def __init__(self, chat: Chat, *, tag_field: str = "tags", size: int = 256) -> None:
        self._chat = chat
        self._tag_fields = frozenset(fold(name) for name in (tag_field, *_TAGS))
        self._results: Kept[Enhanced] = Kept(size)
        self._vocabularies: Kept[Vocabulary] = Kept(_VOCABULARIES)

    async def enhance(self, worded: Worded, collection: Collection, wanted: Enhancing) -> Enhanced:
        """A model that fails costs its part, never the search: what failed is among `problems`."""
        labels = await self._tags(worded, collection) if wanted.tags else ()
        asked = (self._chat.name, worded.question, worded.query, labels)
        key = (*asked, collection.name, collection.version, wanted)
        found = self._results.get(key)
        if found is not None:
            return found.model_copy(update={"model_calls": 0})
        reply, calls = await self._asked(_wish(worded, wanted), wanted.timeout_s)
        cut = keywords(worded.query) if wanted.keywords else ()
        made = Enhanced(
            keywords=reply.keywords or cut,
            translations=reply.translations,
            tags=labels,
            entities=await self._entities(worded.question, collection) if wanted.use_kg else (),
            problems=reply.problems,
            model_calls=calls,
        )
        if collection.version and not made.problems:
            self._results.put(key, made)
        return made

    async def _asked(self, wish: Wish, timeout_s: float) -> tuple[Reply, int]:
        """What the model says, and how many requests it took."""
        if not wish.anything:
            return Reply(), 0
        if len(wish.text) > LONGEST_TEXT:
            why = f"the search text has {len(wish.text)} characters, at most {LONGEST_TEXT} are"
            return Reply(problems=(failed(f"{why} put to the model"),)), 0
        try:
            async with asyncio.timeout(timeout_s):
                completion = await self._chat.complete(messages(wish), reply_schema(wish))
        except TimeoutError:
            return Reply(problems=(failed(f"the model took more than {timeout_s:g} s"),)), 1
        except ModelOutputCut as error:
            return Reply(problems=(failed(str(error)),)), error.calls
        except (ModelError, RuntimeUnavailable) as error:
            return Reply(problems=(failed(str(error)),)), 0
        return read(completion.text, wish), completion.calls

    async def _tags(self, worded: Worded, collection: Collection) -> tuple[str, ...]:
        """Visible tags that the question names, by their own words or by those that planning
        knows for them.
        """
        fields = [
            field
            for field in collection.fields
            if fold(field.name) in self._tag_fields and field.type in _TEXT
        ]
        found: dict[str, None] = {}
        for field in fields:
            vocabulary = await self._vocabulary(field)
            found |= dict.fromkeys(vocabulary.named_in(worded.question))
            linked = _linked(worded.mentions, field.name)
            found |= dict.fromkeys(value for value in linked if value in vocabulary.values)
        return tuple(found)

    async def _entities(self, question: str, collection: Collection) -> tuple[str, ...]:
        """Names that the collection has. One it does not list counts only where its profile does
        not say that all are listed.
        """
        field = next((f for f in collection.fields if fold(f.name) == ENTITIES), None)
        if field is None or field.type not in _TEXT:
            return ()
        vocabulary = await self._vocabulary(field)
        found = dict.fromkeys(vocabulary.named_in(question))
        complete = field.profile is not None and field.profile.complete
        for name in names(question):
            if any(fold(name) in fold(value) for value in found):
                continue
            values = vocabulary.partly(name)
            found |= dict.fromkeys(values or (() if complete else (name,)))
        return tuple(found)

    async def _vocabulary(self, field: Field) -> Vocabulary:
        synonyms = tuple((value, tuple(words)) for value, words in field.synonyms.items())
        key: Hashable = (field.values, synonyms)
        known = self._vocabularies.get(key)
        if known is None:
            known = await asyncio.to_thread(Vocabulary, field)
            self._vocabularies.put(key, known)
        return known


def _wish(worded: Worded, wanted: Enhancing) -> Wish:
    """Languages in which the text is already are not asked for."""
    text = worded.query.strip()
    languages = dict.fromkeys(code for code in wanted.cross_languages if not is_in(text, code))
    return Wish(
        text=text,
        keywords=bool(text) and wanted.keywords and wanted.keywords_from == "model",
        languages=tuple(languages) if text else (),
    )


def _linked(mentions: tuple[Mention, ...], field: str) -> Iterator[str]:
    """Values of a field that planning found in the question and that it does not deny."""
    for mention in mentions:
        if mention.kind is MentionKind.VALUE and not mention.turn and not mention.hint:
            for choice in mention.choices:
                if choice.field == field and isinstance(choice.value, str):
                    yield choice.value
