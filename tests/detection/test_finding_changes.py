"""What is told of findings when they open, change and close, and after a restart."""

from __future__ import annotations

import msgspec
import pytest

from monitor.detection.finding_changes import (
    ALIKE_PAUSE_MS,
    KEPT_CLOSED_MS,
    MOST_BYTES,
    MOST_MEMBERS,
    MOST_PARTITIONS,
    Ledger,
    alike_in,
    alike_records,
    cluster_records,
    finding_id,
    id_of,
)
from monitor.findings.spec import FindingSpec
from monitor.findings.table import FINDINGS
from monitor.model import (
    Finding,
    FindingKind,
    FindingOutdated,
    FindingRecord,
    FindingScope,
    GroupSummary,
    Phase,
    TopicPartition,
    TopicPartitions,
)
from monitor.model.cluster_findings import ClusterFinding, ClusterFindingKind
from monitor.model.findings import Severity, SubordinateFinding
from monitor.protocol.findings_topic import encode_finding
from tests.findings.test_alike import group, one_off
from tests.support.builders import places

ORPHANED = Finding(FindingKind.ORPHANED, "grew", since_ms=100, sentence="Two.", partitions=places("t", 4, 5))
HEALED_HALF = Finding(FindingKind.ORPHANED, "grew", since_ms=100, sentence="One.", partitions=places("t", 5))
IDLE = Finding(FindingKind.IDLE_MEMBERS, "no_partitions", since_ms=50, sentence="Idle.", members=("m-1",))


def summary(*findings: Finding, group: str = "g") -> GroupSummary:
    return GroupSummary("c", group, "kafka-classic", Phase.STABLE, "range", 2, 0, findings)


def told(records: list[FindingRecord]) -> list[tuple[str, str, int, int]]:
    return [(record.event.value, record.kind, record.opened_ms, record.at_ms) for record in records]


def test_a_finding_opens_changes_and_closes_under_one_id():
    ledger = Ledger()
    opened = ledger.news([summary(ORPHANED)], 1_000)
    assert told(opened) == [("opened", "orphaned", 1_000, 1_000)]
    assert ledger.news([summary(ORPHANED)], 2_000) == []
    changed = ledger.news([summary(HEALED_HALF)], 3_000)
    assert told(changed) == [("changed", "orphaned", 1_000, 3_000)]
    closed = ledger.news([summary()], 4_000)
    assert told(closed) == [("closed", "orphaned", 1_000, 4_000)]
    assert closed[0].sentence.startswith("Group g: One. Since 1970-01-01 00:00:00 UTC. Most client ")
    assert ledger.news([summary()], 5_000) == []
    assert {record.id for record in (*opened, *changed, *closed)} == {opened[0].id}


@pytest.mark.parametrize(("moved_ms", "news"), [(60_000, []), (60_001, ["changed"])])
def test_a_beginning_that_moves_a_little_is_no_news(moved_ms: int, news: list[str]):
    ledger = Ledger()
    ledger.news([summary(ORPHANED)], 1)
    moved = msgspec.structs.replace(ORPHANED, since_ms=ORPHANED.since_ms + moved_ms)
    assert [record.event.value for record in ledger.news([summary(moved)], 2)] == news


OF_THE_TRAFFIC = [(FindingKind.LAG, "not_committing"), (FindingKind.RETENTION, "close_to_loss")]


@pytest.mark.parametrize(("kind", "reason"), OF_THE_TRAFFIC)
def test_a_lag_that_seems_to_begin_later_because_no_more_is_remembered_is_no_news(kind: FindingKind, reason: str):
    late = Finding(kind, reason, since_ms=500_000, sentence="Late.", partitions=places("t", 1))
    ledger = Ledger()
    ledger.news([summary(late)], 1)
    assert ledger.news([summary(msgspec.structs.replace(late, since_ms=900_000))], 2) == []
    (earlier,) = ledger.news([summary(msgspec.structs.replace(late, since_ms=400_000))], 3)
    assert (earlier.event.value, earlier.since_ms) == ("changed", 400_000)


