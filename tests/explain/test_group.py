"""Explanations: the texts are written here by hand, from what the assignors' documents say of small groups."""

import pytest
from msgspec.structs import replace

from monitor.detection.evaluation_input import GroupInputs, QuestionError
from monitor.explain.group import explain_group
from monitor.explain.partition import explain_partition
from monitor.explain.statements import About
from monitor.messages.notification import utc
from monitor.model import (
    Catalog,
    CommitPoint,
    EndFall,
    EndOffsetAt,
    FindingKind,
    GroupKind,
    GroupState,
    InvalidCommit,
    MemberState,
    Phase,
    Rebalance,
    RebalanceCause,
    Rewind,
    RewindCause,
    TopicPartitions,
    Truncations,
    UnreadCommit,
    UnreadMembership,
    UnreadRecord,
    WireForm,
)
from monitor.model.brokers import BrokerAway, BrokersHealth, LeaderlessPartitions, MissedBroker
from monitor.model.commit_history import extend
from monitor.model.ended_findings import EndedFinding, EndedLately
from monitor.model.expiry import DeletedOffset, OffsetsRetention
from monitor.model.jumps import Jump
from monitor.model.offsets_topic import FaultReason, OffsetsTopicHealth, PartitionFault
from monitor.protocol.kafka.sticky_user_data import PriorAssignment, write_sticky
from tests.detection.ownership import test_kip848 as modern
from tests.support.builders import ASSIGNED, NOW, catalog, commit, group, member, topic

# Everything of builders.py is in milliseconds: generation 3 was stored 1,000 s before NOW, topics seen 2,000 s before.
AGO = "16 min 40 s"
TOPICS = catalog(topic("t", 4))
C0 = member("C0", ["t"], {"t": [0, 1]}, client_id="front", host="/10.0.0.1", wire=None)
C1 = member("C1", ["t"], {"t": [2, 3]}, client_id="back", host="/10.0.0.2", wire=None)
RANGE = group(C0, C1, offsets=[commit("t", number, 100, NOW - 5_000) for number in range(4)])


def told(explanation) -> dict[About, list[str]]:
    found: dict[About, list[str]] = {}
    for statement in explanation.statements:
        found.setdefault(statement.about, []).append(statement.sentence)
    return found


def of_group(state, topics=TOPICS):
    return explain_group(GroupInputs(group=state, catalog=topics, now_ms=NOW))


def of_partition(state, name, number, topics=TOPICS):
    return explain_partition(GroupInputs(group=state, catalog=topics, now_ms=NOW), name, number)


def rule(state, name, number, topics=TOPICS) -> str:
    (sentence,) = told(of_partition(state, name, number, topics))[About.RULE]
    return sentence


def test_the_empty_name_of_a_group_is_written_out():
    """Kafka takes it as a name."""
    (state,) = told(of_group(replace(RANGE, group="")))[About.GROUP]
    assert state.startswith("(empty name) of cluster c is a kafka-classic group")


def test_a_newer_brokers_group_is_told_without_members():
    """A silence about members would read as if there were none."""
    record = UnreadRecord(2, "GroupMetadata", 5, 4, NOW - 1_000)
    hidden = replace(RANGE, phase=Phase.OFFSETS_ONLY, members=(), unread=UnreadMembership((record,), RANGE))
    found = told(of_group(hidden))
    assert "The group's members have been unknown since" in found[About.GROUP][1]
    assert About.MEMBERS not in found
    lost = replace(RANGE, offsets=RANGE.offsets[1:], unread_commits=(UnreadCommit("t", 0, 5, 4, NOW - 1_000),))
    assert told(of_group(lost))[About.LAG] == ["Its lag is unknown because some of its committed offsets are unknown."]
    assert told(of_partition(lost, "t", 0))[About.OFFSETS] == [
        "The committed offset is unknown: it is written in version 5 of OffsetCommit."
    ]


def test_a_partition_whose_log_went_back_says_so():
    fall = EndFall(from_ms=NOW - 70_000, at_ms=NOW - 60_000, before=16_056, after=3_590)
    known = topic("t", 1)
    cut = replace(known, partitions=(replace(known.partitions[0], truncations=Truncations(None, fall, 12_466)),))
    (sentence,) = told(of_partition(RANGE, "t", 0, catalog(cut)))[About.PARTITION]
    assert sentence.endswith(
        " The log of partition 0 of t went back from 16,056 to 3,590: at least 12,466 records are gone. An unclean "
        "leader election does this, and so does a restored log. Found 1 min ago."
    )


