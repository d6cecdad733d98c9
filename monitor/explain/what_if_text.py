"""What the answer to a what-if says in words, wherever it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from monitor.detection.ownership.balance import BalanceSide
from monitor.explain.what_if import MemberChange, WhatIf
from monitor.messages.names import counted, listed, places, ranges, shown
from monitor.model import TopicPartitions

SHOWN_TOPICS: Final = 10
"""So many topics of a member are written out."""


def moving(answer: WhatIf) -> str:
    """How many partitions get another owner; they are listed after it."""
    moves = len(answer.moves)
    if not moves:
        return "No partition gets another owner."
    return f"{counted(moves, 'partition')} {'gets' if moves == 1 else 'get'} another owner:"


def consequences(answer: WhatIf) -> tuple[str, ...]:
    """How even it would be, and who would have or be had by nobody."""
    told = [_balance(answer)]
    if answer.idle:
        told.append(f"Without a partition: {listed(answer.idle)}.")
    if answer.orphans:
        told.append(f"Nobody would read {places(answer.orphans)}.")
    return tuple(told)


def mark(member: MemberChange) -> str:
    """What happens to a member, in a word; "" if nothing does."""
    return "joins" if member.joins else "leaves" if member.leaves else "idle" if member.idle else ""


def held(topics: Sequence[TopicPartitions]) -> str:
    """What a member has, topic by topic."""
    head = "; ".join(f"{shown(each.topic)} {ranges(each.partitions)}" for each in topics[:SHOWN_TOPICS])
    more = len(topics) - SHOWN_TOPICS
    return f"{head} and {counted(more, 'more topic')}" if more > 0 else head


def _balance(answer: WhatIf) -> str:
    before, after = _evenness(answer.balance_before), _evenness(answer.balance_after)
    return f"Balance: {before}." if before == after else f"Balance before: {before}; after: {after}."


def _evenness(side: BalanceSide | None) -> str:
    if side is None:
        return "nobody owns anything"
    return f"at most {counted(side.largest, 'partition')} for a member, {side.optimum} would do ({side.ratio:.2f})"
