"""What is found of brokers that are away and of partitions without a leader, and what follows in groups."""

import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.cluster_findings import cluster_findings, findings_over
from monitor.model import TopicPartitions
from monitor.model.brokers import BrokerAway, BrokersHealth, LeaderlessPartitions, MissedBroker
from monitor.model.findings import Severity
from monitor.model.offsets_topic import FaultReason, OffsetsTopicHealth, PartitionFault
from tests.detection.rules.test_stalled_commits import ALL_BUSY, NOW_MS, committed, pair
from tests.detection.test_cluster_findings import GROUPS, SILENT

LED = BrokerAway(2, (3,), (TopicPartitions("t", (0, 2)),))
"""It was the coordinator of "g" (partition 3 of 4), and led two of the four partitions that "g" has committed."""

AWAY = MissedBroker(LED, since_ms=NOW_MS - 120_000, before_ms=NOW_MS - 130_000)
ELSEWHERE = replace(SILENT, group="h")
"""In partition 0 of the offsets topic."""


def topics_with(*away, leaderless=(), seen_ms=NOW_MS, interval_ms=10_000):
    health = BrokersHealth((1, 2, 3), away, {"t": leaderless} if leaderless else {}, seen_ms, interval_ms)
    return replace(ALL_BUSY, offsets_topic=OffsetsTopicHealth(4), brokers=health, pass_ms=NOW_MS)


def without_leader(*partitions, since_s=755, before_s=750, ended_s=None):
    before_ms = None if before_s is None else before_s * 1000
    ended_ms = None if ended_s is None else ended_s * 1000
    return LeaderlessPartitions(partitions, since_s * 1000, before_ms, ended_ms)


def leads(**topics):
    return BrokerAway(2, (), tuple(TopicPartitions(name, partitions) for name, partitions in topics.items()))


def brokers_of(state, broker):
    return evaluate(state, topics_with(replace(AWAY, broker=broker)), NOW_MS, DetectionSettings()).missed_brokers


def cluster_findings_in(topics, groups=GROUPS):
    return cluster_findings(topics, groups, None, NOW_MS)


def test_a_broker_concerns_the_groups_that_it_coordinated_and_those_that_committed_what_it_led():
    assert brokers_of(SILENT, LED) == (2,)
    assert brokers_of(SILENT, replace(LED, topics=())) == (2,)
    assert brokers_of(SILENT, leads(t=(7,))) == ()
    assert brokers_of(SILENT, leads(s=(0,))) == ()
    assert brokers_of(ELSEWHERE, LED) == (2,)
    assert brokers_of(ELSEWHERE, replace(LED, topics=())) == ()
    assert evaluate(SILENT, topics_with(), NOW_MS, DetectionSettings()).missed_brokers == ()


def test_a_broker_that_is_away_is_one_finding_for_information_with_its_groups():
    missed = tuple(replace(each, missed_brokers=(2,)) for each in GROUPS[:2])
    (finding,) = cluster_findings_in(topics_with(AWAY), (*missed, GROUPS[2]))
    assert (finding.name, finding.severity, finding.since_ms) == ("brokers/away", Severity.INFO, 880_000)
    assert finding.groups == 2
    assert finding.sentence == (
        "Broker 2 is away. At 1970-01-01 00:14:30 UTC, by the last poll that saw it, it led 2 partitions of t and was "
        "the coordinator of 1 group."
    )


def test_of_a_broker_that_handed_over_first_the_polls_are_named_by_which_it_led_that():
    handed = replace(LED, led_ms=NOW_MS - 150_000)
    (finding,) = cluster_findings_in(topics_with(replace(AWAY, broker=handed)))
    assert finding.sentence == (
        "Broker 2 is away. By the polls from 1970-01-01 00:14:10 UTC on, it led 2 partitions of t and was the "
        "coordinator of 1 group."
    )
    third = MissedBroker(BrokerAway(3, (0,), (TopicPartitions("s", (1,)),)), NOW_MS - 200_000, NOW_MS - 210_000)
    (finding,) = cluster_findings_in(topics_with(replace(AWAY, broker=handed), third))
    assert "By the polls from 1970-01-01 00:14:10 UTC on, they led 3 partitions" in finding.sentence


