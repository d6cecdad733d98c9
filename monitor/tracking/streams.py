"""The records that only a streams group of the broker has (KIP-1071): its topology, and whether that was validated.

Members, targets and tasks are folded as those of KIP-848 groups are (monitor.tracking.kip848.records).
"""

from __future__ import annotations

from msgspec.structs import replace

from monitor.model import KINDS, EpochStored, GroupState, Source, StreamsGroupState, Topology


def with_topology(state: GroupState, topology: Topology | None) -> GroupState:
    """The group with another topology (None: none any more)."""
    known = state.streams or StreamsGroupState()
    return replace(state, streams=replace(known, topology=topology))


def with_validation(state: GroupState, event: EpochStored) -> GroupState:
    """The group with what its new epoch says of its topology; left as they are: groups of other kinds, and polled ones.

    The answers of a broker do not have it; see with_polled_topology.
    """
    if not KINDS[event.kind].broker_assigns_tasks or state.source is not Source.LOG:
        return state
    known = state.streams or StreamsGroupState()
    validated = replace(known, validated_epoch=event.validated_epoch, standby_replicas=event.standby_replicas)
    return replace(state, streams=validated)


def with_polled_topology(state: GroupState, topology: Topology | None, *, is_ready: bool | None) -> GroupState:
    """The group with its topology as a broker describes it, and with what follows from its state.

    Args:
        state: the group.
        topology: None: the broker shows none.
        is_ready: whether the broker has all topics of it; it shows nothing else of its validation. None: its state does
            not show that either, as without members. It is then what it was with the same topology before, or yes.
    """
    if topology is None:
        return replace(state, streams=None)
    if is_ready is None:
        known = state.streams
        is_ready = known is None or known.topology != topology or known.validated_epoch is not None
    validated = topology.epoch if is_ready else None
    return replace(state, streams=StreamsGroupState(topology=topology, validated_epoch=validated))


def is_ready(known: StreamsGroupState | None) -> bool:
    """Whether the broker had all topics that the topology needs, and so could assign tasks, as far as is known.

    Of a group that a groupwatch tracked first that did not know topologies, the epoch alone tells it.

    Source: ``StreamsGroup.maybeUpdateGroupState`` of Kafka's group coordinator, and its ``configuredTopology``.
    """
    if known is None:
        return True
    if known.topology is None:
        return known.validated_epoch is not None
    return known.validated_epoch == known.topology.epoch