def test_the_leader_is_named_where_it_is_known():
    assert told(of_group(replace(RANGE, leader="C1")))[About.MEMBERS] == [
        "2 members own 4 partitions. The group leader is back at /10.0.0.2."
    ]
    assert told(of_group(replace(RANGE, leader="gone")))[About.MEMBERS] == ["2 members own 4 partitions."]


def test_a_healthy_group_is_told_whole():
    rebalances = (
        Rebalance(generation=2, started_ms=ASSIGNED - 60_000, ended_ms=ASSIGNED - 60_000),
        Rebalance(
            generation=3,
            started_ms=ASSIGNED - 2_000,
            ended_ms=ASSIGNED,
            causes=(RebalanceCause.JOIN,),
            joined=1,
            moved=2,
            avoidable=1,
            paused_partitions=1,
            pause_ms=8_000,
            burst_records=70,
        ),
    )
    counts = {"rebalances": 5, "rebalance_ms": 12_000, "moved_partitions": 9, "avoidable_moves": 3}
    counts |= {"pause_ms": 61_000, "burst_records": 300, "redelivered_records": 1}
    explanation = of_group(replace(RANGE, history=rebalances, **counts))
    assert [(each.about.value, each.sentence, each.evidence) for each in explanation.statements] == [
        (
            "group",
            f"g of cluster c is a kafka-classic group, stable for {AGO}; generation 3 was stored {AGO} ago.",
            (),
        ),
        ("finding", "The group has no findings.", ()),
        ("assignor", "Its assignor is range (from the log); groupwatch replays it exactly.", ()),
        (
            "members",
            "2 members own 4 partitions.",
            ("C0 (client front, host /10.0.0.1): t 0-1", "C1 (client back, host /10.0.0.2): t 2-3"),
        ),
        (
            "rebalance",
            f"The last rebalance led to generation 3 {AGO} ago: 1 member joined.",
            ("generation 2, 17 min 40 s ago: for reasons that the log does not show",),
        ),
        (
            "rebalance",
            "It moved 2 partitions (1 avoidable). Commits of 1 partition were delayed by 8 partition-seconds "
            "(estimate), and the backlog reached 70 records.",
            (
                "5 rebalances since the group was first seen, 12 s in total",
                "9 partitions moved, 3 of them avoidable",
                "1 min 1 s of pauses, summed over partitions; 300 records accumulated meanwhile",
                "1 record redelivered because committed offsets moved back",
            ),
        ),
        ("lag", "It has no lag.", ()),
    ]


@pytest.mark.parametrize(
    ("history", "sentences"),
    [
        pytest.param(
            [
                (2, RebalanceCause.JOIN, 90),
                (2, RebalanceCause.STATIC_RESTART, 40),
                (2, RebalanceCause.STATIC_RESTART, 6),
            ],
            [
                "Static members restarted 2 times without a rebalance, the last time 6 s ago.",
                "The last rebalance led to generation 2 1 min 30 s ago: 1 member joined.",
                "It moved no partitions.",
            ],
            id="they are counted since the last rebalance, which is told as such",
        ),
        pytest.param(
            [(2, RebalanceCause.STATIC_RESTART, 6)],
            ["Static members restarted once without a rebalance, the last time 6 s ago."],
            id="no rebalance is remembered",
        ),
        pytest.param(
            [(2, RebalanceCause.STATIC_RESTART, 90), (3, RebalanceCause.JOIN, 6)],
            ["The last rebalance led to generation 3 6 s ago: 1 member joined.", "It moved no partitions."],
            id="what came before a rebalance is over",
        ),
    ],
)
def test_a_static_member_that_takes_its_place_again_is_no_rebalance(history, sentences):
    """KIP-345: nobody stops for it, and the generation stays. ``history``: generation, cause, and how long ago (s)."""
    rebalances = tuple(
        Rebalance(generation, NOW - 1000 * ago, NOW - 1000 * ago, (cause,), joined=int(cause is RebalanceCause.JOIN))
        for generation, cause, ago in history
    )
    explanation = of_group(replace(RANGE, history=rebalances, rebalances=1))
    told = [each for each in explanation.statements if each.about is About.REBALANCE]
    assert [each.sentence for each in told] == sentences
    assert [line for each in told for line in each.evidence if line.startswith("generation")] == []