def test_several_are_one_finding_and_of_a_group_only_its_own_counts():
    third = MissedBroker(BrokerAway(3, (0,), (TopicPartitions("s", (1,)),)), NOW_MS - 200_000, NOW_MS - 210_000)
    (finding,) = cluster_findings_in(topics_with(AWAY, third))
    assert finding.sentence == (
        "Brokers 2-3 are away. By the last polls that saw them, they led 3 partitions of s, t and were the "
        "coordinators of 2 groups."
    )
    (own,) = findings_over(topics_with(AWAY), replace(GROUPS[0], missed_brokers=(2,)), NOW_MS)
    assert own.sentence.endswith("it led 2 partitions of t and was the coordinator of the group.")
    (own,) = findings_over(topics_with(AWAY), replace(GROUPS[1], missed_brokers=(2,)), NOW_MS)
    assert own.sentence.endswith("it led 2 partitions of t.")
    assert findings_over(topics_with(AWAY), GROUPS[2], NOW_MS) == ()


@pytest.mark.parametrize(
    "away",
    [
        pytest.param(replace(AWAY, since_ms=NOW_MS - 119_999), id="for less than two minutes, as in a restart"),
        pytest.param(MissedBroker(BrokerAway(2), 100_000, 90_000), id="it led nothing, or that is not known"),
    ],
)
def test_a_broker_that_restarts_or_led_nothing_is_no_finding(away):
    assert cluster_findings_in(topics_with(away)) == ()


def test_one_poll_that_missed_a_broker_is_no_two_minutes():
    """Nothing is known of the time since then: the collector, or all brokers, did not answer."""
    topics = replace(topics_with(replace(AWAY, since_ms=NOW_MS - 500_000)), pass_ms=NOW_MS - 400_000)
    assert cluster_findings_in(topics) == ()


def test_polls_that_do_not_see_the_brokers_are_no_two_minutes_of_a_broker_that_is_away():
    """Polls went on, and could not say which brokers are away: only one missed it."""
    topics = topics_with(replace(AWAY, since_ms=NOW_MS - 500_000), seen_ms=NOW_MS - 400_000)
    assert cluster_findings_in(topics) == ()


SINCE = "No poll has seen the brokers since then: whether this is still so is unknown."


@pytest.mark.parametrize(
    ("seen_s", "interval_s", "is_known"),
    [
        pytest.param(120, 10, True, id="two minutes ago: a poll may fail"),
        pytest.param(121, 10, False, id="later"),
        pytest.param(900, 300, True, id="polls are made each five minutes"),
        pytest.param(901, 300, False, id="three of these are missing"),
        pytest.param(3_601, 100_000, False, id="the poll before was long ago, as the collector was down"),
    ],
)
def test_what_no_poll_confirms_any_more_is_reported_as_of_the_last_one_that_did(seen_s, interval_s, is_known):
    """It does not end, as a resolved finding would say that all is well."""
    seen_ms, longer_ago = NOW_MS - seen_s * 1000, {"since_ms": NOW_MS - 8_000_000, "before_ms": NOW_MS - 8_010_000}
    leaderless = LeaderlessPartitions((0, 2), **longer_ago)
    topics = topics_with(
        MissedBroker(LED, **longer_ago), leaderless=(leaderless,), seen_ms=seen_ms, interval_ms=interval_s * 1000
    )
    found = cluster_findings_in(topics, [replace(GROUPS[0], topics_without_leader=("t",), missed_brokers=(2,))])
    assert [each.name for each in found] == ["topics/no_leader", "brokers/away"]
    assert [each.sentence.endswith(SINCE) for each in found] == [not is_known] * 2


def test_the_sentence_about_the_last_poll_has_its_time_and_is_no_claim_about_now():
    leaderless = without_leader(0, 2, since_s=100, before_s=90)
    topics = topics_with(replace(AWAY, since_ms=100_000), leaderless=(leaderless,), seen_ms=300_000, interval_ms=10_000)
    found = cluster_findings_in(topics, [replace(GROUPS[0], topics_without_leader=("t",), missed_brokers=(2,))])
    assert [each.sentence for each in found] == [
        "At 1970-01-01 00:05:00 UTC, 2 partitions of t had no leader: 1 group could not read them. Broker 2 was away, "
        f"and led them before. {SINCE}",
        "At 1970-01-01 00:05:00 UTC, broker 2 was away. At 1970-01-01 00:14:30 UTC, by the last poll that saw it, it "
        f"led 2 partitions of t and was the coordinator of 1 group. {SINCE}",
    ]
    assert [each.since_ms for each in found] == [100_000, 100_000]


NOT_COMMITTING = ("not_committing", 700)
FOLLOWS = ("not_committing", 700, "topics/no_leader")


