"""KIP-848 and share groups: topics by id, owners and targets, and what is no finding there."""

import pytest
from msgspec.structs import replace

from monitor.detection.evaluate import evaluate
from monitor.detection.ownership.kip848 import named
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.model import (
    FindingKind,
    GroupKind,
    GroupState,
    IdPartitions,
    Member,
    MemberState,
    OrphanReason,
    PartitionObserved,
    Phase,
    Reconciliation,
    ResolvedRegex,
    SubscribedTopic,
    TopicObserved,
    TopicPartition,
    TopicPartitions,
)
from monitor.tracking.topic import fold_topic
from tests.support.builders import ASSIGNED, NOW, catalog, commit, places, topic

ORDERS, BILLS, GONE = "b3JkZXJzb3JkZXJzb3JkZQ", "YmlsbHNiaWxsc2JpbGxzYg", "Z29uZWdvbmVnb25lZ29uZQ"
CATALOG = catalog(
    replace(topic("orders", 4), topic_id=ORDERS),
    replace(topic("bills", 2), topic_id=BILLS),
)


def ids(topic_id, *partitions):
    return (IdPartitions(topic_id, partitions),)


def member(
    member_id,
    *,
    assigned=(),
    revoking=(),
    target=None,
    state=MemberState.STABLE,
    epoch=7,
    since_ms=NOW - 10_000,
    **more,
):
    standing = Reconciliation(
        epoch=epoch, state=state, assigned=assigned, revoking=revoking, target=target, since_ms=since_ms
    )
    return Member(member_id=member_id, topics=more.pop("topics", ("orders",)), reconciliation=standing, **more)


def group(*members, kind=GroupKind.CONSUMER, phase=Phase.STABLE, offsets=(), **more):
    return GroupState(
        cluster="c",
        group="g",
        kind=kind,
        phase=phase,
        phase_ms=ASSIGNED,
        generation=7,
        generation_ms=ASSIGNED,
        target_epoch=7,
        members=members,
        offsets=offsets,
        **more,
    )


def verdict_of(state):
    return evaluate(state, CATALOG, NOW, DetectionSettings())


HALF = member("a", assigned=ids(ORDERS, 0, 1), target=ids(ORDERS, 0, 1))
REST = member("b", assigned=ids(ORDERS, 2, 3), target=ids(ORDERS, 2, 3))


def test_a_settled_group_has_nothing_wrong():
    verdict = verdict_of(group(HALF, REST))
    assert (verdict.kind, verdict.assignor, verdict.expectation) == ("kafka-consumer", "uniform", "target")
    assert {row.partition: (row.owners, row.expected) for row in verdict.partitions} == {
        0: (("a",), "a"),
        1: (("a",), "a"),
        2: (("b",), "b"),
        3: (("b",), "b"),
    }
    assert [(m.member_id, m.partitions, m.expected_partitions, m.epoch) for m in verdict.members] == [
        ("a", 2, 2, 7),
        ("b", 2, 2, 7),
    ]
    assert verdict.findings == ()
    assert verdict.imbalance_ratio == 1.0


def test_a_handover_is_pending_and_not_a_gap():
    """ "b" joined: "a" gives 2 and 3 back, and may still own 2; 3 it has given back already."""
    giving = member(
        "a",
        assigned=ids(ORDERS, 0, 1),
        revoking=ids(ORDERS, 2),
        target=ids(ORDERS, 0, 1),
        state=MemberState.UNREVOKED_PARTITIONS,
        epoch=6,
    )
    waiting = member("b", target=ids(ORDERS, 2, 3), state=MemberState.UNRELEASED_PARTITIONS)
    verdict = verdict_of(group(giving, waiting, phase=Phase.RECONCILING))
    (orphaned,) = [finding for finding in verdict.findings if finding.kind is FindingKind.ORPHANED]
    assert (orphaned.reason, orphaned.partitions) == (OrphanReason.PENDING, places("orders", 3))
    assert "The coordinator assigned it in epoch 7 to b, which has not taken it yet" in orphaned.sentence
    assert {row.partition: (row.owners, row.expected) for row in verdict.partitions}[2] == (("a",), "b")
    assert not [finding for finding in verdict.findings if finding.kind is FindingKind.DRIFT]
    assert {finding.kind for finding in verdict.findings} == {FindingKind.ORPHANED}, "nobody is idle, nothing uneven"
    assert [m.state for m in verdict.members] == [MemberState.UNREVOKED_PARTITIONS, MemberState.UNRELEASED_PARTITIONS]


