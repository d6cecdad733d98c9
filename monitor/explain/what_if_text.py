"""What the answer to a what-if says in words, wherever it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from monitor.detection.ownership.balance import BalanceSide
from monitor.explain.what_if import MemberChange, WhatIf
from monitor.messages.formatting import counted
from monitor.messages.names import listed, places, ranges, shown
from monitor.model import TopicPartitions

SHOWN_TOPICS: Final = 10
"""So many topics of a member are written out."""


def moving(answer: WhatIf) -> str:
    """How many partitions get a different owner; a list of them follows."""
    moves = len(answer.moves)
    if not moves:
        return "No partition gets a different owner."
    return f"{counted(moves, 'partition')} {'gets' if moves == 1 else 'get'} a different owner:"


def consequences(answer: WhatIf) -> tuple[str, ...]:
    """The balance, the members without a partition, and the partitions without an owner."""
    sentences = [_balance(answer)]
    if answer.idle:
        sentences.append(f"Members without a partition: {listed(answer.idle)}.")
    if answer.orphans:
        sentences.append(f"{places(answer.orphans)} would have no owner.")
    return tuple(sentences)


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
        return "no partition has an owner"
    return f"at most {counted(side.largest, 'partition')} per member, optimum {side.optimum} (ratio {side.ratio:.2f})"
