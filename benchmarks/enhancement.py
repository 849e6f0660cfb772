"""Whether asking in one language finds what is written in the other, with and without enhancement.

    python -m benchmarks.enhancement
    python -m benchmarks.enhancement --languages en zh --show

Twelve Chinese questions are asked of the English documents of the bundled handbook, and ten English
ones of the Chinese documents, over the whole of it and without a filter. The local chat model
translates. Printed is where the first passage of a right document stands: the share at the first
place and among the first five, and the mean of 1/place, for full text alone and for both ways of
fusing it with the vectors; then what the additions take. The handbook is taken in first, if the
store of the settings has none.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from statistics import mean, median

from agent.app import Agent
from agent.enhancing.enhancer import QuestionEnhancer
from agent.settings import load_settings
from graph.ports import Found, Query, Worded
from schemas.access import LOCAL
from schemas.check import bind
from schemas.collection import Collection
from schemas.enhanced import LANGUAGES, Enhanced, Enhancing
from schemas.filters import EVERYTHING
from schemas.hits import Hit

KB = "handbook"
DEPTH = 50


@dataclass(frozen=True)
class Asked:
    """A question and the documents of which each answers it."""

    question: str
    right: tuple[str, ...]


CHINESE = (
    Asked("带薪育儿假可以休多少周？", ("hr/parental-leave-policy.md",)),
    Asked("每周可以居家办公几天？", ("hr/remote-work-policy-2024.md",)),
    Asked("密码至少要有多少个字符？", ("it/password-and-mfa-policy.md",)),
    Asked("第一次连接虚拟专用网之前要准备什么？", ("it/vpn-guide.md",)),
    Asked("大幅折扣由谁批准？", ("sales/discount-approval-policy.md",)),
    Asked("求职者的申请材料要保留多久？", ("legal/gdpr-retention-schedule.md",)),
    Asked("新员工报到之前经理要完成哪些事？", ("hr/onboarding-checklist.md",)),
    Asked("怎样识别钓鱼邮件？", ("it/security-awareness-training.md",)),
    Asked("外壳供应商框架协议的交货期是多长？", ("legal/supplier-framework-tannwald.md",)),
    Asked("公司标志的颜色是什么？", ("marketing/brand-guide.md",)),
    Asked(
        "国内出差每天的补贴是多少？",
        ("finance/travel-expense-policy-2024.md", "hr/travel-policy-2023.md"),
    ),
    Asked("专利纠纷目前的状况如何？", ("legal/dispute-halmar-instruments.md",)),
)
ENGLISH = (
    Asked("Why does the collection service fail to start?", ("rd/采集服务启动失败故障处理.md",)),
    Asked("What is done when the message queue backs up?", ("ops/消息队列积压故障处理.md",)),
    Asked("How often is the database backed up?", ("ops/数据库备份与恢复操作手册.md",)),
    Asked("When is an alarm escalated during on-call duty?", ("ops/值班与告警升级制度.md",)),
    Asked("How do I apply for permissions for my account?", ("it/账号与权限申请操作手册.md",)),
    Asked("May data be transferred out of the country?", ("legal/数据出境合规指引.md",)),
    Asked("When does the shuttle bus leave?", ("misc/苏州食堂与班车说明.md",)),
    Asked("Who may publish on social media accounts?", ("marketing/社交媒体发布规范.md",)),
    Asked(
        "What does the edge gateway need for installation?",
        ("rd/边缘网关安装指南-v2.2.md", "rd/边缘网关安装指南-v2.3.md"),
    ),
    Asked("How are invoices reimbursed?", ("finance/发票与报销操作手册.md",)),
)


ARMS: Mapping[str, Sequence[str]] = {
    "as asked": (),
    "+ keywords": ("keywords",),
    "+ translation": ("translations",),
    "+ both": ("keywords", "translations"),
}


def terms(made: Enhanced, parts: Sequence[str]) -> str:
    return " ".join(word for part in parts for word in getattr(made, part))


def place(hits: Sequence[Hit], asked: Asked) -> int | None:
    """Of the first passage of a right document, from 1; None if there is none."""
    for number, hit in enumerate(hits, start=1):
        if hit.passage.source.endswith(asked.right):
            return number
    return None


def by_text(found: Found) -> list[Hit]:
    """The hits of the full text leg, in its order."""
    hits = [hit for hit in found.hits if hit.scores.get("bm25")]
    return sorted(hits, key=lambda hit: -hit.scores["bm25"])


def line(name: str, places: Sequence[int | None]) -> str:
    first = mean(one == 1 for one in places)
    five = mean(one is not None and one <= 5 for one in places)
    reciprocal = mean(1 / one if one else 0.0 for one in places)
    return f"{name:<34}{first:>8.2f}{five:>8.2f}{reciprocal:>8.3f}"


async def filled(agent: Agent) -> Collection:
    if KB not in await agent.kbs():
        with resources.as_file(resources.files("agent.data") / KB) as folder:
            await agent.ingest([Path(folder)], kb=KB)
    return await agent.describe(KB)


async def enhanced(
    agent: Agent, questions: Sequence[Asked], wanted: Enhancing, *, show: bool
) -> list[Enhanced]:
    """What is added to each question; the model is loaded before time is taken."""
    collection = await filled(agent)
    await agent.warm()
    enhancer = QuestionEnhancer(await agent.chat())
    made, taken = [], []
    for asked in questions:
        started = time.perf_counter()
        worded = Worded(question=asked.question, query=asked.question)
        made.append(await enhancer.enhance(worded, collection, wanted))
        taken.append((time.perf_counter() - started) * 1000)
        if show:
            print(f"{asked.question} -> {made[-1].model_dump(exclude_defaults=True)}")
    failed = sum(bool(one.problems) for one in made)
    print(f"enhancing: median {median(taken):.0f} ms, longest {max(taken):.0f} ms, {failed} failed")
    return made


async def measured(
    fusion: str, questions: Sequence[Asked], made: Sequence[Enhanced]
) -> dict[str, dict[str, list[int | None]]]:
    """Places by leg or fusion, then by arm."""
    places: dict[str, dict[str, list[int | None]]] = {"full text": {}, fusion: {}}
    async with Agent(load_settings(store={"fusion": fusion})) as agent:
        collection = await filled(agent)
        store = await agent.store()
        for name, parts in ARMS.items():
            for asked, one in zip(questions, made, strict=True):
                query = Query(
                    kb=KB,
                    text=asked.question,
                    filter=bind(EVERYTHING, collection),
                    limit=DEPTH,
                    terms=terms(one, parts),
                )
                found = await store.searcher.search(query, LOCAL.scope(KB))
                places["full text"].setdefault(name, []).append(place(by_text(found), asked))
                places[fusion].setdefault(name, []).append(place(found.hits, asked))
    return places


async def main(languages: Sequence[str], *, show: bool) -> None:
    wanted = Enhancing.model_validate(
        {"keywords": True, "cross_languages": tuple(languages), "timeout_s": 300}
    )
    for name, questions in (("Chinese to English", CHINESE), ("English to Chinese", ENGLISH)):
        print(f"\n{name}: {len(questions)} questions")
        async with Agent() as agent:
            made = await enhanced(agent, questions, wanted, show=show)
        places = await measured("weighted", questions, made)
        places |= await measured("rrf", questions, made)
        print(f"{'':<34}{'first':>8}{'five':>8}{'1/place':>8}")
        for way, arms in places.items():
            for arm, found in arms.items():
                print(line(f"{way}, {arm}", found))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--languages", nargs="+", default=["en", "zh"], choices=LANGUAGES)
    parser.add_argument("--show", action="store_true", help="print what is added to each question")
    given = parser.parse_args()
    asyncio.run(main(given.languages, show=given.show))