def test_a_member_that_is_to_have_nothing_is_idle():
    everything = member("a", assigned=ids(ORDERS, 0, 1, 2, 3), target=ids(ORDERS, 0, 1, 2, 3))
    verdict = verdict_of(group(everything, member("b", target=())))
    assert [finding.kind for finding in verdict.findings if finding.kind is FindingKind.IDLE_MEMBERS]


@pytest.mark.parametrize(
    ("phase", "target", "idle"),
    [
        pytest.param(Phase.ASSIGNING, None, False, id="it has just come, and the broker has yet to choose"),
        pytest.param(Phase.ASSIGNING, (), True, id="it was to have nothing before the epoch was raised again"),
        pytest.param(Phase.STABLE, None, True, id="the broker has chosen, and nothing for it"),
    ],
)
def test_a_new_member_is_idle_once_the_broker_has_chosen_without_it(phase, target, idle):
    everything = member("a", assigned=ids(ORDERS, 0, 1, 2, 3), target=ids(ORDERS, 0, 1, 2, 3))
    verdict = verdict_of(group(everything, member("b", target=target), phase=phase))
    assert [row.idle for row in verdict.members] == [False, idle]


def test_a_partition_that_nobody_is_to_have_is_a_gap():
    verdict = verdict_of(group(HALF, member("b", assigned=ids(ORDERS, 2), target=ids(ORDERS, 2))))
    (orphaned,) = [finding for finding in verdict.findings if finding.kind is FindingKind.ORPHANED]
    assert orphaned.partitions == places("orders", 3)
    assert orphaned.reason is not OrphanReason.PENDING
    assert "coordinator" in orphaned.sentence


@pytest.mark.parametrize(
    ("phase", "reason"),
    [(Phase.ASSIGNING, OrphanReason.REBALANCING), (Phase.STABLE, OrphanReason.ASSIGNOR_GAP)],
)
def test_what_nobody_has_is_a_gap_only_once_the_broker_has_chosen(phase, reason):
    """The partition was there long before the epoch: it did not grow."""
    verdict = verdict_of(group(HALF, member("b", assigned=ids(ORDERS, 2), target=ids(ORDERS, 2)), phase=phase))
    assert {row.partition: row.orphan for row in verdict.partitions if row.orphan} == {3: reason}


def test_two_owners_are_told_with_the_epoch():
    verdict = verdict_of(
        group(HALF, replace(REST, reconciliation=replace(REST.reconciliation, assigned=ids(ORDERS, 1, 2, 3))))
    )
    (double,) = [finding for finding in verdict.findings if finding.kind is FindingKind.DOUBLE_OWNED]
    assert double.sentence.startswith("1 partition of orders (1) has more than one owner in epoch 7.")


def test_the_members_of_a_share_group_share():
    both = [member(name, assigned=ids(ORDERS, 0, 1), target=ids(ORDERS, 0, 1)) for name in "ab"]
    verdict = verdict_of(group(*both, kind=GroupKind.SHARE))
    assert (verdict.kind, verdict.expectation, verdict.findings) == ("kafka-share", "none", ())
    assert [m.partitions for m in verdict.members] == [2, 2]


def test_a_new_member_of_a_share_group_is_not_idle_until_its_next_heartbeat():
    """Kafka 4.3 chooses up to a second after it has joined; only with its next heartbeat, 5 s later, it is told."""
    old = member("a", assigned=ids(ORDERS, 0, 1), target=ids(ORDERS, 0, 1))
    joined = group(old, member("b"), kind=GroupKind.SHARE)
    assert idle_members(replace(joined, target_epoch=6)) == []
    chosen = group(replace(old, reconciliation=HALF.reconciliation), member("b", target=ids(ORDERS, 1)))
    assert idle_members(replace(chosen, kind=GroupKind.SHARE)) == []
    assert idle_members(joined) == ["b"], "the broker has chosen, and nothing for it"


