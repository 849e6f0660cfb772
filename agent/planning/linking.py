"""From the text of one turn to mentions: what may carry a condition, and on which fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pydantic import JsonValue
from schemas.collection import Collection, Field, FieldType
from schemas.mentions import Choice, Mention, MentionKind

from agent.planning.affinity import STRONG, affinity
from agent.planning.cues import (
    Direction,
    may_compare,
    may_direct,
    negated,
    negations,
    preferred,
)
from agent.planning.dated import Calendar, Dated
from agent.planning.dates import find_dates
from agent.planning.facets import FacetHit, FacetIndex, is_asked, is_boolean
from agent.planning.numbers import Number, find_numbers
from agent.planning.presence import find_presence
from agent.planning.spans import Span, find_names, find_quoted, find_symbolic, find_times
from agent.planning.uses import CERTAIN, MAYBE_NOT, NOT, SOFT
from agent.planning.values import Match, ValueIndex, is_free_text
from agent.planning.words import ENTITY_NOUNS, FUNCTION_WORDS, Token, has_cjk, key, name_words, tokens

MOST_CHOICES = 8
MOST_MENTIONS = 12
MOST_NAMES = 3
_NAME_RANK = 0.1
_ANCHORED = 0.3
_DATES = (FieldType.DATE, FieldType.DATETIME)
_NUMBERS = (FieldType.INT, FieldType.NUMBER, FieldType.INT_LIST)
_TEXTS = (FieldType.STRING, FieldType.STRING_LIST)
_YEARLY = re.compile(r"year|yr|年", re.IGNORECASE)
_DAILY = re.compile(r"date|day|birth|when|日|时间|airdate|aired", re.IGNORECASE)
_OPEN_VALUES = 2


@dataclass(frozen=True)
class Found:
    """A mention in the making; `rank` orders what competes for the same words."""

    kind: MentionKind
    start: int
    end: int
    choices: tuple[Choice, ...]
    hint: str = ""
    rank: float = 0.0


class Linker:
    """Finds the mentions of one collection in texts; built once per version of it."""

    def __init__(self, collection: Collection) -> None:
        self._fields = {field.name: field for field in collection.fields}
        self._facets = FacetIndex(collection)
        self._values = ValueIndex(collection)
        self._open = frozenset(
            field.name
            for field in collection.fields
            if field.type in _TEXTS
            and not is_boolean(field)
            and (not field.values or is_free_text(field))
        )

    def link(
        self, text: str, calendar: Calendar, allowed: frozenset[str], turn: int = 0
    ) -> tuple[Mention, ...]:
        """Mentions from left to right; `allowed` are the fields that may carry conditions."""
        question = tokens(text)
        hits = tuple(hit for hit in self._facets.find(text, question) if hit.field in allowed)
        scene = _Scene(text, question, hits, allowed)
        found = _settled(
            [
                *self._quoted(scene),
                *self._dates(scene, calendar),
                *self._numbers(scene),
                *self._known(scene),
                *self._presence(scene),
            ]
        )
        found = _settled([*found, *self._symbolic(scene, found)])
        found = _settled([*found, *self._clock(scene)])
        found = _settled([*found, *self._booleans(scene, found)])
        found = _settled([*found, *self._named(scene, found)])
        kept = _sparse(sorted(found, key=lambda f: f.start))[:MOST_MENTIONS]
        denied = [NOT in f.hint.split() or negated(text, f.start, f.end) for f in kept]
        loose = negations(text) > sum(denied)
        return tuple(
            _mention(text, f, f"m{number}" if turn == 0 else f"t{-turn}m{number}", turn, no, loose)
            for number, (f, no) in enumerate(zip(kept, denied, strict=True), start=1)
        )

    def _quoted(self, scene: _Scene) -> Iterable[Found]:
        for span in find_quoted(scene.text):
            known = self._values.entries(span.text)
            choices = [Choice(field=e.field, value=e.value, score=s) for e, s in known]
            choices = [c for c in choices if c.field in scene.allowed]
            yield self._span(scene, span, choices, rank=10)

    def _symbolic(self, scene: _Scene, found: Sequence[Found]) -> Iterable[Found]:
        """Identifiers that no known value and no date explains, even in part."""
        explained = [f for f in found if f.kind is not MentionKind.NUMBER or f.hint.strip("in ")]
        for span in find_symbolic(scene.text):
            if _NAME_GOES_ON.match(scene.text, span.end) and span.text[0].isupper():
                continue
            if all(
                span.end <= f.start or span.start >= f.end or _inside(f, span) for f in explained
            ):
                one = self._span(scene, span, [], rank=1)
                if one.choices:
                    yield one

    def _clock(self, scene: _Scene) -> Iterable[Found]:
        for span in find_times(scene.text):
            near = affinity(scene.text, span.start, span.end, scene.hits)
            choices = [
                Choice(field=name, value=span.text, score=0.3 + near.get(name, 0.0))
                for name in self._open & scene.allowed
                if re.search(r"time|hour|时间", name, re.IGNORECASE)
            ]
            yield Found(MentionKind.SPAN, span.start, span.end, tuple(_ranked(choices)), rank=4)

    def _span(
        self, scene: _Scene, span: Span, choices: list[Choice], rank: float
    ) -> Found:
        near = affinity(scene.text, span.start, span.end, scene.hits)
        if not choices:
            choices = self._open_choices(scene, span, near)
        kind = MentionKind.SPAN if not _is_known(choices, span) else MentionKind.VALUE
        return Found(kind, span.start, span.end, tuple(choices), _textual_hint(scene, span), rank)

    def _open_choices(
        self, scene: _Scene, span: Span, near: dict[str, float]
    ) -> list[Choice]:
        """Fields that may hold any text; those with known titles only where they are named."""
        choices = [
            Choice(field=name, value=span.text, score=near.get(name, 0.0) + _prior(field, span))
            for name, field in self._fields.items()
            if name in self._open
            and name in scene.allowed
            and (span.sure or not field.values or near.get(name, 0.0) >= 0.3)
        ]
        asked = {h.field for h in scene.hits if h.asked and h.weight >= 0.9}
        asked -= {name for name, score in near.items() if score >= 0.3}
        wanted = [c for c in choices if c.score > 0 and (span.sure or c.field not in asked)]
        return _ranked(wanted)

    def _dates(self, scene: _Scene, calendar: Calendar) -> Iterable[Found]:
        for dated in find_dates(scene.text, calendar):
            choices = _ranked(self._date_choices(scene, dated))
            if choices:
                hint = _direction_hint(scene.text, dated)
                yield Found(
                    MentionKind.PERIOD, dated.start, dated.end, tuple(choices), hint, rank=3
                )

    def _date_choices(self, scene: _Scene, dated: Dated) -> list[Choice]:
        near = affinity(scene.text, dated.start, dated.end, scene.hits)
        period: list[JsonValue] = [dated.period.start.isoformat(), dated.period.end.isoformat()]
        choices = []
        for name in sorted(scene.allowed):
            field, score = self._fields[name], near.get(name, 0.02)
            if field.type in _DATES:
                choices.append(Choice(field=name, value=period, score=score + 0.4))
            elif field.type in _NUMBERS and dated.bare_year and self._is_yearly(field):
                choices.append(Choice(field=name, value=_years(dated), score=score + 0.4))
            elif field.values and field.type in _TEXTS and str(_years(dated)) in field.values:
                choices.append(Choice(field=name, value=str(_years(dated)), score=score + 0.3))
            elif name in self._open and score >= STRONG:
                choices.append(Choice(field=name, value=dated.words, score=score + 0.1))
            elif name in self._open and _DAILY.search(f"{name} {field.description}"):
                choices.append(Choice(field=name, value=dated.words, score=score + 0.3))
            elif name in self._open and dated.bare_year and _YEARLY.search(name):
                choices.append(Choice(field=name, value=dated.words, score=score + 0.3))
        return choices

    @staticmethod
    def _is_yearly(field: Field) -> bool:
        if _YEARLY.search(f"{field.name} {field.description}"):
            return not re.search(r"years?\s+old|\bage\b", field.description, re.IGNORECASE)
        profile = field.profile
        if profile is None or not isinstance(profile.minimum, int | float):
            return False
        return profile.minimum >= 1500 and isinstance(profile.maximum, int | float) and (
            profile.maximum <= 2200
        )

    def _numbers(self, scene: _Scene) -> Iterable[Found]:
        previous: Number | None = None
        near: dict[str, float] = {}
        for number in find_numbers(scene.text):
            own = affinity(scene.text, number.start, number.end, scene.hits)
            named = max(own.values(), default=0.0) >= 0.4
            if previous is None or named or not _goes_on(scene.text, previous, number):
                near = own
            previous = number
            choices = _ranked(self._number_choices(scene, number, near))
            if choices:
                hint = _comparison_hint(scene.text, number)
                rank = 2.0 if not number.spelled else 0.5
                yield Found(
                    MentionKind.NUMBER, number.start, number.end, tuple(choices), hint, rank
                )

    def _number_choices(
        self, scene: _Scene, number: Number, near: dict[str, float]
    ) -> list[Choice]:
        if _counts_something_else(scene.text, number, near):
            return []
        choices = []
        for name in sorted(scene.allowed):
            field, score = self._fields[name], near.get(name, 0.02)
            if number.spelled and score < 0.3:
                continue
            if field.type in _NUMBERS:
                if field.type is not FieldType.NUMBER and not _integral(number):
                    continue
                choices.append(Choice(field=name, value=_bounds(number), score=score + 0.05))
            elif field.values and not is_boolean(field) and number.upper is None:
                choices.extend(self._numeral_choices(field, number, score))
            elif name in self._open and score >= 0.3:
                choices.append(Choice(field=name, value=_chunk(scene.text, number), score=score))
        return choices

    def _numeral_choices(self, field: Field, number: Number, score: float) -> list[Choice]:
        """Known string values that are this number: passengers "2"."""
        wanted = str(number.value)
        return [
            Choice(field=field.name, value=value, score=score)
            for value in field.values
            if str(value) == wanted and (score >= 0.2 or len(field.values) > 20)
        ]

    def _known(self, scene: _Scene) -> Iterable[Found]:
        for match in self._values.find(scene.text, scene.question):
            near = affinity(scene.text, match.start, match.end, scene.hits)
            if self._is_name_of_field(scene, match):
                continue
            numeral = scene.text[match.start : match.end].isdigit()
            choices = [
                Choice(
                    field=entry.field,
                    value=entry.value if entry.upper is None else [entry.value, entry.upper],
                    score=match.score * 0.5 + 0.5 * near.get(entry.field, 0.0),
                )
                for entry in match.entries
                if entry.field in scene.allowed
                and (
                    entry.field not in self._open
                    or near.get(entry.field, 0.0) >= 0.3
                    or str(entry.value) == scene.text[match.start : match.end]
                )
            ]
            if choices and not (numeral and self._is_plain_number(choices)):
                kind = MentionKind.VALUE
                yield Found(
                    kind, match.start, match.end, tuple(_ranked(choices)), rank=2 + match.score
                )

    @staticmethod
    def _is_name_of_field(scene: _Scene, match: Match) -> bool:
        """A part of a value inside a field's name, or a value inside a longer name."""
        return any(
            hit.start <= match.start
            and match.end <= hit.end
            and (match.score < 0.85 or (hit.weight >= 0.9 and hit.end - hit.start > match.end - match.start))
            for hit in scene.hits
        )

    def _is_plain_number(self, choices: Sequence[Choice]) -> bool:
        return all(
            self._fields[c.field].type in _NUMBERS or len(self._fields[c.field].values) <= 20
            for c in choices
        )

    def _presence(self, scene: _Scene) -> Iterable[Found]:
        for presence in find_presence(scene.text, scene.hits, self._fields):
            choices = tuple(Choice(field=name) for name in presence.fields)
            hint = "missing" if presence.missing else "present"
            yield Found(
                MentionKind.PRESENCE, presence.start, presence.end, choices, hint, rank=1.5
            )

    def _booleans(self, scene: _Scene, found: Sequence[Found]) -> Iterable[Found]:
        for hit in scene.hits:
            field = self._fields[hit.field]
            free = all(hit.end <= f.start or hit.start >= f.end for f in found)
            if free and is_boolean(field) and hit.weight >= 0.4:
                choice = Choice(field=hit.field, value=None, score=hit.weight)
                hint = NOT if hit.denied else ""
                yield Found(MentionKind.VALUE, hit.start, hit.end, (choice,), hint, hit.weight)

    def _named(self, scene: _Scene, found: Sequence[Found]) -> Iterable[Found]:
        """Names and other runs of words, for the fields whose values nobody listed."""
        if not any(not self._fields[name].values for name in self._open & scene.allowed):
            return
        taken = [(f.start, f.end) for f in found]
        taken += [
            (hit.start, hit.end)
            for hit in scene.hits
            if hit.weight >= 0.4 and not _inside_name(scene.text, hit)
        ]
        for span in find_names(scene.text, taken):
            near = affinity(scene.text, span.start, span.end, scene.hits)
            if not _worth_asking(scene.text, span, near):
                continue
            halves = self._full_name(scene, span)
            if halves:
                yield from halves
                continue
            choices = self._open_choices(scene, span, near)
            if choices:
                yield Found(MentionKind.SPAN, span.start, span.end, tuple(choices), rank=_NAME_RANK)

    def _full_name(self, scene: _Scene, span: Span) -> tuple[Found, ...]:
        """A person's name over a field for the first and one for the last name."""
        words = span.text.split()
        ends = [
            [f for f in self._open & scene.allowed if pattern.search(name_words(f))]
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
                tuple(Choice(field=f, value=scene.text[start:end]) for f in sorted(fields)),
                rank=_NAME_RANK,
            )
            for (start, end), fields in zip(places, ends, strict=True)
        )


