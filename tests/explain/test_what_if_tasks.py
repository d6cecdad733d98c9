"""What-if of streams groups, in tasks: what captured coordinators did next, and small groups worked out by hand."""

from itertools import pairwise

import pytest
from msgspec.structs import replace

from monitor.cli.render_answer import what_if_shown
from monitor.detection.evaluation_input import GroupInputs, QuestionError, only_concerned
from monitor.detection.ownership.tasks.task_places import target_tasks, task_holders
from monitor.explain.task_changes import TaskMove
from monitor.explain.what_if import Change, PartitionCount, what_if
from monitor.explain.what_if_text import consequences, moving, task_move
from monitor.model import CONNECT, Catalog, GroupKind, Phase, Subtopology, Topology
from tests.detection.ownership.test_kip848 import CATALOG as MODERN_TOPICS
from tests.detection.ownership.test_kip848 import group as modern_group
from tests.detection.ownership.test_task_targets import pair
from tests.support.builders import NOW, catalog, group, member, topic
from tests.support.captured_streams import after_each, streams_logs
from tests.support.kind_captures import marks
from tests.support.kind_catalogs import catalog_at


def asked(state, change, topics):
    return what_if(GroupInputs(group=state, catalog=topics, now_ms=NOW), change)


# --- captured ---------------------------------------------------------------------------------------------------------


def captured_targets(name):
    """The group as the targets of each epoch had been stored, by epoch; before its topology was ready it had none."""
    states = [state for _, state in after_each(streams_logs()[name]) if state is not None]
    ready = [state for state in states if state.phase is not Phase.NOT_READY and state.members]
    return {state.target_epoch: state for state in reversed(ready) if state.target_epoch == state.generation}


def captured_catalog(name):
    """The topics as all of them were there, also those that the coordinator made."""
    return catalog_at(max((mark for mark in marks() if mark["group"] == name), key=lambda mark: len(mark["topics"])))


TIE = "stc893-streams", 19
"""Of these targets, one task is another member's: members that share a bucket came in another order."""


def departures():
    """Captured targets before and after one or several members left, with those."""
    for name in streams_logs():
        targets = list(captured_targets(name).values())[::-1]
        for before, after in pairwise(targets):
            ids, rest = ({member.member_id for member in state.members} for state in (before, after))
            if rest < ids and (name, after.target_epoch) != TIE:
                yield pytest.param(name, before, after, tuple(sorted(ids - rest)), id=f"{name} {after.target_epoch}")


@pytest.mark.parametrize(("name", "before", "after", "gone"), list(departures()))
def test_without_members_tasks_go_where_captured_coordinators_gave_them(name, before, after, gone):
    topics = only_concerned(GroupInputs(before, captured_catalog(name), NOW)).catalog
    answer = asked(before, Change(without=gone), topics)
    then = {
        (task, is_standby): member.member_id
        for member in answer.members
        if member.tasks_after is not None
        for is_standby, own in ((False, member.tasks_after.active), (True, member.tasks_after.standby))
        for task in own
    }
    chosen = task_holders(map(target_tasks, after.members))
    assert then == {(str(place.task), place.is_standby): holders[0] for place, holders in chosen.items()}
    assert [member.member_id for member in answer.members if member.leaves] == list(gone)


def test_captured_groups_lost_members():
    assert len(list(departures())) == 7


# --- by hand ----------------------------------------------------------------------------------------------------------


def settled(**change):
    """The member a of process p has the task 0_0 and b of q has 0_1; both consume in-0."""
    broker = pair(is_stateful=False, targets=(0, 1))
    broker.settle("a", "b")
    return replace(broker.state(), **change)


TWO = catalog(topic("in-0", 2))


def told(answer):
    return [moving(answer), *map(task_move, answer.task_moves), *consequences(answer)]


BEFORE = "The tasks before are the coordinator's target assignment, whether members have reached it or not."


def test_a_rebalance_now_moves_nothing():
    answer = asked(settled(), Change(), TWO)
    assert told(answer) == ["No task gets a different member.", "At most 1 active task per member, before and after."]
    assert (answer.task_moves, answer.moves, answer.idle) == ((), (), ())
    assert answer.assumptions == (BEFORE,)


def test_without_a_member_its_task_moves_to_the_other():
    answer = asked(settled(), Change(without=("b",)), TWO)
    assert told(answer) == [
        "1 task gets a different member:",
        "Task 0_1 moves from b to a.",
        "At most 1 active task per member before, 2 after.",
    ]
    assert answer.task_moves == (TaskMove("0_1", before=("b",), after=("a",)),)
    assert [(move.topic, move.partition, move.before, move.after) for move in answer.moves] == [
        ("in-0", 1, ("b",), ("a",))
    ]
    assert [each.tasks_after and each.tasks_after.active for each in answer.members] == [("0_0", "0_1"), None]


def test_more_members_than_tasks_leave_one_without():
    answer = asked(settled(), Change(members=3), TWO)
    assert told(answer)[-1] == "Members without a task: new-1."
    assert answer.assumptions == (
        BEFORE,
        "New members (new-1) are application instances of their own, with one thread each.",
        "The order of new members depends on ids that they do not have yet; the simulation uses these names.",
    )


def test_fewer_members_keep_their_tasks():
    answer = asked(settled(), Change(members=1), TWO)
    assert told(answer)[1] == "Task 0_1 moves from b to a."
    assert answer.assumptions[-1] == "The members that leave are the last in the assignors' order (b)."


