"""Small groups with known content, and names that try to break out of whatever they are written into."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter

from msgspec.structs import replace

from monitor.detection.group_summary import summary_of
from monitor.metrics.render import packed, prepared, render_groups
from monitor.model import (
    Certainty,
    ClientLibrary,
    ClusterSnapshot,
    ConnectVerdict,
    DeliveryBatch,
    DeliveryTotals,
    DeliveryVerdict,
    DriftKind,
    Finding,
    FindingKind,
    GroupUse,
    GroupVerdict,
    LagStatus,
    Library,
    MemberVerdict,
    OrphanReason,
    Pace,
    PartitionVerdict,
    Phase,
    ProcessLoad,
    RedeliveryVerdict,
    Snapshot,
    TaskVerdict,
    TopicLag,
    TopicPartition,
    UnknownVersion,
)
from monitor.model.evidence import TaskBalance
from monitor.model.expiry import ExpiredOffset
from monitor.model.jumps import Skip, SkipCause
from monitor.snapshot_file import ClusterInputs
from monitor.web.views.lag_history import LagPoint
from tests.web.saved import Saved

NOW_MS = 1_700_000_100_000

HOSTILE_NAMES = (
    "<script>alert(1)</script>",
    "a/b",
    "/",
    "%2F",
    "a%2Fb",
    "quote\" and '",
    "line\nbreak",
    "ends in a line break\n",
    "\r",
    "\0",
    "\\",
    "\U0001f600 \u202egnitset",
    "?q=1#top",
    "a b+c",
    "{{ 7*7 }}",
    "x" * 1000,
    "",
    ".",
    "..",
    "~.",
    "~~..",
    "../metrics",
)

LIBRDKAFKA = ClientLibrary((Library.LIBRDKAFKA,), Certainty.CERTAIN, "2.4 or newer")
IN_PYTHON = ClientLibrary((Library.AIOKAFKA, Library.KAFKA_PYTHON), Certainty.POSSIBLE)


def streams(group: str = "billing") -> GroupVerdict:
    """A streams group of two threads in one instance: the task 0_1 waits for its new member since 5 s."""
    topic = TopicPartition("t", 0), TopicPartition("t", 1)
    return GroupVerdict(
        cluster="main",
        group=group,
        kind="kafka-streams",
        state=Phase.RECONCILING,
        evaluated_ms=NOW_MS,
        assignor="sticky",
        expectation="target",
        generation=3,
        generation_ms=NOW_MS - 5_000,
        members=(
            MemberVerdict("S0", client_id="billing-1", process="p", partitions=1, active_tasks=1, standby_tasks=0),
            MemberVerdict("S1", client_id="billing-2", process="p", partitions=0, active_tasks=0, standby_tasks=1),
        ),
        partitions=(
            _row(0, ("S0",), "S0", committed=1, end=1, lag=0, lag_ms=0),
            _row(1, (), "S1", orphan=OrphanReason.PENDING),
        ),
        tasks=(
            TaskVerdict("0_0", "0", 0, owners=("S0",), standbys=("S1",), reads=topic[:1]),
            TaskVerdict("0_1", "0", 1, reads=topic[1:], orphan=OrphanReason.PENDING, since_ms=NOW_MS - 5_000),
        ),
        processes=(ProcessLoad("p", ("S0", "S1"), active=1, standby=1),),
        task_balance=TaskBalance("p", ("S0", "S1"), tasks=1, fair=1),
    )


def connect(group: str = "connect") -> GroupVerdict:
    """A Connect cluster that waits for one of its two workers; the other one runs a task."""
    return GroupVerdict(
        cluster="main",
        group=group,
        kind="kafka-classic",
        state=Phase.STABLE,
        evaluated_ms=NOW_MS,
        assignor="sessioned",
        expectation="none",
        generation=5,
        generation_ms=NOW_MS - 60_000,
        members=(MemberVerdict("W1", client_id="connect-1", host="/10.0.0.1", active_tasks=1),),
        partitions=(),
        tasks=(
            TaskVerdict("s3-0", "s3", 0, owners=("W1",)),
            TaskVerdict("s3-1", "s3", 1, orphan=OrphanReason.DELAY, since_ms=NOW_MS - 60_000),
        ),
        processes=(ProcessLoad("http://10.0.0.1:8083/", ("W1",), active=1),),
        connect=ConnectVerdict(leader_url="http://10.0.0.1:8083/", delay_until_ms=NOW_MS + 240_000),
    )


def shared(group: str = "pool") -> GroupVerdict:
    """A share group that has given records up and is about to give up two more."""
    delivery = DeliveryVerdict(
        "t",
        0,
        start_offset=10,
        first_waiting=12,
        lag=3,
        waiting_redelivery=2,
        max_deliveries=4,
        last_tries=2,
        last_try_offsets=(12, 13),
        last_tries_since_ms=NOW_MS - 9_000,
        given_up=1,
        given_up_offset=11,
        given_up_ms=NOW_MS - 60_000,
        rejected=1,
        accepted=10,
        answered_ms=NOW_MS - 9_000,
        batches=(DeliveryBatch(10, 10, 2, 1), DeliveryBatch(11, 11, 4, 5), DeliveryBatch(12, 13, 0, 4)),
    )
    return GroupVerdict(
        cluster="main",
        group=group,
        kind="kafka-share",
        state=Phase.STABLE,
        evaluated_ms=NOW_MS,
        assignor=None,
        expectation="none",
        generation=2,
        generation_ms=NOW_MS - 600_000,
        members=(
            MemberVerdict("S0", client_id="pool-1", partitions=1),
            MemberVerdict("S1", client_id="pool-2", partitions=1),
        ),
        partitions=(_row(0, ("S0", "S1"), None, committed=12, end=15, lag=3, lag_ms=9_000),),
        lag=3,
        lag_ms=9_000,
        deliveries=(delivery,),
        delivery_totals=DeliveryTotals(accepted=10, returned=8, rejected=1, given_up=1),
        delivery_limit=5,
    )


def sent_back(group: str = "pay") -> GroupVerdict:
    """A group of RocketMQ of which records were sent back and given up."""
    redelivery = RedeliveryVerdict(
        sent_back=44,
        waiting=7,
        waiting_since_ms=NOW_MS - 50_000,
        given_up=20,
        given_up_ms=NOW_MS - 90_000,
        dead_letters=18,
        in_flight=3,
    )
    return GroupVerdict(
        cluster="main",
        group=group,
        kind="rocketmq",
        state=Phase.STABLE,
        evaluated_ms=NOW_MS,
        assignor=None,
        expectation="none",
        generation=2,
        generation_ms=NOW_MS - 600_000,
        lag=0,
        redelivery=redelivery,
        unreadable_records=30,
    )


def orders(group: str = "orders") -> GroupVerdict:
    """Two members; partition 0 is in order, 1 has two owners, 2 is orphaned since 40 s, 3 should be C0's since 90 s."""
    return GroupVerdict(
        cluster="main",
        group=group,
        kind="kafka-classic",
        state=Phase.STABLE,
        evaluated_ms=NOW_MS,
        assignor="range",
        expectation="exact",
        generation=7,
        generation_ms=NOW_MS - 90_000,
        members=(
            MemberVerdict(
                member_id="C0",
                client_id="front",
                host="/10.0.0.1",
                partitions=2,
                expected_partitions=3,
                lag=12,
                library=LIBRDKAFKA,
            ),
            MemberVerdict(
                member_id="C1",
                client_id="back",
                host="/10.0.0.2",
                partitions=2,
                expected_partitions=1,
                library=IN_PYTHON,
            ),
        ),
        partitions=(
            _row(0, ("C0",), "C0", committed=90, end=100, lag=10, lag_ms=1_500),
            _row(1, ("C0", "C1"), "C1", committed=50, end=50, lag=0, lag_ms=0),
            _row(2, (), "C0", end=5, orphan=OrphanReason.GREW),
            _row(3, ("C1",), "C0", committed=7, end=9, lag=2),
        ),
        findings=(
            _finding(FindingKind.DOUBLE_OWNED, "same_generation", 90_000, "Two own partition 1 of t.", 1),
            _finding(FindingKind.ORPHANED, "grew", 40_000, "Nobody owns partition 2 of t.", 2),
            _finding(FindingKind.DRIFT, DriftKind.REPLAYED, 90_000, "Partition 3 of t should belong to C0.", 3),
        ),
        lag=12,
        lag_ms=1_500,
        imbalance_ratio=1.5,
        rebalances=7,
        rebalancing_since_ms=NOW_MS - 5_000,
        rebalance_ms=12_500,
        moved_partitions=9,
        avoidable_moves=4,
        redelivered_records=150,
        pause_ms=12_500,
        burst_records=70,
        stable_lag=12,
    )


