"""docs/metrics.md from the table of all metrics: ``python -m dashboards.metrics_page`` writes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from monitor.metrics import specs
from monitor.metrics.spec_types import MetricKind, MetricScope, MetricSpec, unit_of
from monitor.metrics.specs import COUNTERS, HISTOGRAMS, KAFKA_EXPORTER, METRICS, OF_THE_JVM

PAGE: Final = Path(__file__).parents[1] / "docs" / "metrics.md"

_SCOPES: Final = {
    MetricScope.PARTITION: ("Partitions", "Exposed with detail `partition`."),
    MetricScope.MEMBER: ("Members", "Exposed with detail `group` or finer, if `metrics.member_info` is set."),
    MetricScope.TOPIC: ("Topics of a group", "Exposed with detail `topic`, instead of the partitions' series."),
    MetricScope.GROUP: ("Groups", "Exposed with detail `group` or finer."),
    MetricScope.CLUSTER: ("Clusters", "Always exposed, for all groups of the cluster, at any detail."),
    MetricScope.SELF: ("groupwatch itself", "Always exposed."),
}

_OLDEST: Final = specs.GROUP_FINDING_OLDEST_SECONDS.name

_BEGIN: Final = f"""\
# Metrics

<!-- Written by `python -m dashboards.metrics_page` from monitor/metrics/specs.py: change that. -->

