"""The fields of a knowledge base after a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from agent.ingest.conventions import TITLES, is_title
from agent.ingest.inference import Inference
from agent.ingest.options import IngestOptions
from agent.ingest.written import name_key
from schemas.collection import Field, FieldType
from schemas.errors import UsageError


def plan_fields(
    known: Sequence[Field], seen: Inference, options: IngestOptions, *, tagged: bool
) -> tuple[Field, ...]:
    """Known fields as they are, then new ones: the title, required fields, access fields that
    occur, fields of passages, and tags always, others by the number of documents that have
    them, up to `max_fields` in all, or none of these where the schema is closed.
    """
    inferred = seen.fields()
    always = [_title(known, inferred)]
    named = {name_key(name) for field in known for name in (field.name, *field.aliases)}
    required = [name for name in options.required_fields if name_key(name) not in named]
    always += [_named(inferred, name, FieldType.STRING) for name in required]
    access = {name_key(name) for name in options.access_fields}
    always += [field for field in inferred if name_key(field.name) in access]
    always += [field for field in inferred if name_key(field.name) in options.chunk_fields]
    if tagged:
        always.append(_named(inferred, options.tag_field, FieldType.STRING_LIST))
    fields = {name_key(field.name): field for field in known}
    for field in always:
        fields.setdefault(name_key(field.name), field)
    for field in inferred:
        if len(fields) < options.max_fields and not options.closed:
            fields.setdefault(name_key(field.name), field)
    return tuple(fields.values())


def check_types(known: Iterable[Field], types: Mapping[str, FieldType]) -> None:
    """UsageError if a type that was asked for is not that of a field that is already there."""
    wanted = {name_key(name): type_ for name, type_ in types.items()}
    for field in known:
        type_ = wanted.get(name_key(field.name), field.type)
        if type_ is not field.type:
            raise UsageError(
                f"field {field.name!r} is {field.type} in this knowledge base; "
                f"it cannot become {type_}",
                remedy="ingest into a new knowledge base",
            )


def _title(known: Iterable[Field], inferred: Iterable[Field]) -> Field:
    present = (field for field in (*known, *inferred) if is_title(field.name))
    return next(present, Field(name=TITLES[0], type=FieldType.STRING))


def _named(inferred: Iterable[Field], name: str, type_: FieldType) -> Field:
    key = name_key(name)
    present = (field for field in inferred if name_key(field.name) == key)
    return next(present, Field(name=name, type=type_))