def judge(topics, state=SILENT):
    """The group's own findings and those that follow, each with their partitions of "t"."""
    verdict = evaluate(state, topics, NOW_MS, DetectionSettings())
    own = [(each.reason, each.since_ms // 1000, numbers_of(each)) for each in verdict.findings]
    return own, [(each.reason, each.since_ms // 1000, each.follows, numbers_of(each)) for each in verdict.subordinate]


def numbers_of(finding):
    return [place.partition for place in finding.partitions]


@pytest.mark.parametrize(
    ("leaderless", "own", "follow"),
    [
        pytest.param(without_leader(0, 1, 2, 3), [], [(*FOLLOWS, [0, 1, 2, 3])], id="all, since before 60 s were over"),
        pytest.param(without_leader(0, 1, 2, 3, before_s=None), [], [(*FOLLOWS, [0, 1, 2, 3])], id="since when?"),
        pytest.param(without_leader(0), [(*NOT_COMMITTING, [1, 2, 3])], [], id="its owner lets others wait, too"),
        pytest.param(
            without_leader(0, 1, 2, 3, since_s=765, before_s=761),
            [(*NOT_COMMITTING, [0, 1, 2, 3])],
            [],
            id="it was silent before",
        ),
        pytest.param(without_leader(0, 1, 2, 3, ended_s=945), [], [], id="over for 55 s: it may be read again"),
        pytest.param(
            without_leader(0, 1, 2, 3, ended_s=930),
            [("not_committing", 930, [0, 1, 2, 3])],
            [],
            id="over for 70 s: a cause of its own",
        ),
    ],
)
def test_who_cannot_read_is_not_accused_and_is_once_it_could_again(leaderless, own, follow):
    assert judge(topics_with(leaderless=(leaderless,))) == (own, follow)


def test_a_leader_that_is_back_for_one_poll_gives_nobody_the_time_to_read():
    leaderless = without_leader(0, 1, 2, 3, ended_s=900), without_leader(0, 1, 2, 3, since_s=905, before_s=900)
    assert judge(topics_with(leaderless=leaderless)) == ([], [(*FOLLOWS, [0, 1, 2, 3])])


def test_a_member_that_only_has_partitions_without_a_leader_is_not_dead():
    """C0 owns 0 and 1, C1 the others, and lives."""
    state = pair(committed(0, 10, 500), committed(1, 10, 500), committed(2, 20, 985, 990, 995), committed(3, 20, 995))
    assert judge(ALL_BUSY, state) == ([("silent", 700, [0, 1])], [])
    assert judge(topics_with(leaderless=(without_leader(0, 1),)), state) == (
        [],
        [("silent", 700, "topics/no_leader", [0, 1])],
    )


def test_what_the_offsets_topic_explains_follows_from_that():
    topics = topics_with(leaderless=(without_leader(0, 1, 2, 3),))
    fault = PartitionFault(3, FaultReason.NO_LEADER, 0, 1, 755_000, 750_000)
    both = replace(topics, offsets_topic=OffsetsTopicHealth(4, {3: fault}))
    assert judge(both) == ([], [(*FOLLOWS, [0, 1, 2, 3])]), "its owner is not accused until both are over"
    verdict = evaluate(SILENT, replace(both, brokers=None), NOW_MS, DetectionSettings())
    assert [each.follows for each in verdict.subordinate] == ["offsets_topic/no_leader"]


def test_partitions_without_a_leader_are_a_finding_with_the_groups_that_cannot_read_them():
    leaderless = (without_leader(0, since_s=800), without_leader(2), without_leader(3, since_s=740, ended_s=760))
    topics = topics_with(AWAY, leaderless=leaderless)
    verdict = evaluate(SILENT, topics, NOW_MS, DetectionSettings())
    assert verdict.topics_without_leader == ("t",)
    reader = replace(GROUPS[0], topics_without_leader=("t",))
    finding = cluster_findings_in(topics, (reader, GROUPS[1]))[0]
    assert (finding.name, finding.severity, finding.since_ms) == ("topics/no_leader", Severity.CRITICAL, 755_000)
    assert finding.groups == 1
    assert finding.sentence == (
        "2 partitions of t have no leader: 1 group cannot read them. Broker 2 is away, and led them before."
    )
    (own, _) = findings_over(topics, replace(reader, missed_brokers=(2,)), NOW_MS)
    assert own.sentence == (
        "2 partitions of t have no leader: group g cannot read them. Broker 2 is away, and led them before."
    )


def test_a_broker_that_led_others_is_not_named_there_and_without_groups_there_is_no_finding():
    topics = topics_with(replace(AWAY, broker=leads(t=(1,))), leaderless=(without_leader(0),))
    (finding, _) = cluster_findings_in(topics, [replace(GROUPS[0], topics_without_leader=("t",))])
    assert finding.sentence == "1 partition of t has no leader: 1 group cannot read it."
    assert [each.name for each in cluster_findings_in(topics)] == ["brokers/away"]
    assert evaluate(SILENT, topics_with(), NOW_MS, DetectionSettings()).topics_without_leader == ()
