"""What one or more readings show: certain findings, those that only time confirms, and what cannot be judged."""

from __future__ import annotations

from io import StringIO

import pytest
from msgspec.structs import replace
from rich.console import Console

from monitor.cli.doctor import exit_code
from monitor.cli.render_doctor import render_diagnosis
from monitor.doctor.diagnosis import Diagnosis, diagnose
from monitor.doctor.libraries import LibrarySeen
from monitor.doctor.reading import ClusterState, Reading, fold_reading
from monitor.model import (
    ClientDefect,
    ConnectAssignment,
    ConnectorTasks,
    ConnectWorker,
    GroupKind,
    GroupObserved,
    Member,
    ObservedOffset,
    PartitionObserved,
    Source,
    Subtopology,
    TopicObserved,
    TopicPartition,
    TopicPartitions,
    Topology,
    WireForm,
)

NOW_MS = 1_795_650_000_000
SILENCE_MS = 60_000
"""``commit_silence_s`` by default."""
LATER_MS = NOW_MS + 5_500
"""The second reading."""


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
    """One reading alone does not say so: a consumer at work looks like this between two commits."""
    first = fold(reading(NOW_MS, group(NOW_MS, "gone", 4, 10)))
    alone = diagnose(first, 1)
    assert (found(alone), alone.unconfirmed, alone.is_certain, exit_code(alone)) == ([], 1, False, 0)
    diagnosis = diagnose(again(first, LATER_MS), 2, before=first)
    assert found(diagnosis) == [("gone", "unattended", SILENCE_MS - 5_500)]
    assert (diagnosis.unconfirmed, diagnosis.is_certain) == (0, False)


def test_a_finding_opens_at_its_own_instant_though_a_rule_waits_for_an_earlier_one():
    """Half a second after the first reading, a rule waits until a second has passed; the silence is over after 60."""
    first = fold(reading(NOW_MS, group(NOW_MS, "gone", 4, 10)))
    diagnosis = diagnose(again(first, NOW_MS + 500), 2, before=first)
    assert found(diagnosis) == [("gone", "unattended", SILENCE_MS - 500)]


def again(state: ClusterState, pass_ms: int, **fields: object) -> ClusterState:
    """The cluster after a reading in which nothing has changed."""
    return fold_reading(state, reading(pass_ms, listed=state.listed, **fields))


def test_what_the_second_reading_alone_has_is_counted_and_is_no_finding():
    """The record came after the first reading, and the member may be at work on it."""
    own = {"state": "Stable", "protocol": "range", "members": (member("a", 0, 1),)}
    first = fold(reading(NOW_MS, group(NOW_MS, "fine", 10, 10, **own)))
    diagnosis = diagnose(again(first, LATER_MS, ends=(11, 10)), 2, before=first)
    assert (diagnosis.findings, exit_code(diagnosis)) == ((), 0)
    left = fold(reading(NOW_MS, group(NOW_MS, "left", 10, 10)))
    later = diagnose(again(left, LATER_MS, ends=(11, 10)), 2, before=left)
    assert (later.findings, later.unconfirmed, exit_code(later)) == ((), 1, 0)


def test_new_lag_of_one_partition_is_no_standstill_beside_an_old_one():
    """Records of partition 1 came after the first reading; those of partition 0 were there before."""
    own = {"state": "Stable", "protocol": "range", "members": (member("a", 0, 1),)}
    first = fold(reading(NOW_MS, group(NOW_MS, "busy", 4, 10, **own)))
    (finding,) = diagnose(again(first, LATER_MS, ends=(10, 12)), 2, before=first).findings
    assert (finding.reason, [place.partition for place in finding.partitions]) == ("not_committing", [0])


def test_new_lag_of_one_partition_takes_no_finding_from_a_group_without_members():
    """Nobody could be at work on it: partition 0 had lag before, partition 1 has it since."""
    first = fold(reading(NOW_MS, group(NOW_MS, "gone", 4, 10)))
    (finding,) = diagnose(again(first, LATER_MS, ends=(10, 12)), 2, before=first).findings
    assert (finding.kind, [place.partition for place in finding.partitions]) == ("unattended", [0, 1])


