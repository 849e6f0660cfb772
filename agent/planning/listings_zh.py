"""Listings asked for in Chinese."""

from __future__ import annotations

import re

from agent.planning.listing_fields import is_grouping, is_ordered
from agent.planning.listing_words import CONDITION, Asked, Reader
from agent.planning.numerals import CHINESE_PATTERN, count
from agent.planning.tables import listed
from schemas.collection import Field, FieldType
from schemas.listing import Listing, ListingKind, Sort, Unit

_PIECE = "[份篇个本条部项种位]"
_NUMBER = rf"(?:\d{{1,4}}|{CHINESE_PATTERN})"
_COUNT = re.compile(rf"多少{_PIECE}?|几{_PIECE}|总数|总量|数量|数目|统计(?:一下)?|计数|数一[下数]")
_EACH = re.compile(r"按照?|依照?|根据|每一?个?|各个?|不同的?")
_UNIT = re.compile(r"(?P<unit>年|月)[份度]?")
_TAIL = re.compile(r"\s*(?:来|进行|分别|各自?|都|的)*(?:分组|分类|划分|统计|汇总|分布)?")
_SORT_TAIL = re.compile(
    r"(?:的)?(?:先后)?(?:从|由)?(?P<way>新到旧|晚到早|近到远|高到低|大到小|多到少|长到短|旧到新|早到晚|远到近|低到高|小到大|少到多|短到长|降序|倒序|升序|正序)?"
    r"(?:的顺序|顺序)?(?:来|进行)?(?P<sort>排序|排列|排)?"
)
_RISING = frozenset(listed("旧到新 早到晚 远到近 低到高 小到大 少到多 短到长 升序 正序"))
_WHICH = re.compile(r"哪一?(?:个|位|家|类|种)?|什么|谁")
_MOST = re.compile(r"(?:数量|总数)?最(?P<end>多|少)")
_VALUES = re.compile(r"(?:都?有)?哪[些几](?:个|种|类|位)?|多少(?:个|种|类|位)|(?:所有|全部)的?")
_VALUES_AFTER = re.compile(
    r"(?:一共|总共|都|共)?有(?:哪[些几](?:个|种|类|位)?|多少(?:个|种|类|位)?)"
)
_BY_DATE = re.compile(
    r"(?P<end>最新|最晚|最早|最旧|最老|最久|最近(?=[^。]{0,5}?的?"
    rf"(?:{_NUMBER}){_PIECE}))(?P<verb>发布|更新|修订|修改|创建|出版|写)?的?"
)
_BY_LENGTH = re.compile(r"最(?P<end>长|短)的?")
_SUPERLATIVE = re.compile(r"最(?P<end>多|高|大|长|贵|少|低|小|短|便宜)的?")
_LESS = frozenset(listed("少 低 小 短 便宜 最早 最旧 最老 最久"))
_LIMIT = re.compile(rf"前?(?P<number>{_NUMBER}){_PIECE}|前(?P<first>{_NUMBER})|top\s*(?P<top>\d+)")
_LIST = re.compile(
    r"列出|列举|罗列|列一下|列个|哪些|哪几|哪一?[份篇本条]|所有|全部|清单|一览|有什么|有啥|有没有"
)
_BOUND = re.compile(
    rf"(?:不?超过|[不多少]于|不[少多]于|至少|至多|最多|最少|大于|小于|[早晚]于|截至|不高于|不低于|高于|低于|不带|带有)"
    rf"(?={CONDITION})|(?<={CONDITION})(?:页|字|分钟|元)?(?:以上|以下|以前|之前|以后|之后|以内)?"
)
_ASKS = re.compile(r"[吗呢什谁哪几么]|如何|是否|多少")
_SEVERAL = re.compile(r"哪些|哪几|所有|全部|列出|列举|罗列|清单|们")
_OTHER = re.compile(
    r"怎么|怎样|如何|为什么|为何|什么时候|何时|哪里|哪儿|是什么|多久|几点|多少[钱天]"
)
_ALLOWED = listed("""
    请问 请 麻烦 帮我们 帮我 帮忙 给我们 给我 替我 我想知道 我想看 我想 我要 想要 想知道 想看
    需要 查询 查找 查看 查一下 查一查 查 找出 找到 找一下 找 看看 看一下 看 显示 展示 告诉我
    告诉 知道 列出来 列出 列举 罗列 列一下 列个 一下 列 当前 目前 现在 已经 库里 库中 知识库
    数据库 系统 平台 里面 之中 当中 里 中 内 以内 的 了 吗 呢 吧 啊 呀 么 是 有没有 有 都 也 还
    就 共有 一共 总共 总计 共 合计 分别 各 由 被 于 在 和 与 及 以及 或者 或 且 并且 并 而 为
    属于 来自 从 到 至 对 关于 有关 相关 发布 发表 撰写 编写 起草 写作 写 创建 制定 出版 出 过
    标记 标注 标签 归类 分类 负责 归 所属 所有 全部 哪些 哪几 哪一份 哪一篇 哪份 哪篇 哪本 哪条
    哪个 哪 多少 几 什么 啥 每 这些 那些 这 那 其中 其 它们 他们 我们 咱们 你们 我 你 您 他 她
    它 清单 一览 名单 列表 情况 数量 总数 统计 没有 不 不是 除了 除 之外 以外 外 非 之前 以前
    之后 以后 期间 间 份 篇 个 本 条 部 项 种 类 些 位 年 月 日 起 止 谢谢 你好 您好 好 来 去
    呈现 标题 名称 一 两 只 仅 要 能 可以 按 把 将 让 包括 包含 含 带有 带 具有
    """)