def unreadable(group: str = "unreadable") -> GroupVerdict:
    """A group of one member, whose assignment could not be decoded."""
    member = MemberVerdict(member_id="C0", unreadable="underflow at byte 0 of the assignment")
    return GroupVerdict(
        cluster="main", group=group, kind="kafka-classic", state=Phase.STABLE, evaluated_ms=NOW_MS, members=(member,)
    )


def _row(partition: int, owners: tuple[str, ...], expected: str, **values) -> PartitionVerdict:
    return PartitionVerdict(
        topic="t", partition=partition, owners=owners, expected=expected, replayed=expected, **values
    )


def _finding(kind: FindingKind, reason: str, age_ms: int, sentence: str, partition: int) -> Finding:
    place = TopicPartition("t", partition)
    return Finding(kind=kind, reason=reason, since_ms=NOW_MS - age_ms, sentence=sentence, partitions=(place,))


def falling_behind(group: str = "late") -> GroupVerdict:
    """Two partitions of 1,000 kept records each: of one, 30 are lost; the other was read at 12.5/s, written at 10/s.

    The last 50 records of the other are behind an open transaction.
    """
    return GroupVerdict(
        cluster="main",
        group=group,
        kind="kafka-classic",
        state=Phase.OFFSETS_ONLY,
        evaluated_ms=NOW_MS,
        partitions=(
            PartitionVerdict("t", 0, (), None, None, 70, 100, 1100, 1030, None, None, LagStatus.STOP, Pace(0, 10)),
            PartitionVerdict(
                "t", 1, (), None, None, 900, 100, 1100, 200, 20_000, None, LagStatus.OK, Pace(12.5, 10), 1050
            ),
            PartitionVerdict("u", 0, committed=5, earliest=0, end=5, lag=0, lag_ms=0, status=LagStatus.OK),
        ),
        findings=(
            _finding(FindingKind.RETENTION, "records_lost", 90_000, "Retention removed records of partition 0.", 0),
        ),
        lag=1230,
        lag_ms=20_000,
        lag_since_ms=NOW_MS - 20_000,
        status=LagStatus.ERR,
        topics=(TopicLag("t", 1230, 20_000, 2), TopicLag("u", 0, 0, 1)),
        pace=Pace(12.5, 20),
        catch_up_ms=90_500,
        lost=30,
        kept_waiting=1.0,
        stable_lag=1180,
        lag_at_least_ms=600_000,
        skips=(
            Skip("t", 1, SkipCause.REBALANCE, NOW_MS, before=10, offset=500, at_least=90, at_most=490),
            Skip("u", 0, SkipCause.REBALANCE, NOW_MS, before=0, offset=5, at_least=0, at_most=5),
        ),
    )