def test_a_storm_that_lasts_longer_than_it_is_remembered_is_no_news():
    ledger = Ledger()
    storm = Finding(FindingKind.REBALANCE, "storm", since_ms=100, sentence="A storm.")
    ledger.news([summary(storm)], 1)
    assert ledger.news([summary(msgspec.structs.replace(storm, since_ms=3_600_000))], 2) == []
    ledger.news([summary(msgspec.structs.replace(storm, reason="long"))], 3)
    long = msgspec.structs.replace(storm, reason="long", since_ms=3_600_000)
    assert [record.event.value for record in ledger.news([summary(long)], 4)] == ["changed"]


def test_a_record_has_everything_that_the_finding_has():
    (record,) = Ledger().news([summary(ORPHANED)], 1_000)
    assert record == FindingRecord(
        id=finding_id("c", "g", ORPHANED),
        event=record.event,
        cluster="c",
        group="g",
        kind="orphaned",
        reason="grew",
        since_ms=100,
        opened_ms=1_000,
        at_ms=1_000,
        sentence="Group g: Two. Since 1970-01-01 00:00:00 UTC. Most client libraries notice new "
        "partitions within 5 minutes by default. If these still have no owner then, restart the leader (a "
        "static member must be away longer than its session timeout).",
        partition_count=2,
        partitions=(TopicPartitions("t", (4, 5)),),
        member_count=0,
        members=(),
    )


def test_findings_of_different_kinds_groups_and_clusters_have_different_ids():
    ids = {
        finding_id(cluster, group, finding)
        for cluster, group in (("c", "g"), ("cg", ""), ("", "cg"), ("c", "h"))
        for finding in (ORPHANED, IDLE, msgspec.structs.replace(ORPHANED, reason="pending"))
    }
    assert len(ids) == 12


def test_an_id_never_changes():
    """It is what other systems know a finding by; versions of groupwatch must agree on it."""
    assert finding_id("c", "g", ORPHANED) == "c0f5ea144c8130c778c12f96f2e89459"


def test_findings_of_a_group_that_is_gone_are_closed():
    ledger = Ledger()
    ledger.news([summary(ORPHANED), summary(IDLE, group="h")], 1_000)
    assert told(ledger.news([summary(ORPHANED)], 2_000)) == [("closed", "idle_members", 1_000, 2_000)]


def test_what_was_told_of_a_group_stands_while_it_cannot_be_judged():
    ledger = Ledger()
    ledger.news([summary(ORPHANED)], 1_000)
    unjudged = msgspec.structs.replace(summary(), unjudged="TypeError: no number")
    assert ledger.news([unjudged], 2_000) == []
    assert ledger.news([summary(ORPHANED)], 3_000) == []
    assert told(ledger.news([summary()], 4_000)) == [("closed", "orphaned", 1_000, 4_000)]


def test_one_finding_closes_while_another_stays():
    ledger = Ledger()
    ledger.news([summary(ORPHANED, IDLE)], 1_000)
    assert told(ledger.news([summary(IDLE)], 2_000)) == [("closed", "orphaned", 1_000, 2_000)]


def test_a_finding_that_comes_back_opens_again():
    ledger = Ledger()
    for now_ms, findings in ((1, [ORPHANED]), (2, [])):
        ledger.news([summary(*findings)], now_ms)
    assert told(ledger.news([summary(ORPHANED)], 3)) == [("opened", "orphaned", 3, 3)]


def test_after_a_restart_only_what_has_changed_is_told():
    before = Ledger()
    records = before.news([summary(ORPHANED, IDLE), summary(IDLE, group="h")], 1_000)
    after = Ledger(records)
    news = after.news([summary(HEALED_HALF), summary(IDLE, group="h")], 9_000)
    assert sorted(told(news)) == [("changed", "orphaned", 1_000, 9_000), ("closed", "idle_members", 1_000, 9_000)]


def test_after_a_restart_what_was_closed_is_not_closed_again():
    before = Ledger()
    before.news([summary(ORPHANED)], 1)
    closed = before.news([summary()], 2)
    assert Ledger(closed).news([summary()], 3) == []


