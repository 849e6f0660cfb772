"""Words around a mention that say how it is used, in English and Chinese.

Only wording that can hardly mean anything else stands here, because a cue overrules the model;
everything else is left to the model.
"""

from __future__ import annotations

import re
from enum import StrEnum

REACH = 48


class Direction(StrEnum):
    """Which side of a date or number is meant; UNTIL and SINCE include it."""

    IN = "in"
    BEFORE = "before"
    UNTIL = "until"
    SINCE = "since"
    AFTER = "after"


_ARTICLE = (
    r"(?:\s*(?:the|a|an|of|year|years?|date|day|about|around|roughly|time|in|on|is|was|价格)\b)*\s*"
)

_DATE_PRE = (
    (Direction.SINCE, r">=|≥|大于等于"),
    (Direction.UNTIL, r"<=|≤|小于等于"),
    (Direction.AFTER, r">|大于"),
    (Direction.BEFORE, r"<|小于"),
    (Direction.SINCE, r"(?:no|not)\s+(?:earlier|sooner|older)\s+than|not\s+before"),
    (
        Direction.UNTIL,
        r"(?:no|not)\s+later\s+than|not\s+after|up\s+(?:to|until)(?:\s+and\s+including)?",
    ),
    (Direction.UNTIL, r"by|as\s+of|until|till|through|thru|ending\s+(?:in|with|on)"),
    (
        Direction.AFTER,
        r"(?<!not )(?<!not)(?:after|later\s+than|newer\s+than|more\s+recent(?:ly)?\s+than|"
        r"following|past)",
    ),
    (
        Direction.BEFORE,
        r"(?<!not )(?:before|prior\s+to|earlier\s+than|older\s+than|ahead\s+of|preceding|pre-?)",
    ),
    (Direction.SINCE, r"since|starting\s+(?:in|from|with|on)|beginning\s+(?:in|with)|from\s+on"),
    (Direction.SINCE, r"不早于|不晚过|自从?|从(?=$)"),
    (Direction.UNTIL, r"不晚于|不迟于|截至|截止到?|直到"),
    (Direction.BEFORE, r"早于|先于"),
    (Direction.AFTER, r"晚于|迟于"),
)
_DATE_POST = (
    (
        Direction.SINCE,
        r"(?:,?\s*(?:or|and)\s+(?:later|newer|after|since|younger)(?!\s+\S*\d)|,?\s*onwards?|\s+on\b(?!\s+\w)|\+)",
    ),
    (Direction.UNTIL, r"(?:,?\s*(?:or|and)\s+(?:earlier|before|older)(?!\s+\S*\d))"),
    (Direction.BEFORE, r"(?:\s*\(exclusive\))"),
    (
        Direction.UNTIL,
        r"(?:年?\s*(?:及|和|或)(?:其?之前|其?以前|更早)|年?(?:底)?为止|年?底(?:之前|以前|前))",
    ),
    (
        Direction.SINCE,
        r"(?:年?\s*(?:及|和|或)(?:其?之后|其?以后|更晚|更新)|年?(?:以来|至今|起|开始(?!之)))",
    ),
    (Direction.AFTER, r"(?:年?\s*(?:之后|以后|过后|后(?![\u4e00-\u9fff]?期)))"),
    (Direction.BEFORE, r"(?:年?\s*(?:之前|以前|前(?!后)))"),
)
_NUMBER_PRE = (
    (
        Direction.SINCE,
        r"at\s+least|no\s+(?:less|fewer|lower|smaller)\s+than|not\s+(?:less|fewer|lower|under|below)\s*(?:than)?",
    ),
    (
        Direction.SINCE,
        r"(?:a\s+)?minimum\s+of|min\.?|greater\s+than\s+or\s+equal\s+to|>=|≥|from\s+at\s+least|starting\s+at",
    ),
    (Direction.UNTIL, r"at\s+(?:the\s+)?most|no\s+(?:more|greater|higher|larger|bigger)\s+than"),
    (
        Direction.UNTIL,
        r"not\s+(?:more|greater|higher|over|above|exceeding)\s*(?:than)?|(?:a\s+)?maximum\s+of|max\.?|up\s+to",
    ),
    (Direction.UNTIL, r"less\s+than\s+or\s+equal\s+to|<=|≤|not\s+exceed(?:ing)?|within"),
    (
        Direction.AFTER,
        r"(?:more|greater|higher|larger|bigger|longer|taller|heavier|older|wider|faster|stronger|deeper|better|further|later|newer)\s+(?:\w+\s+)?than"
        r"|above|over|exceed(?:s|ing|ed)?|beyond|>|surpass(?:es|ing|ed)?|in\s+excess\s+of|upwards\s+of|after",
    ),
    (
        Direction.BEFORE,
        r"(?:less|fewer|lower|smaller|shorter|younger|lighter|cheaper|slower|earlier|narrower|weaker|worse)\s+(?:\w+\s+)?than"
        r"|below|under|<|beneath|before|prior\s+to",
    ),
    (
        Direction.SINCE,
        r"不少于|不低于|不小于|至少(?:要|得|是|为|在|有)?|起码(?:是|有)?|最少|大于等于",
    ),
    (Direction.UNTIL, r"不超过|不多于|不高于|不大于|至多|最多|最高|小于等于|不要超过|控制在"),
    (Direction.AFTER, r"大于|高于|超过|多于|超出"),
    (Direction.BEFORE, r"小于|低于|少于|不到|不足"),
)
_UNIT_ZH = (
    "(?:分钟|小时|公里|平米|平方米|英寸|分|元|块|米|岁|人|天|年|页|个|星|次|条|层|楼|斤|公斤)?钱?"
)
_NUMBER_POST = (
    (
        Direction.SINCE,
        r"(?:\s+[a-z]+)?\s*(?:or|and)\s+(?:more|above|higher|over|greater|up|better|larger|older|longer)(?!\s+(?:than|[\d$€£]))|\s*\+|\s*plus\b",
    ),
    (
        Direction.UNTIL,
        r"(?:\s+[a-z]+)?\s*(?:or|and)\s+(?:less|fewer|below|lower|under|smaller|younger|shorter|cheaper)(?!\s+(?:than|[\d$€£]))",
    ),
    (Direction.SINCE, rf"{_UNIT_ZH}(?:及|和|或)?以上|起(?![\u4e00-\u9fff]飞)|或者?更高|或者?更多"),
    (Direction.UNTIL, rf"{_UNIT_ZH}(?:及|和|或)?(?:以下|以内|之内|之下)|或者?更低|或者?更少"),
)

