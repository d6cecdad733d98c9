"""Rebalances of real groups, played back: a kill -9, a join and a hung client, read every ten seconds.

The traces say who held what from when on. Readings fall at every second of the ten, in turn, so that each state in
between is met; what is read is folded and judged as a job does it, every second. Records come at ten a second in each
partition, and who holds one and lives commits all of them at each reading.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.model import (
    Catalog,
    GroupKind,
    GroupObserved,
    GroupState,
    Member,
    ObservedOffset,
    PartitionId,
    PartitionObserved,
    Source,
    TopicObserved,
    TopicPartitions,
    TopicState,
)
from monitor.tracking.group import fold_group
from monitor.tracking.topic import catalog_of, fold_topic
from tests.support.captured_groups import READ, ROCKETMQ, ZOOKEEPER

BEGIN_S = -300
"""The group was as in the first line of its trace since then."""

JUDGED_S = -30
END_S = 240

Seats = tuple[Member, ...]
Partitions = dict[str, tuple[PartitionId, ...]]
Told = list[tuple[int, str, str, tuple[str, ...]]]
"""Second, kind, reason and members of what was told."""


@dataclass
class Group:
    """A group with its members from each instant on, in seconds, the partitions there are, and who of them is dead."""

    kind: GroupKind
    seats: list[tuple[float, Seats]]
    partitions: Partitions
    stopped: dict[str, float] = field(default_factory=dict)

    def at(self, second: float) -> Seats:
        return [seats for since, seats in self.seats if since <= max(second, self.seats[0][0])][-1]

    def reads(self, member: Member, second: float) -> bool:
        """Whether it commits what it holds."""
        return second < self.stopped.get(member.member_id, float("inf"))


def told_of(group: Group, phase_s: int) -> Told:
    """Everything that is told at any second, of readings at so many seconds after each ten."""
    state: GroupState | None = None
    topics: dict[str, TopicState] = {}
    offsets: dict[tuple[str, PartitionId], int] = {}
    told: Told = []
    for second in range(BEGIN_S, END_S):
        if second % 10 == phase_s:
            topics = {name: _topic(topics.get(name), name, group, second) for name in group.partitions}
            state = fold_group("c", "g", state, [_reading(group, second, offsets)])
        if state is not None and second >= JUDGED_S:
            catalog = catalog_of("c", READ + 1000 * (second - (second - phase_s) % 10), topics.values())
            told += [(second, kind, why, who) for kind, why, who in _findings(state, catalog, second)]
    return told


def _findings(state: GroupState, catalog: Catalog, second: int) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    verdict = evaluate(state, catalog, READ + 1000 * second, DetectionSettings())
    for finding in verdict.findings:
        yield finding.kind.value, finding.reason, finding.members


def _topic(before: TopicState | None, name: str, group: Group, second: int) -> TopicState:
    at_ms = READ + 1000 * second
    seen = tuple(PartitionObserved(p, earliest=0, end=10 * (second - BEGIN_S)) for p in group.partitions[name])
    after = fold_topic("c", name, before, [TopicObserved("c", name, at_ms, at_ms, seen)])
    assert after is not None
    return after


def _reading(group: Group, second: int, offsets: dict[tuple[str, PartitionId], int]) -> GroupObserved:
    members = group.at(second)
    for member in members:
        for entry in member.assigned if group.reads(member, second) else ():
            offsets |= {(entry.topic, partition): 10 * (second - BEGIN_S) for partition in entry.partitions}
    at_ms = READ + 1000 * second
    return GroupObserved(
        cluster="c",
        group="g",
        kind=group.kind,
        source=Source.SYSTEM,
        pass_ms=at_ms,
        observed_ms=at_ms,
        members=members,
        offsets=tuple(ObservedOffset(name, partition, offset) for (name, partition), offset in offsets.items()),
    )


# --- RocketMQ ---------------------------------------------------------------------------------------------------------


def lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def rocketmq(trace: str, *, stopped: dict[str, float]) -> Group:
    """The lines are `` 5.1s {'c1': [0, 1, 2, 3], ...}``; a client that did not answer has a text in place of a list."""
    seats = []
    for line in lines(ROCKETMQ / trace):
        at, _, held = line.strip().partition("s ")
        seats.append((float(at), tuple(_client(name, own) for name, own in sorted(ast.literal_eval(held).items()))))
    eight = tuple(f"broker-a-{number}" for number in range(8))
    return Group(GroupKind.ROCKETMQ, seats, {"LabTopic": eight}, stopped)


def _client(name: str, held: list[int] | str) -> Member:
    own = tuple(f"broker-a-{number}" for number in held) if isinstance(held, list) else ()
    return Member(
        member_id=name,
        client_id=name,
        topics=("LabTopic",),
        assigned=(TopicPartitions("LabTopic", own),) if own else (),
        assignor="AllocateMessageQueueAveragely" if isinstance(held, list) else None,
        answers=isinstance(held, list),
    )


@pytest.mark.parametrize("phase_s", range(10))
def test_a_killed_client_of_rocketmq_and_one_that_joins_are_no_finding(phase_s: int):
    """c2 is killed at 5 s and its queues are taken within a second; c0 joins at 57.5 s, with nothing for 0.4 s."""
    assert told_of(rocketmq("rebalance-kill9-and-join.trace.txt", stopped={"c2": 5.0}), phase_s) == []


@pytest.mark.parametrize("phase_s", range(10))
def test_a_hung_client_of_rocketmq_is_told_after_a_minute_until_the_broker_drops_it_and_nothing_else_is(phase_s: int):
    """c1 is stopped at 4 s, dropped at 107 s; its queues lie unowned until 111 s, which heals by itself.

    The last commit of c1 is seen within the 10 s before it stops, the first record that waits at most 20 s after it
    (the ends that are kept are so far apart), and a minute of both is a finding.
    """
    told = told_of(rocketmq("rebalance-sigstop.trace.txt", stopped={"c1": 4.0}), phase_s)
    assert {(kind, reason, who) for _, kind, reason, who in told} == {("dead_member", "no_answer", ("c1",))}
    seconds = [second for second, *_ in told]
    assert seconds == list(range(seconds[0], seconds[-1] + 1)), "it does not come and go"
    assert 4 - 10 + 60 <= seconds[0] <= 4 + 20 + 60
    assert 106 <= seconds[-1] <= 117, "until the first reading that no longer finds it"


def test_a_client_that_hung_before_the_first_reading_is_presumed_to_hold_its_share():
    """What it held was never read: by the others' strategy it is broker-a-3 to 5, which nobody else has."""
    group = rocketmq("rebalance-sigstop.trace.txt", stopped={"c1": BEGIN_S - 1.0})
    seats = tuple(replace(member, topics=()) if member.member_id == "c1" else member for member in group.at(11))
    always = Group(group.kind, [(0.0, seats)], group.partitions, group.stopped)
    state = fold_group("c", "g", None, [_reading(always, 0, {})])
    assert state is not None
    verdict = evaluate(
        state, catalog_of("c", READ, [_topic(None, "LabTopic", always, 0)]), READ + 60_000, DetectionSettings()
    )
    owners = {row.partition: row.owners for row in verdict.partitions}
    assert [owners[f"broker-a-{number}"] for number in (3, 4, 5)] == [("c1",)] * 3
    assert verdict.expectation == "exact"
    assert verdict.findings == ()


