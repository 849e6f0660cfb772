"""What people declare of a knowledge base: a YAML file with its fields and rules.

description: …
closed: false
fields:
  department: {type: string, aliases: [dept, 部门], synonyms: {HR: [people team]},
               default: 未指定部门, required: false, access: true}
tag_rules: {故障处理: [故障, troubleshooting]}
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BeforeValidator, JsonValue, ValidationError
from pydantic import Field as Attribute

from agent.ingest.coercion import Misfit, coerce
from agent.ingest.conventions import is_title
from agent.ingest.options import IngestOptions
from agent.ingest.plain_yaml import read_plain
from agent.ingest.tag_rules import BUILTIN, rules_of
from agent.ingest.written import Written, name_key
from schemas.collection import Field, FieldType
from schemas.errors import UsageError
from schemas.model import Shape

TEXT_TYPES = (FieldType.STRING, FieldType.STRING_LIST)
_RESERVED = "_"


def _texts(value: Any) -> Any:
    """One text for a list of one; nothing for none."""
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    return value


def _mapping(value: Any) -> Any:
    return {} if value == "" else value


Texts = Annotated[tuple[str, ...], BeforeValidator(_texts)]
Words = Annotated[Mapping[str, Texts], BeforeValidator(_mapping)]


class DeclaredField(Shape):
    """`required` rejects documents without it, `access` those in which it cannot be read."""

    type: FieldType = FieldType.STRING
    description: str = ""
    aliases: Texts = ()
    synonyms: Words = Attribute(default_factory=dict)
    default: str = ""
    required: bool = False
    access: bool = False


class DeclaredSchema(Shape):
    """`closed`: no field that is not named here can be filtered; other front matter stays with
    its document as text. `tag_rules` are words by tag, or the name `builtin`.
    """

    description: str = ""
    closed: bool = False
    fields: Annotated[Mapping[str, DeclaredField], BeforeValidator(_mapping)] = Attribute(
        default_factory=dict
    )
    tag_rules: str | Words = Attribute(default_factory=dict)

    @classmethod
    def of(
        cls, fields: Iterable[Field], description: str, rules: Mapping[str, Any]
    ) -> DeclaredSchema:
        """What a knowledge base has: its fields, and what `rules()` gave when it was declared."""
        required, access = rules.get("required", ()), rules.get("access", ())
        return cls(
            description=description,
            closed=rules.get("closed", False),
            fields={
                field.name: DeclaredField(
                    type=field.type,
                    description=field.description,
                    aliases=field.aliases,
                    synonyms=field.synonyms,
                    default=field.default,
                    required=field.name in required,
                    access=field.name in access,
                )
                for field in fields
            },
            tag_rules=rules.get("tag_rules", {}),
        )

    def as_fields(self) -> tuple[Field, ...]:
        return tuple(
            Field(
                name=name,
                type=declared.type,
                description=declared.description,
                aliases=declared.aliases,
                synonyms=declared.synonyms,
                default=declared.default,
            )
            for name, declared in self.fields.items()
        )

    def named(self, rule: str) -> tuple[str, ...]:
        """The fields of which `required` or `access` is true."""
        return tuple(name for name, declared in self.fields.items() if getattr(declared, rule))

    def rules(self) -> dict[str, JsonValue]:
        """What is declared beside the fields' own attributes, as JSON; empty if nothing is."""
        dumped: dict[str, JsonValue] = {
            "required": list(self.named("required")),
            "access": list(self.named("access")),
            "closed": self.closed,
            "tag_rules": self.model_dump(mode="json")["tag_rules"],
        }
        return {name: value for name, value in dumped.items() if value}

    def over(self, options: IngestOptions) -> IngestOptions:
        """The options of a run under this schema, which can only make them stricter."""
        aliases = {name: one.aliases for name, one in self.fields.items() if one.aliases}
        return replace(
            options,
            types={**{name: one.type for name, one in self.fields.items()}, **options.types},
            required_fields=_united(options.required_fields, self.named("required")),
            access_fields=_united(options.access_fields, self.named("access")),
            tag_rules=rules_of(self.tag_rules) or options.tag_rules,
            closed=options.closed or self.closed,
            aliases={**options.aliases, **aliases},
            stamp=json.dumps(aliases, sort_keys=True, ensure_ascii=False) if aliases else "",
        )

    def check_against(self, known: Iterable[Field]) -> None:
        """UsageError if fields that are there have another type, or the name of an alias."""
        own = {name_key(name): name for name in self.fields}
        aliases = {
            name_key(alias): name for name, one in self.fields.items() for alias in one.aliases
        }
        for field in known:
            name = own.get(name_key(field.name))
            if name is not None and name != field.name:
                raise _fault(f"fields.{name}", f"the knowledge base spells it {field.name!r}")
            if name is not None and self.fields[name].type is not field.type:
                raise UsageError(
                    f"fields.{name}.type: {self.fields[name].type} is asked for, but the knowledge "
                    f"base holds {field.type}",
                    remedy=f"keep `type: {field.type}`, or ingest the files into a new knowledge "
                    "base with this schema",
                )
            if name is None and name_key(field.name) in aliases:
                where = f"fields.{aliases[name_key(field.name)]}.aliases"
                raise UsageError(
                    f"{where}: {field.name!r} is a field of its own in the knowledge base",
                    remedy="leave the alias out, or ingest the files into a new knowledge base",
                )


