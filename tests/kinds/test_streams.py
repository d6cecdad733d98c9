"""Streams groups of the broker: tasks, who runs them, and why nobody does."""

import pytest

from monitor.kinds.streams import (
    IdleTask,
    IdleTaskReason,
    MemberTasks,
    TaskId,
    TaskSets,
    expected_tasks,
    idle_tasks,
    member_tasks,
    missing_topics,
    task_counts,
    task_inputs,
    task_owners,
)
from monitor.model import (
    GroupKind,
    GroupState,
    IdPartitions,
    Member,
    Phase,
    Reconciliation,
    SpareTasks,
    StreamsClient,
    StreamsGroupState,
    Subtopology,
    Topology,
)

TOPOLOGY = Topology(
    epoch=0,
    subtopologies=(
        Subtopology("0", source_topics=("orders",), repartition_sinks=("by",)),
        Subtopology("1", repartition_sources=("by",), source_regexes=("pay-.*",), changelogs=("counts",)),
    ),
)
THERE = {"orders": 2, "by": 3, "counts": 3}


def tasks(part, *numbers):
    return IdPartitions(part, numbers)


def member(name, active=(), *, target=None, revoking=(), spare=None, spare_target=None):
    return Member(
        member_id=name,
        reconciliation=Reconciliation(
            assigned=tuple(active), revoking=tuple(revoking), target=target, spare=spare, spare_target=spare_target
        ),
        streams_client=StreamsClient(process_id=f"process of {name}"),
    )


def group(*members, phase=Phase.STABLE, topology=TOPOLOGY):
    return GroupState(
        cluster="c",
        group="g",
        kind=GroupKind.STREAMS,
        phase=phase,
        members=members,
        streams=StreamsGroupState(topology=topology),
    )


def test_there_are_as_many_tasks_as_the_largest_topic_has_partitions():
    assert task_counts(TOPOLOGY, THERE) == {"0": 2, "1": 3}
    assert task_counts(TOPOLOGY, {**THERE, "pay-eu": 5, "payroll": 9}) == {"0": 2, "1": 5}
    assert task_counts(TOPOLOGY, {}) == {"0": 0, "1": 0}
    assert [str(task) for task in expected_tasks(TOPOLOGY, THERE)] == ["0_0", "0_1", "1_0", "1_1", "1_2"]


def test_a_task_reads_its_partition_of_every_topic_that_has_it():
    there = {**THERE, "pay-eu": 2}
    assert task_inputs(TOPOLOGY, TaskId("1", 1), there) == ("by", "pay-eu")
    assert task_inputs(TOPOLOGY, TaskId("1", 2), there) == ("by",)
    assert task_inputs(TOPOLOGY, TaskId("7", 0), there) == ()


def test_missing_topics():
    assert missing_topics(TOPOLOGY, {"by": 3}) == ("counts", "orders")
    assert missing_topics(TOPOLOGY, THERE) == ()


def test_an_expression_that_cannot_be_read_matches_nothing():
    broken = Topology(epoch=0, subtopologies=(Subtopology("0", source_regexes=("(?=a)",)),))
    assert task_counts(broken, {"a": 3}) == {"0": 0}


def test_what_a_member_has_to_give_back_it_still_runs():
    found = member_tasks(
        member(
            "m",
            [tasks("0", 1)],
            revoking=[tasks("1", 0)],
            target=(tasks("0", 1, 2),),
            spare=SpareTasks(standby=(tasks("1", 2),)),
            spare_target=SpareTasks(warmup=(tasks("1", 1),)),
        )
    )
    assert found == MemberTasks(
        member_id="m",
        process_id="process of m",
        running=TaskSets(active=(TaskId("0", 1), TaskId("1", 0)), standby=(TaskId("1", 2),)),
        revoking=TaskSets(active=(TaskId("1", 0),)),
        target=TaskSets(active=(TaskId("0", 1), TaskId("0", 2)), warmup=(TaskId("1", 1),)),
    )
    assert member_tasks(Member(member_id="n")) == MemberTasks("n", "", TaskSets(), TaskSets())


def test_owners_of_a_task_that_is_on_its_way():
    both = [member("a", revoking=[tasks("0", 0)]), member("b", [tasks("0", 0, 1)])]
    assert task_owners(both) == {TaskId("0", 0): ("a", "b"), TaskId("0", 1): ("b",)}


ALL = [tasks("0", 0, 1), tasks("1", 0, 1)]
"""All but the last task."""


@pytest.mark.parametrize(
    ("state", "idle"),
    [
        pytest.param(
            group(member("a", ALL, target=(tasks("1", 2),))),
            IdleTask(TaskId("1", 2), IdleTaskReason.PENDING, target="a"),
            id="it is somebody's target",
        ),
        pytest.param(
            group(member("a", ALL)), IdleTask(TaskId("1", 2), IdleTaskReason.UNASSIGNED), id="nobody's target"
        ),
        pytest.param(
            group(member("a", ALL, target=(tasks("1", 2),)), phase=Phase.ASSIGNING),
            IdleTask(TaskId("1", 2), IdleTaskReason.ASSIGNING, target="a"),
            id="new targets are to come",
        ),
        pytest.param(
            group(member("a", ALL), phase=Phase.NOT_READY),
            IdleTask(TaskId("1", 2), IdleTaskReason.NOT_READY),
            id="a topic is missing",
        ),
    ],
)
def test_why_nobody_runs_a_task(state, idle):
    assert idle_tasks(state, THERE) == (idle,)


def test_nobody_runs_anything_without_members_and_nothing_is_known_without_topology():
    reasons = {each.reason for each in idle_tasks(group(phase=Phase.EMPTY), THERE)}
    assert reasons == {IdleTaskReason.NO_MEMBERS}
    assert idle_tasks(group(topology=None), THERE) == ()
