"""docs/metrics.md from the table of all metrics: ``python -m dashboards.metrics_page`` writes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from monitor.metrics.specs import KAFKA_EXPORTER, METRICS, MetricKind, MetricScope, MetricSpec, unit_of

PAGE: Final = Path(__file__).parents[1] / "docs" / "metrics.md"

_NO_LAG: Final = "there is no commit, or the end of the partition is not known"
_NO_LAGS: Final = "of no partition the lag is known"
_NOT_JOINED: Final = "the group commits without members that joined, so who they are is not known"
_NOT_READ: Final = "members cannot be read, or the assignor is not known"
_NOT_OWNED: Final = f"{_NOT_JOINED}; members cannot be read"
_TASKS: Final = "the group is a classic one of Kafka Streams, which balances tasks"
_NO_MOVES: Final = f"{_NOT_JOINED}; members do not own partitions for themselves (share, streams, broadcasting)"
_BY_THE_LOG: Final = f"{_NO_MOVES}; the group is not read from a log"
_IF_KAFKA: Final = "the group is one of MetaQ, whose offsets are bytes"
_ONLY_METAQ: Final = "the group is not one of MetaQ"
_NONE: Final = "there are none"
_READY: Final = "the cluster is ready"
_NEVER_JUDGED: Final = "the groups have never been judged"
_NO_PASS: Final = "no pass has ended"

ABSENT: Final = {
    "groupwatch_partition_lag": f"{_NO_LAG}; {_IF_KAFKA}",
    "groupwatch_partition_lag_seconds": "the age is not known: the commit is older than the history of ends",
    "groupwatch_partition_committed_offset": "there is no commit",
    "groupwatch_partition_end_offset": "no collector has seen it; in every shard but the first",
    "groupwatch_group_lag": f"{_NO_LAGS}; {_IF_KAFKA}",
    "groupwatch_group_lag_seconds": "the age is not known of any partition",
    "groupwatch_group_stable_lag": f"no transaction is open; {_NO_LAGS}",
    "groupwatch_group_members": _NOT_JOINED,
    "groupwatch_group_idle_members": f"{_NOT_JOINED}; {_TASKS}",
    "groupwatch_group_orphaned_partitions": _NOT_OWNED,
    "groupwatch_group_orphaned_oldest_seconds": _NONE,
    "groupwatch_group_unattended_seconds": (
        "the group has members, or nothing waits in vain; somebody commits for it; its members own no partitions for "
        "themselves (streams, broadcasting, POP)"
    ),
    "groupwatch_group_dead_members": _NOT_OWNED,
    "groupwatch_group_unreadable_members": _NONE,
    "groupwatch_group_double_owned_partitions": _NOT_OWNED,
    "groupwatch_group_drifted_partitions": _NOT_READ,
    "groupwatch_group_drift_oldest_seconds": "nothing drifts",
    "groupwatch_group_imbalance_ratio": f"there are no members or no partitions; members cannot be read; {_TASKS}",
    "groupwatch_group_rebalances_total": _NOT_JOINED,
    "groupwatch_group_status": _NO_LAGS,
    "groupwatch_group_consumed_records_per_second": f"nothing waits, or the pace is not known; {_IF_KAFKA}",
    "groupwatch_group_produced_records_per_second": f"nothing waits, or the pace is not known; {_IF_KAFKA}",
    "groupwatch_group_catch_up_seconds": "nothing waits, the pace is not known, or it is too slow",
    "groupwatch_group_lost_records": f"{_NONE}; {_IF_KAFKA}",
    "groupwatch_group_retention_ratio": "nothing waits in a partition that was ever trimmed",
    "groupwatch_partition_lost_records": f"{_NONE}; {_IF_KAFKA}",
    "groupwatch_group_rebalancing": f"{_NOT_JOINED}; members share partitions by themselves",
    "groupwatch_group_rebalance_seconds_total": f"{_NOT_JOINED}; members share partitions by themselves",
    "groupwatch_group_moved_partitions_total": _NO_MOVES,
    "groupwatch_group_avoidable_moves_total": _NO_MOVES,
    "groupwatch_group_redelivered_records_total": "the group is a share group or one of MetaQ",
    "groupwatch_group_rebalance_pause_seconds_total": _BY_THE_LOG,
    "groupwatch_group_rebalance_burst_records_total": _BY_THE_LOG,
    "groupwatch_partition_lag_bytes": f"{_NO_LAG}; {_ONLY_METAQ}",
    "groupwatch_group_lag_bytes": f"{_NO_LAGS}; {_ONLY_METAQ}",
    "groupwatch_group_consumed_bytes_per_second": f"as for records; {_ONLY_METAQ}",
    "groupwatch_group_produced_bytes_per_second": f"as for records; {_ONLY_METAQ}",
    "groupwatch_group_findings": _NONE,
    "groupwatch_group_finding_oldest_seconds": _NONE,
    "groupwatch_group_failing_partitions": _NONE,
    "groupwatch_group_lag_at_least_seconds": "no age is known; retention has removed what waited",
    "groupwatch_topic_lag": f"the detail is not topic; {_NO_LAGS}; {_IF_KAFKA}",
    "groupwatch_topic_lag_seconds": "the detail is not topic; the age is not known of any partition",
    "groupwatch_topic_lag_bytes": f"the detail is not topic; {_NO_LAGS}; {_ONLY_METAQ}",
    "groupwatch_member_info": "not asked for",
    "groupwatch_partition_owner_info": "not asked for; nobody owns the partition",
    "groupwatch_partition_expected_owner_info": "not asked for; the assignor is not known, or gives it to nobody",
    "groupwatch_cluster_lag": f"of no group the lag is known; {_IF_KAFKA.replace('group is one', 'cluster is one')}",
    "groupwatch_cluster_findings": _NONE,
    "groupwatch_warm_up_total_records": _READY,
    "groupwatch_warm_up_remaining_records": _READY,
    "groupwatch_warm_up_remaining_seconds": f"{_READY}; the pace is not known yet",
    "groupwatch_last_evaluation_timestamp_seconds": _NEVER_JUDGED,
    "groupwatch_batch_duration_seconds": "no batch has ended",
    "groupwatch_input_lag_records": "no batch has ended",
    "groupwatch_decode_errors_total": _NONE,
    "groupwatch_catalog_timestamp_seconds": "no pass over the topics is known",
    "groupwatch_findings_up": "no findings topic is configured",
    "groupwatch_collector_up": _NO_PASS,
    "groupwatch_collector_last_success_timestamp_seconds": "no pass was complete",
    "groupwatch_collector_pass_duration_seconds": _NO_PASS,
    "groupwatch_series_left_out": "metrics.max_series is not set",
    "kafka_consumergroup_current_offset": "there is no commit",
    "kafka_consumergroup_current_offset_sum": "there is no commit",
    "kafka_consumergroup_lag": _NO_LAG,
    "kafka_consumergroup_lag_sum": _NO_LAG,
    "kafka_consumergroup_members": _NOT_JOINED,
    "kafka_consumergroupzookeeper_lag_zookeeper": _NO_LAG,
    "kafka_topic_partition_current_offset": "no collector has seen it",
    "kafka_topic_partition_oldest_offset": "no collector has seen it",
}
"""When a family has no series of something that exists. What is not here always has one."""

_SCOPES: Final = {
    MetricScope.PARTITION: ("Partitions", "Given where the detail is `partition`."),
    MetricScope.MEMBER: ("Members", "Given where the detail is `group` or finer, if `metrics.member_info` is set."),
    MetricScope.TOPIC: ("Topics of a group", "Given where the detail is `topic`, in place of the partitions' series."),
    MetricScope.GROUP: ("Groups", "Given where the detail is `group` or finer."),
    MetricScope.CLUSTER: ("Clusters", "Always given, of all groups of the cluster, whatever their detail."),
    MetricScope.SELF: ("groupwatch itself", "Always given."),
}

_BEGIN: Final = """\
# Metrics

