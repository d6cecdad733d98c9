"""The broker's targets of streams groups against its assignor: captured ones, and those of a broker made by hand.

That broker asks the assignor itself, which is compared with Kafka's own in tests/oracle and tests/assignors: here it is
tested what is asked, and what follows from the answer.
"""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.assignors.java.bucket_orders import bucket_orders
from monitor.assignors.java.order import hash_map_order, string_hash
from monitor.assignors.kafka_broker.sticky_task import MemberTasks, StickyTaskAssignor, SubtopologyTasks, TaskMember
from monitor.detection import DetectionSettings, evaluate
from monitor.detection.ownership.kip848 import named
from monitor.detection.ownership.tasks.target_check import TargetResult, UncheckedReason
from monitor.detection.ownership.tasks.targets import check_targets
from monitor.model import (
    Catalog,
    CurrentStored,
    DriftKind,
    EpochStored,
    FindingKind,
    GroupKind,
    IdPartitions,
    Member,
    MemberRemoved,
    MemberStored,
    Phase,
    Reconciliation,
    SpareTasks,
    StreamsClient,
    Subtopology,
    TargetEpochStored,
    TargetStored,
    Topology,
    TopologyStored,
)
from monitor.tracking.group import fold_group
from tests.support.builders import catalog, topic
from tests.support.captured_streams import after_each, streams_logs
from tests.support.examples import example_count

STREAMS = GroupKind.STREAMS
NOTHING_KNOWN = Catalog(cluster="c", pass_ms=0)
EQUAL, TIE, DIFFERENT, UNKNOWN = TargetResult


# --- captured ---------------------------------------------------------------------------------------------------------


def test_all_captured_targets_are_the_assignors_but_for_ties():
    """As CheckStreams found with Kafka's own class: of 23, 3 need another order of members that share a bucket."""
    seen = Counter()
    for log in streams_logs().values():
        for event, state in after_each(log):
            if isinstance(event, TargetEpochStored) and event.epoch is not None:
                check = check_targets(state, NOTHING_KNOWN)
                seen[check.result, check.reason] += 1
    assert seen == {(EQUAL, None): 20, (TIE, None): 3, (UNKNOWN, UncheckedReason.NOT_READY): 7}


def test_after_no_record_is_a_captured_target_another_than_the_assignors():
    """Also amid the records of an epoch."""
    seen = Counter()
    for log in streams_logs().values():
        for _, state in after_each(log):
            check = state and check_targets(state, NOTHING_KNOWN)
            seen[check and check.result] += 1
    assert seen[DIFFERENT] == 0
    assert seen[EQUAL] > 120
    assert seen[TIE] > 40


def compacted(log):
    """The last record of each key, where it stood."""
    last = {key: number for number, (key, _) in enumerate(log)}
    return [each for number, each in enumerate(log) if last[each[0]] == number]


def test_of_a_log_that_was_compacted_nothing_false_is_concluded():
    """Compacted up to any record, it lacks what members had; what came later is known again."""
    results = Counter()
    for log in streams_logs().values():
        for cut in range(0, len(log), 2):
            for _, state in after_each([*compacted(log[:cut]), *log[cut : cut + 30]]):
                check = state and check_targets(state, NOTHING_KNOWN)
                results[check and (check.result, check.reason)] += 1
    assert not any(result is DIFFERENT for result, _ in filter(None, results))
    assert results[UNKNOWN, UncheckedReason.INPUT] > 100
    assert results[EQUAL, None] > 100


# --- made by hand -----------------------------------------------------------------------------------------------------


