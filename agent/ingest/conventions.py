"""What names of fields customarily hold, in English and Chinese.

Only where the values alone leave it open: a version is no number, `20240105` is a day in
`published` and a number in `ticket`, and the commas of `tags: a, b` separate tags.
"""

from __future__ import annotations

import re

from agent.ingest.written import name_key
from schemas.collection import FieldType

TITLES = ("title", "标题", "题目", "名称")
_TITLES = frozenset(TITLES)
_TAGS = frozenset(
    {"tags", "tag", "keywords", "keyword", "labels", "topics"}
    | {"标签", "关键词", "关键字", "主题词"}
)
_DATED = re.compile(
    r"date|(?:^|[_\s.-])(?:day|created|updated|modified|published|issued|expires|effective)$"
    r"|日期|时间|日$|发布于|创建于|更新于"
)
_VERSIONED = re.compile(r"version|(?:^|[_\s.-])(?:ver|rev|revision|release)$|版本|版次|修订号")
_CODED = re.compile(
    r"(?:^|[_\s.-])(?:country|countries|lang|language|locale|region|state|code|id|sku|zip"
    r"|phone|isbn|doi)$|国家|语言|地区|编号|代码|编码|邮编|电话|工号"
)


def fixed_type(name: str) -> FieldType | None:
    """The type that a field has by its name alone."""
    key = name_key(name)
    if key in _TITLES:
        return FieldType.STRING
    return FieldType.STRING_LIST if key in _TAGS else None


def is_title(name: str) -> bool:
    return name_key(name) in _TITLES


def holds_tags(name: str) -> bool:
    return name_key(name) in _TAGS


def is_dated(name: str) -> bool:
    return _DATED.search(name_key(name)) is not None


def is_versioned(name: str) -> bool:
    return _VERSIONED.search(name_key(name)) is not None


def is_coded(name: str) -> bool:
    """Codes are never truth values: `NO` is a country and `no` a language."""
    return _CODED.search(name_key(name)) is not None
