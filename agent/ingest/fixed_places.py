"""Abstract and keywords where reports and papers customarily print them.

    摘要：本文介绍……            Abstract—This paper shows …
    关键词：升级；回滚           Keywords: upgrade, rollback

Only near the top, only where the author gave no such field, and never an access field: what
stands in a text may not decide who sees it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from agent.ingest.loaded import Loaded, Markup
from agent.ingest.options import IngestOptions
from agent.ingest.written import Value, Written, name_key

ABSTRACT, KEYWORDS = "abstract", "keywords"
NEAR_TOP = 4_000
"""Characters of a text that are looked at."""
LONGEST_ABSTRACT = 600
MOST_KEYWORDS, LONGEST_KEYWORD = 20, 60

_SAME = {
    ABSTRACT: frozenset({"abstract", "summary", "摘要", "内容摘要", "内容提要"}),
    KEYWORDS: frozenset({"keywords", "keyword", "key words", "关键词", "关键字", "主题词"}),
}
_BEFORE = r"[ \t#*_>\[【]{0,8}"
_AFTER = r"[*_ \t]{0,8}(?:[:：—–]|[\]】][:：]?|$|[.．] )[*_ \t]{0,8}"
_ABSTRACT = re.compile(
    rf"{_BEFORE}(?:摘[ 　]{{0,4}}要|内容[摘提]要|abstract){_AFTER}", re.IGNORECASE
)
_KEYWORDS = re.compile(
    rf"{_BEFORE}(?:关[ ]?键[ ]?[词字]|主题词|key[ -]?words?|index terms){_AFTER}", re.IGNORECASE
)
_SEPARATORS = ",，、;；"
_WRAPPED = 60
"""Characters of a line that rather goes on in the next one."""
_STRONG = re.compile(r"[;；]")
_WEAK = re.compile(r"[,，、·]")
_CJK_GAP = re.compile(r"(?<=[\u3000-\u9fff\uff00-\uffef]) (?=[\u3000-\u9fff\uff00-\uffef])")


def barred(options: IngestOptions) -> frozenset[str]:
    """The keys of all names that only an author may give: access fields and their aliases."""
    names = {name_key(name) for name in options.access_fields}
    for field, aliases in options.aliases.items():
        if name_key(field) in names:
            names.update(name_key(alias) for alias in aliases)
    return frozenset(names)


def with_found(loaded: Loaded, options: IngestOptions) -> Loaded:
    """The document with what its text says of itself, beside what its author said.

    Rows of a table have their columns, and Markdown with front matter has that.
    """
    has_front_matter = loaded.markup is Markup.MARKDOWN and not loaded.pages and loaded.fields
    if loaded.key is not None or has_front_matter:
        return loaded
    found = found_in(loaded, barred(options) | _undeclared(options))
    return replace(loaded, fields={**loaded.fields, **found}) if found else loaded


def _undeclared(options: IngestOptions) -> frozenset[str]:
    """What a closed schema has no field for."""
    aliases = (alias for names in options.aliases.values() for alias in names)
    declared = {name_key(name) for name in (*options.types, *aliases)}
    return frozenset({ABSTRACT, KEYWORDS} - declared) if options.closed else frozenset()


def found_in(loaded: Loaded, barred: Collection[str]) -> dict[str, Value]:
    """`abstract` and `keywords`, each only where no field of that meaning is given or barred."""
    lines = loaded.text[:NEAR_TOP].splitlines()
    given = {name_key(name) for name in loaded.fields} | loaded.doubtful
    found: dict[str, Value] = {}
    abstract = _abstract(lines)
    if abstract and not _SAME[ABSTRACT] & given and ABSTRACT not in barred:
        found[ABSTRACT] = Written(abstract, quoted=True)
    keywords = _keywords(lines)
    if keywords and not _SAME[KEYWORDS] & given and KEYWORDS not in barred:
        found[KEYWORDS] = tuple(Written(word, quoted=True) for word in keywords)
    return found


def _abstract(lines: list[str]) -> str:
    """From the label to the next blank line, or to the keywords."""
    at, label = _labelled(lines, _ABSTRACT)
    if label is None:
        return ""
    first = lines[at][label.end() :]
    parts = [first] if first.strip() else []
    for line in lines[at + 1 :]:
        if _KEYWORDS.match(line) or line.lstrip().startswith("#"):
            break
        if not line.strip():
            if parts:
                break
            continue
        parts.append(line)
    text = _CJK_GAP.sub("", " ".join(" ".join(parts).split()))
    return text if len(text) <= LONGEST_ABSTRACT else f"{text[:LONGEST_ABSTRACT]}…"


def _keywords(lines: list[str]) -> tuple[str, ...]:
    at, label = _labelled(lines, _KEYWORDS)
    if label is None:
        return ()
    text = ""
    for number, line in enumerate(lines[at:]):
        if text and not line.strip():
            break
        text = f"{text} {line if number else line[label.end() :]}".strip()
        goes_on = text[-1:] in _SEPARATORS or (len(line) >= _WRAPPED and text[-1] not in ".。")
        if text and not goes_on:
            break
    parts = (_STRONG if _STRONG.search(text) else _WEAK).split(text)
    words = (" ".join(part.split()).strip(" .。*_【】[]") for part in parts)
    kept = tuple(dict.fromkeys(word for word in words if word))
    is_list = len(kept) <= MOST_KEYWORDS and all(len(word) <= LONGEST_KEYWORD for word in kept)
    return kept if is_list else ()


def _labelled(lines: list[str], label: re.Pattern[str]) -> tuple[int, re.Match[str] | None]:
    for at, line in enumerate(lines):
        match = label.match(line)
        if match:
            return at, match
    return 0, None
