"""Words in lower case that say which kind of a thing is wanted: "a drama film"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from agent.planning.echoes import is_of_a_people
from agent.planning.link_spans import NAME_RANK
from agent.planning.roles import is_kind
from agent.planning.scene import Found, Scene
from agent.planning.smalltalk import is_small_talk
from agent.planning.tables import listed
from agent.planning.topics import kind_of
from agent.planning.words import ENTITY_NOUNS, FUNCTION_WORDS, key, name_words
from schemas.mentions import Choice, MentionKind

_KIND_SCORE, _ALONE = 0.5, 0.28
_BEFORE_NOUN = re.compile(
    r"(?:^|[.?!,]\s+|\b(?:an?|some|any|the|other|more|another|like|love|prefer|enjoy|find|for|want|"
    r"watch|in|of|me|are|what|which)\s+(?:(?:good|nice|great|interesting)\s+)?|[A-Z]\w+\s+(?=[a-z]))"
    r"(?!(?:any|some|the|an|other|more|another|find|are|what|which)\b)"
    r"(?P<kind>[A-Za-z][a-z]+(?:-[a-z]+)?)\s+(?P<noun>[A-Za-z]+)\b"
)
_ENJOYED = re.compile(
    r"(?i:\b(?:watch|hear|listen\s+to|play|eat|rent|(?:look(?:ing)?|search(?:ing)?)\s+for|mood\s+for|"
    r"(?:how|what)\s+about|(?:like|prefer|want)(?=\s+[a-z]+\s+instead)|"
    r"(?:find|get|show)(?:\s+me)?\s+some|something\s+(?:with|like))\s+(?:an?\s+|some\s+)?)"
    r"(?P<kind>[a-z]+(?:-[a-z]+)?)(?<!s)(?=\s*(?:instead|[.,!?]|$))"
)
_GRAMMAR = FUNCTION_WORDS | ENTITY_NOUNS
_PLACE = re.compile(
    r"\b(?:city|town|destination|location|place|area|region|country)\b|城市|目的地", re.IGNORECASE
)
_TITLE = re.compile(r"\b(?:name|title|address|origin|from|pickup)\b|名", re.IGNORECASE)
_VAGUE = frozenset(
    listed("""
    alternative different nearby similar whole entire new old free cheap local single single-way
    couple few certain particular possible suitable decent next previous name
    outside inside together lunch dinner out tonight
    """)
)
_FRAGMENT = re.compile(
    r"\W*(?:(?:ok(?:ay)?|yes|no|maybe|perhaps|an?|some|the)\W+)*(?P<kind>.+?)\W*(?:(?:please|thanks|then|instead)\W*)*",
    re.IGNORECASE | re.DOTALL,
)
_PLAIN = re.compile(r"[A-Za-z][a-z]{3,}(?:-[a-z]+)?|[A-Z][a-z]+(?:\s[A-Z][a-z]+)+")
_AGREED = re.compile(
    r"(?:^|[.!?,]\s+)(?P<kind>[A-Z][\w'’-]+(?:\s[A-Z][\w'’-]+)*|(?<=,\s)[a-z]{4,})\s+"
    r"(?:(?:would|will|might)\s+(?:be|do)|sounds?|seems?|looks?|works?|is|are)\b(?:\s+(?:really|very|pretty|just|also))?"
    r"\s*(?:great|good|fine|nice|perfect|ideal|lovely|ok(?:ay)?|better|best|for\s+me)?\s*(?=[.,!?]|$)"
)
_PLAYED = re.compile(
    r"(?i:\b(?:(?:find|get|show)(?:\s+me)?\s+an?|(?:something|anything)(?:\s+more)?)\s+)"
    r"(?P<kind>[a-z]{3,}(?:-[a-z]+)?)(?<!s)(?<!er)(?=\s*(?:[.,!?]|$))"
)
_MEDIA = frozenset(map(kind_of, ("movie", "song", "sitcom")))


def link_kinds(scene: Scene, found: Sequence[Found], own: int | None) -> Iterable[Found]:
    """A word right before what the collection is about (`own`), or all that a turn says."""
    kinds = [name for name in sorted(scene.open) if is_kind(name_words(name))]
    if own is None:
        return
    yield from _alone(scene, found, kinds)
    matches = [
        match
        for match in _BEFORE_NOUN.finditer(scene.text)
        if kind_of(match["noun"]) == own or match["noun"] == "music"
    ]
    matches += _ENJOYED.finditer(scene.text)
    matches += _PLAYED.finditer(scene.text) if own in _MEDIA else ()
    for match in matches if kinds else ():
        start, end = match.span("kind")
        sung = match["kind"] == "country" and "noun" in match.groupdict()
        if _is_free(scene, found, start, end) or sung:
            yield _found(scene, start, end, [(kind, _KIND_SCORE) for kind in kinds])


def _alone(scene: Scene, found: Sequence[Found], kinds: Sequence[str]) -> Iterable[Found]:
    """A name that is all a turn says, or that it agrees to: "Boston", "Chinese sounds good". It
    is a place where it has a capital, else a kind.
    """
    places = [name for name in sorted(scene.open) if is_place(name_words(name))]
    whole = None if is_small_talk(scene.text) else _FRAGMENT.fullmatch(scene.text)
    alone = whole is not None and _PLAIN.fullmatch(whole["kind"])
    for match in (*([whole] if alone and whole else []), *_AGREED.finditer(scene.text)):
        start, end = match.span("kind")
        words = match["kind"]
        if not _is_free(scene, found, start, end) or key(words.split()[0]) in FUNCTION_WORDS:
            continue
        named = words[0].isupper() and not is_of_a_people(words)
        first, second = (places, kinds) if named else (kinds, [])
        fields = [(name, _ALONE) for name in first] + [(name, _ALONE / 2) for name in second]
        if fields:
            yield _found(scene, start, end, fields)


def _is_free(scene: Scene, found: Sequence[Found], start: int, end: int) -> bool:
    """Whether words are neither grammar nor the name of a field, nor read already."""
    words = scene.text[start:end]
    if words.lower() in _VAGUE or all(key(word) in _GRAMMAR for word in words.split()):
        return False
    named = any(hit.start < end and start < hit.end for hit in scene.hits)
    return not named and all(one.apart(start, end) for one in found)


def _found(scene: Scene, start: int, end: int, fields: Sequence[tuple[str, float]]) -> Found:
    words = scene.text[start:end]
    choices = tuple(Choice(field=name, value=words, score=score) for name, score in fields)
    return Found(MentionKind.SPAN, start, end, choices, rank=NAME_RANK)


def is_place(name: str) -> bool:
    """Whether a field's name, as words, is about where something is; a place's name is not."""
    return _PLACE.search(name) is not None and _TITLE.search(name) is None


def is_all(text: str, words: str) -> bool:
    """Whether a turn says nothing else: "breakfast & brunch.", "A love story, please."."""
    whole = _FRAGMENT.fullmatch(text)
    return whole is not None and whole["kind"].strip(" ,") == words