def test_new_partitions_are_new_tasks():
    """Both members have one task, and their processes come in the order of the alphabet."""
    answer = asked(settled(), Change(partitions=(PartitionCount("in-0", 4),)), TWO)
    assert told(answer) == [
        "2 tasks get a different member:",
        "Task 0_2 starts on a.",
        "Task 0_3 starts on b.",
        "At most 1 active task per member before, 2 after.",
    ]


def with_state(**part):
    state = settled()
    parts = (Subtopology("0", ("in-0",), **part),)
    return replace(state, streams=replace(state.streams, topology=Topology(0, parts), standby_replicas=1))


def test_standby_tasks_are_told_as_such():
    """Two tasks with state, one standby task each: the other member has it. The members have no standby tasks yet."""
    answer = asked(with_state(changelogs=("state",)), Change(), TWO)
    assert told(answer)[:3] == [
        "2 standby tasks get a different member:",
        "Standby task 0_0 starts on b.",
        "Standby task 0_1 starts on a.",
    ]
    assert answer.assumptions[-1] == (
        "No member reports the state of a task that it does not have; Kafka 4.4 would prefer such members."
    )


def test_the_number_of_standby_tasks_is_that_of_now_where_a_broker_does_not_tell_it():
    state = settled()
    unknown = replace(state, streams=replace(state.streams, standby_replicas=None))
    assert asked(unknown, Change(), TWO).assumptions[-1] == (
        "Each task with state has 0 standby tasks: the configured number is not known."
    )


def test_a_repartition_topic_is_assumed_to_keep_its_partitions():
    grown = Change(partitions=(PartitionCount("in-0", 3),))
    answer = asked(with_state(repartition_sinks=("by-repartition",)), grown, TWO)
    assert answer.assumptions[-1] == (
        "The repartition topics by-repartition keep their number of partitions. If the application derives it from the "
        "source topics, the topology would not be ready."
    )


def test_the_command_speaks_of_tasks(capsys):
    from monitor.cli.render_answer import tell  # noqa: PLC0415 -- it writes to the output of the test

    tell(what_if_shown(asked(settled(), Change(without=("b",)), TWO)))
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["g", "of", "cluster", "c,", "assigned", "by", "sticky:"] in lines
    assert ["a", "1", "0_0", "2", "0_0,", "0_1"] in lines
    assert ["b", "leaves", "1", "0_1", "0"] in lines
    assert ["Task", "0_1", "moves", "from", "b", "to", "a."] in lines


# --- what cannot be asked ---------------------------------------------------------------------------------------------

CLASSIC = group(member("m", ["a"], {"a": [0]}), protocol="stream")
WORKERS = group(member("m", []), protocol="sessioned", protocol_type=CONNECT)
GROWN = Change(partitions=(PartitionCount("in-0", 3),))


@pytest.mark.parametrize(
    ("state", "change", "topics", "sentence"),
    [
        (
            settled(),
            Change(assignor="uniform"),
            TWO,
            "The coordinator of a streams group has one task assignor, sticky; groupwatch cannot simulate uniform.",
        ),
        (
            settled(),
            Change(leader="a"),
            TWO,
            "A streams group has no leader: its coordinator assigns the tasks.",
        ),
        (
            settled(phase=Phase.NOT_READY),
            Change(),
            TWO,
            "The topology of group g is not ready, so its coordinator assigns no tasks.",
        ),
        (
            settled(streams=None),
            Change(),
            TWO,
            "The topology of group g is not known, so its tasks cannot be simulated.",
        ),
        (
            settled(members=(), phase=Phase.EMPTY),
            Change(members=2),
            TWO,
            "Group g has no members (it is empty), so there is nothing to assign.",
        ),
        (settled(), Change(without=("c",)), TWO, "The group has no member c; its members are a, b."),
        (
            settled(),
            Change(partitions=(PartitionCount("x", 3),)),
            TWO,
            "No member subscribes to x; the group's topics are in-0.",
        ),
        (
            with_state(changelogs=("state",)),
            GROWN,
            catalog(topic("in-0", 2), topic("state", 2)),
            "The topology would not be ready: the changelog topic state has 2 partitions, and subtopology 0 would have "
            "3 tasks.",
        ),
        (
            with_state(repartition_sources=("more",), copartitioned=(("in-0", "more"),)),
            GROWN,
            catalog(topic("in-0", 2), topic("more", 2)),
            "The topology would not be ready: these topics must have the same number of partitions: in-0 3, more 2.",
        ),
        (
            CLASSIC,
            Change(assignor="range"),
            catalog(topic("a", 1)),
            "Group g is a classic group of Kafka Streams: its assignor depends on settings that no record contains "
            "(acceptable.recovery.lag, racks).",
        ),
        (
            WORKERS,
            Change(assignor="range"),
            Catalog(cluster="c", pass_ms=NOW),
            "Group g is a Connect cluster: its leader assigns by what it remembers of lost workers, which no record "
            "contains.",
        ),
        (
            modern_group(kind=GroupKind.SHARE),
            Change(),
            MODERN_TOPICS,
            "Group g is a share group: its members consume partitions together, without owners.",
        ),
    ],
)
def test_what_cannot_be_simulated_is_told_with_the_reason(state, change, topics, sentence):
    with pytest.raises(QuestionError) as refused:
        asked(state, change, topics)
    assert str(refused.value) == sentence


def test_the_topics_of_a_topology_stay_where_only_what_concerns_a_group_is_kept():
    """Without its changelog topics, a topology would seem to lack them."""
    state = with_state(changelogs=("state",))
    kept = only_concerned(GroupInputs(state, catalog(topic("in-0", 2), topic("state", 2), topic("other", 1)), NOW))
    assert sorted(kept.catalog.topics) == ["in-0", "state"]