<!-- Written by `python -m dashboards.metrics_page` from monitor/metrics/specs.py: change that. -->

`/metrics` gives all of these, as Prometheus' text format 0.0.4 or, to a client that prefers it (as Prometheus does), as
OpenMetrics 1.0.0; both hold the same samples. A scrape sends bytes that were prepared before: it computes nothing and
asks nobody. Ages are those at the newest evaluation (`groupwatch_last_evaluation_timestamp_seconds`).

- **Absent means not known**, or that there is none. There is no -1, no NaN, and no 0 for what nobody knows. Series end
  with their group, topic or partition, and all series of groups are absent until the cluster is ready.
- **States** are one series for each, 1 for the one that is and 0 for the others.
- **Findings** of every kind have `groupwatch_group_findings` and `groupwatch_group_finding_oldest_seconds`; `kind` and
  `reason` are those of [findings.md](findings.md). Alert on the age, not on the presence.

## Choosing what is given

```toml
[metrics]
detail = "partition"              # or "topic", "group", "cluster"
deny_groups = ["console-consumer-.*"]
deny_topics = ["__.*"]
max_series = 500000

[[metrics.overrides]]             # the first that matches counts
groups = "batch-.*"
detail = "group"

[[metrics.overrides]]
topics = "events-.*"
detail = "topic"
```

