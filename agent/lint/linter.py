"""Looks over the fields of a knowledge base and the metadata of its documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Collection as Names

from agent.lint.findings import SHOWN, Finding, Kind
from agent.lint.near import near_duplicates, skeleton
from schemas.collection import Collection, Field, FieldType
from schemas.defaults import is_missing
from schemas.folding import fold
from schemas.hits import Document

MISSING_SHARE = 0.2
FREE_TEXT_ROWS = 10
_UNREAD = "_unread"
_TEXT = (FieldType.STRING, FieldType.STRING_LIST)
_DATED = (FieldType.DATE, FieldType.DATETIME)
_TITLES = frozenset({"title", "标题", "题目", "名称"})


def lint(
    collection: Collection, documents: Sequence[Document], access_fields: Names[str] = ()
) -> tuple[Finding, ...]:
    """Findings, the most harmful kind first; none where all is well."""
    found: list[Finding] = []
    access = {fold(name) for name in access_fields}
    for field in collection.fields:
        restricts = fold(field.name) in access
        if restricts:
            found += _without_access(field, documents)
        if field.type in _TEXT and not _is_free_text(field):
            found += _alike(field, documents, exactly=restricts)
        found += _useless(field, len(documents), told=restricts)
    found += _undated(collection, documents)
    found += _unread(documents)
    found += _overflowing(collection, documents)
    order = list(Kind)
    return tuple(sorted(found, key=lambda one: (order.index(one.kind), one.field or "")))


def _without_access(field: Field, documents: Sequence[Document]) -> Iterator[Finding]:
    ids = _ids(documents, lambda one: is_missing(one.metadata.get(field.name)))
    if ids:
        yield Finding(
            kind=Kind.ACCESS_MISSING,
            field=field.name,
            message=f"no {field.name!r} on {_documents(len(ids))}: grants that test it hide them",
            remedy=f"give them a {field.name!r}, or make it required in the schema",
            documents=ids[:SHOWN],
            count=len(ids),
        )


def _alike(field: Field, documents: Sequence[Document], *, exactly: bool) -> Iterator[Finding]:
    """Case and width make no difference to filters, but to grants they do."""
    counts: Counter[str] = Counter()
    for document in documents:
        value = document.metadata.get(field.name)
        items = value if isinstance(value, list) else [value]
        counts.update(item for item in items if isinstance(item, str) and not is_missing(item))
    for group in near_duplicates(counts):
        if not exactly and len({fold(value) for value in group}) == 1:
            continue
        sure = len({skeleton(value) for value in group}) == 1
        written = ", ".join(f"{value} ({counts[value]})" for value in group)
        yield Finding(
            kind=Kind.NEAR_DUPLICATES,
            field=field.name,
            message=f"{field.name}: {'the same' if sure else 'perhaps the same'}: {written}",
            remedy="write one of them everywhere, or declare the others as synonyms in the schema",
            values=group,
            count=sum(counts[value] for value in group),
        )


def _is_free_text(field: Field) -> bool:
    profile = field.profile
    if profile is None or profile.distinct is None or field.type is not FieldType.STRING:
        return False
    return FREE_TEXT_ROWS <= profile.rows - profile.missing == profile.distinct


def _useless(field: Field, documents: int, *, told: bool) -> Iterator[Finding]:
    """`told`: what is missing has been."""
    profile = field.profile
    if profile is None or not profile.rows:
        return
    why = ""
    if profile.distinct == 0:
        why = "no document has it"
    elif profile.distinct == 1 and not profile.missing and documents > 1:
        why = "all documents have the same value"
    elif _is_free_text(field) and fold(field.name) not in _TITLES:
        why = "every document has a value of its own, as free text has"
    if why:
        yield Finding(
            kind=Kind.CANNOT_FILTER,
            field=field.name,
            message=f"{field.name} tells no documents apart: {why}",
            remedy="leave it, or leave the field out of the documents",
            count=profile.rows,
        )
    elif profile.missing_share >= MISSING_SHARE and not told:
        yield Finding(
            kind=Kind.MISSING,
            field=field.name,
            message=f"{field.name} is missing on {profile.missing_share:.0%} of the documents",
            remedy=f"add {field.name!r} where it is known; a filter on it finds none of these",
            count=profile.missing,
        )


def _undated(collection: Collection, documents: Sequence[Document]) -> Iterator[Finding]:
    names = [field.name for field in collection.fields if field.type in _DATED]
    ids = _ids(documents, lambda one: all(is_missing(one.metadata.get(name)) for name in names))
    if ids:
        among = f" ({', '.join(names)})" if names else ", and no field holds days"
        yield Finding(
            kind=Kind.UNDATED,
            message=f"no date on {_documents(len(ids))}{among}",
            remedy="add a date to them; questions about a time never find them",
            documents=ids[:SHOWN],
            count=len(ids),
        )


def _unread(documents: Sequence[Document]) -> Iterator[Finding]:
    values: dict[str, dict[str, str]] = {}
    for document in documents:
        unread = document.metadata.get(_UNREAD)
        for name, text in unread.items() if isinstance(unread, dict) else ():
            values.setdefault(name, {})[document.id] = str(text)
    for name, by_id in values.items():
        shown = tuple(dict.fromkeys(by_id.values()))[:SHOWN]
        yield Finding(
            kind=Kind.UNREAD,
            field=name,
            message=f"{name} could not be read on {_documents(len(by_id))}: {', '.join(shown)}",
            remedy="write the values in the field's type; until then they count as missing",
            values=shown,
            documents=tuple(sorted(by_id))[:SHOWN],
            count=len(by_id),
        )


def _overflowing(collection: Collection, documents: Sequence[Document]) -> Iterator[Finding]:
    counts = Counter(
        name
        for document in documents
        for name in document.metadata
        if name not in collection.by_name and not name.startswith("_")
    )
    for name, count in sorted(counts.items()):
        yield Finding(
            kind=Kind.CANNOT_FILTER,
            field=name,
            message=f"{name} is kept on {_documents(count)} as text and cannot be filtered",
            remedy=f"declare {name!r} in the schema and ingest again",
            count=count,
        )


def _documents(count: int) -> str:
    return "1 document" if count == 1 else f"{count} documents"


def _ids(documents: Sequence[Document], wanted: Callable[[Document], bool]) -> tuple[str, ...]:
    return tuple(sorted(document.id for document in documents if wanted(document)))
