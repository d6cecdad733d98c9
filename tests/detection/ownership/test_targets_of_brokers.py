"""Targets that real brokers chose, and assignments that their classes computed: none of them may look wrong."""

from collections import Counter

import msgspec
import pytest
from msgspec.structs import replace

from monitor.assignors.vectors.kafka_broker_cases import members_of, read_case
from monitor.detection import DetectionSettings, evaluate
from monitor.detection.ownership.targets import is_chosen
from monitor.model import (
    Catalog,
    DriftKind,
    GroupKind,
    GroupState,
    IdPartitions,
    PartitionState,
    Phase,
    Reconciliation,
    TopicState,
)
from tests.assignors.golden import read
from tests.tracking.test_group_captures import states_at_marks


def catalog_of(topics, at_ms):
    """Topics by name, each with its id and number of partitions, seen for the first time long before."""
    states = {
        name: TopicState(
            cluster="c",
            topic=name,
            pass_ms=at_ms,
            topic_id=topic_id,
            partitions=tuple(PartitionState(partition=number, first_seen_ms=1) for number in range(count)),
        )
        for name, (topic_id, count) in topics.items()
    }
    names = {state.topic_id: name for name, state in states.items()}
    return Catalog(cluster="c", pass_ms=at_ms, topics=states, names=names)


def wrong_targets(state, catalog, now_ms):
    verdict = evaluate(state, catalog, now_ms, DetectionSettings())
    return [finding.sentence for finding in verdict.findings if finding.reason == DriftKind.TARGET]


@pytest.mark.parametrize(("broker", "at_least"), [("4.3.1", 40), ("3.9.2", 40)])
def test_no_target_of_a_real_broker_looks_wrong(broker, at_least):
    judged = Counter()
    for mark, state in states_at_marks(broker):
        if state is None or state.kind is not GroupKind.CONSUMER:
            continue
        topics = {name: (topic["id"], topic["partitions"]) for name, topic in mark["topics"].items() if "id" in topic}
        catalog = catalog_of(topics, mark["t"])
        assert wrong_targets(state, catalog, mark["t"]) == [], (mark["scenario"], mark["label"])
        judged[evaluate(state, catalog, mark["t"], DetectionSettings()).assignor] += bool(
            state.members and is_chosen(state)
        )
    assert judged.total() >= at_least, judged


@pytest.mark.parametrize(("family", "at_least"), [("uniform", 150), ("range", 150)])
def test_no_assignment_of_kafkas_own_classes_looks_wrong(family, at_least):
    judged = 0
    for vector in read(f"kafka.server.{family}"):
        group, catalog = case_of(vector, family)
        if group is not None:
            assert wrong_targets(group, catalog, 10) == [], vector["id"]
            judged += 1
    assert judged >= at_least


@pytest.mark.parametrize("family", ["uniform", "range"])
def test_a_target_that_was_taken_from_its_member_always_looks_wrong(family):
    """The first member's partitions of its first topic go to nobody; the last partitions may have come later."""
    judged = 0
    for vector in read(f"kafka.server.{family}"):
        group, catalog = case_of(vector, family)
        taken = group and without_the_first(group)
        if taken:
            assert wrong_targets(taken, catalog, 10), vector["id"]
            judged += 1
    assert judged >= 50


def case_of(vector, assignor):
    """The case as a settled group; none where the coordinator's word was not so, or metadata was missing."""
    case = read_case(vector["input"])
    same = len({frozenset(member.topics) for member in case.members}) <= 1
    told = {None: same, "HOMOGENEOUS": True, "HETEROGENEOUS": False}[case.subscription_type]
    given = vector.get("expected", {}).get("assignment")
    odd = vector.get("quirks") or any(topic.partitions < 0 for topic in case.topics.values())
    if given is None or told != same or odd or not case.members:
        return None, None
    catalog = catalog_of({name: (topic.id, topic.partitions) for name, topic in case.topics.items()}, 10)
    members = [
        replace(
            member,
            assigned=(),
            server_assignor=assignor,
            reconciliation=Reconciliation(
                target=tuple(
                    IdPartitions(case.topics[name].id, tuple(numbers))
                    for name, numbers in given.get(member.member_id, {}).items()
                )
            ),
        )
        for member in members_of(case)
    ]
    group = GroupState(
        cluster="c",
        group="g",
        kind=GroupKind.CONSUMER,
        phase=Phase.RECONCILING,
        generation=1,
        generation_ms=5,
        target_epoch=1,
        metadata_hash=1,
        members=tuple(members),
    )
    return group, catalog


def without_the_first(group):
    """The group without partition 0 of a topic that has more: then a higher one shows that the broker knew it."""
    for member in group.members:
        for entry in member.reconciliation.target:
            if entry.partitions[:1] == (0,) and len(entry.partitions) > 1:
                kept = tuple(
                    IdPartitions(other.id, other.partitions[1:]) if other == entry else other
                    for other in member.reconciliation.target
                )
                changed = replace(member, reconciliation=msgspec.structs.replace(member.reconciliation, target=kept))
                others = (changed if each == member else each for each in group.members)
                return replace(group, members=tuple(others))
    return None