@dataclass(frozen=True)
class _Scene:
    """One text with its tokens, the fields that it names, and those that may be used."""

    text: str
    question: tuple[Token, ...]
    hits: tuple[FacetHit, ...]
    allowed: frozenset[str]


def _settled(found: Iterable[Found]) -> list[Found]:
    """Each word belongs to one mention: the longest and surest; the same words are merged."""
    kept: list[Found] = []
    for one in sorted(found, key=lambda f: (-min(f.rank, 9) // 9, f.start - f.end, -f.rank)):
        if not one.choices:
            continue
        same = next((k for k in kept if (k.start, k.end) == (one.start, one.end)), None)
        if same is not None:
            kept[kept.index(same)] = _merged(same, one)
        elif all(one.end <= k.start or one.start >= k.end for k in kept):
            kept.append(one)
    return kept


def _merged(first: Found, second: Found) -> Found:
    """Two readings of the same words; a comparison leaves the reading as a number."""
    for one, other in ((first, second), (second, first)):
        compares = one.kind is MentionKind.NUMBER and one.hint not in ("", Direction.IN.value)
        if compares and other.kind is MentionKind.VALUE:
            return replace(one, hint=f"{one.hint} {other.hint}".strip())
    kinds = {first.kind, second.kind}
    if kinds == {MentionKind.PERIOD, MentionKind.NUMBER}:
        return first if first.kind is MentionKind.PERIOD else second
    known = {(c.field, str(c.value)) for c in first.choices}
    fields = {c.field for c in first.choices}
    added = [
        c
        for c in second.choices
        if (c.field, str(c.value)) not in known and c.field not in fields
    ]
    choices = _ranked([*first.choices, *added])
    return replace(first, choices=tuple(choices), hint=first.hint or second.hint)


def _ranked(choices: list[Choice]) -> list[Choice]:
    """Best first; what stands next to a field's name leaves out fields that nothing names."""
    ordered = sorted(choices, key=lambda c: -c.score)
    if ordered and ordered[0].score >= STRONG:
        floor = 0.55 * ordered[0].score
        ordered = [c for c in ordered if c.score >= floor]
    return ordered[:MOST_CHOICES]


def _sparse(found: list[Found]) -> list[Found]:
    """A text full of names that no field's word goes with is talk, not conditions."""
    names = [f for f in found if f.rank <= _NAME_RANK and f.choices[0].score < _ANCHORED]
    return found if len(names) <= MOST_NAMES else [f for f in found if f not in names]


def _mention(
    text: str, found: Found, name: str, turn: int, denied: bool, loose: bool
) -> Mention:
    """`loose`: some word of the text excludes something, and it is not clear what."""
    hints = [word for word in found.hint.split() if word != NOT]
    if denied:
        hints.append(NOT)
    elif loose:
        hints.append(MAYBE_NOT)
    if _is_certain(found, hints):
        hints.append(CERTAIN)
    if preferred(text, found.start):
        hints.append(SOFT)
    return Mention(
        id=name,
        kind=found.kind,
        words=text[found.start : found.end],
        start=found.start,
        end=found.end,
        turn=turn,
        choices=found.choices,
        hint=" ".join(hints),
    )


_CERTAIN_SCORE = 0.9


def _is_certain(found: Found, words: Sequence[str]) -> bool:
    """A comparison in so many words with the one field that is named beside it."""
    compared = found.kind is MentionKind.NUMBER and (
        any(d.value in words for d in Direction if d is not Direction.IN)
        or isinstance(found.choices[0].value, list)
    )
    return compared and len(found.choices) == 1 and found.choices[0].score >= _CERTAIN_SCORE


def _is_known(choices: Sequence[Choice], span: Span) -> bool:
    return bool(choices) and all(c.score > 0.8 and c.value != span.text for c in choices)


_STARTS = re.compile(r"(?:start(?:s|ing)?|begin(?:s|ning)?)\s+with(?:\s+the)?(?:\s+words?)?\s*\W*$|以\s*\W*$", re.I)
_ENDS = re.compile(r"end(?:s|ing)?\s+(?:with|in)(?:\s+the)?(?:\s+words?)?\s*\W*$", re.I)
_ENDS_ZH = re.compile(r"^\W*(?:结尾|收尾)")
_STARTS_ZH = re.compile(r"^\W*(?:开头|打头)")
_HOLDS = re.compile(
    r"(?:contain(?:s|ing)?|includ(?:e|es|ing)|with|ha(?:s|ve|ving)|mention(?:s|ing)?|substring|words?|letters?|包含|含有|带有|有)"
    r"(?:\s+(?:the|a|an|word|words|string|substring|phrase|letters?))*\s*\W*$",
    re.IGNORECASE,
)
_INSIDE = re.compile(r"^\W*(?:in|within|inside|somewhere in|as part of)\s+(?:the|its|their)\b", re.IGNORECASE)


def _textual_hint(scene: _Scene, span: Span) -> str:
    if span.contained:
        return "contains"
    before, after = scene.text[max(0, span.start - 40) : span.start], scene.text[span.end :][:24]
    if _ENDS.search(before) or _ENDS_ZH.match(after):
        return "ends_with"
    if _STARTS_ZH.match(after) or (_STARTS.search(before) and not before.rstrip().endswith("以")):
        return "starts_with"
    if _INSIDE.match(after) or _HOLDS.search(before):
        return "contains"
    return ""


_NOT_WORDS = re.compile(
    r"date|time|phone|price|fare|cost|number|rating|score|\bage\b|year|zip|email|url|website|amount|balance|rent|"
    r"length|duration|temperature|humidity|wind|precipitation|day|电话|时间|价格|地址|票价|评分|温度|时长",
    re.IGNORECASE,
)
_NAMES = re.compile(r"name|title|名", re.IGNORECASE)


def _prior(field: Field, span: Span) -> float:
    """What a field's name says against or for holding words rather than figures."""
    if any(c.isdigit() for c in span.text) or span.sure:
        return 0.02
    if _NOT_WORDS.search(name_words(field.name)):
        return -0.4
    return 0.04 if _NAMES.search(field.name) else 0.02


_PREPOSED = re.compile(
    r"(?:\b(?:by|from|in|at|of|for|with|starring|named|called|titled|to|near|on|is|was|are|were|playing|like|featuring|"
    r"against|player|singer|artist|and|or|does|did|do|an?|the)|[:=])\s+(?:the\s+)?$",
    re.IGNORECASE,
)


def _entity(after: str) -> bool:
    """Whether a noun for what is looked for follows: "a drama movie"."""
    return bool(words := after.split()) and key(words[0].strip(".,?!")) in ENTITY_NOUNS


_NAME_GOES_ON = re.compile(r"\s*&?\s*[A-Z]\w+")


def _inside(found: Found, span: Span) -> bool:
    """A number that is only a part of an identifier: 37–21–12."""
    within = span.start <= found.start and found.end <= span.end
    return found.kind is MentionKind.NUMBER and within and found.end - found.start < len(span.text)


_FIRST_NAME = re.compile(r"\bfirst\s?name|\bF\s?Name|given\s?name|forename", re.IGNORECASE)
_LAST_NAME = re.compile(r"\blast\s?name|\bL\s?Name|surname|family\s?name", re.IGNORECASE)


def _inside_name(text: str, hit: FacetHit) -> bool:
    """A field's word that ends a name: Mexico City, Swedish People's Party."""
    if not text[hit.start].isupper():
        return False
    before = re.search(r"([A-Z][\w'’-]*)\s+$", text[: hit.start])
    if before is None or key(before.group(1)) in FUNCTION_WORDS:
        return False
    return not (before.start() == 0 or text[: before.start()].rstrip()[-1:] in ".?!")


def _worth_asking(text: str, span: Span, near: dict[str, float]) -> bool:
    """Names; several words; or one word that stands in a field's or a preposition's reach."""
    if has_cjk(span.text):
        return True
    capital = any(word[:1].isupper() for word in span.text.split())
    at_start = not text[: span.start].strip()
    if capital and not (at_start and " " not in span.text):
        return True
    if is_asked(text, span.start):
        return False
    best = max(near.values(), default=0.0)
    if best >= STRONG:
        return True
    short = len(text.split()) <= 5
    if " " not in span.text:
        after = text[span.end :].strip(' "')
        ends = not after or after[0] in "?.,!" or after.startswith(("and ", "or ")) or _entity(after)
        return bool(_PREPOSED.search(text[: span.start])) and ends
    return " " in span.text and (short or bool(_PREPOSED.search(text[: span.start])))


def _direction_hint(text: str, dated: Dated) -> str:
    if dated.direction is not None:
        return dated.direction.value
    clear = dated.rolling or not may_direct(text, dated.start, dated.end)
    return Direction.IN.value if clear else ""


def _comparison_hint(text: str, number: Number) -> str:
    if number.direction is not None:
        return number.direction.value
    return "" if may_compare(text, number.start, number.end) else Direction.IN.value


_NOUN_AFTER = re.compile(r"\s+(?!(?:and|or|to|in|of|on|at|by|for|when|with|is|was|were|are|as|the|a)\b)[A-Za-z]{3,}")


def _counts_something_else(text: str, number: Number, near: dict[str, float]) -> bool:
    """A number of things that no field is about: 500 GitHub stars."""
    best = max(near.values(), default=0.0)
    return best < 0.3 and _NOUN_AFTER.match(text, number.end) is not None


def _years(dated: Dated) -> JsonValue:
    first, last = dated.period.start.year, dated.period.end.year - 1
    return first if first == last else [first, last]


def _bounds(number: Number) -> JsonValue:
    return number.value if number.upper is None else [number.value, number.upper]


_UNIT = re.compile(r"(?:m|km|kg|cm|mm|mph|lb|ft|g|s|元|分|块)(?!\w)", re.IGNORECASE)


_GOES_ON = re.compile(
    r"\s*,?\s*(?:but|and|or|yet|但|且|并且|,|，)\s*(?:is|are|was|were|also|not)?\s*(?:[a-z]+\s+){0,3}(?:than|most|least|below|under|above|over)?\s*"
    r"|\s*(?:但|且|并且|，)?\s*(?:低于|高于|小于|大于|不超过|不低于|少于|多于)\s*",
    re.IGNORECASE,
)


def _goes_on(text: str, first: Number, second: Number) -> bool:
    """The other bound of the same thing: "more than 6000 but less than 10000"."""
    both = first.direction is not None and second.direction is not None
    return both and _GOES_ON.fullmatch(text[first.end : second.start]) is not None


def _chunk(text: str, number: Number) -> str:
    """The number as it is written, with letters that are no unit: 3rd, 13.5x."""
    more = re.match(r"[A-Za-z]+|\s?\(\d+\)", text[number.end :])
    if more is None or _UNIT.match(text, number.end):
        return number.words
    return number.words + more.group()


def _integral(number: Number) -> bool:
    return "." not in number.words and isinstance(number.value, int)