`/metrics` exposes all of these in Prometheus' text format 0.0.4. A client that prefers OpenMetrics 1.0.0, as Prometheus
does, gets that. Both have the same samples. A scrape sends prepared bytes and no request to a broker; only the metrics
of [the process](#the-process) are written at each scrape. Ages grow between two
evaluations (`{specs.LAST_EVALUATION_TIMESTAMP_SECONDS.name}`), for at most 30 s; those of a scrape are at most some
seconds old. For an age at another time, subtract `{specs.GROUP_LAG_SINCE.name}` from it.

- **Absent means unknown or none.** An unknown number is never -1, NaN or 0. Series end with their group, topic or
  partition. All series of groups are absent until the cluster is ready, or as of before a restart.
- **States** have one series each: 1 for the current state, 0 for the others.
- **Findings** of every kind have `{specs.GROUP_FINDINGS.name}` and `{_OLDEST}`, and
  `{specs.GROUP_FINDING_SINCE.name}`, which does not change while they last; `kind` and
  `reason` are those of [findings.md](findings.md). Alert on the age, not on the presence.

## Autoscalers

`{specs.GROUP_WANTED_REPLICAS.name}` is made for them: [autoscaling.md](autoscaling.md). For others, this is about lag.

An autoscaler must not read an absent series as 0: the lag may be unknown because groupwatch restarts, or a broker is
away. With 0 it removes the consumers just then. KEDA's Prometheus scaler reads an empty result as 0 by default. With
`ignoreNullValues: "false"` an empty result is an error instead: KEDA keeps the number of replicas, or uses the one of
`fallback` after some errors.

```yaml
triggers:
  - type: prometheus
    metadata:
      serverAddress: http://prometheus:9090
      query: >-
        max({specs.GROUP_LAG.name}{{cluster="prod",group="billing"}}
        and on (cluster, instance, job) {specs.UP.name} == 1)
      threshold: "1000"
      ignoreNullValues: "false"
fallback:
  failureThreshold: 5
  replicas: 6
```

`{specs.UP.name} == 1` leaves out the last values of a cluster that groupwatch cannot read now. Do not add
`or vector(0)`. A horizontal pod autoscaler with another adapter does not scale while a metric is absent.
`{specs.GROUP_CATCH_UP_SECONDS.name}` is absent for a group that never catches up, so do not scale by it alone.

While a partition with records has no committed offset, the lag of its group is unknown: no log has the offset
at which a consumer will start there. `{specs.GROUP_LAG.name}` is then absent, and these are there instead:

- `{specs.GROUP_LAG_AT_LEAST.name}`: the sum of what is known, 0 for a group without any commit,
- `{specs.GROUP_UNCOMMITTED_RECORDS.name}`: how many records the other partitions have, so by how much the lag
  may be more. Retained records count, and no others.

A scaler reads what fits the `auto.offset.reset` of the consumers. With `earliest` they will consume all these records,
also if the group has no members yet:

```promql
max(groupwatch_group_lag{{cluster="prod",group="billing"}}
    or groupwatch_group_lag_at_least{{cluster="prod",group="billing"}}
    + groupwatch_group_uncommitted_records{{cluster="prod",group="billing"}})
```

With `latest` they skip them: leave out the last line. Either way, add `and on (cluster, instance, job)` as above.

## Choosing what is given

```toml
[metrics]
detail = "partition"              # or "topic", "group", "cluster"
deny_groups = ["console-consumer-.*"]
deny_topics = ["__.*"]
max_series = 500000

[[metrics.overrides]]             # the first match counts
groups = "batch-.*"
detail = "group"

[[metrics.overrides]]
topics = "events-.*"
detail = "topic"
```

Patterns are RE2 and match the whole name. These settings change neither findings nor the page and the API.

Alerts see series only: **no alert can fire for a group that has no series of its own**. These are groups with detail
`cluster`, denied groups, and groups that are not allowed. With detail `group` or finer, every alert of
[alerts.md](alerts.md) can fire.

| detail | series of a group |
|---|---|
| `partition` | all |
| `topic` | group series, and the sums of its topics instead of its partitions |
| `group` | group series |
| `cluster` | none; the group counts in the sums of its cluster |

A group that is denied or not allowed is treated as `cluster`; such a topic is treated as `group`. An override with
`topics` applies to these topics only. An override without `topics` applies to the groups and all of their topics. The
end offset of a partition belongs to no group: overrides with `groups` do not apply to it.

`max_series` caps all series except those of [the process](#the-process). Above the cap, series are left out: partitions
and members first, then sums of topics, then groups. Within each, groups with 1,000 or more such series go first,
largest first. Smaller groups follow, a bucket of groups at a time. A group has all series of a detail or none.
`{specs.SERIES_LEFT_OUT.name}` counts the missing series; alert on `sum({specs.SERIES_LEFT_OUT.name}) > 0`
([the reasons](decisions/0023-a-cap-on-series.md)).

Per-member series change with each rebalance, so they are exposed only if `member_info` or `owner_info` is set.
Commit times are as many series as lags, so they are exposed only if `commit_times` is set.

The label `cluster` is the watched cluster, by its name in the configuration. `cluster_label` gives the label another
name, for a Prometheus that uses `cluster` for something else ([alerts.md](alerts.md#your-own-label-cluster)).
"""

_PROCESS: Final = """\

## The process

Always exposed, by `groupwatch run` and by `groupwatch collect`. A histogram has the series `_bucket`, `_count` and
`_sum`.

"""

_OF_PYTHON: Final = """\

`process_*` (CPU, memory, open files, start) and `python_*` (garbage collection, version) come from
[prometheus-client](https://prometheus.github.io/client_python/collector/). They describe the serving process, not
Spark's JVM and its Python workers: `groupwatch_jvm_*` describe the JVM of the driver. Without `/proc` there is neither.
"""

_OTLP: Final = f"""\

## OpenTelemetry

`groupwatch run` and `groupwatch collect` also push their metrics to an OpenTelemetry collector, if an endpoint is set.
`/metrics` stays as it is. The exporters are those of OpenTelemetry; the extra `otlp` installs them (`pip install
'.[job,otlp]'` in a clone; the image has them):

```toml
[otlp]
endpoint = "https://collector:4317"

[otlp.headers]
"authorization" = "Bearer ${{file:/etc/groupwatch/otlp-token}}"
```

- Each push has what a scrape would get at that moment: the same series with the same names, labels and values. Labels
  are attributes. Counters and histograms are cumulative; their start is unknown, because counters continue after a
  restart. Seconds, bytes and ratios have their unit.
- With `attributes = "messaging"`, attributes have the names of OpenTelemetry's conventions for messaging, such as
  `messaging.consumer.group.name`. With `"both"`, they have these and the labels.
- The resource has `service.name`, `service.version`, and `service.instance.id` (host and port).
  `OTEL_RESOURCE_ATTRIBUTES` adds to it.
- A push is sent in portions of about 1 MB, compressed. It takes about 3 s of a core for 100,000 series, in a thread of
  the driver. `[metrics]` limits the series of both.
- In Kubernetes, add the port of the collector to the network policy: it allows names and brokers only.
- A failed push stops nothing. The log has one line when pushes begin to fail and one when they succeed again;
  `{specs.OTLP_PUSH_SECONDS.name}` counts both. The next push has the newest values: what an absent collector missed is
  not sent later.
- A redirection is a failure and is not followed. Of a response by HTTP, at most 64 KiB are read. The log shows neither
  the path of the endpoint nor a header's value: where a response repeats one, it shows `[hidden]`.
"""

_COMPAT: Final = """\

## By the names of kafka_exporter

`groupwatch run --compat kafka_exporter`, or `metrics.compat = ["kafka_exporter"]`, also exposes these, with the names
and labels of [danielqsj/kafka_exporter](https://github.com/danielqsj/kafka_exporter). Dashboards for kafka_exporter
work unchanged. With several Kafka clusters, each series also has the label `cluster`. With one cluster it does not:
queries with `by (consumergroup, topic)` need no such label, and joins would break.

"""

_NOT_GIVEN: Final = """\

Differences and missing metrics:

- kafka_exporter exposes -1 as the offset and the lag of a partition without a commit; here the series is absent. A lag
  is never negative. Members of KIP-848 groups are counted too. Share groups have no offsets, and so none of these
  series.
- Groups of RocketMQ, MetaQ and Spark are not Kafka groups, and have no such series.
- `kafka_brokers`, `kafka_broker_info`, `kafka_topic_partition_leader`, `kafka_topic_partition_replicas`,
  `kafka_topic_partition_in_sync_replica`, `kafka_topic_partition_leader_is_preferred`,
  `kafka_topic_partition_under_replicated_partition`: groupwatch does not store replicas. Use the JMX metrics of the
  brokers, or keep a kafka_exporter for these, with `--group.filter='^$'`.
- `kafka_exporter_build_info` and the metrics of its Go runtime.
"""


def metrics_page() -> str:
    """The text of docs/metrics.md."""
    return "".join(
        [
            _BEGIN,
            *_sections(),
            _PROCESS,
            *_table((*OF_THE_JVM, *HISTOGRAMS, *COUNTERS)),
            _OF_PYTHON,
            _OTLP,
            _COMPAT,
            *_table(KAFKA_EXPORTER),
            _NOT_GIVEN,
        ]
    )


def _sections() -> Iterator[str]:
    for scope, (title, told) in _SCOPES.items():
        yield f"\n## {title}\n\n{told}\n\n"
        yield from _table(spec for spec in METRICS if spec.scope is scope)


def _table(specs: Iterable[MetricSpec]) -> Iterator[str]:
    yield "| name | labels | unit | meaning | absent if |\n|---|---|---|---|---|\n"
    for spec in specs:
        kind = "" if spec.kind is MetricKind.GAUGE else f", {spec.kind.value}"
        labels = ", ".join(f"`{label}`" for label in spec.labels)
        cells = (f"`{spec.name}`", labels, f"{unit_of(spec).value}{kind}", spec.help, spec.absent)
        yield f"| {' | '.join(cells)} |\n"


def main() -> None:
    """Write it."""
    PAGE.write_text(metrics_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