def test_of_a_client_that_hangs_where_strategies_differ_nothing_is_presumed_and_nothing_is_told():
    group = rocketmq("rebalance-sigstop.trace.txt", stopped={"c1": BEGIN_S - 1.0})
    seats = tuple(
        replace(member, assignor="AllocateMessageQueueAveragelyByCircle") if member.member_id == "c3" else member
        for member in group.at(11)
    )
    always = Group(group.kind, [(0.0, seats)], group.partitions, group.stopped)
    assert told_of(always, 0) == []


# --- ZooKeeper --------------------------------------------------------------------------------------------------------


def _owners(line: str) -> tuple[float, list[str], dict[str, str]]:
    found = re.fullmatch(r"\s*([\d.]+)s ids=(\[.*?\]) owners=(\{.*\})", line)
    assert found is not None
    return float(found[1]), ast.literal_eval(found[2]), ast.literal_eval(found[3])


def _held(owners: dict[str, str], is_own: Callable[[str], bool], named: Callable[[str], PartitionId]) -> Member:
    held: dict[str, list[PartitionId]] = {}
    for place, owner in owners.items():
        name, _, partition = place.rpartition("/")
        if is_own(owner):
            held.setdefault(name, []).append(named(partition))
    return Member("", assigned=tuple(TopicPartitions(n, tuple(sorted(own))) for n, own in sorted(held.items())))  # type: ignore[type-var]


