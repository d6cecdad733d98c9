"""Groups of real servers: in the healthy ones the owners are those that are recomputed, the others are told exactly."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.evaluation_input import GroupInputs, QuestionError
from monitor.explain.group import explain_group
from monitor.explain.partition import explain_partition
from monitor.explain.statements import Explanation
from monitor.explain.what_if import Change, PartitionCount, WhatIf, what_if
from monitor.model import Catalog, Finding, GroupKind, GroupObserved, GroupVerdict, PartitionId, Phase, Sharing, Source
from tests.support.captured_groups import (
    READ,
    catalog_of,
    folded,
    judged,
    kafka_catalog,
    kafka_zookeeper,
    lab,
    metaq,
    metaq_catalog,
    queues,
    rocketmq,
    told,
    topic,
    verdict_on,
)

AVERAGELY, CIRCLE = "AllocateMessageQueueAveragely", "AllocateMessageQueueAveragelyByCircle"

UNEVEN = [("imbalance", "partitions")]
"""Hashing promises no balance, and of two topics the consumer that alone reads one of them has more."""

HEALTHY = [
    *(
        pytest.param(rocketmq(folder, group), lab("LabTopic"), strategy, [], id=f"{folder} {group}")
        for folder, group, strategy in [
            ("4.9.7", "lab-group", AVERAGELY),
            ("4.9.7", "lab-circle", CIRCLE),
            ("5.5.0", "lab-group", AVERAGELY),
            ("5.5.0", "lab-circle", CIRCLE),
            ("5.5.0-modes", "lab-orderly", AVERAGELY),
            ("5.5.0-modes", "lab-litepull", AVERAGELY),
        ]
    ),
    *(
        pytest.param(metaq(tree, group), metaq_catalog(tree), strategy, uneven, id=group)
        for tree, group, strategy, uneven in [
            ("metaq-zk", "meta-grp", "default", UNEVEN),  # 3 + 4 and 3 of 6 + 4; 5 and 5 were possible
            ("metaq-zk", "meta-consis", "consishash", UNEVEN),  # 4 and 2
            ("metaq-zk-twelve", "twelve-def", "default", []),
            ("metaq-zk-twelve", "twelve-cons", "consishash", UNEVEN),  # 4, 2 and 6
        ]
    ),
    *(
        pytest.param(kafka_zookeeper(group), kafka_catalog(), strategy, uneven, id=group)
        for group, strategy, uneven in [
            ("hl-range", "range", UNEVEN),  # a thread with 2 of hl-a and all 3 of hl-b
            ("hl-rr", "roundrobin", []),
            ("hl-wild", "range", UNEVEN),  # 3 + 2 and 2 + 1
            ("hl-kafkaoffs", "range", []),
        ]
    ),
]


@pytest.mark.parametrize(("reading", "catalog", "strategy", "findings"), HEALTHY)
def test_in_a_healthy_group_everybody_has_what_the_strategy_gives(
    reading: GroupObserved, catalog: Catalog, strategy: str, findings: list[tuple[str, str]]
):
    verdict = verdict_on(reading, catalog)
    assert (verdict.expectation, verdict.assignor) == ("exact", strategy)
    assert len(verdict.partitions) == sum(len(state.partitions) for name, state in _read(catalog, reading))
    assert [row for row in verdict.partitions if row.owners != (row.expected,)] == []
    assert told(verdict) == findings
    assert (verdict.source, verdict.sharing) == (Source.SYSTEM, Sharing.EXCLUSIVE)


def _read(catalog: Catalog, reading: GroupObserved):
    wanted = {name for member in reading.members for name in member.topics}
    return [(name, state) for name, state in catalog.topics.items() if name in wanted]


@pytest.mark.parametrize(
    ("reading", "catalog", "protocol"),
    [
        (metaq("metaq-zk-twelve", "twelve-def", protocol="default"), metaq_catalog("metaq-zk-twelve"), "default"),
        (metaq("metaq-zk-twelve", "twelve-cons", protocol="CONSIST"), metaq_catalog("metaq-zk-twelve"), "consishash"),
        (kafka_zookeeper("hl-rr", protocol="roundrobin"), kafka_catalog(), "roundrobin"),
    ],
)
def test_a_configured_strategy_is_the_only_one_that_is_asked(reading: GroupObserved, catalog: Catalog, protocol: str):
    verdict = verdict_on(reading, catalog)
    assert (verdict.expectation, verdict.assignor) == ("exact", protocol)
    assert all(row.owners == (row.expected,) for row in verdict.partitions)


def test_a_configured_strategy_that_the_consumers_do_not_have_shows_as_drift():
    """By strings, the default strategy gives A: 0-0, 0-1, 0-10, 0-11, 0-2, 0-3; the ring gave it 0-0, 0-1, 0-5, 0-9."""
    reading = metaq("metaq-zk-twelve", "twelve-cons", protocol="default")
    verdict = verdict_on(reading, metaq_catalog("metaq-zk-twelve"))
    (drift,) = [finding for finding in verdict.findings if finding.kind == "drift"]
    shares = ["A", "A", "A", "A", "B", "B", "B", "B", "C", "C", "C", "C"]
    by_string = ["0-0", "0-1", "0-10", "0-11", "0-2", "0-3", "0-4", "0-5", "0-6", "0-7", "0-8", "0-9"]
    ring = {"0-0": "A", "0-1": "A", "0-5": "A", "0-9": "A", "0-11": "B", "0-6": "B"}
    other = [place for place, owner in zip(by_string, shares, strict=True) if ring.get(place, "C") != owner]
    assert [place.partition for place in drift.partitions] == other


def test_twelve_partitions_of_metaq_are_shared_out_in_the_order_of_strings():
    verdict = verdict_on(metaq("metaq-zk-twelve", "twelve-def"), metaq_catalog("metaq-zk-twelve"))
    first = [row.partition for row in verdict.partitions if row.expected == "twelve-def_A"]
    assert first == ["0-0", "0-1", "0-10", "0-11", "0-2", "0-3"]


def test_a_group_of_zookeeper_without_members_is_empty_and_only_what_waits_is_a_finding():
    """Its offsets stay for good. 797 of 2000 bytes and so on are read, and nobody has read since."""
    verdict = verdict_on(metaq("metaq-zk-twelve", "meta-grp"), metaq_catalog("metaq-zk-twelve"), after_ms=600_000)
    assert verdict.state is Phase.EMPTY
    assert told(verdict) == [("unattended", "no_members")]


# --- the misconfigured ones -------------------------------------------------------------------------------------------


def names(finding: Finding) -> list[str]:
    return [f"{place.topic} {place.partition}" for place in finding.partitions]


def test_members_with_other_subscriptions_leave_the_shares_of_the_rest_to_nobody():
    """e1 has LabTopic 0-3, e2 OtherTopic 4-7; the other eight are orphaned (sources.md, mixed subscription)."""
    verdict = verdict_on(rocketmq("4.9.7-mixed", "lab-mixed-sub"), lab("LabTopic", "OtherTopic"))
    (finding,) = verdict.findings
    assert (finding.kind, finding.reason, finding.since_ms) == ("orphaned", "mixed_subscription", READ)
    assert names(finding) == [f"LabTopic broker-a-{n}" for n in (4, 5, 6, 7)] + [
        f"OtherTopic broker-a-{n}" for n in (0, 1, 2, 3)
    ]
    assert "127.0.0.1@e2 at 127.0.0.1 does not subscribe to LabTopic." in finding.sentence
    assert "127.0.0.1@e1 at 127.0.0.1 does not subscribe to OtherTopic." in finding.sentence
    assert verdict.expectation == "exact", "both have what their strategy gives"


def test_members_with_other_strategies_take_some_queues_twice_and_others_never():
    """f1 has 0-3, f2 1, 3, 5, 7: 1 and 3 are held twice, 4 and 6 orphaned and lagging (sources.md)."""
    ends = [topic("mq", "LabTopic", queues(8), end=602)]
    verdict = verdict_on(rocketmq("4.9.7-mixed", "lab-mixed-strategy"), catalog_of("mq", *ends))
    assert {(f.kind.value, f.reason): names(f) for f in verdict.findings} == {
        ("double_owned", "mixed_strategy"): ["LabTopic broker-a-1", "LabTopic broker-a-3"],
        ("orphaned", "mixed_strategy"): ["LabTopic broker-a-4", "LabTopic broker-a-6"],
    }
    lags = {row.partition: row.lag for row in verdict.partitions}
    assert (lags["broker-a-4"], lags["broker-a-6"]) == (602 - 96, 602 - 96)
    assert all(AVERAGELY in f.sentence and CIRCLE in f.sentence for f in verdict.findings)


# --- groups that share no partitions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("group", "sharing"), [("lab-broadcast", Sharing.BROADCAST), ("lab-pop", Sharing.BY_RECORD)])
def test_where_nobody_has_to_own_a_queue_alone_nothing_is_told_of_owners(group: str, sharing: Sharing):
    """Broadcasting, each of the two holds all eight; of POP, neither holds any."""
    verdict = verdict_on(rocketmq("5.5.0-modes", group), lab("LabTopic"))
    assert (verdict.sharing, verdict.expectation, verdict.findings) == (sharing, "none", ())
    assert [member.idle for member in verdict.members] == [False, False]
    assert {len(row.owners) for row in verdict.partitions} == ({2} if sharing is Sharing.BROADCAST else {0})


def test_the_lag_of_a_group_that_shares_by_record_is_judged():
    offsets = rocketmq("5.5.0", "lab-group").offsets
    reading = replace(rocketmq("5.5.0-modes", "lab-pop"), offsets=offsets)
    lagging = catalog_of("mq", topic("mq", "LabTopic", queues(8), end=100_000))
    verdict = judged(folded(reading), lagging, READ + 120_000)
    assert verdict.lag == sum(100_000 - offset.offset for offset in offsets)
    assert told(verdict) == [("lag", "not_committing")]


# --- their time -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reading", "catalog", "settled_ms"),
    [
        (rocketmq("4.9.7-mixed", "lab-mixed-strategy"), lab("LabTopic"), 30_000),
        (metaq("metaq-zk", "meta-consis"), metaq_catalog("metaq-zk"), 45_000),
        (kafka_zookeeper("hl-range"), kafka_catalog(), 45_000),
    ],
    ids=lambda value: value.group if isinstance(value, GroupObserved) else "",
)
def test_nothing_is_told_of_owners_before_the_members_have_had_time_to_agree(
    reading: GroupObserved, catalog: Catalog, settled_ms: int
):
    before = verdict_on(reading, catalog, after_ms=settled_ms - 1)
    assert told(before) == []
    assert before.settles_ms == READ + settled_ms
    after = verdict_on(reading, catalog, after_ms=settled_ms)
    assert told(after) != []
    assert after.settles_ms is None


def test_while_the_collector_is_away_nothing_new_is_told():
    """No commits, no members and no ends are seen then; the verdict is that of the last reading, and ages go on."""
    reading = rocketmq("4.9.7-mixed", "lab-mixed-strategy")
    lagging = catalog_of("mq", topic("mq", "LabTopic", queues(8), end=602))
    state = folded(reading, replace(reading, pass_ms=READ + 40_000, observed_ms=READ + 40_000))
    an_hour_later = evaluate(state, lagging, READ + 3_600_000, DetectionSettings())
    assert told(an_hour_later) == [("double_owned", "mixed_strategy"), ("orphaned", "mixed_strategy")]
    assert an_hour_later.findings == evaluate(state, lagging, READ + 40_000, DetectionSettings()).findings
    assert an_hour_later.evaluated_ms == READ + 3_600_000


def grown(count: int, at_ms: int) -> Catalog:
    before = topic("mq", "LabTopic", queues(8))
    new = topic("mq", "LabTopic", queues(count)).partitions
    own = {state.partition for state in before.partitions}
    both = tuple(p if p.partition in own else replace(p, first_seen_ms=at_ms) for p in new)
    return catalog_of("mq", replace(before, partitions=both))


def test_new_queues_are_told_when_clients_have_not_taken_them_in_the_time_of_their_route_and_their_rebalance():
    """They ask for the route every 30 s, share out every 20 s, and are read every 10 s."""
    state, seen_ms = folded(rocketmq("5.5.0", "lab-group")), READ + 600_000
    catalog = grown(10, seen_ms)
    assert judged(state, catalog, seen_ms + 59_999).findings == ()
    verdict = judged(state, catalog, seen_ms + 60_000)
    orphaned, drift = verdict.findings
    assert (orphaned.kind, orphaned.reason, orphaned.since_ms) == ("orphaned", "grew", seen_ms)
    assert names(orphaned) == ["LabTopic broker-a-8", "LabTopic broker-a-9"]
    # of ten, c1 is to have 0-3, c2 4-6, c3 7-9: those of 3 and 6 move besides the new ones
    assert (drift.kind, drift.reason, drift.since_ms) == ("drift", "current", seen_ms)
    assert names(drift) == [f"LabTopic broker-a-{n}" for n in (3, 6, 8, 9)]


def test_queues_that_were_first_seen_a_moment_after_their_group_are_not_new():
    """In the first pass, topics may be read after the groups."""
    fresh = topic("mq", "LabTopic", queues(8))
    fresh = replace(fresh, partitions=tuple(replace(p, first_seen_ms=READ + 300) for p in fresh.partitions))
    verdict = judged(folded(rocketmq("4.9.7-mixed", "lab-mixed-strategy")), catalog_of("mq", fresh), READ + 30_000)
    assert told(verdict) == [("double_owned", "mixed_strategy"), ("orphaned", "mixed_strategy")]


def test_queues_that_are_gone_are_nobodys_drift():
    """A broker was taken away: the members share out anew when they learn of it, and harm nobody until then."""
    state = folded(rocketmq("5.5.0", "lab-group"))
    fewer = catalog_of("mq", topic("mq", "LabTopic", queues(6)))
    assert judged(state, fewer, READ + 55_000).findings == ()


def test_a_queue_that_its_owner_by_the_strategy_does_not_take_is_told_with_that_owner():
    """c3 is to have 6 and 7, and has 7."""
    reading = rocketmq("5.5.0", "lab-group")
    third = reading.members[2]
    less = replace(third, assigned=(replace(third.assigned[0], partitions=("broker-a-7",)),))
    verdict = verdict_on(replace(reading, members=(*reading.members[:2], less)), lab("LabTopic"))
    (finding,) = verdict.findings
    assert (finding.kind, finding.reason, names(finding)) == ("orphaned", "pending", ["LabTopic broker-a-6"])
    assert "assigns it to 127.0.0.1@c3" in finding.sentence


def test_an_owner_that_the_strategy_does_not_give_is_told_as_drift():
    """c1 and c2 have changed places in 2 and 3."""
    reading = rocketmq("5.5.0", "lab-group")
    one, two, three = reading.members
    first = replace(one, assigned=(replace(one.assigned[0], partitions=("broker-a-0", "broker-a-1", "broker-a-3")),))
    second = replace(two, assigned=(replace(two.assigned[0], partitions=("broker-a-2", "broker-a-4", "broker-a-5")),))
    verdict = verdict_on(replace(reading, members=(first, second, three)), lab("LabTopic"))
    (finding,) = verdict.findings
    assert (finding.kind, finding.reason) == ("drift", "replayed")
    assert names(finding) == ["LabTopic broker-a-2", "LabTopic broker-a-3"]


def test_a_client_id_with_two_connections_is_told_when_a_broker_would_have_dropped_a_lost_one():
    """After 120 s, and brokers look every 10 s."""
    reading = rocketmq("5.5.0", "lab-group")
    twice = replace(reading, members=(replace(reading.members[0], connections=2), *reading.members[1:]))
    before, after = (verdict_on(twice, lab("LabTopic"), after_ms=ms) for ms in (129_999, 130_000))
    assert told(before) == []
    assert before.settles_ms == READ + 130_000
    (finding,) = after.findings
    assert (finding.kind, finding.reason) == ("double_owned", "duplicate_client_id")
    assert (finding.members, len(finding.partitions)) == (("127.0.0.1@c1",), 3)


def of_two(client, *held):
    """A client with the queues of these numbers, whose id two connections have."""
    assigned = replace(client.assigned[0], partitions=tuple(f"broker-a-{number}" for number in held))
    return replace(client, connections=2, assigned=(assigned,))


def numbers(finding):
    return [name.rpartition("-")[2] for name in names(finding)]


def test_two_containers_with_one_client_id_leave_the_second_half_of_the_queues():
    """apache/rocketmq #2760 (2021): two consumers in Docker, both 172.17.0.1@1, and two brokers.

    Both took the queues of broker-a, and "message queues on broker-b will never be took care of". The client itself
    sees its id twice, and takes the share of the first.
    """
    reading = rocketmq("5.5.0", "lab-group")
    both = replace(reading, members=(of_two(reading.members[0], 0, 1, 2, 3),))
    assert told(verdict_on(both, lab("LabTopic"), after_ms=1_000)) == []
    twice, nobody = verdict_on(both, lab("LabTopic"), after_ms=130_000).findings
    assert (twice.kind, twice.reason, numbers(twice)) == ("double_owned", "duplicate_client_id", list("0123"))
    assert (nobody.kind, nobody.reason, numbers(nobody)) == ("orphaned", "assignor_gap", list("4567"))
    assert nobody.sentence.endswith(
        "have no owner. RocketMQ has a share for each connection. Those with the same id, 127.0.0.1@c1 at 127.0.0.1, "
        "all take the first share of that id, so its other shares have no owner."
    )


def test_of_three_machines_two_have_one_client_id():
    """apache/rocketmq #1547 (2019): 172.17.0.1@170 from two addresses and @173, and some queues without a consumer.

    Eight queues in three shares: 3, 3 and 2. The third client has what it should have, and nothing is said of it.
    """
    reading = rocketmq("5.5.0", "lab-group")
    last = replace(of_two(reading.members[2], 6, 7), connections=1)
    three = replace(reading, members=(of_two(reading.members[0], 0, 1, 2), last))
    twice, nobody = verdict_on(three, lab("LabTopic"), after_ms=130_000).findings
    assert (twice.reason, twice.members, numbers(twice)) == ("duplicate_client_id", ("127.0.0.1@c1",), list("012"))
    assert (nobody.reason, numbers(nobody)) == ("assignor_gap", list("345"))
    assert "127.0.0.1@c3" not in nobody.sentence


@pytest.mark.parametrize(
    "assignor",
    ["AllocateMessageQueueConsistentHash", "AllocateMessageQueueByMachineRoom", "AllocateMachineRoomNearby", "Ours"],
)
def test_a_strategy_whose_arguments_are_not_known_and_that_does_not_fit_leaves_invariants(assignor: str):
    """Nothing is expected, and a queue without an owner is still told."""
    reading = rocketmq("5.5.0", "lab-group")
    members = tuple(replace(member, assignor=assignor) for member in reading.members)
    verdict = verdict_on(replace(reading, members=members, protocol=assignor), lab("LabTopic"))
    assert (verdict.expectation, verdict.assignor, verdict.findings) == ("invariants", assignor, ())
    gap = verdict_on(replace(reading, members=(*members[:2], replace(members[2], assigned=()))), lab("LabTopic"))
    assert [(f.kind.value, f.reason, names(f)) for f in gap.findings if f.kind == "orphaned"] == [
        ("orphaned", "assignor_gap", ["LabTopic broker-a-6", "LabTopic broker-a-7"])
    ]


def test_who_should_have_what_nobody_has_is_not_guessed_from_a_strategy_whose_arguments_are_not_known():
    reading = rocketmq("5.5.0", "lab-group")
    members = tuple(
        replace(member, assignor="AllocateMessageQueueConsistentHash", assigned=()) for member in reading.members
    )
    verdict = verdict_on(replace(reading, members=members), lab("LabTopic"))
    assert verdict.expectation == "invariants"
    assert {f.reason for f in verdict.findings if f.kind == "orphaned"} == {"assignor_gap"}


def test_consistent_hashing_with_its_usual_arguments_is_recognised():
    """The ring of ten points a client, as golden vectors have it for these queues and clients."""
    from monitor.assignors.rocketmq.consistent_hash import ConsistentHash  # noqa: PLC0415
    from monitor.assignors.rocketmq.message_queue import MessageQueue  # noqa: PLC0415
    from monitor.model import TopicPartitions  # noqa: PLC0415

    reading = rocketmq("5.5.0", "lab-group")
    ids = [member.member_id for member in reading.members]
    shares = ConsistentHash().allocate([MessageQueue("LabTopic", "broker-a", n) for n in range(8)], ids, ids)
    held = {share.client: tuple(f"broker-a-{queue.queue_id}" for queue in share.queues or ()) for share in shares}
    members = tuple(
        replace(
            member,
            assignor="AllocateMessageQueueConsistentHash",
            assigned=(TopicPartitions("LabTopic", held[member.member_id]),) if held[member.member_id] else (),
        )
        for member in reading.members
    )
    assert verdict_on(replace(reading, members=members), lab("LabTopic")).expectation == "exact"


def test_a_partition_that_is_not_taken_is_told_with_its_taker_where_only_one_strategy_gives_the_rest():
    """twelve-cons_B has 0-6 and 0-11 by the ring, and lacks 0-11; the default strategy gives none of this."""
    reading = metaq("metaq-zk-twelve", "twelve-cons")
    held = reading.members[1].assigned[0]
    assert held.partitions == ("0-11", "0-6")
    less = replace(reading.members[1], assigned=(replace(held, partitions=("0-6",)),))
    verdict = verdict_on(
        replace(reading, members=(reading.members[0], less, reading.members[2])), metaq_catalog("metaq-zk-twelve")
    )
    assert (verdict.expectation, verdict.assignor) == ("exact", "consishash")
    (orphaned,) = [finding for finding in verdict.findings if finding.kind == "orphaned"]
    assert (orphaned.reason, names(orphaned)) == ("pending", ["meta-twelve 0-11"])
    assert "consishash assigns it to twelve-cons_B" in orphaned.sentence


def test_owners_that_no_strategy_of_metaq_gives_leave_invariants():
    reading = metaq("metaq-zk-twelve", "twelve-def")
    one, two = reading.members
    reading = replace(reading, members=(replace(one, assigned=two.assigned), replace(two, assigned=one.assigned)))
    verdict: GroupVerdict = verdict_on(reading, metaq_catalog("metaq-zk-twelve"))
    assert (verdict.expectation, verdict.assignor, verdict.findings) == ("invariants", None, ())
    assert verdict.kind == GroupKind.METAQ


# --- questions --------------------------------------------------------------------------------------------------------


def inputs(reading: GroupObserved, catalog: Catalog) -> GroupInputs:
    return GroupInputs(group=folded(reading), catalog=catalog, now_ms=READ + 600_000)


def sentences(explanation: Explanation) -> str:
    return " ".join(text for each in explanation.statements for text in (each.sentence, *each.evidence))


@pytest.mark.parametrize(
    ("reading", "catalog", "words"),
    [
        (
            rocketmq("5.5.0", "lab-group"),
            lab("LabTopic"),
            f"They report the strategy {AVERAGELY}, which groupwatch computes exactly",
        ),
        (metaq("metaq-zk-twelve", "twelve-cons"), metaq_catalog("metaq-zk-twelve"), "consishash computes exactly"),
        (
            kafka_zookeeper("hl-kafkaoffs"),
            kafka_catalog(),
            "range (and roundrobin, roundrobin of 0.8) computes exactly",
        ),
        (rocketmq("5.5.0-modes", "lab-broadcast"), lab("LabTopic"), "each consumes every partition"),
        (rocketmq("5.5.0-modes", "lab-pop"), lab("LabTopic"), "distributes records"),
    ],
)
def test_explain_says_how_the_members_share_and_how_that_is_known(reading: GroupObserved, catalog: Catalog, words: str):
    told_of_group = sentences(explain_group(inputs(reading, catalog)))
    assert words in told_of_group
    assert "it is known from a collector that polls" in told_of_group
    assert "generation" not in told_of_group


@pytest.mark.parametrize(
    ("reading", "catalog", "place", "words"),
    [
        (rocketmq("5.5.0", "lab-group"), lab("LabTopic"), ("LabTopic", "broker-a-4"), "127.0.0.1@c2 is number 2 of 3"),
        (rocketmq("5.5.0", "lab-circle"), lab("LabTopic"), ("LabTopic", "broker-a-3"), "assigns partitions one by one"),
        (
            metaq("metaq-zk-twelve", "twelve-def"),
            metaq_catalog("metaq-zk-twelve"),
            ("meta-twelve", "0-10"),
            "twelve-def_A is number 1 of 2 members sorted by id and takes 0-0, 0-1, 0-10, 0-11, 0-2, 0-3",
        ),
        (
            kafka_zookeeper("hl-range"),
            kafka_catalog(),
            ("hl-a", 4),
            "is number 3 of 3 members sorted by id and takes 4",
        ),
        (
            rocketmq("4.9.7-mixed", "lab-mixed-sub"),
            lab("LabTopic", "OtherTopic"),
            ("LabTopic", "broker-a-4"),
            "share of a member that does not subscribe to the topic: 127.0.0.1@e2",
        ),
    ],
)
def test_explain_of_a_partition_says_why_its_owner_has_it(
    reading: GroupObserved, catalog: Catalog, place: tuple[str, PartitionId], words: str
):
    assert words in sentences(explain_partition(inputs(reading, catalog), *place))


def test_a_partition_that_is_not_there_is_told_with_those_that_are():
    with pytest.raises(QuestionError, match="no partition broker-b-0 of LabTopic; it has broker-a-0, broker-a-1"):
        explain_partition(inputs(rocketmq("5.5.0", "lab-group"), lab("LabTopic")), "LabTopic", "broker-b-0")


def shares_after(answer: WhatIf) -> dict[str, list[PartitionId]]:
    return {each.member_id: [p for entry in each.after for p in entry.partitions] for each in answer.members}


def test_what_if_a_client_of_rocketmq_left_shares_its_queues_among_the_rest():
    """As it really was after the kill -9: c1 with 0-3, c3 with 4-7."""
    asked = inputs(rocketmq("5.5.0", "lab-group"), lab("LabTopic"))
    answer = what_if(asked, Change(without=("127.0.0.1@c2",)))
    after = shares_after(answer)
    assert after["127.0.0.1@c1"] == queues(4)
    assert after["127.0.0.1@c3"] == queues(8)[4:]
    assert answer.orphans == ()
    more = what_if(asked, Change(members=9))
    assert len(more.idle) == 1, "nine members, eight queues"


def test_what_if_all_had_one_strategy_shows_that_nothing_is_left_over():
    asked = inputs(rocketmq("4.9.7-mixed", "lab-mixed-strategy"), lab("LabTopic"))
    assert [place.partition for place in what_if(asked, Change()).orphans] == ["broker-a-4", "broker-a-6"]
    assert what_if(asked, Change(assignor=AVERAGELY)).orphans == ()


def test_what_if_a_consumer_of_zookeeper_left_is_what_happened_when_it_was_killed():
    """kafka010-zk-kill9.trace.txt: thread 0 then has hl-a 0-2 and hl-b, thread 1 hl-a 3-4."""
    asked = inputs(kafka_zookeeper("hl-range"), kafka_catalog())
    answer = what_if(asked, Change(without=("hl-range_vm-1795203222927-3d759246",)))
    assert shares_after(answer) == {
        "hl-range_vm-1795203222629-57b599c0-0": [0, 1, 2, 0, 1, 2],
        "hl-range_vm-1795203222629-57b599c0-1": [3, 4],
        "hl-range_vm-1795203222927-3d759246-0": [],
    }


@pytest.mark.parametrize(
    ("reading", "catalog", "change", "words"),
    [
        (rocketmq("5.5.0-modes", "lab-pop"), lab("LabTopic"), Change(), "does not assign partitions"),
        (rocketmq("5.5.0", "lab-group"), lab("LabTopic"), Change(assignor="sticky"), "it supports AVG, AVG_BY_CIRCLE"),
        (
            rocketmq("5.5.0", "lab-group"),
            lab("LabTopic"),
            Change(partitions=(PartitionCount("LabTopic", 9),)),
            "cannot simulate more partitions",
        ),
        (metaq("metaq-zk-twelve", "meta-grp"), metaq_catalog("metaq-zk-twelve"), Change(), "has no members"),
        (
            kafka_zookeeper("hl-range"),
            kafka_catalog(),
            Change(without=("hl-range_vm-1795203222629-57b599c0-0",)),
            "numbered from 0",
        ),
    ],
)
def test_what_cannot_be_rehearsed_is_said(reading: GroupObserved, catalog: Catalog, change: Change, words: str):
    with pytest.raises(QuestionError, match=words):
        what_if(inputs(reading, catalog), change)
