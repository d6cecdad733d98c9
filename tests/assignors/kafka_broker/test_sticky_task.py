"""The task assignor of streams groups gives what captured coordinators gave. See tests/oracle for random groups."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from monitor.assignors.errors import AssignorError
from monitor.assignors.java.bucket_orders import bucket_orders
from monitor.assignors.kafka_broker.sticky_task import MemberTasks, StickyTaskAssignor, SubtopologyTasks, TaskMember
from monitor.kinds.streams import task_counts
from monitor.model import IdPartitions, SpareTasks, TargetEpochStored
from monitor.protocol.offsets_topic import decode_record
from monitor.tracking.group import fold_group
from monitor.tracking.streams import is_ready
from tests.oracle.task_answers import our_answer, their_answer
from tests.support.kind_captures import key_of, marks, records, value_of

ORDERS = 1_000


def captured_assignments():
    """Each assignment that a coordinator stored: the group then, and every member's target before and after."""
    states, targets = {}, {}
    for record in records():
        if record["topic"] != "__consumer_offsets" or "control" in record:
            continue
        event = decode_record(key_of(record), value_of(record), record["ts"])
        group = getattr(event, "group", None)
        states[group] = state = fold_group("capture", group, states.get(group), [event])
        if isinstance(event, TargetEpochStored) and event.epoch is not None and state.streams is not None:
            now = {member.member_id: target_of(member) for member in state.members}
            yield state, targets.get(group, {}), now
            targets[group] = now


def target_of(member):
    known = member.reconciliation
    return known.target or (), (known.spare_target or SpareTasks()).standby


def tasks(assignment):
    """The tasks of each member, active and standby."""
    return {
        member_id: tuple({(entry.id, number) for entry in entries for number in entry.partitions} for entries in both)
        for member_id, both in assignment.items()
    }


def partitions():
    """How many partitions each topic has."""
    known = {}
    for mark in marks():
        if mark["scenario"] == "streams":
            known |= {name: topic["partitions"] for name, topic in mark["topics"].items() if "partitions" in topic}
    return known


def agreement(group, before, after):
    """Whether our targets are the coordinator's: at once, with another order of its members, or not at all."""
    counts = task_counts(group.streams.topology, partitions())
    parts = [
        SubtopologyTasks(part.subtopology_id, counts[part.subtopology_id], bool(part.changelogs))
        for part in group.streams.topology.subtopologies
    ]
    members = {
        member.member_id: TaskMember(
            member.member_id, member.streams_client.process_id, *before.get(member.member_id, ((), ()))
        )
        for member in group.members
    }
    replicas = group.streams.standby_replicas or 0
    given = StickyTaskAssignor().assign(list(members.values()), parts, replicas)
    if tasks({each.member_id: (each.active, each.standby) for each in given}) == tasks(after):
        return "at once"
    for order in islice(bucket_orders(members, ORDERS), 1, None):
        given = StickyTaskAssignor().assign_in_order([members[each] for each in order], parts, replicas)
        if tasks({each.member_id: (each.active, each.standby) for each in given}) == tasks(after):
            return "tie"
    return "differs"


def test_the_targets_are_those_of_captured_coordinators():
    """Three of them come from another order of members that share a place of the coordinator's map."""
    seen = Counter(
        agreement(group, before, after) if is_ready(group.streams) and group.members else "nothing to give"
        for group, before, after in captured_assignments()
    )
    assert seen == {"at once": 20, "tie": 3, "nothing to give": 7}


NEWER = Path(__file__).parents[2] / "fixtures" / "task-assignor-4.4" / "cases.jsonl.gz"