def test_each_client_library_is_named_once_with_its_groups_and_what_can_show_there():
    """kafka-go alone abridges its subscriptions, which other leaders cannot decode."""
    abridged = [
        replace(member(name, 0), is_abridged=True, wire=WireForm(subscription_version=1)) for name in ("m", "n")
    ]
    of_go = {"state": "Stable", "protocol": "range", "generation": 1}
    seen = reading(
        NOW_MS,
        group(NOW_MS, "b", members=(abridged[0],), **of_go),
        group(NOW_MS, "a", members=(abridged[1],), **of_go),
        group(NOW_MS, "empty", 10),
    )
    diagnosis = diagnose(fold(seen), 1)
    assert diagnosis.libraries == (LibrarySeen("kafka-go", 2, ("a", "b"), (ClientDefect.KAFKA_GO_SUBSCRIPTION,)),)
    told = StringIO()
    Console(file=told, width=200).print(render_diagnosis(diagnosis))
    (line, defect) = told.getvalue().split("client ids show them:\n")[1].splitlines()[:2]
    assert line.rstrip() == "- kafka-go: 2 members in a, b"
    assert defect.startswith("  Known defect (0.4.51): It sends subscription version 1 without OwnedPartitions.")


def test_every_group_has_a_row_with_the_largest_lag_first():
    pair = group(NOW_MS, "busy", 10, 9, state="Stable", protocol="range", members=(member("a", 0), member("b", 1)))
    moving = group(NOW_MS, "moving", state="PreparingRebalance", protocol_type="consumer")
    first = fold(reading(NOW_MS, pair, group(NOW_MS, "gone", 4, 10), group(NOW_MS, "fine", 10, 10), moving))
    rows = diagnose(again(first, LATER_MS), 2, before=first).groups
    assert [(row.group, row.state, row.members, row.partitions, row.lag) for row in rows] == [
        ("gone", "empty", 0, 2, 6),
        ("busy", "stable", 2, 2, 1),
        ("fine", "empty", 0, 2, 0),
        ("moving", "rebalancing", None, None, None),
    ]
    assert [row.kind for row in rows[:3]] == ["kafka-classic"] * 3
    assert [row.lag_at_least_ms for row in rows[:2]] == [5_500, 5_500]


def read_twice(members: tuple[Member, ...], before: tuple[int, ...], after: tuple[int, ...]) -> Diagnosis:
    """A group of these members whose offsets in two readings are these; each partition has ten records."""
    ends = (10,) * len(before)
    own = {"state": "Stable", "protocol": "range", "members": members}
    first = fold(reading(NOW_MS, group(NOW_MS, "busy", *before, **own), ends=ends))
    both = fold_reading(first, reading(LATER_MS, group(LATER_MS, "busy", *after, **own), ends=ends))
    return diagnose(both, 2, before=first)


def test_a_second_reading_refutes_a_standstill_if_all_offsets_moved():
    members = (member("a", 0, 1),)
    assert read_twice(members, (4, 4), (6, 6)).findings == ()
    stuck = read_twice(members, (4, 4), (4, 4)).findings
    assert [(each.kind, len(each.partitions)) for each in stuck] == [("lag", 2)]


def test_a_second_reading_refutes_no_standstill_of_the_partitions_that_did_not_move():
    """Of the eight partitions of a member, it commits the first. The text names the seven others only."""
    diagnosis = read_twice((member("a", *range(8)),), (4,) * 8, (6, *(4,) * 7))
    (finding,) = diagnosis.findings
    assert (finding.kind, finding.reason, finding.members) == ("lag", "not_committing", ())
    assert [place.partition for place in finding.partitions] == [1, 2, 3, 4, 5, 6, 7]
    assert "7 partitions of orders (1-7)" in finding.sentence
    assert finding.opens_in_ms > 0


def test_the_partitions_of_a_member_that_commits_nothing_stay_while_another_goes_on():
    """The admin API tells no session timeout, so a job reports the partitions, too, and no dead member."""
    members = (member("a", 0, 1), member("b", 2, 3))
    (finding,) = read_twice(members, (4, 4, 4, 4), (6, 6, 4, 4)).findings
    assert (finding.kind, finding.reason) == ("lag", "not_committing")
    assert [place.partition for place in finding.partitions] == [2, 3]


