"""A target that exposes everything there is to expose, growing with every scrape: groups of all kinds, and mishaps."""

from __future__ import annotations

import gzip
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Final

import msgspec

from monitor.detection.group_summary import summary_of
from monitor.expectations.met_time import MetTime
from monitor.metrics.cluster_samples import render_cluster
from monitor.metrics.process_metrics import ProcessMetrics
from monitor.metrics.render import packed, prepared, render_catalog, render_commits, render_groups
from monitor.metrics.series_filter import Detail, DetailOverride, SeriesRules
from monitor.model import (
    Catalog,
    ClusterSnapshot,
    CollectorHealth,
    CommittedOffset,
    DeliveryTotals,
    EndOffsetAt,
    ErrorCount,
    Finding,
    FindingKind,
    GroupKind,
    GroupState,
    GroupVerdict,
    LagStatus,
    OrphanReason,
    PartitionState,
    Phase,
    RecordingHealth,
    RedeliveryVerdict,
    SourceState,
    TopicState,
    WarmUpProgress,
)
from monitor.model import Source as KnownFrom
from monitor.model.cluster_findings import ClusterFinding, ClusterFindingKind
from monitor.model.expectations import ExpectationsHealth, GroupExpectations, Met
from monitor.model.findings import Severity
from monitor.model.scaling import ScaleHold, Scaling
from tests.support.answering import Answer, answering
from tests.web.examples import (
    connect,
    expired,
    falling_behind,
    newer_broker,
    orders,
    shared,
    streams,
    unattended,
    uncommitted,
)

AWKWARD: Final = "team.a|b (old) + \\n\\d"
"""A group whose name means something else as a regular expression."""

OFFSETS_TOPIC_GREW: Final = ClusterFinding(
    ClusterFindingKind.OFFSETS_TOPIC, "grew", Severity.CRITICAL, 1, "The topic grew.", "Restore the offsets.", groups=2
)

RULES: Final = SeriesRules(
    overrides=(DetailOverride(Detail.TOPIC, groups="summed.*"),), member_info=True, owner_info=True, commit_times=True
)
"""Who the members and owners are is told, and of some groups the sums of topics in place of partitions."""


def exposed(tick: int, label: str = "cluster") -> bytes:
    """What the target answers to its scrape number ``tick``, as text; ``label`` names the cluster."""
    now_ms = int(time.time() * 1000)
    verdicts = (
        _rebalancing(tick),
        _behind(tick),
        unattended("left"),
        _metaq(tick),
        _rocketmq(tick),
        _silent(),
        uncommitted(),
        expired(),
        streams(),
        connect(),
        _shared(tick),
        *_summed(tick),
    )
    scaling = Scaling(60_000, "It is enough.", 6, 3, ScaleHold.SETTLING, drain_ms=1_500)
    first = msgspec.structs.replace(verdicts[0], expectations=GroupExpectations(Met.YES, team="a"), scaling=scaling)
    verdicts = (first, *verdicts[1:])
    rules = msgspec.structs.replace(RULES, cluster_label=label)
    summaries = [summary_of(verdict) for verdict in (*verdicts, newer_broker("newer"))]
    summaries[0] = msgspec.structs.replace(summaries[0], unjudged="broker 2 does not answer")
    blocks = (
        *render_groups(verdicts, rules),
        *render_commits(_committed(now_ms), rules),
        *render_catalog(_catalog(tick, now_ms), rules),
        *render_cluster("main", summaries, [OFFSETS_TOPIC_GREW], now_ms, label),
    )
    watched = ClusterSnapshot(
        cluster="main",
        ready=True,
        evaluated_ms=now_ms,
        batch_duration_ms=1_500,
        input_lag=3,
        evaluation_errors=tick,
        decode_errors=(SourceState("main", "offsets_topic", (ErrorCount("truncated", tick, 1, 2),)),),
        blocks=packed(blocks),
        catalog_ms=now_ms - 5_000,
        tells_findings=True,
        expectations=ExpectationsHealth(),
        recording=RecordingHealth(recorded_ms=now_ms, evaluated_ms=now_ms - 900_000, failed_groups=1, unread_rows=2),
        collectors=(
            CollectorHealth("main", "catalog", "main", tick, tick, tick, last_success_ms=now_ms, pass_ms=250),
            CollectorHealth("main", "metaq", "old", failed=tick, pass_ms=9_000, problem="It does not answer."),
        ),
    )
    starting = ClusterSnapshot(cluster="starting", warm_up=WarmUpProgress(1_000, 1_000 - tick, 30_000), problem="Away.")
    text = gzip.decompress(prepared([watched, starting], version="1.2.3", max_series=10_000, label=label).text_gzip)
    return _of_the_process(tick, watched.collectors, label) + text


@contextmanager
def target(label: str = "cluster") -> Iterator[str]:
    """The address of the target, as "host:port"; ``label`` names the cluster."""
    ticks = count(1)

    def scraped(_path: str, _body: bytes) -> Answer:
        return Answer(
            headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}, body=exposed(next(ticks), label)
        )

    with answering(scraped) as address:
        yield address


