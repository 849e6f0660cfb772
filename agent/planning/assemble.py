"""From the model's reply to conditions, a filter and a search text.

Whatever the reply holds, only uses that code offered can come out of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agent.planning.branches import branches_of
from agent.planning.clearing import clears
from agent.planning.form import asked_of, keyed, offered, settled
from agent.planning.freshness import freshness
from agent.planning.joins import Accepted, join
from agent.planning.listings import listing_of
from agent.planning.lists import aligned, follows
from agent.planning.smalltalk import is_small_talk
from agent.planning.subject import subject
from agent.planning.told import told
from agent.planning.use import AMBIGUOUS, SOFT, Use
from agent.planning.words import has_cjk, name_words
from graph.ports import Ask
from schemas.collection import Collection
from schemas.filters import Op
from schemas.mentions import Mention, Proposal
from schemas.plan import Branch, PlanOutcome, Problem

_NAMES = re.compile(r"^(?:.*\b)?(?:name|title)$|名称|标题|名字|片名", re.IGNORECASE)
_QUOTES = ("'", '"', "“", "‘", "「", "《")
_ADDED = re.compile(
    r"\btoo(?=\s*(?:$|[.,;!?]|(?:and|or|please|from|in|with|by|of|for)\b))|\b(?:also|as\s+well|in\s+addition|add|plus|along\s+with|include)\b|也|还要|还有|加上|再加|以及",
    re.IGNORECASE,
)


def make_proposal(
    ask: Ask,
    collection: Collection,
    mentions: Sequence[Mention],
    reply: Mapping[str, Any] | None,
) -> Proposal:
    """What planning makes of a reply; None where the model gave none that can be used."""
    if is_small_talk(ask.question):
        return Proposal(outcome=PlanOutcome.NOT_A_QUESTION, query=ask.question)
    asked = asked_of(ask, collection, mentions)
    problems = _faults(asked, reply) if asked else ()
    if asked and (reply is None or len(problems) >= len(asked)):
        return _failed(ask, problems)
    problems += tuple(_unsayable(ask, collection, mentions))
    accepted = _accepted(ask, collection, mentions, reply or {})
    before = () if clears(ask.question) else ask.history
    wishes = freshness(ask, collection, accepted)
    listing = listing_of(ask.question, accepted, before, collection, _replaced(mentions, accepted))
    if not accepted:
        query = subject(ask.question, (), before)
        return Proposal(
            outcome=PlanOutcome.NO_FILTER,
            query=query,
            branches=(Branch(query=query),),
            conditions=wishes,
            problems=problems,
            listing=listing,
        )
    joined = join(ask.question, accepted, collection)
    query = subject(ask.question, accepted, before)
    if any(query == wish.words for wish in wishes):
        query = ask.question
    return Proposal(
        outcome=PlanOutcome.PLANNED,
        query=query,
        branches=branches_of(ask.question, query, joined),
        conditions=(*joined.conditions, *wishes),
        problems=(*problems, *told(ask, accepted)),
        listing=listing,
    )


def _replaced(mentions: Sequence[Mention], accepted: Sequence[Accepted]) -> tuple[str, ...]:
    """Words of earlier turns about fields that the question sets anew."""
    fields = {one.use.field for one in accepted if one.turn == 0}
    return tuple(
        mention.words
        for mention in mentions
        if mention.turn < 0 and mention.words and {c.field for c in mention.choices} & fields
    )


def _unsayable(ask: Ask, collection: Collection, mentions: Sequence[Mention]) -> Iterator[Problem]:
    """What the question asks of a field, and the operator pinned to that field cannot say."""
    for mention in mentions:
        if mention.turn or offered(ask, collection, mention):
            continue
        named = {choice.field for choice in mention.choices}
        for key in ask.keys:
            if key.op is not None and key.name in named:
                yield Problem(
                    code="pinned_operator",
                    message=f"{mention.words!r} cannot be said of {key.name} with the pinned "
                    f"operator {key.op}; it sets no condition",
                    field=key.name,
                    value=key.op.value,
                    words=mention.words,
                )


def _failed(ask: Ask, problems: Sequence[Problem]) -> Proposal:
    return Proposal(
        outcome=PlanOutcome.FAILED,
        query=ask.question,
        branches=(Branch(query=ask.question),),
        problems=tuple(problems),
    )


def _faults(
    asked: Mapping[str, Sequence[str]], reply: Mapping[str, Any] | None
) -> tuple[Problem, ...]:
    if reply is None:
        return (Problem(code="no_reply", message="the model gave no reply that can be used"),)
    faults = [
        Problem(
            code="unknown_use",
            message=f"{key!r} was answered with {reply.get(key)!r}",
            value=str(reply.get(key)),
            allowed=tuple(words),
        )
        for key, words in asked.items()
        if reply.get(key) not in words
    ]
    faults += [
        Problem(code="unknown_key", message=f"the reply speaks of {key!r}, which was not asked")
        for key in reply
        if key not in asked
    ]
    return tuple(faults)


def _accepted(
    ask: Ask, collection: Collection, mentions: Sequence[Mention], reply: Mapping[str, Any]
) -> list[Accepted]:
    chosen: list[Accepted] = []
    before: tuple[Mention, Use] | None = None
    for key, mention in keyed(mentions).items():
        word = reply.get(key)
        use = settled(ask, collection, mention)
        if use is None and isinstance(word, str):
            use = offered(ask, collection, mention).get(word)
        if use is None:
            before = None
            continue
        if before is not None and follows(ask.question, before[0], mention):
            use = aligned(use, tuple(offered(ask, collection, mention).values()), before[1])
        before = mention, use
        chosen.append(
            Accepted(
                use=use,
                words=mention.words,
                start=mention.start,
                end=mention.end,
                turn=mention.turn,
                hard=SOFT not in mention.hint.split(),
                ambiguous=AMBIGUOUS in mention.hint.split(),
                rivals=_rivals(mention, use),
            )
        )
    return _changed(ask.question, ask.history, chosen, collection)


def _rivals(mention: Mention, use: Use) -> tuple[str, ...]:
    """The other fields for which there is as much evidence as for the one chosen."""
    best: dict[str, float] = {}
    for choice in mention.choices:
        best[choice.field] = max(choice.score, best.get(choice.field, choice.score))
    if mention.turn or use.field not in best:
        return ()
    return tuple(name for name in best if name != use.field and best[name] == best[use.field])


def _changed(
    question: str, history: Sequence[str], chosen: Sequence[Accepted], collection: Collection
) -> list[Accepted]:
    """Earlier conditions give way to new ones of the same field, unless those are added, and
    all of them to one thing called by its name.
    """
    now = [one for one in chosen if one.turn == 0]
    if any(_names_one_thing(question, one) for one in now):
        return now
    chosen = _latest(chosen, history, collection)
    fields = {name for one in now for name in one.use.fields}
    added = bool(_ADDED.search(question))
    kept: list[Accepted] = []
    for one in chosen:
        if one.turn == 0 or not one.use.fields & fields:
            kept.append(one)
        elif one.use.group is not None:
            continue
        elif added and _same_kind(one.use, now):
            kept.append(replace(one, added=True))
        elif _both_can_hold(one.use, now, collection):
            kept.append(one)
    return kept


def _latest(
    chosen: Sequence[Accepted], history: Sequence[str], collection: Collection
) -> list[Accepted]:
    """Among earlier turns, too, a later one replaces what an earlier one said of a field."""
    kept: list[Accepted] = []
    for one in chosen:
        later = [
            other
            for other in chosen
            if one.turn < other.turn < 0
            and one.use.fields & other.use.fields
            and not (-other.turn <= len(history) and _ADDED.search(history[other.turn]))
        ]
        if not later or _both_can_hold(one.use, later, collection):
            kept.append(one)
    return kept


def _names_one_thing(question: str, one: Accepted) -> bool:
    """A thing called by its name: in quotes, or in Chinese, where nothing else marks a name."""
    use = one.use
    if _NAMES.search(name_words(use.field)) is None or use.excluded or use.parts[0].op is not Op.EQ:
        return False
    quoted = question[one.start - 1 : one.start] in _QUOTES and one.start > 0
    return quoted or has_cjk(one.words)


def _same_kind(use: Use, now: Sequence[Accepted]) -> bool:
    return any(other.use.field == use.field and other.use.excluded == use.excluded for other in now)


def _both_can_hold(use: Use, now: Sequence[Accepted], collection: Collection) -> bool:
    """An exclusion beside a wish for something else, or one end of a range beside the other."""
    news = [other.use for other in now if other.use.field == use.field]
    lower, upper = {Op.GT, Op.GE}, {Op.LT, Op.LE}
    ops = {part.op for part in use.parts}
    for new in news:
        theirs = {part.op for part in new.parts}
        if new.excluded != use.excluded:
            if _values(new) & _values(use):
                return False
            continue
        if (ops <= lower and theirs <= upper) or (ops <= upper and theirs <= lower):
            continue
        return False
    return True


def _values(use: Use) -> frozenset[object]:
    return frozenset(
        value
        for part in use.parts
        for value in (part.value if isinstance(part.value, tuple) else (part.value,))
    )