def test_a_reading_that_moved_makes_no_lag_imbalance_up():
    """Member a goes on with a lag of 50,000; the 12,000 records of member b are not most of the lag."""
    members = (member("a", 0), member("b", 1))
    own = {"state": "Stable", "protocol": "range", "members": members}
    first = fold(reading(NOW_MS, group(NOW_MS, "busy", 0, 0, **own), ends=(50_000, 12_000)))
    seen = reading(LATER_MS, group(LATER_MS, "busy", 10, 0, **own), ends=(50_000, 12_000))
    findings = diagnose(fold_reading(first, seen), 2, before=first).findings
    assert [each.kind for each in findings if each.kind == "imbalance"] == []


def test_commits_of_a_group_without_members_refute_that_nobody_consumes_for_it():
    """Flink, for one, commits and never joins."""
    first = fold(reading(NOW_MS, group(NOW_MS, "gone", 4, 10)))
    later_ms = NOW_MS + 5_500
    both = fold_reading(first, reading(later_ms, group(later_ms, "gone", 6, 10)))
    assert diagnose(both, 2, before=first).findings == ()


def test_what_is_expected_is_what_later_readings_find():
    """The grace time has passed in the last reading, and nothing has changed: all is certain, and the same."""
    gone = group(NOW_MS, "gone", 4, 10)
    first = fold(reading(NOW_MS, gone))
    early = diagnose(again(first, LATER_MS), 2, before=first)
    late_ms = NOW_MS + SILENCE_MS
    last = fold_reading(first, reading(late_ms, listed=frozenset({"gone"})))
    late = diagnose(last, 2, before=first)
    assert late.is_certain
    assert early.findings
    assert [(each.kind, each.reason, each.partitions, each.sentence) for each in late.findings] == [
        (each.kind, each.reason, each.partitions, each.sentence) for each in early.findings
    ]


def test_the_worst_comes_first():
    """Records that retention has removed are gone; a group without members can be started."""
    groups = (group(NOW_MS, "gone", 4, 10), group(NOW_MS, "zz-lost", 1, 1))
    first = fold(cut(reading(NOW_MS, *groups)))
    both = fold_reading(first, cut(reading(LATER_MS, listed=first.listed)))
    worst, *_ = diagnose(both, 2, before=first).findings
    assert (worst.group, worst.kind) == ("zz-lost", "retention")


def cut(seen: Reading) -> Reading:
    """The reading of a cluster where retention has removed the first three records of each partition."""
    kept = tuple(replace(partition, earliest=3) for partition in seen.topics[0].partitions)
    return replace(seen, topics=(replace(seen.topics[0], partitions=kept),))


def test_a_rebalancing_group_is_not_judged_and_not_forgotten():
    """A broker returns neither subscriptions nor owners meanwhile."""
    busy = group(NOW_MS, "busy", 10, 10, state="PreparingRebalance", protocol_type="consumer")
    state = fold(reading(NOW_MS, busy))
    assert [(each.group, each.reason) for each in diagnose(state, 1).not_judged] == [("busy", "it rebalances")]
    unchanged = fold_reading(state, reading(NOW_MS + 5_000, listed=frozenset({"busy"})))
    assert [each.group for each in diagnose(unchanged, 2).not_judged] == ["busy"]
    settled = fold_reading(unchanged, reading(NOW_MS + 9_000, group(NOW_MS + 9_000, "busy", 10, 10)))
    assert (diagnose(settled, 3).not_judged, diagnose(settled, 3).judged) == ((), 1)


CONNECT = {"protocol_type": "connect", "protocol": "sessioned", "offsets": ()}


def worker(name: str) -> Member:
    assignment = ConnectAssignment(name, f"http://{name}/", 1, assigned=(ConnectorTasks("files", (0,)),))
    return Member(member_id=name, connect=ConnectWorker(2, f"http://{name}/", 1, assignment=assignment))


def test_of_a_connect_cluster_without_workers_only_what_was_seen_is_judged():
    """A look does not know what should run. If it saw the worker, it knows what that ran."""
    running = group(NOW_MS, "workers", state="Stable", members=(worker("one"),), **CONNECT)
    ended = group(NOW_MS + 5_000, "workers", **CONNECT)
    diagnosis = diagnose(fold(reading(NOW_MS + 5_000, ended)), 1)
    assert (diagnosis.findings, diagnosis.judged) == ((), 0)
    assert [each.group for each in diagnosis.not_judged] == ["workers"]
    assert diagnose(fold(reading(NOW_MS, running)), 1).not_judged == ()
    watched = diagnose(fold(reading(NOW_MS, running), reading(NOW_MS + 5_000, ended)), 2)
    assert [(each.kind, each.reason) for each in watched.findings] == [("orphaned", "no_workers")]
    assert (watched.not_judged, watched.judged) == ((), 1)