def test_no_member_of_a_share_group_is_idle_before_a_partition_is_initialized_for_it():
    assert idle_members(group(member("a", target=()), member("b", target=()), kind=GroupKind.SHARE)) == []


def idle_members(state):
    verdict = verdict_of(state)
    found = [each for each in verdict.findings if each.kind is FindingKind.IDLE_MEMBERS]
    idle = [row.member_id for row in verdict.members if row.idle]
    assert [list(each.members) for each in found] == ([idle] if idle else [])
    return idle


def test_a_streams_group_shows_its_members_and_judges_nothing():
    tasks = member("a", topics=(), assigned=ids("0", 0, 1), target=ids("0", 0, 1))
    verdict = verdict_of(group(tasks, kind=GroupKind.STREAMS, offsets=(commit("orders", 0),)))
    assert (verdict.kind, verdict.expectation, verdict.findings) == ("kafka-streams", "none", ())
    assert [(m.member_id, m.epoch) for m in verdict.members] == [("a", 7)]


def test_an_empty_consumer_group_leaves_its_partitions_without_members():
    verdict = verdict_of(group(phase=Phase.EMPTY, offsets=(commit("orders", 1),)))
    orphaned = [TopicPartition(row.topic, row.partition) for row in verdict.partitions if row.orphan]
    assert tuple(orphaned) == places("orders", 1)
    assert {row.orphan for row in verdict.partitions if row.orphan} == {OrphanReason.NO_MEMBERS}


def test_topics_are_known_by_the_catalog_and_by_what_a_3_9_broker_wrote():
    state = group(
        member("a", assigned=(*ids(ORDERS, 0), *ids(BILLS, 1), *ids(GONE, 5), *ids("unknown", 0))),
        subscribed_topics=(SubscribedTopic(topic_id=GONE, topic="gone", partitions=6),),
    )
    (only,) = named(state, CATALOG).members
    assert only.assigned == (
        TopicPartitions("orders", (0,)),
        TopicPartitions("bills", (1,)),
        TopicPartitions("gone", (5,)),
    )


def test_a_regular_expression_subscribes_to_what_the_broker_found():
    state = group(
        member("a", topics=("orders",), regex="b.*"), regexes=(ResolvedRegex(regex="b.*", topics=("bills",)),)
    )
    assert named(state, CATALOG).members[0].topics == ("orders", "bills")


@pytest.mark.parametrize(
    ("asked", "assignor"),
    [((None, None), "uniform"), (("range", None), "range"), (("range", "uniform", "range"), "range")],
)
def test_the_assignor_is_the_one_that_most_members_ask_for(asked, assignor):
    members = [member(str(number), server_assignor=name) for number, name in enumerate(asked)]
    assert verdict_of(group(*members)).assignor == assignor


def test_a_classic_group_is_left_as_it_is():
    state = replace(group(HALF, REST), kind=GroupKind.CLASSIC)
    assert named(state, CATALOG) is state


@pytest.mark.parametrize(
    ("anew", "told"),
    [
        pytest.param(2, {"rebalancing": places("orders", 0, 1)}, id="fewer partitions"),
        pytest.param(4, {"rebalancing": places("orders", 0, 1, 2, 3)}, id="as many"),
        pytest.param(
            6, {"rebalancing": places("orders", 0, 1, 2, 3), "grew": places("orders", 4, 5)}, id="two more than before"
        ),
    ],
)
def test_a_topic_made_anew_awaits_the_broker_and_has_only_grown_where_it_has_more(anew, told):
    """Orders had 4 partitions of another id; the members still have those."""
    former = replace(topic("orders", 4), topic_id=ORDERS, observed_ms=ASSIGNED)
    partitions = tuple(PartitionObserved(number, earliest=0, end=0) for number in range(anew))
    seen = TopicObserved("c", "orders", NOW - 3_000, NOW - 3_000, partitions, topic_id=GONE)
    now = fold_topic("c", "orders", former, [seen])
    verdict = evaluate(group(HALF, REST), catalog(now), NOW, DetectionSettings())
    found = [each for each in verdict.findings if each.kind is FindingKind.ORPHANED]
    assert {each.reason: each.partitions for each in found} == told
    assert {each.since_ms for each in found} == {NOW - 3_000}
