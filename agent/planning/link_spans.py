"""Mentions of texts that no list of values knows: quoted, identifiers, times, names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from agent.planning.affinity import STRONG
from agent.planning.facets import FacetHit, is_asked
from agent.planning.priors import NAMES, ending, is_nobody, prior
from agent.planning.roles import before_noun, is_kind, is_maker, period_bonus, role_bonus
from agent.planning.scene import Found, Scene, ranked
from agent.planning.spans import Span, find_names, find_quoted, find_symbolic, find_times
from agent.planning.spans_zh import is_named_zh
from agent.planning.textual import textual_hint
from agent.planning.words import ENTITY_NOUNS, FUNCTION_WORDS, has_cjk, key, name_words, preceding
from schemas.mentions import Choice, MentionKind

NAME_RANK = 0.1
LONG_QUESTION = 20
"""Tokens from which on a question tells a story, in which most names are its subject."""
_VERBAL = re.compile(r"[a-z]+(?:ed|ing)")
_NAMED = 0.3
_BESIDE = 0.9
_QUOTED_RANK = 10.0
_CLOCKED = re.compile(r"\d{1,2}:\d\d")
_TIMELY = re.compile(r"time|hour|时间", re.IGNORECASE)
_PROSE = re.compile(
    r"\b(?:title|headline|subject|description|abstract|summary|content|text|details|body|notes?)\b|"
    r"标题|摘要|描述|内容|正文|特点|特色",
    re.IGNORECASE,
)
_NAME_GOES_ON = re.compile(r"\s*&?\s*[A-Z]\w+")
_FIRST_NAME = re.compile(r"\bfirst\s?name|\bF\s?Name|given\s?name|forename", re.IGNORECASE)
_LAST_NAME = re.compile(r"\blast\s?name|\bL\s?Name|surname|family\s?name", re.IGNORECASE)
_PREPOSED = re.compile(
    r"(?:\b(?:by|from|in|at|for|with|starring|named|called|titled|near|is|was|are|were|playing|"
    r"like|featuring|against|player|singer|artist|and|or|does|did|do)|[:=])\s+$",
    re.IGNORECASE,
)
_COMPOUND = re.compile(
    r"\s+(?!(?:and|or|but|in|on|at|by|for|from|to|with|of|is|are|was|were|that|which|who|as|than)\b)"
    r"(?P<noun>[a-z]+)"
)
_IN_CITY = re.compile(
    r"\b(?:in|to|from|at|near|around)\s+[\w'’-]+(?:\s+[\w'’-]+)?\s+$", re.IGNORECASE
)
_HEAD_ZH = re.compile(r"(?:有(?:哪|什么|多少|几)|吗|呢|是什么|都|[，。？！,?]|$)")
"""After what is looked for: 华为的工单 | 有哪些."""
_ADVERBIAL = re.compile(r"[a-z]+ly\b")
_GOVERNS = re.compile(r"of\b")
"""A word in lower case with something of its own is no value: "the administrations of …"."""
_ARTICLE = re.compile(r"\b(?:an?|some|any|the)\s+$", re.IGNORECASE)


def link_quoted(scene: Scene) -> Iterable[Found]:
    """Quoted texts: a known value where they are one, else a text of some field."""
    for span in find_quoted(scene.text):
        known = [
            Choice(field=entry.field, value=entry.value, score=score)
            for entry, score in scene.catalogue.values.entries(span.text)
            if entry.field in scene.allowed
        ]
        yield _found(scene, span, known, _QUOTED_RANK)


def link_symbolic(scene: Scene, found: Sequence[Found]) -> Iterable[Found]:
    """Identifiers that no known value, date or comparison explains, even in part."""
    plain = ("", "in")
    explained = [f for f in found if f.kind is not MentionKind.NUMBER or f.hint not in plain]
    for span in find_symbolic(scene.text):
        named_on = span.text[0].isupper() and _NAME_GOES_ON.match(scene.text, span.end)
        clear = all(f.apart(span.start, span.end) or _inside(f, span) for f in explained)
        timely = _CLOCKED.fullmatch(span.text) and any(_TIMELY.search(n) for n in scene.open)
        if clear and not named_on and not timely and not _names_field(scene, span):
            yield _found(scene, span, [], 1.0)


def link_times(scene: Scene) -> Iterable[Found]:
    """Times of day, on text fields about times."""
    for span in find_times(scene.text):
        near = scene.near(span.start, span.end)
        choices = ranked(
            Choice(
                field=name,
                value=span.text,
                score=_NAMED
                + near.get(name, 0.0)
                + period_bonus(scene.text, span.start, scene.catalogue.fields[name]),
            )
            for name in sorted(scene.open)
            if _TIMELY.search(name)
        )
        yield Found(MentionKind.SPAN, span.start, span.end, choices, rank=4.0)


def link_names(scene: Scene, found: Sequence[Found]) -> Iterable[Found]:
    """Names and other runs of words, where some field has values that nobody listed."""
    if all(scene.catalogue.fields[name].values for name in scene.open):
        return
    taken = [(f.start, f.end) for f in found]
    taken += [
        (hit.start, hit.end)
        for hit in scene.hits
        if hit.weight >= 0.4 and not _ends_name(scene.text, hit, found)
    ]
    spans = find_names(scene.text, taken)
    long = len(scene.question) > LONG_QUESTION
    marked = long or any(f.kind is MentionKind.SPAN for f in found) or any(map(_is_name, spans))
    for span in spans:
        near = scene.near(span.start, span.end)
        best = max((near.get(name, 0.0) for name in scene.open), default=0.0)
        role = max(_role(scene, span, name) for name in scene.open)
        if long and max(best, role) < _NAMED and not has_cjk(span.text):
            continue
        best = max(best, role) if has_cjk(span.text) else best
        if not _worth_asking(scene, span, best, marked):
            continue
        halves = _first_and_last(scene, span)
        yield from halves or (_found(scene, span, [], NAME_RANK),)


def _found(scene: Scene, span: Span, known: Sequence[Choice], rank: float) -> Found:
    near = scene.near(span.start, span.end)
    choices = tuple(known) or ranked(_choices(scene, span, near))
    sure = bool(known) and all(c.score > 0.8 and c.value != span.text for c in known)
    kind = MentionKind.VALUE if sure else MentionKind.SPAN
    named = max((near.get(choice.field, 0.0) for choice in known), default=1.0)
    whole = rank <= NAME_RANK or named < STRONG
    hint = "" if whole else textual_hint(scene.text, span)
    return Found(kind, span.start, span.end, choices, hint, rank)


def _choices(scene: Scene, span: Span, near: Mapping[str, float]) -> Iterable[Choice]:
    """Fields that may hold any text; titles and prose only where they are named or the text is
    quoted, and not the field that is asked for.
    """
    asked = {hit.field for hit in scene.hits if hit.asked and hit.weight >= 0.9}
    kinds = (
        not span.sure
        and before_noun(scene.text, span.end)
        and any(is_kind(name_words(name)) for name in scene.open)
    )
    for name, field in scene.catalogue.fields.items():
        closeness = near.get(name, 0.0)
        if kinds and NAMES.search(name):
            closeness = 0.0  # "an Adventure movie" names no movie
        if name not in scene.open or (closeness < _NAMED and not span.sure and name in asked):
            continue
        if (
            closeness < STRONG
            and not is_maker(scene.text, span.end)
            and is_nobody(scene, field, span)
        ):
            continue
        score = closeness + prior(field, span) + ending(scene, span, name)
        score += role_bonus(scene.text, span.start, span.end, field)
        closed = bool(field.values) or _PROSE.search(name_words(field.name)) is not None
        if score > 0 and (span.sure or not closed or closeness >= _NAMED):
            yield Choice(field=name, value=span.text, score=score)


def _first_and_last(scene: Scene, span: Span) -> tuple[Found, ...]:
    """A person's name over a field for the first and one for the last name."""
    words = span.text.split()
    ends = [
        sorted(f for f in scene.open if pattern.search(name_words(f)))
        for pattern in (_FIRST_NAME, _LAST_NAME)
    ]
    if len(words) != 2 or not all(w[:1].isupper() for w in words) or not all(ends):
        return ()
    places = (span.start, span.start + len(words[0])), (span.end - len(words[1]), span.end)
    return tuple(
        Found(
            MentionKind.SPAN,
            start,
            end,
            tuple(Choice(field=f, value=scene.text[start:end]) for f in fields),
            rank=NAME_RANK,
        )
        for (start, end), fields in zip(places, ends, strict=True)
    )


