"""What a listing answers, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from schemas.collection import Collection, Field, FieldType
from schemas.compile.text import field_words
from schemas.defaults import is_missing
from schemas.hits import Passage
from schemas.language import Language
from schemas.listing import Group, Listing, ListingKind, Tally

DAYS = (FieldType.DATE, FieldType.DATETIME)


def words_of(asked: Listing, collection: Collection, language: Language) -> English:
    return Chinese(asked, collection) if language == "zh" else English(asked, collection)


def listing_text(words: English, tally: Tally, shown: Sequence[Passage], filter_text: str) -> str:
    """The answer to a listing, in lines; each document shown has its marker [n]. `filter_text`
    is the effective filter in words.
    """
    match words.asked.kind:
        case ListingKind.LIST:
            lines = words.documents(shown)
        case ListingKind.COUNT:
            lines = words.documents(shown) if tally.total == len(shown) else iter(())
        case ListingKind.GROUP:
            lines = words.table(tally)
    return "\n".join([words.head(tally, len(shown), filter_text), *lines])


class English:
    """The words of a listing in English."""

    none = "no {}"

    def __init__(self, asked: Listing, collection: Collection) -> None:
        self.asked = asked
        self.collection = collection

    def head(self, tally: Tally, shown: int, filter_text: str) -> str:
        where = f" ({filter_text})" if filter_text else ""
        if not tally.total:
            return f"There are 0 matching documents{where}: nothing matches."
        documents = _plural(tally.total, "document")
        verb = "is" if tally.total == 1 else "are"
        match self.asked.kind:
            case ListingKind.COUNT:
                return f"There {verb} {documents}{where}{self.colon(shown, tally)}"
            case ListingKind.GROUP:
                return self.groups_head(tally, where)
            case ListingKind.LIST if self.asked.limit == 1 and (best := self.best()):
                return f"Of {documents}{where}, {best}:"
            case ListingKind.LIST:
                part = f"; the first {shown}" if shown < tally.total else ""
                order = f", {self.order()}" if self.asked.sort and shown > 1 else ""
                return f"There {verb} {documents}{where}{part}{order}:"

    def colon(self, shown: int, tally: Tally) -> str:
        return ":" if shown == tally.total else "."

    def order(self) -> str:
        field, falls = self.sorted_by()
        if field is None:
            return ""
        if field.type in DAYS:
            way = "newest first" if falls else "oldest first"
        elif field.type in (FieldType.INT, FieldType.NUMBER):
            way = "highest first" if falls else "lowest first"
        else:
            way = "Z to A" if falls else "A to Z"
        return f"by {field_words(field.name)}, {way}"

    def best(self) -> str:
        """The one document that is asked for: the newest, the longest."""
        field, falls = self.sorted_by()
        if field is None:
            return ""
        if field.type in DAYS:
            return f"the {'newest' if falls else 'oldest'} by {field_words(field.name)}"
        return f"the one with the {'highest' if falls else 'lowest'} {field_words(field.name)}"

    def sorted_by(self) -> tuple[Field | None, bool]:
        sort = self.asked.sort
        if sort is None or sort.field is None:
            return None, False
        return self.collection.by_name.get(sort.field), sort.descending

    def groups_head(self, tally: Tally, where: str) -> str:
        name = self.asked.unit or field_words(self.asked.group or "")
        documents = _plural(tally.total, "document")
        best = _best(tally.groups) if self.asked.limit == 1 else ()
        if best and self.asked.sort:
            most = "most" if self.asked.sort.descending else "fewest"
            winners = " and ".join(self.value(group) for group in best)
            have = "has" if len(best) == 1 else "have"
            each = "" if len(best) == 1 else " each"
            return (
                f"{winners} {have} the {most} documents: {best[0].count}{each} of "
                f"{tally.total}{where}. By {name}:"
            )
        values = _plural(sum(group.value is not None for group in tally.groups), "value")
        cut = f"the first {len(tally.groups)} of {tally.distinct} groups"
        return f"{documents}{where} by {name} ({cut if _is_cut(tally) else values}):"

    def documents(self, shown: Sequence[Passage]) -> Iterator[str]:
        for number, passage in enumerate(shown, start=1):
            about = self.about(passage.metadata)
            told = f" ({about})" if about else ""
            yield f"{number}. {passage.title or passage.doc_id}{told} [{number}]"

    def about(self, metadata: Mapping[str, JsonValue]) -> str:
        """The value that documents are sorted by, else their day."""
        field, _ = self.sorted_by()
        name = field.name if field is not None else None
        if name is None:
            days = [field.name for field in self.collection.fields if field.type in DAYS]
            name = next((day for day in days if not is_missing(metadata.get(day))), None)
        if name is None:
            return ""
        value = metadata.get(name)
        if is_missing(value):
            return self.none.format(field_words(name))
        day = self.collection.by_name[name].type in DAYS
        return _plain(value) if day else f"{field_words(name)} {_plain(value)}"

    def table(self, tally: Tally) -> Iterator[str]:
        """One line a group, the counts below each other."""
        wide = max((len(str(group.count)) for group in tally.groups), default=0)
        for group in tally.groups:
            yield f"{group.count:>{wide + 2}}  {self.value(group)}"

    def value(self, group: Group) -> str:
        if group.value is not None:
            return _plain(group.value)
        field = self.collection.by_name.get(self.asked.group or "")
        default = field.default if field is not None else ""
        return default or self.none.format(field_words(self.asked.group or ""))


class Chinese(English):
    """The words of a listing in Chinese."""

    none = "无 {}"

    def head(self, tally: Tally, shown: int, filter_text: str) -> str:
        where = f"（{filter_text}）" if filter_text else ""
        if not tally.total:
            return f"符合条件的文档{where}共 0 份：没有匹配的文档。"
        match self.asked.kind:
            case ListingKind.COUNT:
                end = "：" if shown == tally.total else "。"
                return f"共有 {tally.total} 份文档{where}{end}"
            case ListingKind.GROUP:
                return self.groups_head(tally, where)
            case ListingKind.LIST if self.asked.limit == 1 and (best := self.best()):
                return f"{tally.total} 份文档{where}中，{best}："
            case ListingKind.LIST:
                part = f"，列出前 {shown} 份" if shown < tally.total else ""
                order = f"，{self.order()}" if self.asked.sort and shown > 1 else ""
                return f"共有 {tally.total} 份文档{where}{part}{order}："

    def order(self) -> str:
        field, falls = self.sorted_by()
        if field is None:
            return ""
        if field.type in DAYS:
            way = "从新到旧" if falls else "从旧到新"
        else:
            way = "降序" if falls else "升序"
        return f"按 {field_words(field.name)} {way}"

    def best(self) -> str:
        field, falls = self.sorted_by()
        if field is None:
            return ""
        if field.type in DAYS:
            return f"按 {field_words(field.name)} {'最新' if falls else '最早'}的是"
        return f"{field_words(field.name)} {'最大' if falls else '最小'}的是"

    def groups_head(self, tally: Tally, where: str) -> str:
        unit = {"year": "年份", "month": "月份"}.get(self.asked.unit or "")
        name = unit or field_words(self.asked.group or "")
        best = _best(tally.groups) if self.asked.limit == 1 else ()
        if best and self.asked.sort:
            most = "最多" if self.asked.sort.descending else "最少"
            winners = "、".join(self.value(group) for group in best)
            return (
                f"{winners} 的文档{most}：{best[0].count} 份（共 {tally.total} 份）{where}。"
                f"按 {name} 统计："
            )
        values = f"{sum(group.value is not None for group in tally.groups)} 个值"
        cut = f"共 {tally.distinct} 组，列出前 {len(tally.groups)} 组"
        told = cut if _is_cut(tally) else values
        return f"共 {tally.total} 份文档{where}，按 {name} 统计（{told}）："


def _best(groups: Sequence[Group]) -> tuple[Group, ...]:
    """The first group that has a value, and those as large."""
    valued = [group for group in groups if group.value is not None]
    return tuple(group for group in valued if group.count == valued[0].count)


def _is_cut(tally: Tally) -> bool:
    return tally.distinct > len(tally.groups)


def _plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _plain(value: JsonValue) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)