@pytest.mark.parametrize(
    ("known", "words"),
    [
        pytest.param(
            {"user_data": b"", "rack": "", "wire": WireForm(subscription_version=3)},
            ", librdkafka 2.4 or newer",
            id="one library writes such bytes",
        ),
        pytest.param(
            {"session_timeout_ms": 10_000, "rebalance_timeout_ms": 60_000, "wire": WireForm(subscription_version=1)},
            ", probably sarama",
            id="two write such bytes, and one of them has these timeouts",
        ),
        pytest.param({"wire": WireForm(subscription_version=1)}, ", java or sarama", id="two write such bytes"),
        pytest.param({"wire": None}, "", id="there are no bytes"),
    ],
)
def test_the_client_library_of_a_member_is_named_as_far_as_it_is_known(known, words):
    """What the bytes show: docs/explain.md."""
    app = member("m", ["t"], {"t": [0, 1, 2, 3]}, client_id="app", host="/10.0.0.1", **known)
    (statement,) = (each for each in of_group(group(app)).statements if each.about is About.MEMBERS)
    assert statement.evidence == (f"m (client app, host /10.0.0.1{words}): t 0-3",)


@pytest.mark.parametrize(
    ("phase", "phase_ms", "sentence", "since_ms"),
    [
        pytest.param(
            *(Phase.STABLE, NOW - 448_000, "stable for 2 min 32 s; generation 3 was stored 2 min 32 s ago"),
            NOW - 152_000,
            id="it rebalanced since, of which the log told when it was over",
        ),
        pytest.param(
            *(Phase.STABLE, NOW - 60_000, "stable for 1 min; generation 3 was stored 2 min 32 s ago"),
            NOW - 60_000,
            id="it was something else since",
        ),
        pytest.param(
            *(Phase.RECONCILING, NOW - 448_000, "reconciling for 7 min 28 s; generation 3 was stored 2 min 32 s ago"),
            NOW - 448_000,
            id="it has not come to an end since",
        ),
        pytest.param(
            *(Phase.STABLE, 0, "stable; generation 3 was stored 2 min 32 s ago"), None, id="since when is not known"
        ),
    ],
)
def test_a_group_is_stable_for_as_long_as_it_has_not_rebalanced(phase, phase_ms, sentence, since_ms):
    explanation = of_group(replace(RANGE, phase=phase, phase_ms=phase_ms, generation_ms=NOW - 152_000))
    (state,) = (each for each in explanation.statements if each.about is About.GROUP)
    assert state.sentence == f"g of cluster c is a kafka-classic group, {sentence}."
    assert state.since_ms == since_ms


def test_a_healthy_partition_is_told_whole():
    explanation = of_partition(RANGE, "t", 1)
    assert (explanation.topic, explanation.partition, explanation.evaluated_ms) == ("t", 1, NOW)
    assert [(each.about.value, each.sentence, each.evidence) for each in explanation.statements] == [
        ("partition", "Partition 1 of t was first seen 33 min 20 s ago; its log ranges from offset 0 to 100.", ()),
        (
            "owner",
            f"C0 owns it in generation 3 (stored {AGO} ago).",
            ("C0, client front, host /10.0.0.1: 2 partitions in total",),
        ),
        (
            "rule",
            "range divides partitions 0-3 of t among 2 members, sorted by member id (instance id first). "
            "C0 is 1st and gets 0-1.",
            (),
        ),
        ("offsets", "The committed offset is 100, committed 5 s ago; there is no lag.", ()),
        ("finding", "The partition has no findings.", ()),
    ]


def test_range_names_static_members_first():
    """ "z" is static, so it is first although "C0" comes before it by name: 0-1 are z's."""
    state = group(replace(C0, assigned=C1.assigned), replace(C1, member_id="z", instance_id="i", assigned=C0.assigned))
    assert rule(state, "t", 2).endswith("C0 is 2nd and gets 2-3.")
    assert rule(state, "t", 0).endswith("z is 1st and gets 0-1.")


def test_that_racks_may_count_is_said():
    state = group(replace(C0, rack="r1"), C1)
    assert rule(state, "t", 0).endswith("gets 0-1. The racks of members and replicas may have influenced the result.")


