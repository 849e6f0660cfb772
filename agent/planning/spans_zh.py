"""Chinese words of asking and grammar, which part a question where no spaces do."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent.planning.tables import listed

_FILLERS = listed("""
    你好 您好 请问 麻烦 帮忙 帮我们 帮我 给我们 给我 替我 推荐 介绍 找到 找一家 找一个 找个
    找家 找找 查询 查一下 查查 看看 看一下 看下 告诉我 告诉 知道 想要去 想要 想去 想找 想吃
    想喝 想看 想问 想知道 我想 打算 准备 计划 希望 需要 要去 要吃 要找 正要 能够 能不能
    能否 可以 可不可以 可能 会不会 应该 我们 我俩 你们 他们 她们 它们 大家 咱们 自己 女朋友
    男朋友 朋友 女友 男友 家人 妈妈 爸爸 老婆 老公 孩子 同事 同学 哥们 妹妹 姐姐 弟弟 哥哥
    这个菜 这个 这家 这道菜 这道 这些 这样 这里 这两家 这俩 那个 那家 那道菜 那些 那边 那里
    哪个 哪家 哪一家 哪里 哪儿 哪些 什么样 什么 怎么样 怎么 怎样 如何 咋样 多少钱 多少 多大
    多久 多长 几点 为什么 为何 是否 的话 一个 一家 一下 一些 一点 一起 一道 一份 一趟 一样
    一会 两个 道菜 有没有 没有 不是 是不是 以及 或者 并且 而且 但是 不过 因为 所以 如果
    那么 然后 之后 以后 最后 非常 特别 比较 好的 好好 不错 对于 关于 里面 附近 周边 旁边
    周围 其中 其他 别的 另外 所有 全部 任何 每个 同时 大概 左右 以上 以下 之间 之内 吃饭
    游玩 住宿 乘坐 逛逛 参观 用餐 就餐 看到 听说 据说 觉得 喜欢 爱吃 适合 合适 提供 包含
    包括 带有 含有 属于 叫做 名叫 名为 提到 有关 涉及 体验 结束后 结束 满意 考虑 采购 提前
    休息 走累 嚷嚷 谢谢 感谢 收到 好吧 今年 今天 明天 后天 现在 目前 最近 晚上 中午 早上
    下午 时候 时间 地方 东西 事情 问题 信息 情况 内容 文档 文件 资料 类型 品牌 服务 电话
    地址 评分 价格 人均 消费 出发 前往 旅游 旅行 出差 度假 外地 周末 小长假 安排 预订 预定
    选择 比如 例如 发布 撰写 创建 列出 哪位 位置 具体 详细 主要 推荐菜 好吃 好玩 便宜点
    很好吃 很好 驱动 英寸 顺便 吃完饭 完饭 时长 逛一逛 逛一 办事情 办事 追剧 换成 改成 改为 负责
    """)
_GRAMMAR = "的了吗呢吧啊呀哦哈嘛呗么我你您他她它是谁很哪"
_TRIMMED = (
    "有没在从往向和跟与及或并而再还又也都就才只太挺最更去来到吃喝玩看找查请帮给能会想"
    "要被把让使为对按以由里中内上下外个家些点位道份间次条部用做写说讲住坐逛选换订着过"
    "得地不别可好真嗯恩这那几"
)
_ENTITIES = listed("""
    大酒店 酒店 大饭店 饭店 宾馆 餐馆 餐厅 菜馆 饭馆 茶馆 咖啡馆 小吃店 火锅店 烤鸭店
    专卖店 旗舰店 店 景点 景区 公园 广场 大厦 博物馆 大学 学院 医院 公司 银行 中心 车站
    地铁站 机场 菜 餐
    """)
_SPLIT = re.compile(
    "|".join(re.escape(word) for word in sorted(set(_FILLERS), key=len, reverse=True))
    + f"|[{_GRAMMAR}]"
)
_ENTITY = re.compile("|".join(sorted(_ENTITIES, key=len, reverse=True)))


def pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """What is left of a stretch of Chinese between fillers: 我想吃爆三样这道菜 → 爆三样.

    A noun such as 酒店 is part of the name before it (北京鹏润国际大酒店) and nothing by itself.
    """
    at = start
    cuts = [(m.start(), m.end()) for m in _SPLIT.finditer(text, start, end)]
    for cut_start, cut_end in [*cuts, (end, end)]:
        if cut_start > at:
            yield from _trimmed(text, at, cut_start)
        at = max(at, cut_end)


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and (
        text[start].isspace() or text[start] in _TRIMMED or _ENTITY.match(text, start, end)
    ):
        noun = _ENTITY.match(text, start, end)
        start = noun.end() if noun else start + 1
    while end > start and (text[end - 1].isspace() or text[end - 1] in _TRIMMED):
        end -= 1
    middle = text.find("和", start + 2, end - 2)
    if middle > 0:
        yield from _trimmed(text, start, middle)
        yield from _trimmed(text, middle + 1, end)
    elif end - start >= 2:
        yield start, end


def is_named_zh(text: str, start: int, end: int) -> bool:
    """Whether a stretch looks like a name: it ends in 店, 公园 and the like, has brackets, goes on
    a list, or is said to be there (有…, 名叫…).
    """
    if text[end - 1] in ")）" or any(text.endswith(noun, start, end) for noun in _ENTITIES):
        return True
    return bool(_LISTED.search(text[max(0, start - 3) : start]))


_LISTED = re.compile(r"(?:[、和与及有叫·]|名叫|名为)$")
