"""``uniform`` where members subscribe to different topics (``UniformHeterogeneousAssignmentBuilder``).

Properties:

1. Every partition of a subscribed topic has exactly one owner, and the owner subscribes to the topic.
2. For most patterns of subscription, no member has two partitions more than another subscriber of one of its topics.
   Where many subscriptions overlap that is not promised: the balancing stops after 16 rounds.
3. Members keep what they have, as far as 2 is tried.
4. The order of the members decides between members with equally many partitions.

Steps, topics always in this order: those with the most partitions for each subscriber first; of equal ones those with
the fewest subscribers; of equal ones by id.

1. *Keep*: everybody keeps what it has of the topics that it still subscribes to.
2. *Hand out*: partitions without an owner go, topic by topic, to the subscriber that has least (``load_bounds``).
3. *Balance*: go through the topics with two subscribers or more. In each, the last partition of the member that has
   most goes to the one that has least. Stop when they differ by one, or no member with the most partitions has one of
   this topic. Go round, 16 times at most, until one whole round has moved nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from monitor.assignors.errors import AssignorError
from monitor.assignors.kafka_broker.group import BrokerGroup
from monitor.assignors.kafka_broker.load_bounds import Levels

ROUNDS: Final = 16
_NOBODY: Final = -1

Given = dict[int, set[int]]
"""The partitions of one member, by topic."""


def assign_different(group: BrokerGroup) -> list[Given] | None:
    """By member number, the partitions of each topic; None if no member subscribes to a topic that exists.

    Raises:
        AssignorError: a topic's metadata has gone, or a member has a partition that does not exist.
    """
    desk = _Desk(group)
    if not desk.subscribers:
        return None
    desk.keep()
    desk.hand_out()
    desk.balance()
    return desk.given


class _Desk:
    """Who has what while it is being decided."""

    def __init__(self, group: BrokerGroup) -> None:
        self._group = group
        self.subscribers: dict[int, list[int]] = {}
        for member, topics in enumerate(group.asked):
            for topic in topics:
                group.count(topic)
                self.subscribers.setdefault(topic, []).append(member)
        self.given: list[Given] = [{} for _ in group.member_ids]
        self._sizes = [0] * len(group.member_ids)
        self._owners = {topic: [_NOBODY] * group.count(topic) for topic in self.subscribers}
        self._line = sorted(self.subscribers, key=self._place_in_line)

    def keep(self) -> None:
        """Step 1. Of two members that have the same partition, the later one counts as its owner."""
        for member, held in enumerate(self._group.held):
            asked = set(self._group.asked[member])
            for holding in held:
                if holding.topic in asked:
                    self._note(member, holding.topic, holding.partitions)

    def hand_out(self) -> None:
        """Step 2."""
        for topic in self._line:
            levels = Levels(self.subscribers[topic], self._sizes)
            for partition, owner in enumerate(self._owners[topic]):
                if owner == _NOBODY:
                    self._give(topic, partition, levels.next_least())

    def balance(self) -> None:
        """Step 3."""
        contested = [topic for topic in self._line if len(self.subscribers[topic]) >= 2]
        last = None  # the newest topic of which anything moved; at first the first topic
        for _ in range(ROUNDS):
            for topic in contested:
                if topic == last:
                    return
                if self._balance_topic(topic) or last is None:
                    last = topic

    def _balance_topic(self, topic: int) -> bool:
        levels = Levels(self.subscribers[topic], self._sizes)
        if levels.difference() <= 1:
            return False
        stacks: dict[int, list[int]] = defaultdict(list)
        for partition, owner in enumerate(self._owners[topic]):
            stacks[owner].append(partition)
        moved = False
        while not levels.are_level():
            giver = _next_giver(levels, stacks)
            if giver is None:
                break
            partition = stacks[giver].pop()
            taker = levels.next_least()
            if levels.are_level():
                break
            self._take_away(topic, partition)
            self._give(topic, partition, taker)
            moved = True
        return moved

    def _note(self, member: int, topic: int, partitions: Sequence[int]) -> None:
        owners = self._owners[topic]
        for partition in partitions:
            if not 0 <= partition < len(owners):
                why = f"Index {partition} out of bounds for length {len(owners)}"
                raise AssignorError("ArrayIndexOutOfBoundsException", why)
            owners[partition] = member
        self._sizes[member] += len(partitions)
        self.given[member][topic] = set(partitions)

    def _give(self, topic: int, partition: int, member: int) -> None:
        self.given[member].setdefault(topic, set()).add(partition)
        self._owners[topic][partition] = member
        self._sizes[member] += 1

    def _take_away(self, topic: int, partition: int) -> None:
        owner = self._owners[topic][partition]
        mine = self.given[owner].get(topic)
        if mine is not None:
            mine.discard(partition)
            if not mine:
                del self.given[owner][topic]
        self._sizes[owner] -= 1

    def _place_in_line(self, topic: int) -> tuple[float, int, object]:
        subscribers = len(self.subscribers[topic])
        return -self._group.count(topic) / subscribers, subscribers, self._group.topics[topic].uuid


def _next_giver(levels: Levels, stacks: dict[int, list[int]]) -> int | None:
    """The next of those who have most that has a partition to give up."""
    while (giver := levels.next_most()) is not None:
        if stacks.get(giver):
            return giver
        levels.exclude_most()
    return None