def offsets_only(group: str, cluster: str = "main") -> GroupVerdict:
    """A group of simple consumers, of which nothing but its name is remarkable."""
    return GroupVerdict(
        cluster=cluster,
        group=group,
        kind="kafka-classic",
        state=Phase.OFFSETS_ONLY,
        evaluated_ms=NOW_MS,
        partitions=(PartitionVerdict(topic=group, partition=0, committed=1, end=3, lag=2),),
    )


def newer_broker(group: str) -> GroupVerdict:
    """A group whose members are unknown for a minute: the broker writes version 5 of their records."""
    version = UnknownVersion("GroupMetadata", version=5, newest=4, since_ms=NOW_MS - 60_000)
    return replace(offsets_only(group), unknown_versions=(version,))


def uncommitted(group: str = "uncommitted") -> GroupVerdict:
    """Nine partitions with 600 records each that it never committed hide its lag."""
    return replace(orders(group), lag=None, lag_at_least=12, uncommitted_partitions=9, uncommitted_records=5_400)


def expired(group: str = "expired") -> GroupVerdict:
    """Of the third partition it is not known whether its offset expired or was deleted."""
    sure = ExpiredOffset("t", 0, 5, 1_000, 2_000, lag=0)
    gone = (sure, replace(sure, partition=1), replace(sure, is_certain=False))
    return replace(orders(group), offsets_expire_ms=1_795_315_215_500, expired_offsets=gone)