def _of_the_process(tick: int, collectors: Iterable[CollectorHealth], label: str) -> bytes:
    """What the process says of itself: with every scrape there was one micro-batch, scrape and pass more."""
    process = ProcessMetrics(label)
    process.met.watch("main", lambda: {"orders": MetTime(yes_ms=1_000 * tick, no_ms=500 * tick, unknown_ms=tick)})
    process.watch_jvm(os.getpid())  # any process has descriptors and threads
    for _ in range(tick):
        process.observe_micro_batch("main", 1_500)
        process.observe_scrape(0.002)
        process.observe_push(0.2, is_success=True)
        process.observe_delivery("main", "delivered", 0.1)
        process.count_skipped("main", "foreign")
        for health in collectors:
            process.observe_pass(health)
    return process.text().encode()


def _shared(tick: int) -> GroupVerdict:
    totals = DeliveryTotals(accepted=tick, rejected=tick, given_up=tick)
    return msgspec.structs.replace(shared(), delivery_totals=totals)


def _rebalancing(tick: int) -> GroupVerdict:
    """Its counters grow by one with every scrape, its commits by 5; its name is awkward."""
    verdict = orders(AWKWARD)
    return msgspec.structs.replace(
        verdict,
        partitions=tuple(_moved(row, 5 * tick) for row in verdict.partitions),
        members=tuple(msgspec.structs.replace(each, idle=True, unreadable="short") for each in verdict.members),
        stable_lag=5,
        rebalances=tick,
        rebalance_ms=1_000 * tick,
        moved_partitions=tick,
        avoidable_moves=tick,
        redelivered_records=tick,
        pause_ms=1_000 * tick,
        burst_records=tick,
    )


def _behind(tick: int) -> GroupVerdict:
    verdict = falling_behind()
    return msgspec.structs.replace(
        verdict, partitions=tuple(_moved(row, tick) for row in verdict.partitions), lag_at_least_ms=600_000
    )


def _metaq(tick: int) -> GroupVerdict:
    """As _behind, in bytes, of partitions with names."""
    verdict = _behind(tick)
    named = tuple(msgspec.structs.replace(row, partition=f"0-{row.partition}") for row in verdict.partitions)
    kind, source = GroupKind.METAQ, KnownFrom.SYSTEM
    return msgspec.structs.replace(
        verdict, group="metaq", kind=kind, state=Phase.STABLE, source=source, partitions=named, findings=()
    )


def _summed(tick: int) -> tuple[GroupVerdict, ...]:
    """Groups of which only sums of topics are given, in records and in bytes."""
    records = msgspec.structs.replace(_behind(tick), group="summed")
    return records, msgspec.structs.replace(_metaq(tick), group="summed-bytes")


def _rocketmq(tick: int) -> GroupVerdict:
    """As _rebalancing, of queues, one of them in no member's share; records were sent back, or may not be read."""
    verdict = _rebalancing(tick)
    named = tuple(
        msgspec.structs.replace(row, partition=f"broker-a-{row.partition}", orphan=OrphanReason.MIXED_STRATEGY)
        for row in verdict.partitions
    )
    return msgspec.structs.replace(
        verdict,
        group="rocketmq",
        kind=GroupKind.ROCKETMQ,
        source=KnownFrom.SYSTEM,
        partitions=named,
        redelivery=RedeliveryVerdict(10 * tick, 7, verdict.evaluated_ms - 60_000, tick, None, 3, 2),
        unreadable_records=5,
    )


def _silent() -> GroupVerdict:
    """A member that does nothing any more, a finding of every kind, and commits that the brokers do not take."""
    now_ms = orders().evaluated_ms
    findings = tuple(
        Finding(kind=kind, reason="made_up", since_ms=now_ms - 700_000, sentence="Something.", members=("C0",))
        for kind in FindingKind
    )
    blocked_ms = now_ms - 30_000
    return msgspec.structs.replace(
        orders("silent"), findings=findings, status=LagStatus.WARN, blocked_since_ms=blocked_ms
    )


def _moved(row, by: int):
    return row if row.committed is None else msgspec.structs.replace(row, committed=row.committed + by)


def _committed(now_ms: int) -> GroupState:
    """A group that has just committed."""
    return GroupState("main", "committed", offsets=(CommittedOffset("t", 0, 5, committed_ms=now_ms),))


def _written(number: int, end: int, now_ms: int) -> PartitionState:
    """A partition that got 600 records in the last minute."""
    ends = (EndOffsetAt(now_ms - 60_000, end - 600), EndOffsetAt(now_ms, end))
    return PartitionState(number, now_ms, end=end, ends=ends)


def _catalog(tick: int, now_ms: int) -> Catalog:
    """The topics of the groups, written by 10 records with every scrape, and one that nobody reads."""
    names = {"t": range(4), "u": range(1), "unread": range(2)}
    topics = {
        name: TopicState(
            cluster="main",
            topic=name,
            pass_ms=now_ms,
            topic_id=f"id of {name}",
            partitions=tuple(_written(number, 1_000 + 10 * tick, now_ms) for number in numbers),
        )
        for name, numbers in names.items()
    }
    return Catalog(cluster="main", pass_ms=now_ms, topics=topics)