@pytest.mark.parametrize("restarted", [False, True])
def test_what_was_closed_long_ago_is_forgotten_once(restarted: bool):
    ledger = Ledger()
    ledger.news([summary(ORPHANED)], 1)
    closed = ledger.news([summary()], 2)
    if restarted:
        ledger = Ledger(closed)
    assert ledger.take_outdated(2 + KEPT_CLOSED_MS) == []
    assert ledger.take_outdated(3 + KEPT_CLOSED_MS) == [FindingOutdated(closed[0].id)]
    assert ledger.take_outdated(4 + KEPT_CLOSED_MS) == []


def test_what_has_opened_again_is_not_forgotten():
    ledger = Ledger()
    for now_ms, findings in ((1, [ORPHANED]), (2, []), (3, [ORPHANED])):
        ledger.news([summary(*findings)], now_ms)
    assert ledger.take_outdated(10 + KEPT_CLOSED_MS) == []


def test_lists_are_cut_and_counts_are_not():
    many = MOST_PARTITIONS + 1
    large = Finding(
        FindingKind.ORPHANED,
        "grew",
        since_ms=1,
        sentence="Many.",
        partitions=tuple(TopicPartition("t", number) for number in range(many)),
        members=tuple(f"m-{number}" for number in range(MOST_MEMBERS + 1)),
    )
    (record,) = Ledger().news([summary(large)], 1)
    assert (record.partition_count, record.member_count) == (many, MOST_MEMBERS + 1)
    assert (len(record.partitions[0].partitions), len(record.members)) == (MOST_PARTITIONS, MOST_MEMBERS)


@pytest.mark.parametrize(("kind", "reason"), OF_THE_TRAFFIC)
def test_which_partitions_wait_in_a_lag_is_no_news(kind: FindingKind, reason: str):
    behind = Finding(kind, reason, since_ms=1, sentence="Behind.", partitions=places("t", 1))
    ledger = Ledger()
    ledger.news([summary(behind)], 1)
    elsewhere = msgspec.structs.replace(behind, partitions=places("t", 2, 3))
    assert ledger.news([summary(elsewhere)], 2) == []
    reworded = msgspec.structs.replace(elsewhere, sentence="2 partitions of t (2-3).")
    assert ledger.news([summary(reworded)], 3) == [], "sentences name partitions"


@pytest.mark.parametrize("spec", FINDINGS, ids=lambda spec: f"{spec.kind.value}/{spec.reason}")
def test_other_partitions_are_news_of_what_does_not_move_with_the_traffic(spec: FindingSpec):
    ledger = Ledger()
    found = Finding(spec.kind, spec.reason, since_ms=1, sentence="Wrong.", partitions=places("t", 1))
    ledger.news([summary(found)], 1)
    elsewhere = msgspec.structs.replace(found, partitions=places("t", 2, 3))
    moving = {("poison", "last_try"), ("transactions", "uncommitted"), ("rebalance", "static_replacements")}
    moving |= {("rebalance", "different_subscriptions"), ("poison", "sent_back")}
    kinds = {"lag", "uncommitted", "retention", "unattended", "abandoned", "offsets", "subscription"}
    moves = spec.kind.value in kinds or (spec.kind.value, spec.reason) in moving
    news = [record.event.value for record in ledger.news([summary(elsewhere)], 2)]
    assert news == ([] if moves else ["changed"])


@pytest.mark.parametrize("character", ["x", "\u20ac", "\x01"])
def test_long_names_do_not_make_a_record_that_no_broker_takes(character: str):
    name = character * 1_000
    large = Finding(
        FindingKind.ORPHANED,
        "grew",
        since_ms=1,
        sentence="Many.",
        partitions=tuple(TopicPartition(f"{name[:200]}{number}", 0) for number in range(5_000)),
        members=tuple(f"{name}{number}" for number in range(MOST_MEMBERS)),
    )
    (record,) = Ledger().news([summary(large)], 1)
    assert MOST_BYTES < len(encode_finding(record)) < 1_000_000
    assert (record.partition_count, record.member_count) == (5_000, MOST_MEMBERS)


NOT_WRITABLE = ClusterFinding(
    ClusterFindingKind.OFFSETS_TOPIC,
    "not_enough_replicas",
    Severity.CRITICAL,
    since_ms=100,
    sentence="Two.",
    advice="Start it.",
    groups=12,
    partitions=(3, 4),
)
OTHERS_TOO = msgspec.structs.replace(NOT_WRITABLE, partitions=(3, 4, 5), groups=13)