def test_the_tasks_are_those_that_kafka_4_4_gives():
    """See the README beside the cases. For every sixth of them, Kafka 4.3 gives others."""
    with gzip.open(NEWER, "rt", encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    assert len(cases) == 600
    for case in cases:
        assert our_answer(case["input"], before_4_4=False) == their_answer(case), case["id"]
    older = sum(our_answer(case["input"]) == their_answer(case) for case in cases)
    assert 400 < older < 550


def test_what_is_given_does_not_depend_on_the_order_of_members():
    members = [TaskMember(f"member-{number}", f"process-{number % 3}") for number in range(7)]
    parts = [SubtopologyTasks("0", 5, is_stateful=True), SubtopologyTasks("1", 4)]
    one, other = (StickyTaskAssignor().assign(each, parts, 1) for each in (members, members[::-1]))
    assert set(one) == set(other)


@pytest.mark.parametrize(("before_4_4", "heir"), [(True, "m0"), (False, "m2")])
def test_a_standby_task_stays_with_its_other_member_since_4_4(before_4_4, heir):
    """Asked of kafka-group-coordinator 4.3.1 and 4.4.0: m1 takes the task over, and m2 had it as well."""
    had = (IdPartitions("0", (0,)),)
    members = [TaskMember("m0", "p0"), TaskMember("m1", "p1", standby=had), TaskMember("m2", "p2", standby=had)]
    given = StickyTaskAssignor(before_4_4=before_4_4).assign(members, [SubtopologyTasks("0", 1, is_stateful=True)], 1)
    assert [each.member_id for each in given if each.active] == ["m1"]
    assert [each.member_id for each in given if each.standby] == [heir]


@pytest.mark.parametrize(("before_4_4", "odd"), [(True, "consumer-0"), (False, "consumer-1")])
def test_processes_of_one_place_of_javas_map_come_in_another_order_since_4_4(before_4_4, odd):
    """Asked of kafka-group-coordinator 4.3.1 and 4.4.0: who has the tasks 1 and 3."""
    processes = (
        "fb060c7c-433f-b81b-f24f-bc071f98dd24",
        "534e7e94-93e4-c359-71be-c1141eb872e3",
        "25934821-561f-8801-6d64-378504ab2bee",
    )
    members = [TaskMember(f"consumer-{number}", process) for number, process in enumerate(processes)]
    given = StickyTaskAssignor(before_4_4=before_4_4).assign(members, [SubtopologyTasks("0", 5, is_stateful=True)], 3)
    active = {each.member_id: each.active[0].partitions for each in given}
    even = {"consumer-0": "consumer-1", "consumer-1": "consumer-0"}[odd]
    assert active == {odd: (1, 3), even: (2, 4), "consumer-2": (0,)}


@pytest.mark.parametrize(("processes", "standby"), [(1, 0), (2, 1), (3, 2), (4, 2)])
def test_a_task_has_no_standby_member_in_a_process_that_has_it(processes, standby):
    """Two replicas are wanted; with too few processes there are fewer."""
    members = [TaskMember(f"m{number}", f"p{number % processes}") for number in range(8)]
    given = StickyTaskAssignor().assign(members, [SubtopologyTasks("0", 6, is_stateful=True)], 2)
    process_of = {member.member_id: member.process_id for member in members}
    for task in range(6):
        holders = [
            process_of[each.member_id]
            for each in given
            for entries in (each.active, each.standby)
            if any(task in entry.partitions for entry in entries)
        ]
        assert len(holders) == len(set(holders)) == 1 + standby


def test_no_members_can_do_no_tasks():
    assert StickyTaskAssignor().assign([], [SubtopologyTasks("0", 0)]) == ()
    with pytest.raises(AssignorError, match="No process available to assign active task 0_0"):
        StickyTaskAssignor().assign([], [SubtopologyTasks("0", 2)])


def test_what_stays_where_it_was_is_the_first_step():
    """Five tasks, two members: a share of three. The second is below it, and the first keeps its lowest ones."""
    members = [TaskMember("a", "p", active=(IdPartitions("0", (0, 1, 2, 3)),)), TaskMember("b", "q")]
    parts = [SubtopologyTasks("0", 5)]
    for assignor in (StickyTaskAssignor(), StickyTaskAssignor(before_4_4=False)):
        assert assignor.keep_active(members, parts) == (
            MemberTasks("a", active=(IdPartitions("0", (0, 1, 2)),)),
            MemberTasks("b"),
        )