def _names_field(scene: Scene, span: Span) -> bool:
    """A part of a field's name: the 5-17 of `Count (Ages 5-17)`."""
    return any(span.text.casefold() in name.casefold() for name in scene.allowed)


def _inside(found: Found, span: Span) -> bool:
    """A number that is only a part of an identifier: 37–21–12."""
    within = span.start <= found.start and found.end <= span.end
    return found.kind is MentionKind.NUMBER and within and found.end - found.start < len(span.text)


def _ends_name(text: str, hit: FacetHit, found: Sequence[Found]) -> bool:
    """A field's word that ends a name: Mexico City, Swedish People's Party; what stands before
    it is no value by itself.
    """
    if text[hit.start : hit.end] == "city" and _IN_CITY.search(preceding(text, hit.start)):
        return True
    if not text[hit.start].isupper():
        return False
    before = re.search(r"([A-Z][\w'’-]*)\s+$", preceding(text, hit.start))
    if before is None or key(before.group(1)) in FUNCTION_WORDS:
        return False
    if not all(f.apart(before.start(1), before.end(1)) for f in found):
        return False
    return not (before.start() == 0 or preceding(text, before.start()).rstrip()[-1:] in ".?!")


def _role(scene: Scene, span: Span, name: str) -> float:
    """How much the words beside a span speak for a field."""
    return role_bonus(scene.text, span.start, span.end, scene.catalogue.fields[name])