def own(*findings: ClusterFinding, at_ms: int, shard: int = 1) -> tuple[FindingRecord, ...]:
    return cluster_records("c", findings, at_ms, shard)


def test_a_finding_of_a_cluster_opens_and_closes_without_a_group():
    ledger = Ledger()
    (opened,) = ledger.news([summary()], 1_000, own(NOT_WRITABLE, at_ms=1_000))
    assert opened == FindingRecord(
        id="db1acd124e7cd696daadd2729a4272a8",
        event=opened.event,
        cluster="c",
        group="",
        kind="offsets_topic",
        reason="not_enough_replicas",
        since_ms=100,
        opened_ms=1_000,
        at_ms=1_000,
        sentence="Cluster c: Two. Since 1970-01-01 00:00:00 UTC. Start it.",
        partition_count=2,
        partitions=(TopicPartitions("__consumer_offsets", (3, 4)),),
        member_count=0,
        members=(),
        scope=FindingScope.CLUSTER,
        group_count=12,
    )
    assert opened.event.value == "opened"
    assert ledger.news([summary()], 2_000, own(NOT_WRITABLE, at_ms=2_000)) == []
    (closed,) = ledger.news([summary()], 3_000)
    assert closed == msgspec.structs.replace(opened, event=closed.event, at_ms=3_000)
    assert closed.event.value == "closed"


def test_a_finding_of_a_cluster_that_goes_on_changing_is_told_once_a_minute():
    """While brokers go away one by one, each poll sees other partitions."""
    ledger = Ledger()
    ledger.news([], 1_000, own(NOT_WRITABLE, at_ms=1_000))
    assert ledger.news([], 60_999, own(OTHERS_TOO, at_ms=60_999)) == []
    (changed,) = ledger.news([], 61_000, own(OTHERS_TOO, at_ms=61_000))
    assert told([changed]) == [("changed", "offsets_topic", 1_000, 61_000)]
    assert (changed.partition_count, changed.group_count) == (3, 13)
    assert ledger.news([], 900_000, own(OTHERS_TOO, at_ms=900_000)) == []


def test_the_cause_is_told_before_what_follows_from_it_is_closed_with_its_name():
    """A finding of the group was open already. It comes back if its own cause stays."""
    silent = Finding(FindingKind.LAG, "not_committing", since_ms=90, sentence="Silent.")
    follows = SubordinateFinding(**msgspec.structs.asdict(silent), follows=NOT_WRITABLE.name)
    ledger = Ledger()
    ledger.news([summary(silent, IDLE)], 1)
    under = msgspec.structs.replace(summary(IDLE), subordinate=(follows,))
    news = ledger.news([under], 2, own(NOT_WRITABLE, at_ms=2))
    assert told(news) == [("opened", "offsets_topic", 2, 2), ("closed", "lag", 1, 2)]
    assert [each.follows for each in news] == [None, "offsets_topic/not_enough_replicas"]
    assert ledger.news([under], 3, own(NOT_WRITABLE, at_ms=3)) == []
    back = ledger.news([summary(silent, IDLE)], 4)
    assert told(back) == [("closed", "offsets_topic", 2, 4), ("opened", "lag", 4, 4)]
    assert [each.follows for each in back] == [None, None]


def test_what_just_ends_follows_from_nothing():
    ledger = Ledger()
    ledger.news([summary(IDLE)], 1)
    (closed,) = ledger.news([summary()], 2, ())
    assert closed.follows is None


def test_a_group_without_a_name_and_its_cluster_have_findings_of_their_own():
    ledger = Ledger()
    ledger.news([summary(ORPHANED, group="")], 1, own(NOT_WRITABLE, at_ms=1))
    assert told(ledger.news([], 2, own(NOT_WRITABLE, at_ms=2))) == [("closed", "orphaned", 1, 2)]