_PRINTED = "name a YAML file such as `facetwise schema --yaml` prints"


def load_schema(path: Path) -> DeclaredSchema:
    """The schema in a file; UsageError naming the key, its value and what is allowed."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise UsageError(f"{path} does not exist") from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} cannot be read: it is no text in UTF-8", remedy=_PRINTED
        ) from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", remedy=_PRINTED) from error
    if "\0" in text:
        raise UsageError(f"{path} cannot be read: it is no text in UTF-8", remedy=_PRINTED)
    try:
        if read_plain(text) is None:
            raise UsageError("it declares nothing", remedy=_PRINTED)
        return parse_schema(text)
    except UsageError as error:
        raise UsageError(f"{path}: {error}", remedy=error.remedy) from error


def parse_schema(text: str) -> DeclaredSchema:
    """As `load_schema`, from the text of a file."""
    plain = read_plain(text)
    try:
        declared = DeclaredSchema.model_validate(plain or {})
    except ValidationError as error:
        faults = (_told(fault) for fault in error.errors(include_url=False)[:5])
        raise UsageError("; ".join(dict.fromkeys(faults))) from error
    _check_names(declared)
    for name, one in declared.fields.items():
        _check_field(name, one)
    _check_rules(declared)
    return declared


def to_yaml(declared: DeclaredSchema) -> str:
    """The file that `load_schema` reads back as the same schema."""
    dumped = declared.model_dump(mode="json", exclude_defaults=True)
    fields = {
        name: {"type": one.type.value, **dumped.get("fields", {}).get(name, {})}
        for name, one in declared.fields.items()
    }
    if fields:
        dumped["fields"] = fields
    return yaml.safe_dump(dumped, allow_unicode=True, sort_keys=False, width=100)


def _check_names(declared: DeclaredSchema) -> None:
    seen: dict[str, str] = {}
    for name, one in declared.fields.items():
        for spelling in (name, *one.aliases):
            other = seen.setdefault(name_key(spelling), name)
            if other != name:
                raise _fault(f"fields.{name}", f"{spelling!r} names {other!r} too")
        if not name.strip() or name.startswith(_RESERVED):
            raise _fault(f"fields.{name}", "a name has letters, and does not begin with `_`")


def _check_field(name: str, one: DeclaredField) -> None:
    if is_title(name) and one.type is not FieldType.STRING:
        raise _fault(f"fields.{name}.type", f"{one.type} is not allowed; a title is a string")
    if one.type in TEXT_TYPES or not one.default:
        return
    field = Field(name=name, type=one.type)
    if not isinstance(coerce(Written(one.default), field, dt.UTC), Misfit):
        why = f"{one.default!r} is a value of type {one.type}; allowed are words that are none"
        raise _fault(f"fields.{name}.default", why)


def _check_rules(declared: DeclaredSchema) -> None:
    rules = declared.tag_rules
    if isinstance(rules, str) and rules not in ("", BUILTIN):
        raise _fault("tag_rules", f"{rules!r} is not allowed; allowed: {BUILTIN}, or words by tag")
    tags = declared.fields.get("tags")
    if rules and tags is not None and tags.access:
        why = (
            "the text of a document would decide who may see it, because `tags` is an access field"
        )
        raise _fault("tag_rules", why)


def _told(fault: Any) -> str:
    path = ".".join(str(part) for part in fault["loc"] if not _is_branch(part))
    if fault["type"] == "extra_forbidden":
        is_field = fault["loc"][:1] == ("fields",)
        allowed = DeclaredField.model_fields if is_field else DeclaredSchema.model_fields
        return f"{path}: unknown key; allowed: {', '.join(allowed)}"
    given = fault["input"]
    shown = repr(given) if isinstance(given, str) else f"a {_KINDS.get(type(given), 'value')}"
    if fault["type"] == "enum":
        allowed_types = ", ".join(type_.value for type_ in FieldType)
        return f"{path}: {shown} is not allowed; allowed: {allowed_types}"
    return f"{path or 'the file'}: {shown} is not allowed; {fault['msg'].lower()}"


_KINDS: Mapping[type, str] = {dict: "mapping", list: "list"}


def _is_branch(part: object) -> bool:
    """Names that pydantic gives the members of a union."""
    return isinstance(part, str) and (part == "str" or part.startswith("function-"))


def _fault(where: str, why: str) -> UsageError:
    return UsageError(f"{where}: {why}")


def _united(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    known = {name_key(name): name for name in (*second, *first)}
    return tuple(known.values())
