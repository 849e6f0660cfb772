"""What an HTML page says of itself: encoding, title, meta tags, language."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from lxml import etree

from agent.ingest.decoding import Decoded, clean, decode
from agent.ingest.written import Value, Written, name_key
from schemas.errors import IngestError

_HEAD_BYTES = 8192
_CHARSET = re.compile(rb"""<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)
_XML = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.-]{1,40})""", re.IGNORECASE)
# as browsers read them: the larger set that contains the one that is named
_WIDER = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "shift_jis": "cp932",
    "utf-16": "utf-8",  # a page whose ASCII can be read is not UTF-16
    "utf-16-le": "utf-8",
    "utf-16-be": "utf-8",
}
_TEXTUAL = re.compile(
    r"utf-?8|utf-16.*|gb.*|big5.*|euc.*|shift.*|s?jis.*|iso.*|windows.*|cp\d+|koi8.*|mac.*"
    r"|latin.*|l1|us-ascii|ascii|tis-?620|hz.*|ks.*|x-(?:sjis|gbk|euc-.*)",
    re.IGNORECASE,
)
_NAMES = {
    "article:published_time": "published",
    "date": "published",
    "dc.date": "published",
    "dcterms.date": "published",
    "dcterms.issued": "published",
    "article:modified_time": "modified",
    "dcterms.modified": "modified",
    "last-modified": "modified",
    "article:author": "author",
    "dc.creator": "author",
    "dcterms.creator": "author",
    "article:section": "section",
    "article:tag": "tags",
    "og:description": "description",
    "dc.description": "description",
    "dc.subject": "keywords",
    "news_keywords": "keywords",
    "dc.title": "title",
    "og:title": "title",
    "dc.language": "language",
    "og:locale": "language",
}
_TECHNICAL = re.compile(
    r"viewport|robots|googlebot.*|bingbot|generator|theme-color|color-scheme|referrer|charset"
    r"|format-detection|handheldfriendly|mobileoptimized|csrf.*|.*verif(?:y|ication).*|progid"
    r"|(?:og|twitter|fb|al|msapplication|apple|ms|mobile-web-app|application-name).*"
    r"|x-ua-compatible|content-type|refresh|cache-control|pragma|expires|renderer|next-head-count",
    re.IGNORECASE,
)
_LISTS = frozenset({"keywords", "tags"})
_SEPARATOR = re.compile(r"\s*[,;，；、]\s*")


def decode_page(raw: bytes, told: str | None) -> Decoded:
    """By the type map or a byte-order mark, else as the page declares, else as any text."""
    if told is None:
        head = raw[:_HEAD_BYTES]
        match = _CHARSET.search(head) or _XML.search(head)
        declared = _codec(match[1].decode("ascii")) if match else None
        if declared is not None and b"\0" not in head:
            try:
                return decode(raw, declared)
            except IngestError:
                return decode(raw)
    return decode(raw, told)


def _codec(label: str) -> str | None:
    if not _TEXTUAL.fullmatch(label):
        return None
    try:
        name = codecs.lookup(label.lower().removeprefix("x-")).name
    except LookupError:
        return None
    return _WIDER.get(name, name)


def page_fields(root: etree._Element) -> tuple[dict[str, Value], frozenset[str]]:
    """Fields of a page; and the keys of those that are given twice, but are no list."""
    given: dict[str, list[str]] = {}
    aside: dict[str, list[str]] = {}
    title = next((_text(one) for one in root.iter("title") if _text(one)), "")
    if title:
        given["title"] = [title]
    for name, text in _metas(root):
        translated = _NAMES.get(name.lower())
        if translated is None:
            spelt = next((one for one in given if name_key(one) == name_key(name)), name)
            given.setdefault(spelt, []).append(text)
        else:
            aside.setdefault(translated, []).append(text)
    language = (root.get("lang") or "").strip()
    if language:
        given.setdefault("language", [language])
    for name, texts in aside.items():
        if name in _LISTS:
            given.setdefault(name, []).extend(texts)
        else:
            given.setdefault(name, texts[:1])
    fields = {name: _value(name, texts) for name, texts in given.items()}
    twice = (name_key(name) for name, texts in given.items() if len(set(texts)) > 1)
    return fields, frozenset(name for name in twice if name not in _LISTS)


def _metas(root: etree._Element) -> Iterator[tuple[str, str]]:
    # below the head stands what people wrote into the page: it is no word of the page's own
    for meta in root.iterfind("head//meta"):
        name = (meta.get("name") or meta.get("property") or meta.get("itemprop") or "").strip()
        text = " ".join(clean(meta.get("content") or "").split())
        known = name.lower() in _NAMES
        if name and text and (known or not _TECHNICAL.fullmatch(name)):
            yield " ".join(clean(name).split()), text


def _value(name: str, texts: list[str]) -> Value:
    if name_key(name) in _LISTS:
        parts = (part for text in texts for part in _SEPARATOR.split(text) if part)
        items = tuple(Written(part, quoted=True) for part in dict.fromkeys(parts))
        if items:
            return items
    if len(texts) > 1:
        return tuple(Written(text) for text in texts)
    return Written(texts[0])


def _text(element: etree._Element) -> str:
    return " ".join("".join(element.itertext()).split())
