"""General words for common facets: groups of words that mean the same, English and Chinese.

A value that stands in a group can be found by the other words of its group.
"""

from __future__ import annotations

from collections.abc import Mapping

from agent.planning.words import has_cjk, keys

_VALUES = """
draft | in draft | work in progress | 草案 | 草稿 | 起草中 | 拟稿
final | finalized | finalised | 最终 | 终稿 | 定稿 | 最终版 | 已定稿
active | in force | in effect | 有效 | 生效 | 现行 | 活跃 | 生效中
inactive | 无效 | 停用 | 失效
accepted | 已接受 | 被接受 | 接受 | 已采纳 | 被采纳
approved | 已批准 | 批准 | 获批 | 审批通过 | 已通过
rejected | turned down | declined | refused | 否决 | 拒绝 | 驳回 | 被拒
withdrawn | retracted | pulled | 撤回 | 撤销 | 已撤 | 收回
deferred | postponed | put off | shelved | 推迟 | 搁置 | 延期 | 暂缓
superseded | replaced | obsolete | 取代 | 被替代 | 已废止 | 作废
pending | awaiting | 待处理 | 待定 | 待审 | 审批中
published | 已发布
archived | 归档 | 已归档
closed | shut | 关闭 | 已关闭
open | opened | 开放 | 未关闭
expired | 过期 | 已过期
cancelled | canceled | called off | 取消 | 已取消
completed | finished | 已完成 | 完成
in progress | ongoing | underway | 进行中
confidential | secret | 机密 | 保密
public | 公开
internal | 内部
policy | policies | 政策 | 制度 | 规章 | 规定 | 规章制度
report | 报告 | 汇报
news | 新闻
guide | manual | handbook | how to | 指南 | 手册 | 指引
minutes | meeting minutes | 会议纪要 | 会议记录 | 纪要
contract | agreement | 合同 | 协议
invoice | 发票
notice | announcement | 通知 | 公告
procedure | process | 流程 | 程序 | 过程
form | template | 模板 | 表单
training | 培训
tutorial | 教程
specification | spec | 规范 | 规格
informational | 信息类 | 信息性 | 资讯类
standards track | on the standards track | 标准轨道 | 标准类 | 标准跟踪
troubleshooting | fault handling | 故障处理 | 故障排除 | 排障
faq | frequently asked questions | 常见问题
hr | human resources | personnel | 人力资源 | 人力资源部 | 人事 | 人事部
finance | financial | 财务 | 财务部 | 财经
legal | law | 法务 | 法务部 | 法律
engineering | 工程 | 工程部
r&d | research and development | 研发 | 研发部 | 研发中心
marketing | 市场 | 市场部 | 营销
sales | 销售 | 销售部
it | information technology | 信息技术 | 信息部
operations | ops | 运营 | 运营部
procurement | purchasing | 采购 | 采购部
security | 安全 | 信息安全
customer service | customer support | 客服 | 客户服务
budget | 预算
audit | 审计
hiring | recruitment | recruiting | 招聘
travel | business travel | 差旅 | 出差
remote work | remote working | work from home | telework | 远程办公 | 居家办公
artificial intelligence | ai | 人工智能
machine learning | ml | 机器学习
cloud | cloud computing | 云计算
privacy | data protection | 隐私 | 数据保护
packaging | 打包 | 封装
typing | type hints | 类型标注 | 类型注解 | 类型提示
governance | 治理
release | 发布计划
technology | tech | 科技 | 技术
business | 商业 | 财经
entertainment | 娱乐
sport | sports | 体育
health | 健康 | 医疗
science | 科学
politics | 政治
economy | economics | economic | 经济
music | concert | concerts
place of worship | religious | religious site
english | 英文 | 英语
chinese | 中文 | 汉语
black | 黑色
white | 白色
red | 红色
blue | 蓝色
green | 绿色
yellow | 黄色
grey | gray | 灰色
silver | 银色
laptop | notebook | 笔记本电脑
tablet | 平板 | 平板电脑
smartphone | mobile phone | 手机 | 智能手机
smartwatch | smart watch | 手表 | 智能手表
headphones | headset | 耳机
camera | 相机 | 照相机
male | man | men | boys | 男 | 男性
female | woman | women | girls | 女 | 女性
high | 高
medium | 中
low | 低
cheap | inexpensive | affordable | budget | 便宜 | 实惠 | 廉价
expensive | pricey | costly | 偏贵 | 昂贵 | 高价
moderate | mid-priced | moderately priced | 中等 | 适中
medium-sized | mid-size | midsize | intermediate | standard
round trip | roundtrip
"""

