"""The records that only streams groups of the broker have: topology, validation, and tasks that read no input."""

from msgspec.structs import replace

from monitor.model import (
    CurrentStored,
    EpochStored,
    GroupDeleted,
    GroupKind,
    GroupObserved,
    IdPartitions,
    Member,
    MemberStored,
    Phase,
    Reconciliation,
    Source,
    SpareTasks,
    StreamsGroupState,
    Subtopology,
    TargetEpochStored,
    TargetStored,
    Topology,
    TopologyStored,
)
from monitor.tracking.group import fold_group
from monitor.tracking.serialization import decode_group_state, encode_state

STREAMS = GroupKind.STREAMS
TOPOLOGY = Topology(epoch=3, subtopologies=(Subtopology("0", source_topics=("in",)),))


def joined(member_id="m"):
    return MemberStored(group="g", kind=STREAMS, member=Member(member_id=member_id), stored_ms=1)


def epoch(number, validated):
    return EpochStored(
        group="g", kind=STREAMS, epoch=number, stored_ms=number, validated_epoch=validated, standby_replicas=1
    )


def topology(known=TOPOLOGY):
    return TopologyStored(group="g", topology=known, stored_ms=1)


def aimed(number):
    return TargetEpochStored(group="g", kind=STREAMS, epoch=number, stored_ms=number)


def current(number, **fields):
    return CurrentStored(
        group="g", kind=STREAMS, member_id="m", current=Reconciliation(epoch=number, since_ms=number, **fields)
    )


def folded(*events, state=None):
    return fold_group("c", "g", state, events)


def test_a_group_is_not_ready_until_its_topology_is_validated():
    missing = folded(joined(), topology(), epoch(1, None))
    assert (missing.phase, missing.streams) == (Phase.NOT_READY, StreamsGroupState(TOPOLOGY, None, 1))
    of_another = folded(epoch(2, 2), state=missing)
    assert of_another.phase is Phase.NOT_READY
    ready = folded(epoch(3, 3), state=of_another)
    assert (ready.phase, ready.streams) == (Phase.ASSIGNING, StreamsGroupState(TOPOLOGY, 3, 1))
    assert folded(aimed(3), current(3), state=ready).phase is Phase.STABLE


def test_another_topology_has_to_be_validated_first():
    stable = folded(joined(), topology(), epoch(1, 3), aimed(1), current(1))
    assert stable.phase is Phase.STABLE
    assert folded(topology(replace(TOPOLOGY, epoch=4)), state=stable).phase is Phase.NOT_READY


def test_a_state_from_before_topologies_were_known_is_ready_if_its_epoch_says_so():
    """The topology's record was read long ago, by a groupwatch that passed it over."""
    older = replace(folded(joined(), topology(), epoch(1, 3), aimed(1), current(1)), streams=None)
    assert folded(epoch(2, 3), state=older).phase is Phase.ASSIGNING
    assert folded(epoch(2, None), state=older).phase is Phase.NOT_READY


def test_standby_and_warm_up_tasks_are_kept_beside_active_ones():
    one, two = IdPartitions("0", (0,)), IdPartitions("0", (1,))
    spare, aim = SpareTasks(standby=(one,)), SpareTasks(warmup=(two,))
    target = TargetStored(group="g", kind=STREAMS, member_id="m", target=(one,), spare=aim)
    state = folded(joined(), target, current(1, assigned=(two,), spare=spare, spare_revoking=aim))
    (member,) = state.members
    expected = Reconciliation(
        epoch=1, assigned=(two,), target=(one,), since_ms=1, spare=spare, spare_revoking=aim, spare_target=aim
    )
    assert member.reconciliation == expected
    assert decode_group_state(encode_state(state)) == state
    (gone,) = folded(TargetStored(group="g", kind=STREAMS, member_id="m", target=None), state=state).members
    assert gone.reconciliation == replace(expected, target=None, spare_target=None)


def test_a_deleted_group_has_no_topology():
    state = folded(joined(), topology(), epoch(1, 3))
    deleted = GroupDeleted(group="g", deleted_ms=9, kind=STREAMS)
    assert folded(topology(None), deleted, state=state) is None


def test_a_polled_group_is_in_the_state_that_its_broker_says():
    def polled(state, at_ms):
        return GroupObserved(
            cluster="c",
            group="g",
            kind=STREAMS,
            source=Source.ADMIN,
            pass_ms=at_ms,
            observed_ms=at_ms,
            members=(Member(member_id="m", reconciliation=Reconciliation(epoch=2)),),
            generation=2,
            target_epoch=2,
            state=state,
        )

    first = folded(polled("NotReady", 1))
    assert (first.phase, first.streams) == (Phase.NOT_READY, None)
    second = folded(polled("Stable", 2), state=first)
    assert (second.phase, second.streams) == (Phase.STABLE, None)