def test_roundrobin_tells_the_place_in_the_circle():
    """a0 C0, a1 C1, b0 C0 (the circle goes on)."""
    state = group(
        member("C0", ["a", "b"], {"a": [0], "b": [0]}),
        member("C1", ["a", "b"], {"a": [1]}),
        protocol="roundrobin",
    )
    topics = catalog(topic("a", 2), topic("b", 1))
    head = "roundrobin assigns 3 partitions, ordered by topic and number, to the members in turn (C0, C1). "
    assert rule(state, "a", 0, topics) == (
        f"{head}This partition is the 1st, and C0 is the first member that subscribes to the topic."
    )
    assert rule(state, "b", 0, topics) == (
        f"{head}This partition is the 3rd, and C0 is the next member that subscribes to the topic, after C1 for "
        "partition 1 of a."
    )


def sticky(protocol, *members):
    """Members (id, what they said they owned in generation 2, what they have now)."""
    made = []
    for name, owned, assigned in members:
        memory = (TopicPartitions("t", tuple(owned)),) if owned else ()
        kept = {"owned": memory, "generation": 2 if owned else -1}
        if protocol == "sticky":
            kept = {"user_data": write_sticky(PriorAssignment(owned=memory, generation=2)) if owned else None}
        made.append(member(name, ["t"], {"t": assigned} if assigned else {}, **kept))
    return group(*made, protocol=protocol)


def test_sticky_tells_what_was_kept_and_what_was_taken():
    """C0 had all four; C1 is new, and the last two that C0 has go to it."""
    state = sticky("sticky", ("C0", [0, 1, 2, 3], [0, 1]), ("C1", [], [2, 3]))
    assert rule(state, "t", 0) == (
        "sticky: C0 kept it. It reported when it joined generation 3 that it owned it in generation 2."
    )
    assert rule(state, "t", 3) == (
        "sticky: it was taken from C0, which had more than its share: it reported 4 partitions and kept 2."
    )


def test_sticky_tells_what_came_from_nobody():
    state = sticky("cooperative-sticky", ("C0", [0, 1], [0, 1]), ("C1", [2], [2, 3]))
    assert rule(state, "t", 3) == (
        "cooperative-sticky: no member reported owning it when it joined generation 3 "
        "(it was new, or its owner had left or given it up). It went to C1 to balance the group."
    )


def test_cooperative_sticky_tells_who_lets_go():
    """C0 has to give up 2 and 3 before C1 gets them."""
    state = sticky("cooperative-sticky", ("C0", [0, 1, 2, 3], [0, 1]), ("C1", [], []))
    sentences = told(of_partition(state, "t", 2))
    assert sentences[About.OWNER] == ["It has no owner."]
    assert sentences[About.RULE] == [
        "Its previous owner revokes it in generation 3, and only the next generation reassigns it."
    ]
    assert sentences[About.EXPECTED] == ["It would belong to C1 if the group rebalanced now."]


def test_an_owner_that_the_rule_does_not_lead_to_is_not_explained():
    state = group(replace(C0, assigned=C1.assigned), replace(C1, assigned=C0.assigned))
    assert rule(state, "t", 0) == (
        "The assignor range assigns it to C0 for generation 3, so its rule does not explain why it belongs to C1."
    )
    assert rule(replace(RANGE, protocol="mine\n"), "t", 0) == (
        r"groupwatch cannot replay the assignor mine\n, so the reason is unknown."
    )


def test_a_partition_that_came_later_is_told_with_what_to_do():
    topics = catalog(topic("t", 5, grown=1))
    explanation = of_partition(RANGE, "t", 4, topics)
    sentences = told(explanation)
    assert sentences[About.OWNER] == ["It has no owner."]
    assert sentences[About.RULE] == ["The assignor did not know the partition when it computed generation 3."]
    assert sentences[About.EXPECTED] == ["It would belong to C1 if the group rebalanced now."]
    assert sentences[About.OFFSETS] == ["The group has committed no offset there."]
    (expected,) = [each for each in explanation.statements if each.about is About.EXPECTED]
    assert expected.evidence == ("t had 4 partitions for generation 3 and has 5 now.",)
    orphaned = next(each for each in explanation.statements if each.about is About.FINDING)
    assert orphaned.since_ms == ASSIGNED + 5_000
    assert orphaned.evidence[0].startswith("What to do: Most client libraries notice new partitions")


