"""The assignors that keep what they can, against the best assignment there is. The gap is the original's, and known.

docs/assignors.md tells the same numbers.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from monitor.assignors.kafka_broker import UniformAssignor
from monitor.assignors.kafka_client.rejoining import rejoining
from monitor.assignors.kafka_client.sticky import CooperativeStickyAssignor, StickyAssignor
from monitor.model import Member, TopicPartition, TopicPartitions, TopicShape
from tests.assignors.optimum import TinyGroup, best, quality

GROUPS = 300
DOCUMENT = Path(__file__).parents[2] / "docs" / "assignors.md"


def tiny_group(chance: random.Random, subscriptions: str) -> TinyGroup:
    topics = [f"t{number}" for number in range(chance.randint(1, 4))]
    members = [f"C{number}" for number in range(chance.randint(2, 5))]
    counts = {topic: chance.randint(1, 6) for topic in topics}
    some = {member: tuple(sorted(chance.sample(topics, chance.randint(1, len(topics))))) for member in members}
    asked = some if subscriptions == "different" else dict.fromkeys(members, tuple(topics))
    owner = {}
    for topic in topics:
        able = [member for member in members if topic in asked[member]]
        for partition in range(counts[topic]):
            if able and chance.random() < 0.8:
                owner[TopicPartition(topic, partition)] = chance.choice(able)
    return TinyGroup(asked, counts, owner)


def members_of(group: TinyGroup) -> tuple[Member, ...]:
    members = []
    for name, topics in group.asked.items():
        mine = [place for place, owner in group.owner.items() if owner == name]
        held = {topic: tuple(place.partition for place in mine if place.topic == topic) for topic in topics}
        assigned = tuple(TopicPartitions(topic, numbers) for topic, numbers in held.items() if numbers)
        members.append(Member(member_id=name, topics=topics, assigned=assigned))
    return rejoining(members, generation=1)


def owners(assignment) -> dict[TopicPartition, str]:
    return {
        TopicPartition(entry.topic, number): member.member_id
        for member in assignment.members
        for entry in member.topics
        for number in entry.partitions
    }


def verdict(group: TinyGroup, assign) -> str:
    topics = [
        TopicShape(topic=name, partitions=count, topic_id=f"{name}AAAAAAAAAAAAAAAAAAAA")
        for name, count in group.counts.items()
    ]
    reached, possible = quality(group, owners(assign(members_of(group), topics))), best(group)
    assert reached.unevenness >= possible.unevenness
    if reached.unevenness > possible.unevenness:
        return "less even"
    assert reached.moved >= possible.moved
    return "moves more" if reached.moved > possible.moved else "best"


ASSIGNORS = {
    "sticky": StickyAssignor().assign,
    "cooperative-sticky": CooperativeStickyAssignor().target,
    "uniform": UniformAssignor().assign,
}


@pytest.mark.parametrize("subscriptions", ["same", "different"])
@pytest.mark.parametrize("name", ASSIGNORS)
def test_the_gap_is_as_documented(name, subscriptions):
    chance = random.Random(4)
    seen = Counter(verdict(tiny_group(chance, subscriptions), ASSIGNORS[name]) for _ in range(GROUPS))
    row = rf"\| {name} \| {subscriptions} \| (\d+) \| (\d+) \| (\d+) \|"
    told = re.search(row, DOCUMENT.read_text(encoding="utf-8"))
    assert told, f"docs/assignors.md has no row for {name}, {subscriptions}"
    assert [seen["best"], seen["less even"], seen["moves more"]] == [int(number) for number in told.groups()]
