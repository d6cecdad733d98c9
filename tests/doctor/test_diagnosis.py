"""What one or more readings show: certain findings, those that only time confirms, and what cannot be judged."""

from __future__ import annotations

from msgspec.structs import replace

from monitor.cli.doctor import exit_code
from monitor.doctor.diagnosis import Diagnosis, diagnose
from monitor.doctor.reading import ClusterState, Reading, fold_reading
from monitor.model import (
    GroupKind,
    GroupObserved,
    Member,
    ObservedOffset,
    PartitionObserved,
    Source,
    TopicObserved,
    TopicPartition,
    TopicPartitions,
)

NOW_MS = 1_795_650_000_000
SILENCE_MS = 60_000
"""``commit_silence_s`` by default."""


def topic(pass_ms: int, *ends: int, name: str = "orders") -> TopicObserved:
    partitions = tuple(PartitionObserved(partition=p, earliest=0, end=end) for p, end in enumerate(ends))
    return TopicObserved(cluster="c", topic=name, pass_ms=pass_ms, observed_ms=pass_ms, partitions=partitions)


def group(pass_ms: int, name: str, *offsets: int, **fields: object) -> GroupObserved:
    """A classic group without members that has committed these offsets of the partitions of orders."""
    whole = {
        "cluster": "c",
        "group": name,
        "kind": GroupKind.CLASSIC,
        "source": Source.ADMIN,
        "pass_ms": pass_ms,
        "observed_ms": pass_ms,
        "state": "Empty",
        "protocol_type": "consumer",
        "offsets": tuple(ObservedOffset(topic="orders", partition=p, offset=o) for p, o in enumerate(offsets)),
    }
    return GroupObserved(**(whole | fields))


def reading(pass_ms: int, *groups: GroupObserved, ends: tuple[int, ...] = (10, 10), **fields: object) -> Reading:
    listed = frozenset(each.group for each in groups)
    return Reading(pass_ms=pass_ms, groups=groups, topics=(topic(pass_ms, *ends),), **({"listed": listed} | fields))


def fold(*readings: Reading) -> ClusterState:
    state = ClusterState(cluster="c")
    for each in readings:
        state = fold_reading(state, each)
    return state


def found(diagnosis: Diagnosis) -> list[tuple[str, str, int]]:
    return [(each.group, each.kind, each.opens_in_ms) for each in diagnosis.findings]


def member(name: str, *partitions: int) -> Member:
    return Member(
        member_id=name,
        client_id=name,
        host="/10.0.0.1",
        topics=("orders",),
        assigned=(TopicPartitions("orders", partitions),),
    )


def test_a_partition_that_two_members_own_is_certain_at_once():
    """Range gives two members one partition each; here both have partition 0."""
    members = (member("a", 0), member("b", 0, 1))
    pair = group(NOW_MS, "pair", 10, 10, state="Stable", protocol="range", members=members)
    diagnosis = diagnose(fold(reading(NOW_MS, pair)), 1)
    first = diagnosis.findings[0]
    assert (first.group, first.kind, first.opens_in_ms) == ("pair", "double_owned", 0)
    assert (first.partitions, first.members) == ((TopicPartition("orders", 0),), ("a", "b"))
    assert diagnosis.judged == 1


def test_lag_without_members_becomes_a_finding_after_the_silence_unless_something_is_committed():
    gone = group(NOW_MS, "gone", 4, 10)
    diagnosis = diagnose(fold(reading(NOW_MS, gone)), 1)
    assert found(diagnosis) == [("gone", "unattended", SILENCE_MS)]
    assert not diagnosis.is_certain


def test_a_second_reading_refutes_a_standstill_only_where_offsets_moved():
    """Of two stalled partitions of a group with a member, one goes on."""
    members = (member("a", 0, 1),)
    busy = {"state": "Stable", "protocol": "range", "members": members}
    first = fold(reading(NOW_MS, group(NOW_MS, "busy", 4, 4, **busy)))
    stuck = diagnose(first, 1).findings
    assert [each.partitions for each in stuck if each.kind in ("lag", "dead_member")] != []
    later_ms = NOW_MS + 5_500
    both = fold_reading(first, reading(later_ms, group(later_ms, "busy", 6, 6, **busy)))
    assert diagnose(both, 2, before=first.groups).findings == ()
    again = fold_reading(first, reading(later_ms, group(later_ms, "busy", 4, 4, **busy)))
    assert [each.kind for each in diagnose(again, 2, before=first.groups).findings] == [each.kind for each in stuck]