Patterns are RE2, for the whole name. None of this changes what is judged, found, or shown on the page and by the API.

Alerts see series only: **no alert can fire for a group that has no series of its own**, which is one of the detail
`cluster`, one that is denied, and one that is not among those allowed. With `group` or finer, all of
[alerts.md](alerts.md) can.

| detail | series of a group |
|---|---|
| `partition` | all |
| `topic` | its own, and the sums of its topics in place of its partitions |
| `group` | its own |
| `cluster` | none; it counts in the sums of its cluster |

A group that is denied, or not among those allowed, is as with `cluster`; such a topic as with `group`. An override that
names `topics` is about these topics only, one that does not is about the groups and all of their topics. The end offset
of a partition belongs to no group: overrides that name `groups` are not about it.

`max_series` caps all series of the process. Above it, series are left out: those of partitions and members first, then
the sums of topics, then groups. Of each, groups with 1,000 or more such series go first, the largest at the front, then
the smaller ones, a bucket of groups at a time. A group has all of a detail or none of it. How many are missing is
`groupwatch_series_left_out`; alert on `sum(groupwatch_series_left_out) > 0`
([why so](decisions/0023-a-cap-on-series.md)).

Per-member series come and go with each rebalance, so they are given only where `member_info` or `owner_info` is set.
"""

_COMPAT: Final = """\

## By the names of kafka_exporter

`groupwatch run --compat kafka_exporter`, or `metrics.compat = ["kafka_exporter"]`, gives these as well, by the names
and labels of [danielqsj/kafka_exporter](https://github.com/danielqsj/kafka_exporter). Dashboards made for it work as
they are. Where several Kafka clusters are watched, each series has the label `cluster` besides, or they could not be
told apart; with one cluster it has not, as `by (consumergroup, topic)` would not need it and joins would break.

"""

_NOT_GIVEN: Final = """\

What differs, and what is not given:

- kafka_exporter says -1 for the offset and the lag of a partition without a commit; here the series is absent. A lag is
  never negative. Members are counted for KIP-848 groups too; of share groups, which have no offsets, nothing is given.
- Groups of RocketMQ, MetaQ and Spark are not Kafka's, and have no such series.
- `kafka_brokers`, `kafka_broker_info`, `kafka_topic_partition_leader`, `kafka_topic_partition_replicas`,
  `kafka_topic_partition_in_sync_replica`, `kafka_topic_partition_leader_is_preferred`,
  `kafka_topic_partition_under_replicated_partition`: groupwatch does not keep where replicas are. Ask the brokers
  themselves (their JMX metrics), or leave a kafka_exporter for these, with `--group.filter='^$'`.
- `kafka_exporter_build_info` and the metrics of its Go runtime.
"""


def metrics_page() -> str:
    """The text of docs/metrics.md."""
    return "".join([_BEGIN, *_sections(), _COMPAT, *_table(KAFKA_EXPORTER), _NOT_GIVEN])


def _sections() -> Iterator[str]:
    for scope, (title, told) in _SCOPES.items():
        yield f"\n## {title}\n\n{told}\n\n"
        yield from _table(spec for spec in METRICS if spec.scope is scope)


def _table(specs: Iterable[MetricSpec]) -> Iterator[str]:
    yield "| name | labels | unit | meaning | absent if |\n|---|---|---|---|---|\n"
    for spec in specs:
        kind = ", counter" if spec.kind is MetricKind.COUNTER else ""
        labels = ", ".join(f"`{label}`" for label in spec.labels)
        cells = (f"`{spec.name}`", labels, f"{unit_of(spec).value}{kind}", spec.help, ABSENT.get(spec.name, ""))
        yield f"| {' | '.join(cells)} |\n"


def main() -> None:
    """Write it."""
    PAGE.write_text(metrics_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
