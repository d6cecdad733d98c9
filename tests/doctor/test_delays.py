"""However slowly the brokers respond, healthy groups have no finding, and what is wrong is found.

The cluster is a function of time: records come at a steady rate, and members commit at instants of their own. Its clock
goes on by the delay of each request, in the order in which the doctor makes them, and by the pause between readings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from monitor.cli.doctor import exit_code
from monitor.doctor.diagnosis import Diagnosis
from monitor.doctor.examination import Examination, first_answer
from monitor.doctor.reading import Reading
from monitor.model import GroupObserved, Member, ObservedOffset, PartitionObserved, TopicObserved, TopicPartitions
from tests.doctor.test_diagnosis import NOW_MS, group

DELAYS_S = (0.0, 1.0, 2.0, 5.0)
RATE = 20
"""Records a second in each partition of each topic."""


def end_at(at_s: float) -> int:
    """The end of each partition, which began long ago."""
    return int(RATE * (at_s + 10_000))


@dataclass(frozen=True)
class Simulated:
    """A group of two partitions of its own topic. ``committed`` gives the offset of both at an instant, in seconds."""

    name: str
    committed: Callable[[float], tuple[int, int]]
    members: tuple[tuple[int, ...], ...] = ((0,), (1,))
    ends: Callable[[float], int] = end_at
    earliest: int = 0

    def topic(self, pass_ms: int, at_s: float) -> TopicObserved:
        end = self.ends(at_s)
        partitions = tuple(PartitionObserved(partition=p, earliest=self.earliest, end=end) for p in (0, 1))
        return TopicObserved(cluster="c", topic=self.name, pass_ms=pass_ms, observed_ms=pass_ms, partitions=partitions)

    def observed(self, pass_ms: int, at_s: float) -> GroupObserved:
        offsets = tuple(
            ObservedOffset(topic=self.name, partition=p, offset=offset) for p, offset in enumerate(self.committed(at_s))
        )
        members = tuple(self._member(number, owned) for number, owned in enumerate(self.members))
        own = {"state": "Stable", "protocol": "range", "members": members} if members else {}
        observed_ms = NOW_MS + int(1000 * at_s)
        return group(pass_ms, self.name, offsets=offsets, observed_ms=observed_ms, **own)

    def _member(self, number: int, owned: tuple[int, ...]) -> Member:
        name = f"m{number}"
        assigned = (TopicPartitions(self.name, owned),)
        return Member(member_id=name, client_id=name, host="/10.0.0.1", topics=(self.name,), assigned=assigned)


class SimulatedCluster:
    """Returns readings of these groups; each request takes so many seconds of its clock."""

    def __init__(self, groups: tuple[Simulated, ...], delay_s: float) -> None:
        self.groups = groups
        self.delay_s = delay_s
        self.now_s = 0.0

    def read(self) -> Reading:
        pass_ms = NOW_MS + int(1000 * self.now_s)
        self._request(3)  # the connection, the topics, their descriptions
        self._request(2)  # where they end, where they begin
        topics = tuple(each.topic(pass_ms, self.now_s) for each in self.groups)
        self._request(3)  # the groups, their members, their offsets
        groups = tuple(each.observed(pass_ms, self.now_s) for each in self.groups)
        self._request(4)  # rebalances, share groups, what is missing
        return Reading(
            pass_ms=pass_ms, groups=groups, topics=topics, listed=frozenset(each.name for each in self.groups)
        )

    def _request(self, count: int) -> None:
        self.now_s += count * (self.delay_s + 0.01)

    def wait(self, seconds: float) -> None:
        self.now_s += seconds

    def close(self) -> None:
        """Nothing is open."""


def answer_of(groups: tuple[Simulated, ...], delay_s: float) -> Diagnosis:
    cluster = SimulatedCluster(groups, delay_s)
    return first_answer(Examination(cluster, "c"), wait=cluster.wait)


def commits_every(interval_s: float, phase_s: float, behind: int = 0) -> Callable[[float], tuple[int, int]]:
    """Members that commit at these intervals, all but so many of the records that have come by then."""

    def committed(at_s: float) -> tuple[int, int]:
        newest_s = (at_s - phase_s) // interval_s * interval_s + phase_s
        return (end_at(newest_s) - behind,) * 2

    return committed


def burst_end(phase_s: float) -> Callable[[float], int]:
    """A record every 7 s."""
    return lambda at_s: int((at_s + 10_000 + phase_s) // 7)


def commits_bursts(phase_s: float) -> Callable[[float], tuple[int, int]]:
    """Each record is committed with the next automatic commit, up to 5 s later."""
    return lambda at_s: (burst_end(phase_s)(at_s // 5 * 5),) * 2


HEALTHY = (
    *(Simulated(f"auto-{n}", commits_every(5, n / 2)) for n in range(10)),
    *(Simulated(f"quick-{n}", commits_every(1, n / 7)) for n in range(5)),
    *(Simulated(f"behind-{n}", commits_every(5, n, behind=10_000)) for n in range(5)),
    *(Simulated(f"bursts-{n}", commits_bursts(n), ends=burst_end(n)) for n in range(7)),
    *(Simulated(f"idle-{n}", lambda at_s: (500, 500), ends=lambda at_s: 500) for n in range(2)),
    Simulated("empty", lambda at_s: (500, 500), members=(), ends=lambda at_s: 500),
)


@pytest.mark.parametrize("delay_s", DELAYS_S)
def test_healthy_groups_have_no_finding(delay_s: float):
    answer = answer_of(HEALTHY, delay_s)
    assert (answer.judged, answer.findings, answer.problems, exit_code(answer)) == (30, (), (), 0)


def stands(first: int, second: int) -> Callable[[float], tuple[int, int]]:
    return lambda at_s: (first, second)


def half(at_s: float) -> tuple[int, int]:
    """The member of partition 0 commits every 5 s, that of partition 1 hangs."""
    return (commits_every(5, 0)(at_s)[0], end_at(-600))


FAULTS = {
    "unattended": Simulated("unattended", stands(end_at(-600), end_at(-600)), members=()),
    "not-committing": Simulated("not-committing", half),
    "double-owned": Simulated("double-owned", commits_every(5, 1), members=((0,), (0, 1))),
    "orphaned": Simulated("orphaned", commits_every(5, 2), members=((0,), ())),
    "retention": Simulated("retention", stands(100, 100), earliest=5_000),
}


@pytest.mark.parametrize("delay_s", DELAYS_S)
def test_what_is_wrong_is_found_beside_the_healthy_groups(delay_s: float):
    answer = answer_of((*HEALTHY, *FAULTS.values()), delay_s)
    found = {(each.group, str(each.kind)) for each in answer.findings}
    assert {name for name, _ in found} == FAULTS.keys()
    assert {
        ("unattended", "unattended"),
        ("not-committing", "lag"),
        ("double-owned", "double_owned"),
        ("orphaned", "orphaned"),
        ("retention", "retention"),
    } <= found
    assert exit_code(answer) == 1