def test_after_a_restart_a_finding_of_the_cluster_is_told_only_if_it_has_changed():
    records = Ledger().news([summary(ORPHANED)], 1, own(NOT_WRITABLE, at_ms=1))
    assert Ledger(records).news([summary(ORPHANED)], 2, own(NOT_WRITABLE, at_ms=2)) == []
    after = Ledger(records)
    assert told(after.news([summary(ORPHANED)], 2)) == [("closed", "offsets_topic", 1, 2)]
    assert after.take_outdated(3 + KEPT_CLOSED_MS) == [FindingOutdated(records[0].id)]


def test_each_shard_has_a_finding_of_the_cluster_for_its_own_groups():
    (first,), (second,) = own(NOT_WRITABLE, at_ms=1), own(NOT_WRITABLE, at_ms=1, shard=2)
    assert first.id != second.id
    assert (id_of(first), id_of(second)) == (first.id, second.id)
    assert (first.shard, second.shard) == (1, 2)


def news_of(ledger: Ledger, groups: list[GroupSummary], at_ms: int, shard: int = 1) -> list[tuple[str, str, str, int]]:
    """What is told of all groups: what happened, of which group, the reason, and of how many groups."""
    alike = alike_in(groups, ledger.open_alike())
    found = ledger.news(groups, at_ms, alike_records("c", alike.values(), at_ms, shard), alike)
    return [(each.event.value, each.group, each.reason, each.group_count) for each in found]


BILLING = group("billing", "no_members")
ONE_OFFS = [one_off(number) for number in range(30)]


def test_alike_groups_have_one_record_and_a_real_group_beside_them_its_own():
    assert news_of(Ledger(), [BILLING, *ONE_OFFS], 1) == [
        ("opened", "", "one_off", 30),
        ("opened", "billing", "no_members", 0),
    ]


def test_the_record_of_alike_groups_says_it_all():
    groups = [one_off(number, at_ms=9_000 - number) for number in range(30)]
    (record,) = alike_records("c", alike_in(groups).values(), 10_000)
    assert (record.scope, record.group, record.pattern) == (FindingScope.ALIKE, "", "anonymous.*")
    assert (record.kind, record.since_ms, record.opened_ms, record.at_ms) == ("unattended", 8_971, 10_000, 10_000)
    assert record.sentence.startswith(
        "Cluster c: 30 groups named anonymous.* were each used by one process, which has left. Their lag is 300 "
        "records in total. The first began at 1970-01-01 00:00:08 UTC. Nothing is to be done: their offsets expire."
    )


def test_what_was_told_of_each_is_closed_when_they_are_alike():
    """Three groups of a pattern are no reason yet; with the fourth, all of them are one."""
    ledger = Ledger()
    first = [group(f"anonymous.{number}", "no_members", pattern="anonymous.*") for number in range(3)]
    assert [each[0] for each in news_of(ledger, first, 1)] == ["opened"] * 3
    assert news_of(ledger, ONE_OFFS[:3], 2) == [
        each
        for n in range(3)
        for each in (("closed", f"anonymous.{n}", "no_members", 0), ("opened", f"anonymous.{n}", "one_off", 0))
    ]
    assert news_of(ledger, ONE_OFFS[:4], 3) == [
        ("opened", "", "one_off", 4),
        *[("closed", f"anonymous.{number}", "one_off", 0) for number in range(3)],
    ]
    assert news_of(ledger, ONE_OFFS[:4], 4) == []


def test_a_group_that_is_one_of_alike_ones_now_follows_their_finding():
    ledger = Ledger()
    news_of(ledger, ONE_OFFS[:3], 1)
    alike = alike_in(ONE_OFFS)
    closed = [each for each in ledger.news(ONE_OFFS, 2, alike_records("c", alike.values(), 2), alike) if each.group]
    assert [each.follows for each in closed] == ["unattended/one_off"] * 3


def test_a_group_that_is_no_longer_like_the_others_has_a_record_of_its_own():
    ledger = Ledger()
    news_of(ledger, ONE_OFFS, 1)
    stalled = msgspec.structs.replace(ONE_OFFS[0], findings=(*ONE_OFFS[0].findings, IDLE))
    assert news_of(ledger, [stalled, *ONE_OFFS[1:]], 2) == [
        ("opened", "anonymous.0", "one_off", 0),
        ("opened", "anonymous.0", "no_partitions", 0),
    ]
    assert news_of(ledger, ONE_OFFS, 3) == [
        ("closed", "anonymous.0", "one_off", 0),
        ("closed", "anonymous.0", "no_partitions", 0),
    ]