def _is_name(span: Span) -> bool:
    return any(word[:1].isupper() for word in span.text.split())


def _worth_asking(scene: Scene, span: Span, best: float, marked: bool) -> bool:
    """Names; or words in lower case in the reach of a field or a preposition. `best` is how
    closely the span stands to a field that could hold it; where names are `marked` by capitals
    or quotes, other words count only right beside their field.
    """
    text = scene.text
    if has_cjk(span.text):
        if _HEAD_ZH.match(text, span.end) and text[: span.start].endswith("的"):
            return False
        return best >= _NAMED or is_named_zh(text, span.start, span.end)
    several, before = " " in span.text, preceding(text, span.start)
    after = text[span.end :].strip(' "')
    if _is_name(span):
        return several or bool(before.strip())
    if (
        (is_asked(text, span.start) and not before.endswith(" for "))
        or _VERBAL.fullmatch(span.text)
        or _GOVERNS.match(after)
    ):
        return False
    if is_maker(text, span.end) and several:
        return True
    if (_ADVERBIAL.match(span.text) and best < _BESIDE) or after.startswith("order"):
        return False
    if not several and _begins_noun(scene, span.end) and not _PREPOSED.search(before):
        return False
    if best >= (_BESIDE if marked else STRONG) or _describes(before, after):
        return True
    if marked or not _PREPOSED.search(before):
        return several and len(text.split()) <= 5
    return several or not after or after[0] in "?.,!" or after.startswith(("and ", "or "))


def _begins_noun(scene: Scene, end: int) -> bool:
    """A word in lower case that another one follows: "ownership code", but not "math course",
    nor the name of a field: "romance genre".
    """
    after = _COMPOUND.match(scene.text, end)
    if after is None or key(after["noun"]) in ENTITY_NOUNS:
        return False
    return all(hit.start != after.start("noun") or hit.weight < _NAMED for hit in scene.hits)


def _describes(before: str, after: str) -> bool:
    """An adjective before a noun for what is looked for: "a drama movie"."""
    noun = after.strip().partition(" ")[0].strip(".,?!")
    return key(noun) in ENTITY_NOUNS and bool(_ARTICLE.search(before) or _PREPOSED.search(before))