_NEGATION_PRE = re.compile(
    r"(?:\b(?:not|never|neither|nor|except(?:\s+for)?|excepting|excluding|exclude|excludes|without|other\s+than|"
    r"apart\s+from|aside\s+from|besides|but\s+(?:not|nothing)|outside(?:\s+of)?|rather\s+than|instead\s+of|"
    r"skip(?:ping)?|omit(?:ting)?|ignor(?:e|ing)|leav(?:e|ing)\s+out|minus|no\s+longer|non|un)\b|n['’]t\b|\bnon-)"
    r"(?:\s+(?:any|anything|the|those|ones?|a|an|from|in|by|of|for|on|with|at|is|are|was|were|be|been|being|to|end\s+up|"
    r"have|has|had|yet|as|written|made|published|authored|done|under|called|named|titled|located|produced|built|"
    r"(?:closed|opened|updated|released|created|issued|reviewed|changed|modified|finished|completed|"
    r"signed|started|approved|filed|paid)\s+(?:in|on|during|by)|"
    r"living|based|including|include|contain(?:ing)?|having|among|classified|"
    r"listed|tagged|filed|about|anywhere|very|too|so|really|overly|particularly))*\s*[\"'“”‘’「《]?$",
    re.IGNORECASE,
)
_NEGATION_ZH_PRE = re.compile(
    r"(?:不是|并非|而非|除了?|除去|除开|排除|不要|不含|不包括|不包含|不属于|不在|不为|非|不想要|别要|没有?被|未被|(?<!有)没有|不涉及)"
    r"(?:由|被|在|来自|是|关于|属于|任何|那些|那种)*\s*[\"“「《]?$"
)
_NEGATION_ZH_POST = re.compile(r"^\s*[\"”」》]?\s*(?:的|部门)?\s*(?:除外|以外|之外|不要|不算)")
_NEGATION_POST = re.compile(
    r"^\s+(?:(?:did|does|do|has|have|had)(?:\s+not\b|n['’]t\b)|never\b)", re.IGNORECASE
)
_CLAUSE = re.compile(r"[.;?!。；？！，]|,\s+(?:but|and|which|what|who)\b")


def date_direction(text: str, start: int, end: int) -> Direction | None:
    """What the words right before or after say of a period; None where they say nothing clear."""
    return _directed(text, start, end, _DATE_PRE_RE, _DATE_POST_RE)


def number_direction(text: str, start: int, end: int) -> Direction | None:
    """The same of a number."""
    return _directed(text, start, end, _NUMBER_PRE_RE, _NUMBER_POST_RE)


def negated(text: str, start: int, end: int) -> bool:
    """Whether words right before or after exclude what stands between the offsets."""
    before, after = text[max(0, start - REACH) : start], text[end : end + 12]
    clauses = _CLAUSE.split(before)
    return bool(
        _NEGATION_PRE.search(clauses[-1])
        or _NEGATION_ZH_PRE.search(clauses[-1])
        or _NEGATION_ZH_POST.match(after)
        or _NEGATION_POST.match(after)
    )