def application(pass_ms: int, state: str, *sources: str, **fields: object) -> GroupObserved:
    """A Streams group that joins these topics."""
    part = Subtopology("0", source_topics=sources, copartitioned=(sources,))
    own = {"kind": GroupKind.STREAMS, "protocol_type": None, "topology": Topology(epoch=0, subtopologies=(part,))}
    return group(pass_ms, "app", state=state, **(own | fields))


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("orders", None),
        ("prices", "no instance is left, and the topology needs prices, which does not exist"),
        (
            "bills",
            "no instance is left, and the topology joins orders, bills, which have different numbers of partitions",
        ),
    ],
)
def test_a_streams_group_without_instances_is_not_judged_where_its_topics_may_be_why(source: str, reason: str | None):
    """There are two partitions of orders, and one of bills."""
    seen = reading(NOW_MS, application(NOW_MS, "Empty", "orders", source))
    diagnosis = diagnose(fold(replace(seen, topics=(*seen.topics, topic(NOW_MS, 10, name="bills")))), 1)
    assert [each.reason for each in diagnosis.not_judged] == ([] if reason is None else [reason])
    assert (diagnosis.findings, diagnosis.judged) == ((), int(reason is None))


def test_a_streams_group_whose_instances_leave_while_it_is_watched_is_judged():
    later_ms = NOW_MS + 5_000
    starting = application(NOW_MS, "NotReady", "prices", members=(Member(member_id="a"),))
    states = fold(reading(NOW_MS, starting), reading(later_ms, application(later_ms, "Empty", "prices")))
    latest = fold_reading(states, reading(later_ms + 5_000, listed=frozenset({"app"})))
    diagnosis = diagnose(latest, 3)
    assert [(each.kind, each.reason) for each in diagnosis.findings] == [("orphaned", "not_ready")]
    assert diagnosis.not_judged == ()


def test_a_group_of_which_not_all_is_known_keeps_its_findings():
    """Orders has lag, and no topic of prices exists."""
    offsets = (ObservedOffset("orders", 0, 4),)
    app = application(NOW_MS, "Empty", "orders", "prices", offsets=offsets, generation=1)
    first = fold(reading(NOW_MS, app))
    diagnosis = diagnose(again(first, LATER_MS), 2, before=first)
    assert [(each.kind, each.reason) for each in diagnosis.findings] == [("unattended", "no_members")]
    assert [each.group for each in diagnosis.not_judged] == ["app"]


def test_a_group_that_a_complete_reading_does_not_list_is_gone():
    state = fold(reading(NOW_MS, group(NOW_MS, "gone", 4, 10)))
    incomplete = fold_reading(state, reading(NOW_MS + 1, complete=False))
    assert set(incomplete.groups) == {"gone"}
    assert set(fold_reading(incomplete, reading(NOW_MS + 2)).groups) == set()


def test_one_group_can_be_chosen():
    first = fold(reading(NOW_MS, group(NOW_MS, "gone", 4, 10), group(NOW_MS, "also", 4, 10)))
    state = again(first, LATER_MS)
    diagnosis = diagnose(state, 2, before=first, only="also")
    assert [row.group for row in diagnosis.groups] == ["also"]
    assert ({each.group for each in diagnosis.findings}, diagnosis.judged) == ({"also"}, 1)
    assert diagnose(state, 1, only="none").judged == 0


def test_a_part_that_was_not_read_is_no_clean_answer():
    fine, behind = group(NOW_MS, "fine", 10, 10), group(NOW_MS, "behind", 4, 10)
    missing = {"complete": False, "problems": ("Broker 2 does not list its groups.",)}
    assert exit_code(diagnose(fold(reading(NOW_MS, fine)), 1)) == 0
    assert exit_code(diagnose(fold(reading(NOW_MS, fine, **missing)), 1)) == 2
    first = fold(reading(NOW_MS, behind))
    assert exit_code(diagnose(again(first, LATER_MS, **missing), 2, before=first)) == 1