_EDGE = re.compile(r"[\s,.!?;:，。！？；：、（）()《》“”\"'…~～-]+")


def is_residue_zh(text: str, asked: Asked) -> bool:
    """Whether anything is left that a filter cannot answer."""
    words = {*_ALLOWED, *asked.nouns, *asked.named}
    known = re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))), re.I)
    left = _EDGE.sub(" ", text.replace(CONDITION, " "))
    return bool(known.sub("", left).strip())


def read_zh(asked: Asked) -> Listing | None:
    text = asked.text
    if _OTHER.search(text):
        return None
    reader = Reader(asked, text)
    for bound in _BOUND.finditer(text):
        reader.take(*bound.span())
    counting = _COUNT.search(text)
    found = _most(reader) or _each(reader, counting=counting is not None) or _values(reader)
    if counting is not None:
        reader.take(*counting.span())
    if found is None and (counting is not None and not _SUPERLATIVE.search(text)):
        found = Listing(kind=ListingKind.COUNT)
    if found is None:
        found = _sorted(reader) or (Listing() if _is_list(asked) else None)
    if found is None:
        return None
    if found.kind is ListingKind.LIST:
        found = _limited(reader, found)
    return None if is_residue_zh(reader.rest, asked) else found


def _is_list(asked: Asked) -> bool:
    return bool(asked.goes_on or _LIST.search(asked.text) or _is_phrase(asked.text, asked))


def _is_phrase(text: str, asked: Asked) -> bool:
    """Nothing but the name of what is wanted: 去年发布的会议纪要."""
    if _ASKS.search(text) or CONDITION not in text:
        return False
    nouns = "|".join(map(re.escape, (*asked.nouns, CONDITION)))
    return re.search(rf"的[^，。？！,.?!]*(?:{nouns})[\W”\"]*$", text) is not None


def _most(reader: Reader) -> Listing | None:
    """哪个部门的文档最多，谁写的最少."""
    text, fields = reader.asked.text, reader.asked.fields
    most = _MOST.search(text)
    if most is None:
        return None
    sort = Sort(descending=most["end"] == "多")
    for which in _WHICH.finditer(text, 0, most.start()):
        if which.group() == "谁":
            field, end, unit = fields.who(), which.end(), None
        else:
            field, end, unit = _grouping(reader.asked, which.end())
        if field is not None:
            reader.take(which.start(), end)
            reader.take(*most.span())
            return Listing(kind=ListingKind.GROUP, group=field.name, unit=unit, sort=sort, limit=1)
    return None


def _each(reader: Reader, *, counting: bool) -> Listing | None:
    """每个部门有多少文档，按年份统计."""
    text = reader.asked.text
    if not counting and not re.search(r"分组|统计|汇总|分布", text):
        return None
    for each in _EACH.finditer(text):
        field, end, unit = _grouping(reader.asked, each.end())
        if field is None:
            continue
        tail = _TAIL.match(text, end)
        reader.take(each.start(), tail.end() if tail else end)
        return Listing(kind=ListingKind.GROUP, group=field.name, unit=unit)
    return None


