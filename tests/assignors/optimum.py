"""The best assignment there is, found by a slow exact method: minimum-cost flow.

Best means: first the most even one (the smallest sum of squares of what members have), and of those the one in which
most partitions stay with their owners.
"""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx

from monitor.model import TopicPartition

EVEN = 1_000  # more than all partitions that could move together


@dataclass(frozen=True)
class TinyGroup:
    """Who asks for which topics, how many partitions they have, and who owns what."""

    asked: dict[str, tuple[str, ...]]
    counts: dict[str, int]
    owner: dict[TopicPartition, str]

    def places(self):
        wanted = {topic for topics in self.asked.values() for topic in topics}
        return [TopicPartition(t, p) for t in sorted(wanted & self.counts.keys()) for p in range(self.counts[t])]


@dataclass(frozen=True)
class Quality:
    """How uneven an assignment is, and how many partitions it moves away from an owner that could keep them."""

    unevenness: int
    moved: int


def quality(group: TinyGroup, owners: dict[TopicPartition, str]) -> Quality:
    sizes = [sum(owner == member for owner in owners.values()) for member in group.asked]
    moved = sum(owners[place] != owner for place, owner in group.owner.items() if place.topic in group.asked[owner])
    return Quality(sum(size * size for size in sizes), moved)


def best(group: TinyGroup) -> Quality:
    return quality(group, _cheapest_flow(group))


def _cheapest_flow(group: TinyGroup) -> dict[TopicPartition, str]:
    """From every partition to a subscriber (moving costs 1) and on to a seat: the n-th costs 2n - 1, so n cost n²."""
    graph, places = nx.DiGraph(), group.places()
    for place in places:
        graph.add_edge("source", place, capacity=1, weight=0)
        for member, topics in group.asked.items():
            if place.topic in topics:
                keeps = group.owner.get(place) in (None, member)
                graph.add_edge(place, ("member", member), capacity=1, weight=int(not keeps))
    for member in group.asked:
        for seat in range(len(places)):
            graph.add_edge(("member", member), (member, seat), capacity=1, weight=EVEN * (2 * seat + 1))
            graph.add_edge((member, seat), "sink", capacity=1, weight=0)
    flow = nx.max_flow_min_cost(graph, "source", "sink") if places else {}
    return {place: member for place in places for (_, member), units in flow[place].items() if units}
