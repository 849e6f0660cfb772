"""Worked examples that stand before every question, over fields of their own."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """A question as the form shows it, and the reply wanted."""

    question: str
    reply: str


def _example(question: str, found: str, earlier: str = "") -> Example:
    lines, reply = [], {}
    for line in found.strip().splitlines():
        key, reading, use = (part.strip() for part in line.split("=>"))
        lines.append(f"{key}: {reading}")
        reply[key] = use
    before = [f"Earlier: {earlier}"] if earlier else []
    body = "\n".join((*before, "Question: " + question, "Found:", *lines))
    return Example(body, json.dumps(reply, ensure_ascii=False))


EXAMPLES = (
    _example(
        "Why were the final results of the 2019 audit so much lower than planned?",
        """
        final => status Final => ignore
        2019 => created 2019-01-01..2019-12-31 => ignore
        """,
    ),
    _example(
        "And which of those are from 2015?",
        """
        Legal => department (earlier) => department is
        draft => status Draft (earlier) => status is
        2015 => created 2015-01-01..2015-12-31 => created in
        """,
        earlier="Show me the draft contracts of Legal.",
    ),
    _example(
        "Which signed contracts or invoices of Sales are from before 2021?",
        """
        signed => status Signed => status is
        contracts => category contract => category is
        invoices => category invoice => category is
        Sales => department => department is
        2021 => created 2021-01-01..2021-12-31 | archived 2021-01-01..2021-12-31 => created before
        """,
    ),
    _example(
        "2018年以来市场部的非官方新闻，除了草稿",
        """
        2018年 => published 2018-01-01..2018-12-31 => published since
        市场部 => department Marketing => department is
        官方 => official => official is false
        新闻 => category news => category is
        草稿 => status Draft => status is not
        """,
    ),
    _example(
        "Norwegian laptops tagged travel with 3 ports, priced above 900, that Kim Larsen reviewed",
        """
        Norwegian => country | maker => country is
        travel => tags => tags has
        3 => ports 3 | price 3 => ports is
        900 => price 900 => price above
        Kim Larsen => reviewer | maker | country => reviewer is
        """,
    ),
    _example(
        "Show me the final invoices from last year that Anna Berg did not write.",
        """
        final => status Final => status is
        invoices => category invoice => category is
        last year => created 2022-01-01..2022-12-31 => created in
        Anna Berg => author | title => author is not
        """,
    ),
    _example(
        "周末出去玩，想在老城区找一家实惠的日式餐馆，要4星以上。",
        """
        老城区 => area => area is
        实惠 => price low => price is
        日式 => cuisine => cuisine is
        4 => stars 4 => stars at least
        """,
    ),
    _example(
        "Are there any rejected proposals on packaging for version 4.2, and why did they fail?",
        """
        rejected => status Rejected => status is
        packaging => tags Packaging => tags has
        4.2 => version => version is
        """,
    ),
)