METAQ_IDS = {  # the trace has the ends of the ids; the whole ones are in metaq-zk.json
    "03140502-1": ("meta-grp_192.0.2.2-16655-1795203140502-1", ("meta-test", "meta-two")),
    "03140200-1": ("meta-grp_192.0.2.2-16656-1795203140200-1", ("meta-test",)),
}


def metaq() -> Group:
    seats = []
    for line in lines(ZOOKEEPER / "metaq-zk-kill9.trace.txt"):
        at, ids, owners = _owners(line)
        members = [
            replace(
                _held(owners, lambda owner, tail=tail: owner.endswith(tail), str),  # type: ignore[misc]
                member_id=METAQ_IDS[tail][0],
                topics=METAQ_IDS[tail][1],
            )
            for tail in ids
        ]
        seats.append((at, tuple(sorted(members, key=lambda member: member.member_id))))
    partitions: Partitions = {
        "meta-test": ("0-0", "0-1", "0-2", "1-0", "1-1", "1-2"),
        "meta-two": ("0-0", "0-1", "1-0", "1-1"),
    }
    return Group(GroupKind.METAQ, seats, partitions, {METAQ_IDS["03140200-1"][0]: 16.0})


KAFKA_STREAMS = {"9-57b599c0": {"hl-a": 2, "hl-b": 1}, "7-3d759246": {"hl-a": 1}}


def kafka() -> Group:
    seats = []
    for line in lines(ZOOKEEPER / "kafka010-zk-kill9.trace.txt"):
        at, ids, owners = _owners(line)
        seats.append((at, tuple(thread for consumer in sorted(ids) for thread in _threads(consumer, owners))))
    return Group(GroupKind.ZOOKEEPER, seats, {"hl-a": (0, 1, 2, 3, 4), "hl-b": (0, 1, 2)}, {"7-3d759246-0": 16.0})


def _threads(consumer: str, owners: dict[str, str]) -> Iterator[Member]:
    streams = KAFKA_STREAMS[consumer]
    for number in range(max(streams.values())):
        name = f"{consumer}-{number}"
        topics = tuple(topic for topic, count in streams.items() if number < count)
        held = _held(owners, lambda owner, name=name: owner == name, int)  # type: ignore[misc]
        yield replace(held, member_id=name, client_id=consumer, topics=topics)


UNEVEN = ("imbalance", "partitions")
"""The healthy groups are uneven by what they subscribe: one member alone reads a topic, besides its part of another."""


@pytest.mark.parametrize("make", [metaq, kafka])
@pytest.mark.parametrize("phase_s", range(10))
def test_a_killed_consumer_that_shares_by_zookeeper_is_no_finding(make: Callable[[], Group], phase_s: int):
    """Killed at 16 s, its partitions lie still until its session ends (6 s in Kafka, 21 s in MetaQ), and then move."""
    group = make()
    assert [each for each in told_of(group, phase_s) if each[1:3] != UNEVEN] == []


@pytest.mark.parametrize(("make", "reason"), [(metaq, "pending"), (kafka, "assignor_gap")])
def test_partitions_that_a_survivor_does_not_take_are_told_once_it_would_have_given_up_trying(
    make: Callable[[], Group], reason: str
):
    """The state between two claims, which lasts for less than a second, stays.

    In MetaQ there is one consumer, which is to have all, whatever the strategy. In Kafka the threads have what they had
    among three threads, which no strategy gives to two: who should have the rest cannot be told.
    """
    group = make()
    between = next(seats for _, seats in group.seats if len(seats) < len(group.seats[0][1]))
    told = told_of(Group(group.kind, [(0.0, group.seats[0][1]), (40.0, between)], group.partitions), 0)
    orphaned = [each for each in told if each[1] == "orphaned"]
    assert {why for _, _, why, _ in orphaned} == {reason}
    assert orphaned[0][0] == 90, "at the first reading that is 45 s after the one at 40 s"