def unattended(group: str) -> GroupVerdict:
    """A group whose last member has gone, and for which a record has waited for 70 s."""
    return GroupVerdict(
        cluster="main",
        group=group,
        kind="kafka-classic",
        state=Phase.EMPTY,
        evaluated_ms=NOW_MS,
        partitions=(_row(0, (), "C0", committed=1, end=2, lag=1, lag_ms=70_000, orphan=OrphanReason.NO_MEMBERS),),
        findings=(_finding(FindingKind.UNATTENDED, "no_members", 70_000, "Nobody reads partition 0 of t.", 0),),
        lag=1,
        lag_ms=70_000,
    )


class JudgedCluster(ClusterSnapshot):
    """A cluster with the verdicts that it was made from."""

    verdicts: tuple[GroupVerdict, ...] = ()


@dataclass(frozen=True)
class Served:
    """A source of the app that always gives the same."""

    shown: Snapshot
    saved: Mapping[str, ClusterInputs] = field(default_factory=dict)
    lags: Mapping[tuple[str, str], tuple[LagPoint, ...]] = field(default_factory=dict)

    def read(self) -> Snapshot:
        """The snapshot."""
        return self.shown

    def verdict(self, cluster: str, group: str) -> GroupVerdict | None:
        """The verdict that the group was listed from."""
        judged = [
            verdict for each in self.shown.clusters if isinstance(each, JudgedCluster) for verdict in each.verdicts
        ]
        return next((each for each in judged if (each.cluster, each.group) == (cluster, group)), None)

    def inputs(self, cluster: str) -> ClusterInputs | None:
        """What was given for the cluster."""
        return self.saved.get(cluster)

    def uses(self, cluster: str) -> tuple[GroupUse, ...]:
        """The groups of the states that were given for the cluster."""
        saved = self.saved.get(cluster)
        return saved.uses() if isinstance(saved, Saved) else ()

    def history(self, cluster: str, group: str, every: int = 1) -> tuple[LagPoint, ...]:
        """What was given for the group, the last point included."""
        return self.lags.get((cluster, group), ())[::-every][::-1]


def ready_cluster(*verdicts: GroupVerdict, cluster: str = "main") -> JudgedCluster:
    """A cluster that was judged just now."""
    return JudgedCluster(
        verdicts=verdicts,
        cluster=cluster,
        ready=True,
        evaluated_ms=NOW_MS,
        input_lag=0,
        groups=tuple(summary_of(verdict) for verdict in sorted(verdicts, key=attrgetter("group"))),
        blocks=packed(render_groups(verdicts)),
    )


def snapshot(*clusters: ClusterSnapshot) -> Snapshot:
    """What the app serves for these clusters."""
    texts = prepared(clusters, version="1.2.3")
    return Snapshot(clusters=clusters, metrics_gzip=texts.text_gzip, openmetrics_gzip=texts.openmetrics_gzip)