def test_lag_and_rewinds_of_a_partition_are_told():
    """Of the records 0 to 99, written evenly over 2,000 s, 10 wait: the oldest is 200 s old."""
    state = replace(RANGE, offsets=(replace(commit("t", 0, 90, NOW - 30_000), rewinds=2),))
    assert told(of_partition(state, "t", 0))[About.OFFSETS] == [
        "The committed offset is 90, committed 30 s ago; the lag is 10 records, the oldest 3 min 20 s old; the "
        "committed offset moved back 2 times."
    ]
    reset = Rewind(NOW - 60_000, 95, 85, cause=RewindCause.RESET)
    after_it = replace(state, offsets=(replace(state.offsets[0], last_rewind=reset),))
    assert told(of_partition(after_it, "t", 0))[About.OFFSETS][0].endswith(
        "; the committed offset moved back 2 times, the last time by a reset while the group had no members."
    )
    written, empty = topic("t", 1), topic("t", 4, end=0)
    alone = catalog(replace(empty, partitions=(*written.partitions, *empty.partitions[1:])))
    assert told(of_group(state, alone))[About.LAG] == [
        "Its lag is 10 records in 1 partition, the oldest 3 min 20 s old; 3 partitions have no committed offset."
    ]


def test_attempts_in_transactions_are_counted_behind_the_offset_that_counts():
    loop = {"listed_ms": NOW - 10_000, "listed_since_ms": NOW - 600_000, "attempts": 113}
    loop |= {"attempts_since_ms": NOW - 300_000, "third_attempt_ms": NOW - 298_000}
    history = extend(b"", [CommitPoint(NOW - 400_000, 90), CommitPoint(NOW - 300_000, 95), CommitPoint(NOW, 99)])
    tried = replace(commit("t", 0, 90, NOW), listed=90, history=history, **loop)
    assert told(of_partition(replace(RANGE, offsets=(tried,)), "t", 0))[About.OFFSETS] == [
        "The committed offset is 90, committed 6 min 40 s ago; the lag is 10 records, the oldest 3 min 20 s old; 113 "
        "attempts in transactions had no effect."
    ]
    unknown = replace(tried, listed=None)
    assert told(of_partition(replace(RANGE, offsets=(), unconfirmed=(unknown,)), "t", 0))[About.OFFSETS] == [
        "The group has committed no offset there; 113 attempts in transactions had no effect."
    ]


def test_expired_offsets_are_told_with_the_command_that_restores_them():
    """The group is gone from the broker; each partition has 100 records."""
    deleted = [
        DeletedOffset("t", number, offset, 1_000_000, 1_000_000, NOW - 60_000) for number, offset in ((0, 90), (2, 100))
    ]
    state = GroupState(cluster="c", group="it's", deleted_offsets=tuple(deleted))
    statements = of_group(state, replace(TOPICS, offsets_retention=OffsetsRetention(1_000_000))).statements
    (expired,) = [each for each in statements if each.about is About.OFFSETS]
    assert expired.sentence == "The committed offsets of 2 partitions expired, the first at 1970-01-01 00:49:00 UTC."
    assert expired.evidence == (
        "partition 0 of t: the last one was 90, committed at 1970-01-01 00:16:40 UTC, with a lag of 10 records now",
        "partition 2 of t: the last one was 100, committed at 1970-01-01 00:16:40 UTC, with a lag of 0 records now",
        "to restore them, before its consumers start (without --execute, the tool only shows what it would do):",
        "printf '%s\\n' t,0,90 t,2,100 > offsets.csv",
        "kafka-consumer-groups.sh --bootstrap-server BROKER:9092 --reset-offsets --group 'it'\"'\"'s' "
        "--from-file offsets.csv --execute",
    )


def test_the_offsets_of_a_streams_group_are_restored_with_its_own_tool():
    deleted = DeletedOffset("t", 0, 90, 1_000_000, 1_000_000, NOW - 60_000, kind=GroupKind.STREAMS)
    state = GroupState(cluster="c", group="g", deleted_offsets=(deleted,))
    statements = of_group(state, replace(TOPICS, offsets_retention=OffsetsRetention(1_000_000))).statements
    (expired,) = [each for each in statements if each.about is About.OFFSETS]
    assert "g of cluster c is a kafka-streams group" in statements[0].sentence
    assert expired.evidence[-1].startswith("kafka-streams-groups.sh --bootstrap-server BROKER:9092 --reset-offsets ")


