"""Turns that put an end to the conditions before them: start over, forget the filters, 重新开始."""

from __future__ import annotations

import re
from collections.abc import Sequence

_THEM = (
    r"(?:all\s+)?(?:(?:of\s+)?(?:the|these|those|my|any|your|our|previous|earlier)\s+){0,3}"
    r"(?:filters?|filtering|conditions?|restrictions?|constraints?|criteria)"
)
_BEGIN = (
    r"(?:^|[.;,!?])\W*(?:(?:ok(?:ay)?|now|and|please|so|let['’]?s|let\s+us|no|then|just|"
    r"(?:can|could|would)\s+(?:we|you)|you\s+can|i\s+want\s+to)\W+)*"
)
_CLEARED = re.compile(
    rf"{_BEGIN}(?:forget|clear|reset|drop|remove|discard|lift|ignore|delete)"
    rf"\s+(?:about\s+)?{_THEM}\b"
    r"|\b(?:without|no\s+more)\s+(?:the\s+|any\s+|all\s+)?filters?(?=\W*(?:$|[,.;:!?]))"
    rf"|{_BEGIN}"
    r"(?:start(?:ing)?\s+(?:over|afresh|anew|again|from\s+scratch)"
    r"|forget\s+(?:about\s+)?(?:all\s+(?:of\s+)?(?:that|this)|everything|that|it\s+all))\b"
    r"|(?:不要|去掉|取消|清除|清空|忘掉|忘记|忽略|移除|撤销|重置)(?:掉)?(?:之前|以前|前面|刚才|上面)?的?"
    r"(?:这些|那些|所有|全部|一切|任何)?的?(?:筛选|过滤|限制)?(?:条件|筛选|过滤|限制)"
    r"|(?:这些|那些|所有|全部)的?(?:筛选|过滤|限制)?(?:条件|筛选|过滤|限制)(?:都|全)?(?:不要|去掉|取消|清除|清空|算了)"
    r"|重新开始|从头开始|从头再来|重来一[遍次]",
    re.IGNORECASE,
)


def clears(text: str) -> bool:
    """Whether a turn says in so many words that what held before holds no longer."""
    return _CLEARED.search(text) is not None


def since_cleared(history: Sequence[str]) -> tuple[str, ...]:
    """The earlier turns that still count: the last one that clears, and those after it."""
    last = max((place for place, text in enumerate(history) if clears(text)), default=0)
    return tuple(history[last:])
