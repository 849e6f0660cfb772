"""Worked examples that stand before every question, over fields of their own."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """A question as the form shows it, and the reply wanted."""

    question: str
    reply: str


def _example(question: str, found: str, **_: str) -> Example:
    lines, reply = [], {}
    for line in found.strip().splitlines():
        key, reading, use = (part.strip() for part in line.split("=>"))
        lines.append(f"{key}: {reading}")
        reply[key] = use
    body = "\n".join(("Question: " + question, "Found:", *lines))
    return Example(body, json.dumps(reply, ensure_ascii=False))


EXAMPLES = (
    _example(
        "Which contracts or invoices of Sales were signed before 2021?",
        """
        contracts => category contract => category is
        invoices => category invoice => category is
        Sales => department => department is
        2021 => signed ["2021-01-01", "2022-01-01"] | archived ["2021-01-01", "2022-01-01"] => signed before
        """,
    ),
    _example(
        "How do the final results of the 2019 audit compare with the plan, not by Anna Berg?",
        """
        final => status Final => ignore
        2019 => signed ["2019-01-01", "2020-01-01"] => ignore
        Anna Berg => author | title => author is not
        """,
    ),
    _example(
        "2018年以来市场部的非官方新闻，除了草稿",
        """
        2018年 => published ["2018-01-01", "2019-01-01"] => published since
        市场部 => department Marketing => department is
        官方 => official => official is false
        新闻 => category news => category is
        草稿 => status Draft => status is not
        """,
    ),
    _example(
        "Laptops from Norway tagged travel with 3 ports and a price above 900 that Kim Larsen reviewed",
        """
        Norway => country | maker => country is
        travel => tags => tags has
        3 => ports 3 | price 3 => ports is
        900 => price 900 => price above
        Kim Larsen => reviewer | maker | country => reviewer is
        """,
    ),
)