def test_more_alike_groups_are_told_once_an_hour_and_their_end_at_once():
    ledger = Ledger()
    news_of(ledger, ONE_OFFS[:10], 1)
    assert news_of(ledger, ONE_OFFS[:20], ALIKE_PAUSE_MS) == []
    assert news_of(ledger, ONE_OFFS, ALIKE_PAUSE_MS + 1) == [("changed", "", "one_off", 30)]
    assert news_of(ledger, [BILLING], ALIKE_PAUSE_MS + 2) == [
        ("closed", "", "one_off", 30),
        ("opened", "billing", "no_members", 0),
    ]


def test_alike_groups_that_become_three_and_four_again_are_no_news():
    """Each passage closed the record of all and opened three, and back."""
    ledger = Ledger()
    assert news_of(ledger, ONE_OFFS[:4], 1) == [("opened", "", "one_off", 4)]
    for at_ms, count in enumerate((3, 4, 3, 2, 4), start=2):
        assert news_of(ledger, ONE_OFFS[:count], at_ms) == []
    assert news_of(ledger, ONE_OFFS[:3], ALIKE_PAUSE_MS + 1) == [("changed", "", "one_off", 3)]


def test_the_last_of_alike_groups_has_a_record_of_its_own_again():
    ledger = Ledger()
    news_of(ledger, ONE_OFFS[:4], 1)
    assert news_of(ledger, ONE_OFFS[:1], 2) == [
        ("closed", "", "one_off", 4),
        ("opened", "anonymous.0", "one_off", 0),
    ]
    assert [each[1] for each in news_of(ledger, ONE_OFFS[:3], 3)] == ["anonymous.1", "anonymous.2"]


def test_after_a_restart_three_of_four_alike_groups_are_no_news():
    alike = alike_in(ONE_OFFS[:4])
    records = Ledger().news(ONE_OFFS[:4], 1, alike_records("c", alike.values(), 1), alike)
    assert news_of(Ledger(records), ONE_OFFS[:3], 2) == []


def test_groups_that_could_not_be_evaluated_stay_among_alike_ones():
    ledger = Ledger()
    news_of(ledger, ONE_OFFS, 1)
    blind = [msgspec.structs.replace(each, unjudged="Its coordinator is away.") for each in ONE_OFFS]
    assert news_of(ledger, blind, 2 * ALIKE_PAUSE_MS) == []


@pytest.mark.parametrize("judged", [0, 3])
def test_alike_groups_that_are_not_evaluated_yet_after_a_restart_end_nothing(judged):
    alike = alike_in(ONE_OFFS)
    records = Ledger().news(ONE_OFFS, 1, alike_records("c", alike.values(), 1), alike)
    later = [msgspec.structs.replace(each, findings=(), unjudged="Not yet.") for each in ONE_OFFS[judged:]]
    ledger = Ledger(records)
    assert news_of(ledger, [*ONE_OFFS[:judged], *later], 2) == []
    assert news_of(ledger, ONE_OFFS, 3) == []


def test_after_a_restart_alike_groups_are_not_told_again():
    alike = alike_in(ONE_OFFS)
    records = Ledger().news(ONE_OFFS, 1, alike_records("c", alike.values(), 1), alike)
    assert news_of(Ledger(records), ONE_OFFS, 2) == []
    assert news_of(Ledger(records), [], 2) == [("closed", "", "one_off", 30)]


def test_alike_groups_have_an_id_of_their_own_by_pattern_and_shard():
    """A group may be named like the pattern."""
    alike = alike_in([*ONE_OFFS, *[one_off(number, pattern="job-*") for number in range(5)]]).values()
    ids = [each.id for shard in (1, 2) for each in alike_records("c", alike, 1, shard)]
    same = [finding_id("c", name, ONE_OFFS[0].findings[0]) for name in ("", "anonymous.*")]
    assert len({*ids, *same}) == 6
    assert ids == [id_of(each) for shard in (1, 2) for each in alike_records("c", alike, 1, shard)]