class Broker:
    """Writes what a coordinator of streams groups writes, in epochs of which each has its own number as its time.

    ``before_4_4``: as brokers before Kafka 4.4 do. The map of members may have iterated in any order.
    """

    def __init__(self, rng, parts, *, replicas=0, before_4_4=True):
        self.rng, self.parts, self.replicas = rng, parts, replicas
        self.assignor = StickyTaskAssignor(before_4_4=before_4_4)
        self.processes, self.targets, self.held = {}, {}, {}
        self.epoch = 1
        changelogs = {part.subtopology_id: ("state",) if part.is_stateful else () for part in parts}
        self.topology = Topology(
            0,
            tuple(
                Subtopology(p.subtopology_id, (f"in-{p.subtopology_id}",), (), (), (), changelogs[p.subtopology_id])
                for p in parts
            ),
        )
        self.written = [TopologyStored(group="g", topology=self.topology, stored_ms=2)]

    def join(self, member_id, process):
        self.processes[member_id] = process
        member = Member(member_id=member_id, streams_client=StreamsClient(process_id=process))
        self.written.append(MemberStored(group="g", kind=STREAMS, member=member, stored_ms=self.epoch + 1))
        self._raise()

    def leave(self, member_id):
        for known in (self.processes, self.targets, self.held):
            known.pop(member_id, None)
        self.written += [
            TargetStored(group="g", kind=STREAMS, member_id=member_id, target=None),
            MemberRemoved(group="g", kind=STREAMS, member_id=member_id, removed_ms=self.epoch + 1),
        ]
        self._raise()

    def _raise(self):
        self.epoch += 1
        self.written.append(
            EpochStored(
                group="g",
                kind=STREAMS,
                epoch=self.epoch,
                stored_ms=self.epoch,
                validated_epoch=0,
                standby_replicas=self.replicas,
            )
        )

    def assign(self, change=lambda assigned: assigned):
        """New targets; ``change`` makes them others than the assignor's."""
        had = self.targets if self.assignor.before_4_4 else self.held
        orders = list(bucket_orders(self.processes, 50))
        members = [
            TaskMember(m, self.processes[m], had[m].active, had[m].standby)
            if m in had
            else TaskMember(m, self.processes[m])
            for m in self.rng.choice(orders)
        ]
        for aim in change(self.assignor.assign_in_order(members, self.parts, self.replicas)):
            if self.targets.get(aim.member_id) != aim:
                self.targets[aim.member_id] = aim
                spare = SpareTasks(standby=aim.standby) if aim.standby else None
                self.written.append(
                    TargetStored(group="g", kind=STREAMS, member_id=aim.member_id, target=aim.active, spare=spare)
                )
        self.written.append(TargetEpochStored(group="g", kind=STREAMS, epoch=self.epoch, stored_ms=self.epoch))

    def settle(self, *member_ids):
        """These members run what they are to run, but for what others still run."""
        for member_id in member_ids:
            busy = {task for name, held in self.held.items() if name != member_id for task in task_ids(held.active)}
            aim = self.targets[member_id]
            own = {task: member_id for task in task_ids(aim.active) if task not in busy}
            self.held[member_id] = now = MemberTasks(member_id, active_of(own, member_id), aim.standby)
            spare = SpareTasks(standby=now.standby) if now.standby else None
            current = Reconciliation(epoch=self.epoch, assigned=now.active, spare=spare, since_ms=self.epoch)
            self.written.append(CurrentStored(group="g", kind=STREAMS, member_id=member_id, current=current))

    def state(self):
        return fold_group("c", "g", None, self.written)

    def check(self):
        return check_targets(self.state(), NOTHING_KNOWN)


def lived(rng, *, before_4_4):
    """A group after a few joins and leaves, each of which the broker assigned; some members are slow."""
    parts = [
        SubtopologyTasks(str(n), rng.randint(1, 9), is_stateful=rng.random() < 0.5) for n in range(rng.randint(1, 3))
    ]
    broker = Broker(rng, parts, replicas=rng.choice([0, 1, 2]), before_4_4=before_4_4)
    for number in range(rng.randint(2, 12)):
        if len(broker.processes) > 1 and rng.random() < 0.3:
            broker.leave(rng.choice(sorted(broker.processes)))
        else:
            broker.join(f"{rng.getrandbits(64):016x}", f"process-{rng.randint(0, 4)}")
        if rng.random() < 0.8 or number < 1:
            broker.assign()
            yield broker
            broker.settle(*(m for m in sorted(broker.processes) if rng.random() < 0.7))
            yield broker


@pytest.mark.parametrize("before_4_4", [False, True])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=example_count(1.5))
def test_what_the_assignor_gave_is_never_drift(before_4_4, seed):
    for broker in lived(random.Random(seed), before_4_4=before_4_4):
        if broker.epoch == broker.state().target_epoch:
            assert broker.check().result in (EQUAL, TIE), broker.check()


def task_ids(entries):
    return [(entry.id, number) for entry in entries for number in entry.partitions]


def swapped(assignment, rng):
    """The assignment with two active tasks swapped between members."""
    owner = {task: m.member_id for m in assignment for task in task_ids(m.active)}
    one = rng.choice(sorted(owner))
    other = rng.choice(sorted(task for task in owner if owner[task] != owner[one]))
    owner |= {one: owner[other], other: owner[one]}
    return tuple(MemberTasks(m.member_id, active_of(owner, m.member_id), m.standby) for m in assignment)


def active_of(owner, member_id):
    by_part = {}
    for part, number in sorted(place for place, name in owner.items() if name == member_id):
        by_part.setdefault(part, []).append(number)
    return tuple(IdPartitions(part, tuple(numbers)) for part, numbers in by_part.items())


def ids_in_places_of_their_own(rng, count):
    """Ids that a map of so many keys has each in another place, so that it iterates in one order."""
    while True:
        ids = [f"{rng.getrandbits(64):016x}" for _ in range(count)]
        if len({(h := string_hash(each) & 0xFFFF_FFFF, (h ^ h >> 16) & 15)[1] for each in ids}) == count:
            return ids


@given(seed=st.integers(0, 2**32), before_4_4=st.booleans(), has_state=st.booleans())
@settings(max_examples=example_count(2))
def test_two_tasks_that_are_swapped_between_processes_are_drift(seed, before_4_4, has_state):
    """A member joins a settled group. All others keep their tasks up to their share, and it gets the rest: so of any
    two tasks one is taken from a member that keeps it."""
    rng = random.Random(seed)
    parts = [SubtopologyTasks("0", rng.randint(4, 12), has_state), SubtopologyTasks("1", rng.randint(1, 5))]
    broker = Broker(rng, parts, replicas=rng.choice([0, 1]), before_4_4=before_4_4)
    *first, last = ids_in_places_of_their_own(rng, rng.randint(3, 6))
    for member_id in first:
        broker.join(member_id, f"process-{member_id}")
    broker.assign()
    broker.settle(*first)
    broker.join(last, "process-of-the-last")
    broker.assign(lambda assigned: swapped(assigned, rng))
    assert broker.check().result is DIFFERENT