_FIELDS = """
author | writer | written by | write | wrote | written | authored | co-wrote | by | 作者 | 撰写
date | created | create | published | publish | released | issued | dated | 发布 | 创建 | 日期
department | division | team | 部门
category | kind | sort | type | genre | 类别 | 类型 | 种类 | 分类
category | cuisine | 菜系
status | state | stage | 状态
topic | subject | area | tag | 主题 | 标签 | 话题
source | outlet | publisher | reported by | according to | 来源 | 据
title | headline | titled | named | called | 标题 | 名为
version | release | 版本
city | town | located | location | 城市
country | nation | 国家
language | 语言
price | cost | costs | fare | 价格 | 票价
rating | rated | score | stars | star | 评分
director | directed by | directed | 导演
actor | actors | starring | stars | star | acted | cast | 主演
duration | length | long | 时长
size | 大小
birth | born | birthday | 出生 | 生日
age | old | years old | aged | 年龄
height | tall | 身高
weight | heavy | weigh | weighs | weighed | weighted | lighter | heavier | 体重
owner | owned by | responsible | in charge of | 所有者 | 负责人 | 责任人 | 负责
official | 官方 | 正式
public | 公开
draft | 草稿
archived | 归档
confidential | 机密 | 保密
travelers | passengers | people | persons | guests | seats | adults | 人
beds | bed | bedrooms | bedroom
baths | bath | bathrooms | bathroom
rooms | room
from | origin | departing | leaving | leave | depart | source | departure | 出发
to | destination | dest | going | arriving | arrive | arrival | dropoff | 目的地
stars | star | 星级 | 星
price | 价格 | 消费 | 房费 | 门票 | 票价 | 人均
kids | children | child | 孩子 | 儿童
winner | won | win | wins
superseded by | replaced by | successor | successors | 取代者 | 后继
replaces | supersedes | predecessor | predecessors | 取代
requires | depends on | depend on | dependency | dependencies | 依赖
expires | expiry | valid until | 到期 | 有效期
reviewer | reviewed by | approver | approved by | 审核人 | 审批人
eur | euro | 欧元
usd | dollar | 美元
gbp | pound sterling | 英镑
cny | rmb | yuan | 人民币
waterproof | water resistant | 防水
stock | 有货 | 现货 | 库存
brand | 品牌 | 牌子
battery | 电池 | 续航
screen | display | 屏幕
colour | color | colours | colors | 颜色
kg | kilo | kilogram | 公斤 | 千克
km | kilometer | kilometre | 公里
inches | inch | 英寸
"""


def _groups(text: str) -> Mapping[tuple[str, ...], tuple[str, ...]]:
    table: dict[tuple[str, ...], tuple[str, ...]] = {}
    for line in text.strip().splitlines():
        words = tuple(word.strip() for word in line.split("|"))
        for word in words:
            table[keys(word)] = (*table.get(keys(word), ()), *words)
    return table


_VALUE_GROUPS = _groups(_VALUES)
_FIELD_GROUPS = _groups(_FIELDS)


_SEXES = {("m",): ("male",), ("f",): ("female",)}


def other_words(value: str, field: str = "") -> tuple[str, ...]:
    """Other general words for a value of a field, in both languages."""
    own = keys(value)
    if own in _SEXES and {"gender", "sex"} & set(keys(field)):
        own = _SEXES[own]
        return tuple(word for word in _VALUE_GROUPS[own] if word not in ("m", "f"))
    return tuple(word for word in _VALUE_GROUPS.get(own, ()) if keys(word) != own)


def field_words(name: str) -> tuple[str, ...]:
    """General words by which people mean a field of this name."""
    found: list[str] = []
    own = keys(name)
    parts = (own,) if has_cjk(name) else (own, *((part,) for part in own))
    for part in dict.fromkeys(parts):
        found.extend(word for word in _FIELD_GROUPS.get(part, ()) if keys(word) != own)
    return tuple(dict.fromkeys(found))