def test_offsets_below_0_are_told_with_the_command_that_restores_the_last_ones():
    """Each partition has 100 records; there is no partition 9."""
    last = CommitPoint(1_000_000, 90)
    below = [InvalidCommit("t", n, -1, NOW - 60_000, NOW - 90_000, last if n else None) for n in (0, 2, 9)]
    statements = of_group(replace(RANGE, offsets=(), invalid_commits=tuple(below))).statements
    (told,) = [each for each in statements if each.about is About.OFFSETS]
    assert told.sentence == (
        "Clients committed offsets below 0 in 2 partitions, first at 1970-01-01 00:48:30 UTC. To Kafka, nothing is "
        "committed there."
    )
    assert told.evidence == (
        "partition 0 of t: -1 at 1970-01-01 00:49:00 UTC; no offset before it is known",
        "partition 2 of t: -1 at 1970-01-01 00:49:00 UTC; the last one before was 90, committed at 1970-01-01 00:16:40 "
        "UTC",
        "to restore them, before its consumers start (without --execute, the tool only shows what it would do):",
        "printf '%s\\n' t,2,90 > offsets.csv",
        "kafka-consumer-groups.sh --bootstrap-server BROKER:9092 --reset-offsets --group g --from-file offsets.csv "
        "--execute",
    )


def test_a_lag_that_uncommitted_partitions_hide_is_told_with_its_bounds():
    """Each partition has 100 records."""
    one = replace(RANGE, offsets=(commit("t", 0, 90, NOW - 30_000), *RANGE.offsets[1:3]))
    assert told(of_group(one))[About.LAG] == [
        "Its lag is unknown: 1 partition with content has no committed offset. It is at least 10 records, and at most "
        "100 records more, all that the log has of it."
    ]
    assert told(of_group(replace(RANGE, offsets=())))[About.LAG] == [
        "Its lag is unknown: 4 partitions with content have no committed offset. It is at least 0 records, and at most "
        "400 records more, all that the log has of them."
    ]


def test_a_lag_has_no_bounds_while_a_commit_is_beyond_the_end():
    """Of partition 0, the end is 100 and was seen a minute after the commit."""
    known = topic("t", 4)
    polled = tuple(replace(each, ends=(EndOffsetAt(NOW, 100),)) for each in known.partitions)
    state = replace(RANGE, offsets=(commit("t", 0, 500, NOW - 60_000), *RANGE.offsets[1:3]))
    assert told(of_group(state, catalog(replace(known, partitions=polled))))[About.LAG] == [
        "Its lag is unknown: 1 partition with content has no committed offset, and a commit is beyond the end of its "
        "partition."
    ]


def test_an_open_transaction_before_which_a_group_stands_is_told():
    known = topic("t", 4)
    held = tuple(replace(each, stable=90, stable_ms=NOW - 200_000) for each in known.partitions)
    state = replace(RANGE, offsets=(commit("t", 0, 90, NOW - 30_000),))
    assert told(of_partition(state, "t", 0, catalog(replace(known, partitions=held))))[About.OFFSETS] == [
        "The committed offset is 90, committed 30 s ago; the lag is 10 records, the oldest 3 min 20 s old; an open "
        "transaction starts at offset 90."
    ]


def test_a_group_without_members_is_told():
    state = replace(RANGE, phase=Phase.EMPTY, members=(), protocol=None)
    sentences = told(of_group(state))
    assert sentences[About.MEMBERS] == ["The group has no members."]
    assert About.ASSIGNOR not in sentences
    assert rule(state, "t", 0) == ("The owners are unknown: the group has no members with readable subscriptions.")


HAS = modern.member("a", assigned=modern.ids(modern.ORDERS, 0, 1), target=modern.ids(modern.ORDERS, 0, 1))
HAS = replace(HAS, reconciliation=replace(HAS.reconciliation, since_ms=NOW - 90_000))
GIVES = modern.member(
    "b",
    assigned=modern.ids(modern.ORDERS, 2),
    revoking=modern.ids(modern.ORDERS, 3),
    target=modern.ids(modern.ORDERS, 2),
    state=MemberState.UNREVOKED_PARTITIONS,
    epoch=6,
)
WAITS = modern.member("d", target=modern.ids(modern.ORDERS, 3))


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (
            0,
            "The coordinator (uniform) chose a for epoch 7; a has owned it for at least 1 min 30 s (member epoch 7).",
        ),
        (3, "The coordinator (uniform) chose d for epoch 7; b has not revoked it yet."),
    ],
)
def test_of_the_new_protocol_the_brokers_choice_is_told(number, sentence):
    state = modern.group(HAS, GIVES, WAITS, phase=Phase.RECONCILING)
    assert rule(state, "orders", number, modern.CATALOG) == sentence


