"""The ladder of changes to one condition, the smallest first, and which condition comes first.

What names somebody or something is not exchanged for another name and gives way last; what is
excluded gives way after everything wanted; what is about access never does.
"""

from __future__ import annotations

import re
from collections.abc import Collection as Container
from collections.abc import Iterator
from enum import IntEnum
from typing import assert_never

from schemas.collection import Collection, Field, FieldType
from schemas.filters import AllOf, AnyOf, Compare, Filter, Not
from schemas.folding import fold
from schemas.ladder_numbers import number_rungs
from schemas.ladder_periods import period_rungs
from schemas.ladder_texts import text_rungs
from schemas.loosen import ACTIONS, Action, Rung, Unit

ACCESS_FIELDS = (
    "access", "acl", "tenant", "clearance", "permission", "permissions", "visibility",
    "confidentiality", "security_level", "权限", "密级", "租户", "可见范围",
)  # fmt: skip
"""Names of fields whose conditions say who may see a document."""

_NAMING = frozenset(
    {
        *("author", "authors", "writer", "editor", "creator", "director", "actor", "artist"),
        *("owner", "contact", "person", "people", "assignee", "reviewer", "customer", "client"),
        *(
            "name",
            "names",
            "title",
            "titles",
            "id",
            "ids",
            "key",
            "code",
            "isbn",
            "doi",
            "email",
            "ticket",
        ),
        *("entity", "entities"),
    }
)
_NAMING_ZH = (
    "作者",
    "姓名",
    "名称",
    "标题",
    "负责人",
    "联系人",
    "客户",
    "编号",
    "工号",
    "导演",
    "实体",
)
_WORD = re.compile(r"[a-z]+")
_FEW = 20
_UNIQUE = 0.8


class Tier(IntEnum):
    """In which order conditions give way."""

    WANTED = 0
    NAMED = 1
    EXCLUDED = 2
    NEVER = 3


def tier(unit: Unit, collection: Collection, kept: Container[str] = ACCESS_FIELDS) -> Tier:
    """`kept` are names of fields whose conditions are never loosened."""
    names = {fold(name) for name in kept}
    if any(fold(field) in names for field in unit.fields):
        return Tier.NEVER
    if is_exclusion(unit.filter):
        return Tier.EXCLUDED
    fields = [collection.field(name) for name in unit.fields]
    return Tier.NAMED if any(map(is_naming, fields)) else Tier.WANTED


def ladder(
    unit: Unit, collection: Collection, allowed: Container[Action] = ACTIONS
) -> tuple[Rung, ...]:
    """The changes to a unit that are allowed, each once."""
    rungs = (*_replaced(unit, collection), Rung("boost", unit), Rung("drop", unit))
    return tuple(rung for rung in dict.fromkeys(rungs) if rung.action in allowed)


def is_exclusion(filter_: Filter) -> bool:
    """Whether a filter says what a document must not have."""
    match filter_:
        case Compare(op=op):
            return op.is_negative
        case Not():
            return True
        case AllOf(of=parts) | AnyOf(of=parts):
            return bool(parts) and all(is_exclusion(part) for part in parts)
        case _:
            assert_never(filter_)


def is_naming(field: Field) -> bool:
    """Whether a field's values name a person or a thing, by its name, or because nearly every
    document has a value of its own.
    """
    if field.type.element not in (FieldType.STRING, FieldType.INT):
        return False
    for name in (field.name, *field.aliases):
        words = _WORD.findall(name.casefold())
        if _NAMING & set(words) or words[-1:] == ["number"] or any(z in name for z in _NAMING_ZH):
            return True
    profile = field.profile
    if field.type is not FieldType.STRING or profile is None or profile.distinct is None:
        return False
    present = profile.rows - profile.missing
    return present >= _FEW and profile.distinct >= _UNIQUE * present


def _replaced(unit: Unit, collection: Collection) -> Iterator[Rung]:
    """The rungs that still ask for something."""
    if len(unit.fields) != 1 or is_exclusion(unit.filter):
        return
    (name,) = unit.fields
    field = collection.field(name)
    match field.type:
        case FieldType.DATE | FieldType.DATETIME:
            yield from period_rungs(unit, collection)
        case FieldType.INT | FieldType.NUMBER if not is_naming(field):
            yield from number_rungs(unit, collection)
        case FieldType.STRING | FieldType.STRING_LIST:
            yield from text_rungs(unit, collection, exchange=not is_naming(field))
        case _:
            return