_ANY_NEGATION = re.compile(
    r"\b(?:but\s+(?:not|no|never|nothing|without|exclud\w*)|no|not|never|neither|nor|none|nothing|without|except\w*|exclud\w*|other\s+than|apart|aside|besides|but|outside|rather|"
    r"instead|skip\w*|omit\w*|ignor\w*|leav\w*|minus|non\w*|anyone|drop\w*|avoid\w*|hide|remove\w*)\b|n['’]t\b|[不非除没无勿别未]",
    re.IGNORECASE,
)
_NO_NEGATION = re.compile(
    r"有没有|是不是|能不能|可不可以|会不会|要不要|好不好|行不行|不错|不过|不知道|没问题|不好意思|不知|"
    r"[特类级性个区分识辨]别|别的|不管|不论|无论|不仅|不但|不断|不同(?!于)|非常|非洲|未来|无线|"
    r"\bnot\s+only\b|\bwhy\s+not\b|\bno\s+problem\b|\bthat\s+are\s+not\s+sure\b"
)
_PREFERRED = re.compile(
    r"(?:preferabl[ye]|ideally|if\s+possible|best\s+if)"
    r"[^.,;，。；]{0,24}$"
    r"|(?:优先(?![级权度的])|尽量|尽可能|首选|倾向于?|更想要?)"
    r"[^.,;，。；的]{0,24}$",
    re.IGNORECASE,
)
"""A Chinese wish ends at the 的 before what is looked for: 最好是官方的 | 报告."""
_WISHED = re.compile(
    r"(?:(?:['’]d|would)\s+(?:rather|prefer)[^.,;，。；]{0,24}|最好(?!的|吃|玩|看|喝|听|用)[^.,;，。；的]{0,24})$",
    re.IGNORECASE,
)
"""Wording that asks politely as often as it wishes: 最好在高新区 means it."""
_PREFERRED_AFTER = re.compile(
    r"\w+(?:[ -]\w+)?,?\s+(?:if\s+(?:at\s+all\s+)?possible|where\s+possible|preferred|"
    r"would\s+be\s+(?:nice|better|best|great|ideal))\b"
    r"|[^\s,，。；、的]{1,5}?的?(?:就)?(?:优先(?![级权度])|更好|更佳|为佳|为好|最佳)",
    re.IGNORECASE,
)


def negations(text: str) -> int:
    """How many words of a text could exclude something."""
    return len(_ANY_NEGATION.findall(_NO_NEGATION.sub(" ", text)))


_ANY_DIRECTION = re.compile(
    r"\b(?:since|before|after|until|till|later|earlier|older|newer|past|prior|onwards?|from|by|through|once|ahead|pre|post|"
    r"follow\w*|start\w*|begin\w*|end\w*|over|recent\w*|up\s+to|as\s+of|preced\w*|than|went|beyond)\b|[前后来起早晚截止至今自从]",
    re.IGNORECASE,
)
_ANY_COMPARISON = re.compile(
    r"\b(?:than|over|under|above|below|least|most|more|less|fewer|up|exceed\w*|within|minimum|maximum|min|max|beyond|"
    r"past|greater|larger|bigger|higher|lower|smaller|or|starting|from|\w{2,}er)\b|[<>≥≤+]|[上下内高低多少超过大小不]",
    re.IGNORECASE,
)


def may_direct(text: str, start: int, end: int) -> bool:
    """Whether any word around a period could give it a direction."""
    return _around(_ANY_DIRECTION, text, start, end)


def may_compare(text: str, start: int, end: int) -> bool:
    """Whether any word around a number could compare it."""
    return _around(_ANY_COMPARISON, text, start, end)


def _around(pattern: re.Pattern[str], text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - REACH) : start], text[end : end + 20]
    return bool(pattern.search(before) or pattern.search(after))


def preferred(text: str, start: int) -> bool:
    """Whether what starts here is a wish rather than a condition: preferably, 最好, 优先."""
    before = text[max(0, start - REACH) : start]
    return bool(_PREFERRED.search(before) or _PREFERRED_AFTER.match(text, start))


def wished(text: str, start: int) -> bool:
    """Whether what starts here is asked for in words that may be a wish: 最好, "I would prefer"."""
    return _WISHED.search(text[max(0, start - REACH) : start]) is not None


Table = tuple[tuple[Direction, re.Pattern[str]], ...]


def _directed(text: str, start: int, end: int, pre: Table, post: Table) -> Direction | None:
    after = text[end : end + REACH]
    for direction, pattern in post:
        if pattern.match(after):
            return direction
    before = text[max(0, start - REACH) : start]
    for direction, pattern in pre:
        if pattern.search(before):
            return direction
    return None


def _before(table: tuple[tuple[Direction, str], ...]) -> Table:
    return tuple(
        (d, re.compile(rf"(?:(?<![A-Za-z])|(?![A-Za-z]))(?:{p}){_ARTICLE}$", re.IGNORECASE))
        for d, p in table
    )


def _after(table: tuple[tuple[Direction, str], ...]) -> Table:
    return tuple((d, re.compile(p, re.IGNORECASE)) for d, p in table)


_DATE_PRE_RE, _DATE_POST_RE = _before(_DATE_PRE), _after(_DATE_POST)
_NUMBER_PRE_RE, _NUMBER_POST_RE = _before(_NUMBER_PRE), _after(_NUMBER_POST)