def test_of_the_new_protocol_an_untaken_partition_is_told():
    state = modern.group(HAS, replace(GIVES, reconciliation=replace(GIVES.reconciliation, revoking=())), WAITS)
    assert rule(state, "orders", 3, modern.CATALOG) == (
        "The coordinator (uniform) chose d for epoch 7, which has not taken it yet."
    )


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (
            None,
            "The coordinator assigns. No member requests an assignor, so it uses the broker's first, uniform by "
            "default.",
        ),
        ("range", "The coordinator assigns with range: most members that request an assignor request it."),
    ],
)
def test_of_the_new_protocol_it_is_said_how_sure_the_assignor_is(asked, sentence):
    under_way = Rebalance(generation=8, started_ms=NOW - 3_000, causes=(RebalanceCause.LEAVE,), left=1)
    state = modern.group(replace(HAS, server_assignor=asked), phase=Phase.RECONCILING, under_way=under_way)
    sentences = told(of_group(state, modern.CATALOG))
    assert sentences[About.ASSIGNOR] == [sentence]
    assert sentences[About.REBALANCE] == [
        "A rebalance has been in progress for 3 s: 1 member gone.",
        "groupwatch has not observed a complete rebalance.",
    ]


def test_members_of_a_share_group_share():
    last = Rebalance(
        generation=7, started_ms=NOW - 9_000, ended_ms=NOW - 8_000, causes=(RebalanceCause.JOIN,), joined=1
    )
    state = modern.group(HAS, kind=GroupKind.SHARE, history=(last,), rebalances=1, rebalance_ms=1_000)
    statements = of_group(state, modern.CATALOG).statements
    sentences = told(of_group(state, modern.CATALOG))
    assert sentences[About.ASSIGNOR] == ["Its members consume partitions together, so none has one owner."]
    assert sentences[About.MEMBERS][0].startswith("1 member consumes ")
    costs = [each.evidence for each in statements if each.about is About.REBALANCE][-1]
    assert costs == ("1 rebalance since the group was first seen, 1 s in total",)
    assert rule(state, "orders", 0, modern.CATALOG).startswith("Members of a share group consume partitions together")


@pytest.mark.parametrize(
    ("name", "number", "sentence"),
    [
        ("t", 9, "The group has no partition 9 of t; it has 0-3."),
        ("x\n", 0, r"Group g has no partition of x\n; its topics are t."),
    ],
)
def test_a_partition_that_is_not_the_groups_is_told_with_those_that_are(name, number, sentence):
    with pytest.raises(QuestionError) as error:
        of_partition(RANGE, name, number)
    assert str(error.value) == sentence


def test_hostile_names_are_escaped():
    nasty = "\x1b[2Jt\n"
    state = replace(
        group(replace(member(nasty, [nasty], {nasty: [0]}), client_id=nasty, host=nasty)), group=nasty, cluster=nasty
    )
    topics = replace(catalog(topic(nasty, 1)), cluster=nasty)
    for explanation in (of_group(state, topics), of_partition(state, nasty, 0, topics)):
        for statement in explanation.statements:
            assert all(line.isprintable() for line in (statement.sentence, *statement.evidence))


# --- records that were perhaps skipped -----------------------------------------------------------------------------


def restarted(*, at_ms: int = NOW - 5_000) -> GroupState:
    """C0 began 30 s ago at the end of t-1, 350 records after its last commit, or read them at once."""
    jump = Jump(100, NOW - 60_000, 450, at_ms, NOW - 30_000, is_first=True)
    passed = replace(commit("t", 1, 450, at_ms), jump=jump)
    return replace(RANGE, offsets=(commit("t", 0), passed, *RANGE.offsets[2:]))


def ended_at(end: int) -> Catalog:
    """The topic with an end of partition 1 that was seen before C0 began."""
    ends = (EndOffsetAt(NOW - 50_000, end),)
    known = [replace(each, end=end, ends=ends) for each in TOPICS.topics["t"].partitions]
    return catalog(replace(TOPICS.topics["t"], partitions=tuple(known)))