def pair(*, is_stateful, targets):
    """Two members that are new at once, in processes whose places differ, with these tasks of the subtopology 0."""
    broker = Broker(random.Random(0), [SubtopologyTasks("0", 2, is_stateful)])
    broker.join("a", "p")
    broker.join("b", "q")
    broker.assign(lambda _: [MemberTasks(m, (IdPartitions("0", (n,)),)) for m, n in zip("ab", targets, strict=True)])
    return broker


def test_the_names_of_the_pair_have_places_of_their_own():
    """Maps for two keys have four places, others 16: both iterate in the order of the alphabet."""
    assert [string_hash(name) & 3 for name in "abpq"] == [1, 2, 0, 1]
    assert hash_map_order("ba") == ["a", "b"]


@pytest.mark.parametrize(
    ("is_stateful", "targets", "result"),
    [
        pytest.param(False, (0, 1), (EQUAL, None), id="dealt in turn"),
        pytest.param(False, (1, 0), (DIFFERENT, None), id="the other way round"),
        pytest.param(True, (0, 1), (EQUAL, None), id="tasks with state, dealt in turn"),
        pytest.param(True, (1, 0), (UNKNOWN, UncheckedReason.STATE), id="the members may have reported state"),
    ],
)
def test_tasks_with_state_may_go_to_whom_reports_to_have_it(is_stateful, targets, result):
    check = pair(is_stateful=is_stateful, targets=targets).check()
    assert (check.result, check.reason) == result


def test_a_finding_names_the_tasks_and_their_partitions():
    broker = pair(is_stateful=False, targets=(1, 0))
    broker.settle("a", "b")
    broker.written.append(EpochStored("g", STREAMS, broker.epoch, 9, validated_epoch=0, standby_replicas=0))
    (finding,) = evaluate(broker.state(), catalog(topic("in-0", 2)), 3_000_000, DetectionSettings()).findings
    assert (finding.kind, finding.reason, finding.tasks) == (FindingKind.DRIFT, DriftKind.TARGET, ("0_0", "0_1"))
    assert [place.partition for place in finding.partitions] == [0, 1]


# --- what is not known ------------------------------------------------------------------------------------------------


def settled():
    broker = pair(is_stateful=False, targets=(0, 1))
    broker.settle("a", "b")
    return broker.state()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"phase": Phase.NOT_READY}, UncheckedReason.NOT_READY),
        ({"phase": Phase.ASSIGNING, "generation": 9}, UncheckedReason.ASSIGNING),
        ({"assignor_input": None}, UncheckedReason.INPUT),
    ],
)
def test_why_it_is_not_known(change, reason):
    assert check_targets(settled(), NOTHING_KNOWN).result is EQUAL
    check = check_targets(replace(settled(), **change), NOTHING_KNOWN)
    assert (check.result, check.reason) == (UNKNOWN, reason)


def test_without_the_number_of_standby_tasks_it_is_not_known():
    state = settled()
    known = replace(state, streams=replace(state.streams, standby_replicas=None))
    assert check_targets(known, NOTHING_KNOWN).reason is UncheckedReason.INPUT


def test_a_task_that_is_nobodys_leaves_open_which_tasks_there_were():
    broker = pair(is_stateful=False, targets=(0, 2))
    assert broker.check().reason is UncheckedReason.TASKS


def test_of_more_orders_than_are_tried_nothing_is_concluded():
    """Seven members of one place have 5,040 orders. That one gets three of nine tasks and another none is no answer."""
    names = [f"{a}{b}{c}" for a in ("Aa", "BB") for b in ("Aa", "BB") for c in ("Aa", "BB")]
    assert len({string_hash(name) for name in names}) == 1
    broker = Broker(random.Random(1), [SubtopologyTasks("0", 9)])
    for name in names[:7]:
        broker.join(name, f"process-{name}")

    def one_has_three(assigned):
        two, first, *rest = sorted(assigned, key=lambda m: -sum(len(e.partitions) for e in m.active))
        (entry,), (more,) = two.active, first.active
        both = tuple(sorted((*entry.partitions, *more.partitions)))
        return [replace(two, active=(IdPartitions("0", both),)), replace(first, active=()), *rest]

    broker.assign(one_has_three)
    assert broker.check().reason is UncheckedReason.ORDERS


def test_a_group_without_members_or_topology_is_not_checked():
    assert check_targets(replace(settled(), members=()), NOTHING_KNOWN) is None
    assert check_targets(replace(settled(), streams=None), NOTHING_KNOWN) is None
    assert named(replace(settled(), streams=None), NOTHING_KNOWN).members
