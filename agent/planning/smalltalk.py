"""Turns that ask nothing: thanks, greetings, farewells."""

from __future__ import annotations

import re

_PHRASE = (
    r"hi|hello|hey|hiya|good\s+(?:morning|afternoon|evening|night)|greetings|thanks?(?:\s+(?:you|a\s+lot|so\s+much|very\s+much|again))?"
    r"|many\s+thanks|thx|ty|cheers|ok(?:ay)?|great|perfect|nice|cool|awesome|got\s+it|i\s+see|understood|good|fine|sure|alright"
    r"|bye|goodbye|see\s+you(?:\s+later)?|that(?:['’]s|\s+is|\s+was)?\s*(?:all|it|great|helpful|helps?|perfect|good|very\s+helpful)"
    r"|(?:have|has)\s+a\s+(?:nice|good|great)\s+(?:day|one|weekend|evening)|you\s+too|no\s+problem|very\s+helpful|there|everyone"
    r"|that\s+helps(?:\s+a\s+lot)?|much\s+appreciated|how\s+are\s+you"
    r"|你好|您好|大家好|早上好|下午好|晚上好|谢谢(?:你|您|啦|了)?|多谢|感谢|非常感谢|好的?|好吧|嗯+|行|知道了|明白了?|了解了?|收到|再见|拜拜|不用了|没事了?|辛苦了|太好了|不错"
)
_ONLY = re.compile(
    rf"(?:(?:{_PHRASE})(?:\s*[,.!~;，。！～…、]\s*|\s+|$|(?=[\u4e00-\u9fff])))+[.!?。！？🙂👍\s]*",
    re.IGNORECASE,
)


def is_small_talk(text: str) -> bool:
    """Whether nothing but pleasantries is said."""
    stripped = text.strip()
    return not stripped or _ONLY.fullmatch(stripped) is not None
