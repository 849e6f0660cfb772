"""Tokens of a text, and the forms in which words are compared."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from agent.planning.tables import listed
from schemas.folding import fold

CJK = r"\u3400-\u9fff\u3040-\u30ff"
_TOKEN = re.compile(rf"[{CJK}]|\d+|[^\W\d_{CJK}]+(?:['’][^\W\d_]+)?", re.UNICODE)
_CJK_CHAR = re.compile(rf"[{CJK}]")
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "ı": "i"})


@dataclass(frozen=True)
class Token:
    """A word, or one CJK character, with its place. `key` is the form in which it is compared."""

    text: str
    start: int
    end: int
    key: str

    @property
    def is_cjk(self) -> bool:
        return bool(_CJK_CHAR.match(self.text))

    @property
    def is_name_like(self) -> bool:
        """Begins with a capital letter."""
        return self.text[0].isupper()


def tokens(text: str) -> tuple[Token, ...]:
    """Words and single CJK characters from left to right."""
    return tuple(
        Token(found.group(), found.start(), found.end(), key(found.group()))
        for found in _TOKEN.finditer(text)
    )


def keys(text: str) -> tuple[str, ...]:
    """The compared forms of a text's tokens."""
    return tuple(key(found.group()) for found in _TOKEN.finditer(text))


REACH = 240
"""Characters before a word within which anything can say something of it."""


def preceding(text: str, start: int, reach: int = REACH) -> str:
    """What stands before a place, as far as it matters: all of it, or an ellipsis and the last
    `reach` characters, so that a long text costs no more per word than a short one.
    """
    return text[:start] if start <= reach else f"…{text[start - reach : start]}"


def has_cjk(text: str) -> bool:
    return bool(_CJK_CHAR.search(text))


@lru_cache(maxsize=65_536)
def key(word: str) -> str:
    """Folded, without accents, possessive and plural: Policies → policy, Löwis's → lowis."""
    plain = unaccented(word)
    if not plain.isascii() or not plain.isalpha():
        plain = re.sub(r"['’]s?$", "", plain)
    return singular(plain)


def unaccented(text: str) -> str:
    """Folded and without diacritics: Schütze → schutze, Łukasz → lukasz."""
    folded = fold(text)
    if folded.isascii():
        return folded
    split = unicodedata.normalize("NFD", folded)
    return unicodedata.normalize(
        "NFC", "".join(c for c in split if not unicodedata.combining(c))
    ).translate(_LETTERS)


_IE = frozenset(
    listed("movies cookies calories zombies hoodies selfies brownies smoothies rookies")
)
"""Plurals of words that end with -ie."""


_NO_PLURALS = frozenset({"news", "lens", "always", "perhaps", "sometimes", "thanks"})


def singular(word: str) -> str:
    """An English plural without its ending; other words as they are."""
    if len(word) < 4 or not word.isascii() or not word.endswith("s") or word in _NO_PLURALS:
        return word
    if word in _IE:
        return word[:-1]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    if word.endswith(("ss", "us", "is")):
        return word
    return word[:-1]


_ENDINGS = ("ings", "ing", "ed", "ure", "e", "d")


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A compared word without the endings of verbs: opened and opening → open, closure → clos.
    Words whose stem would be shorter than four letters stay as they are.
    """
    if not word.isascii() or not word.isalpha():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending)
    return word


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[_\-/.]+")


def name_words(name: str) -> str:
    """A field's name as words: `birth_date`, `AdmFName1` → "birth date", "Adm FName 1"."""
    return re.sub(r"\s+", " ", _CAMEL.sub(" ", name)).strip()


_FUNCTION = listed("""
    a an the this that these those there here it its they them their he she his her i me my
    we us our you your who whom whose which what when where why how and or but nor not no
    yes if then than as at by for from in into of off on onto out over to under up with
    within without about above after against along among around because before behind below
    between both during each either else ever every except few is are was were be been
    being am do does did done doing have has had having can could may might must shall
    should will would just only also too very more most much many some any all such same
    other another own so s t re ve ll d m show list give find get tell look looking search
    need want like let please help know see see make got put take go going come use using
    say said mention mentioned deal dealt happen happened exist count number total sum
    average mean maximum minimum highest lowest least greatest largest smallest biggest
    longest shortest oldest youngest first last best return display name named called
    mentioned larger greater smaller bigger higher lower faster slower longer shorter older
    younger fewer less earlier later prior entire total time times entered received listed
    located held used made played happening called located based associated amount order
    record records rank ranked way place entry starts contains
    contain includes begins ends word words letter letters sort sorted sorting ascending descending
    indicate identify provide calculate determine alphabetical
    alphabetically alphabetic ordered order each ids played everything
    anything something nothing thing stuff kind hi hello hey thanks thank ok okay good
    great nice best interesting some one ones value corresponding neither different distinct again
    available information detail alternative keep mind sound pretty
    instead rather actually better fine eat try
    myself yourself himself herself ourselves themselves
    """)
FUNCTION_WORDS = frozenset((*_FUNCTION, *map(singular, _FUNCTION)))
"""Words that carry no subject: grammar, and the verbs and nouns of asking."""

ENTITY_NOUNS = frozenset(
    listed("""
    movie film song music event concert game match show restaurant hotel apartment flat
    house room car flight bus train ticket trip book article document paper file record
    item product player team student teacher course class school company person people man
    woman city country website page episode race driver rider ride therapist doctor dentist
    place attraction store shop account user customer employee weather vacation rental
    """)
)
"""Nouns for what is looked for; seldom a value themselves: "a drama movie"."""
