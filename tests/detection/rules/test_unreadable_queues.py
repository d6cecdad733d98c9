"""Queues of RocketMQ that may not be read, polled and judged. Times are in ms."""

from __future__ import annotations

from monitor.detection import DetectionSettings, evaluate
from monitor.model import Catalog, GroupKind, GroupObserved, GroupState, GroupVerdict, Member, Source
from monitor.model.rocketmq import UnreadableQueue
from monitor.tracking.group import fold_group

NOW = 1_795_000_000_000
CLIENT = Member(member_id="a", topics=("t",))


def queue(number: int, unread: int) -> UnreadableQueue:
    return UnreadableQueue("t", f"broker-a-{number}", unread, 2, 4)


def verdict(
    *polls: tuple[int, tuple[UnreadableQueue, ...] | None], members: tuple[Member, ...] = (CLIENT,)
) -> GroupVerdict:
    """After these polls, each that long after NOW."""
    state: GroupState | None = None
    for later_ms, unreadable in polls:
        event = GroupObserved(
            cluster="mq",
            group="g",
            kind=GroupKind.ROCKETMQ,
            source=Source.SYSTEM,
            pass_ms=NOW + later_ms,
            observed_ms=NOW + later_ms,
            members=members,
            unreadable=unreadable,
        )
        state = fold_group("mq", "g", state, [event])
    assert state is not None
    now_ms = NOW + polls[-1][0]
    return evaluate(state, Catalog(cluster="mq", pass_ms=now_ms), now_ms, DetectionSettings())


def told(of: GroupVerdict) -> list[tuple[str, int, tuple[object, ...]]]:
    return [(each.reason, each.since_ms, tuple(p.partition for p in each.partitions)) for each in of.findings]


def test_they_are_found_since_the_first_poll_that_found_one_of_them():
    """apache/rocketmq #1465: more write queues than read queues, which the tools do not refuse."""
    found = verdict((0, (queue(3, 1),)), (10_000, (queue(2, 7), queue(3, 9))))
    assert told(found) == [("unreadable", NOW, ("broker-a-2", "broker-a-3"))]
    assert "hold 16 records that the group has not consumed" in found.findings[0].sentence
    assert "Of t, broker-a lets 2 queues be read and 4 be written." in found.findings[0].sentence
    assert found.unreadable_records == 16


def test_of_ten_queues_that_are_written_two_may_be_read():
    """alibaba/rocketmq #483 (2017): 2 read and 10 write queues. "Only 0 and 1 can be consumed", and 2 to 9 not."""
    eight = tuple(UnreadableQueue("t", f"broker-a-{number}", 5, 2, 10) for number in range(2, 10))
    found = verdict((0, eight))
    assert told(found) == [("unreadable", NOW, tuple(f"broker-a-{number}" for number in range(2, 10)))]
    assert "hold 40 records that the group has not consumed" in found.findings[0].sentence
    assert "Of t, broker-a lets 2 queues be read and 10 be written." in found.findings[0].sentence


def test_it_ends_with_the_poll_that_finds_none():
    over = verdict((0, (queue(3, 1),)), (10_000, ()))
    assert (told(over), over.unreadable_records) == ([], 0)
    again = verdict((0, (queue(3, 1),)), (10_000, ()), (20_000, (queue(3, 1),)))
    assert told(again) == [("unreadable", NOW + 20_000, ("broker-a-3",))]


def test_a_poll_without_one_of_the_brokers_ends_nothing():
    assert told(verdict((0, (queue(3, 1),)), (10_000, None))) == [("unreadable", NOW, ("broker-a-3",))]


def test_a_group_without_members_reads_nothing_anyway():
    assert told(verdict((0, (queue(3, 1),)), members=())) == []