def test_records_that_were_perhaps_skipped_are_said_of_their_partition_though_there_is_no_finding():
    explained = of_partition(restarted(), "t", 1, ended_at(450))
    assert told(explained)[About.OFFSETS][1:] == [
        "The committed offset went from 100 to 450, 5 s ago; the group read or skipped up to 350 records: commits do "
        "not tell."
    ]
    assert len(told(of_partition(restarted(), "t", 2, ended_at(450)))[About.OFFSETS]) == 1


def test_a_group_says_in_how_many_partitions_records_were_perhaps_skipped():
    (said,) = [each for each in of_group(restarted(), ended_at(450)).statements if each.about is About.OFFSETS]
    assert said.sentence == (
        "In 1 partition, the group read or skipped up to 350 records in the last hour: commits do not tell."
    )
    assert said.since_ms == NOW - 5_000
    assert said.evidence == (
        "partition 1 of t: the committed offset went from 100 to 450, 5 s ago; the group read or skipped up to 350 "
        "records: commits do not tell",
    )
    assert About.OFFSETS not in told(of_group(RANGE))


@pytest.mark.parametrize("ended_ms", [None, NOW - 1_000])
def test_a_group_whose_partition_of_the_offsets_topic_has_no_leader_is_not_called_healthy(ended_ms):
    fault = PartitionFault(0, FaultReason.NO_LEADER, 0, 1, NOW - 90_000, ended_ms=ended_ms)
    known = replace(catalog(topic("t", 4)), offsets_topic=OffsetsTopicHealth(1, {0: fault}))
    found = told(of_group(RANGE, known))[About.FINDING]
    if ended_ms is not None:
        assert found == ["The group has no findings."]
        return
    assert found == [
        "This is a finding of the cluster: The only partition of __consumer_offsets has no leader: group g can neither "
        "commit nor rebalance.",
        "The group has no findings of its own.",
    ]


def test_a_group_that_reads_a_partition_without_a_leader_is_not_called_healthy():
    leaderless = {"t": (LeaderlessPartitions((1,), NOW - 90_000),)}
    known = replace(catalog(topic("t", 4)), brokers=BrokersHealth((1,), (), leaderless))
    statement, own = [each for each in of_group(RANGE, known).statements if each.about is About.FINDING]
    assert statement.sentence == (
        "This is a finding of the cluster: 1 partition of t has no leader: group g cannot read it."
    )
    assert statement.since_ms == NOW - 90_000
    assert [each.startswith("What to do: Start the brokers") for each in statement.evidence] == [True]
    assert own.sentence == "The group has no findings of its own."


def test_a_broker_that_led_what_the_group_has_committed_is_part_of_its_explanation():
    away = MissedBroker(BrokerAway(2, (), (TopicPartitions("t", (1,)),)), NOW - 600_000, NOW - 610_000)
    known = replace(catalog(topic("t", 4)), brokers=BrokersHealth((1,), (away,)))
    found = told(of_group(replace(RANGE, offsets=(commit("t", 1),)), known))[About.FINDING]
    assert found[0].startswith("This is a finding of the cluster: Broker 2 is away. At ")
    assert told(of_group(replace(RANGE, offsets=(commit("t", 2),)), known))[About.FINDING] == [
        "The group has no findings."
    ]


def test_findings_that_ended_lately_are_told_and_from_when_on_they_are_known():
    gone = EndedFinding("g", FindingKind.DRIFT, "replayed", NOW - 900_000, NOW - 180_000, "Partition 3 was astray.")
    tie = EndedFinding("g", FindingKind.DRIFT, "tie", NOW - 900_000, NOW - 180_000, "Two are as good.")
    earlier = replace(gone, ended_ms=NOW - 360_000)
    ended = EndedLately(NOW - 600_000, (gone, tie, earlier))
    inputs = GroupInputs(group=RANGE, catalog=TOPICS, now_ms=NOW, ended=ended)
    assert told(explain_group(inputs))[About.ENDED] == [
        "Partition 3 was astray. This ended 3 min ago, after 12 min. Its alert may fire for some minutes more.",
        "Two are as good. This ended 3 min ago, after 12 min.",
        "Partition 3 was astray. This ended 6 min ago, after 9 min.",
        f"A finding that ended before {utc(NOW - 600_000)} is not remembered here.",
    ]
    known = replace(inputs, ended=EndedLately(NOW - 3_600_000))
    assert About.ENDED not in told(explain_group(known))