def test_commits_of_a_group_without_members_refute_that_nobody_consumes_for_it():
    """Flink, for one, commits and never joins."""
    first = fold(reading(NOW_MS, group(NOW_MS, "gone", 4, 10)))
    later_ms = NOW_MS + 5_500
    both = fold_reading(first, reading(later_ms, group(later_ms, "gone", 6, 10)))
    assert diagnose(both, 2, before=first.groups).findings == ()


def test_what_is_expected_is_what_later_readings_find():
    """The grace time has passed in the last reading, and nothing has changed: all is certain, and the same."""
    gone = group(NOW_MS, "gone", 4, 10)
    first = fold(reading(NOW_MS, gone))
    early = diagnose(first, 1)
    late_ms = NOW_MS + SILENCE_MS
    last = fold_reading(first, reading(late_ms, listed=frozenset({"gone"})))
    late = diagnose(last, 2, before=first.groups)
    assert late.is_certain
    assert [(each.kind, each.reason, each.partitions, each.sentence) for each in late.findings] == [
        (each.kind, each.reason, each.partitions, each.sentence) for each in early.findings
    ]


def test_the_worst_comes_first():
    """Records that retention has removed are gone; a group without members can be started."""
    lost = group(NOW_MS, "zz-lost", 1, 1)
    seen = reading(NOW_MS, group(NOW_MS, "gone", 4, 10), lost)
    kept = tuple(replace(partition, earliest=3) for partition in seen.topics[0].partitions)
    diagnosis = diagnose(fold(replace(seen, topics=(replace(seen.topics[0], partitions=kept),))), 1)
    worst, *_ = diagnosis.findings
    assert (worst.group, worst.kind) == ("zz-lost", "retention")


def test_a_rebalancing_group_is_not_judged_and_not_forgotten():
    """A broker returns neither subscriptions nor owners meanwhile."""
    busy = group(NOW_MS, "busy", 10, 10, state="PreparingRebalance", protocol_type="consumer")
    state = fold(reading(NOW_MS, busy))
    assert [(each.group, each.reason) for each in diagnose(state, 1).not_judged] == [("busy", "it rebalances")]
    unchanged = fold_reading(state, reading(NOW_MS + 5_000, listed=frozenset({"busy"})))
    assert [each.group for each in diagnose(unchanged, 2).not_judged] == ["busy"]
    settled = fold_reading(unchanged, reading(NOW_MS + 9_000, group(NOW_MS + 9_000, "busy", 10, 10)))
    assert (diagnose(settled, 3).not_judged, diagnose(settled, 3).judged) == ((), 1)


def test_a_group_that_a_complete_reading_does_not_list_is_gone():
    state = fold(reading(NOW_MS, group(NOW_MS, "gone", 4, 10)))
    incomplete = fold_reading(state, reading(NOW_MS + 1, complete=False))
    assert set(incomplete.groups) == {"gone"}
    assert set(fold_reading(incomplete, reading(NOW_MS + 2)).groups) == set()


def test_one_group_can_be_chosen():
    state = fold(reading(NOW_MS, group(NOW_MS, "gone", 4, 10), group(NOW_MS, "also", 4, 10)))
    diagnosis = diagnose(state, 1, only="also")
    assert ({each.group for each in diagnosis.findings}, diagnosis.judged) == ({"also"}, 1)
    assert diagnose(state, 1, only="none").judged == 0


def test_a_part_that_was_not_read_is_no_clean_answer():
    fine, behind = group(NOW_MS, "fine", 10, 10), group(NOW_MS, "behind", 4, 10)
    missing = {"complete": False, "problems": ("Broker 2 does not list its groups.",)}
    assert exit_code(diagnose(fold(reading(NOW_MS, fine)), 1)) == 0
    assert exit_code(diagnose(fold(reading(NOW_MS, fine, **missing)), 1)) == 2
    assert exit_code(diagnose(fold(reading(NOW_MS, behind, **missing)), 1)) == 1
