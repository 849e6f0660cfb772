"""The declared fields of a knowledge base: with their columns, and brought up to newer ones."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from agent.store.columns import column_of
from schemas.collection import Field
from schemas.errors import UsageError

log = logging.getLogger(__name__)


def stored_fields(fields: Sequence[Field], access_fields: Sequence[str]) -> tuple[Field, ...]:
    unknown = set(access_fields) - {field.name for field in fields}
    if unknown:
        log.info("access fields that no document has yet: %s", ", ".join(sorted(unknown)))
    return tuple(
        field.model_copy(
            update={
                "column": column_of(field, exact=field.name in access_fields),
                "values": (),
                "profile": None,
            }
        )
        for field in fields
    )


def merged_fields(old: Sequence[Field], new: Sequence[Field], kb: str) -> tuple[Field, ...]:
    """The known fields with what is newly said of them, then the new ones."""
    given = {field.name: field for field in new}
    merged = [_newer(field, given.pop(field.name, field), kb) for field in old]
    return (*merged, *given.values())


def declared_fields(old: Sequence[Field], new: Sequence[Field]) -> tuple[Field, ...]:
    """The stored fields with just what is declared for them now, empty or not."""
    given = {field.name: field for field in new}
    said = ("description", "aliases", "synonyms", "default")
    return tuple(
        field.model_copy(update={name: getattr(given[field.name], name) for name in said})
        if field.name in given
        else field
        for field in old
    )


def _newer(old: Field, new: Field, kb: str) -> Field:
    if new.type is not old.type:
        raise UsageError(
            f"field {old.name!r} of knowledge base {kb!r} is of type {old.type}, not {new.type}",
            remedy="give the field its stored type, or ingest into a new knowledge base",
        )
    return old.model_copy(
        update={
            "description": new.description or old.description,
            "aliases": new.aliases or old.aliases,
            "synonyms": new.synonyms or old.synonyms,
            "default": new.default or old.default,
        }
    )
