"""The traits of groups: what the kind decides, and what only the protocol of the members tells."""

from __future__ import annotations

import pytest

from monitor.model import KINDS, ConnectVerdict, GroupKind, GroupState, GroupVerdict, Phase, traits_of

CLASSIC = KINDS[GroupKind.CLASSIC]


def group(kind: GroupKind, protocol_type: str = "", protocol: str | None = None) -> GroupState:
    return GroupState(cluster="c", group="g", kind=kind, protocol_type=protocol_type, protocol=protocol)


@pytest.mark.parametrize("kind", GroupKind)
def test_the_kind_decides_where_no_protocol_is_known(kind):
    assert traits_of(group(kind)) == KINDS[kind]


@pytest.mark.parametrize("protocol", ["default", "compatible", "sessioned", None])
def test_a_connect_cluster_is_one_by_any_of_its_protocols(protocol):
    """``ConnectProtocolCompatibility``; without workers it has no protocol, but still its type."""
    traits = traits_of(group(GroupKind.CLASSIC, "connect", protocol))
    assert (traits.runs_connectors, traits.reads_by_task, traits.assignors) == (True, False, "")
    assert not traits.leader_assigns_partitions


def test_a_classic_application_of_kafka_streams_is_one_by_its_assignor():
    """``StreamsPartitionAssignor.name()`` is "stream"; its members are consumers."""
    traits = traits_of(group(GroupKind.CLASSIC, "consumer", "stream"))
    assert (traits.leader_assigns_tasks, traits.runs_connectors, traits.assignors) == (True, False, "")
    assert not traits.leader_assigns_partitions
    assert not traits.broker_assigns_tasks


@pytest.mark.parametrize(
    ("protocol_type", "protocol"),
    [("consumer", "range"), ("consumer", "streams"), ("", "stream"), ("other", "stream"), ("connector", "default")],
)
def test_other_protocols_change_nothing(protocol_type, protocol):
    assert traits_of(group(GroupKind.CLASSIC, protocol_type, protocol)) == CLASSIC


@pytest.mark.parametrize("kind", [kind for kind in GroupKind if kind is not GroupKind.CLASSIC])
@pytest.mark.parametrize(("protocol_type", "protocol"), [("connect", "sessioned"), ("consumer", "stream")])
def test_only_classic_groups_have_these_protocols(kind, protocol_type, protocol):
    assert traits_of(group(kind, protocol_type, protocol)) == KINDS[kind]


@pytest.mark.parametrize(
    ("assignor", "connect", "runs_connectors", "leader_assigns_tasks"),
    [("sessioned", ConnectVerdict(), True, False), ("stream", None, False, True), ("sticky", None, False, False)],
)
def test_a_verdict_has_the_traits_of_its_group(assignor, connect, runs_connectors, leader_assigns_tasks):
    verdict = GroupVerdict("c", "g", "kafka-classic", Phase.STABLE, 0, assignor=assignor, connect=connect)
    traits = verdict.traits
    assert (traits.runs_connectors, traits.leader_assigns_tasks) == (runs_connectors, leader_assigns_tasks)