def _grouping(asked: Asked, at: int) -> tuple[Field | None, int, Unit | None]:
    named = asked.fields.at(at)
    if named is not None and is_grouping(named[0]):
        return named[0], named[1], None
    unit, day = _UNIT.match(asked.text, at), asked.fields.dated()
    if unit is not None and day is not None:
        whole: Unit | None = "year" if unit["unit"] == "年" else "month"
        return day, unit.end(), None if day.type is FieldType.INT else whole
    return None, at, None


def _values(reader: Reader) -> Listing | None:
    """有哪些部门，一共有多少个作者."""
    text, fields = reader.asked.text, reader.asked.fields
    for asks in _VALUES.finditer(text):
        named = fields.at(asks.end())
        if named is not None and _has_values(named[0]) and not _goes_on(text, named[1]):
            reader.take(asks.start(), named[1])
            return Listing(kind=ListingKind.GROUP, group=named[0].name)
    for asks in _VALUES_AFTER.finditer(text):
        named = fields.before(asks.start())
        if named is not None and _has_values(named[0]):
            reader.take(named[1], asks.end())
            return Listing(kind=ListingKind.GROUP, group=named[0].name)
    return None


def _has_values(field: Field) -> bool:
    return is_grouping(field) and field.type is not FieldType.INT


def _goes_on(text: str, at: int) -> bool:
    """所有部门的文档 asks for the documents, not for the departments."""
    return text[at : at + 1] == "的"


def _sorted(reader: Reader) -> Listing | None:
    return _explicit(reader) or _by_field(reader) or _by_date(reader) or _by_length(reader)


def _explicit(reader: Reader) -> Listing | None:
    """按页数从多到少排序."""
    text, fields = reader.asked.text, reader.asked.fields
    for by in re.finditer(r"按照?|依照?|根据", text):
        day = re.compile(r"日期|时间").match(text, by.end())
        named = fields.at(by.end())
        dated = fields.dated()
        if named is None and day is not None and dated is not None:
            named = (dated, day.end())
        if named is None or named[0].type.is_list:
            continue
        field, end = named
        tail = _SORT_TAIL.match(text, end)
        if tail is None or not (tail["way"] or tail["sort"]):
            continue
        falling = is_ordered(field) if tail["way"] is None else tail["way"] not in _RISING
        reader.take(by.start(), tail.end())
        return Listing(sort=Sort(field=field.name, descending=falling))
    return None


def _by_field(reader: Reader) -> Listing | None:
    """页数最多的文档."""
    for found in _SUPERLATIVE.finditer(reader.asked.text):
        named = reader.asked.fields.before(found.start())
        if named is not None and is_ordered(named[0]):
            reader.take(named[1], found.end())
            sort = Sort(field=named[0].name, descending=found["end"] not in _LESS)
            return Listing(sort=sort, limit=_one(reader.asked))
    return None


def _by_date(reader: Reader) -> Listing | None:
    """最新的文档，最近发布的三份制度."""
    found, fields = _BY_DATE.search(reader.asked.text), reader.asked.fields
    if found is None:
        return None
    named = fields.at(found.start("verb")) if found["verb"] else None
    field = named[0] if named and is_ordered(named[0]) else fields.dated()
    if field is None:
        return None
    reader.take(*found.span())
    sort = Sort(field=field.name, descending=found["end"] not in _LESS)
    return Listing(sort=sort, limit=_one(reader.asked))


def _by_length(reader: Reader) -> Listing | None:
    found, field = _BY_LENGTH.search(reader.asked.text), reader.asked.fields.length()
    if found is None or field is None:
        return None
    reader.take(*found.span())
    sort = Sort(field=field.name, descending=found["end"] == "长")
    return Listing(sort=sort, limit=_one(reader.asked))


def _one(asked: Asked) -> int | None:
    return None if asked.plural or _SEVERAL.search(asked.text) else 1


def _limited(reader: Reader, listing: Listing) -> Listing:
    for found in _LIMIT.finditer(reader.rest):
        number = count(found["number"] or found["first"] or found["top"])
        if number and not _is_part(reader.rest, found.start()):
            reader.take(*found.span())
            return listing.model_copy(update={"limit": number})
    return listing


def _is_part(text: str, at: int) -> bool:
    """第三份 is one of them, not three; 哪一份 is which one."""
    return text[:at].endswith(("第", "哪"))
