"""docs/metrics.md from the table of all metrics: ``python -m dashboards.metrics_page`` writes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from monitor.metrics import specs
from monitor.metrics.spec_types import MetricKind, MetricScope, MetricSpec, unit_of
from monitor.metrics.specs import HISTOGRAMS, KAFKA_EXPORTER, METRICS

PAGE: Final = Path(__file__).parents[1] / "docs" / "metrics.md"

_SCOPES: Final = {
    MetricScope.PARTITION: ("Partitions", "Given where the detail is `partition`."),
    MetricScope.MEMBER: ("Members", "Given where the detail is `group` or finer, if `metrics.member_info` is set."),
    MetricScope.TOPIC: ("Topics of a group", "Given where the detail is `topic`, in place of the partitions' series."),
    MetricScope.GROUP: ("Groups", "Given where the detail is `group` or finer."),
    MetricScope.CLUSTER: ("Clusters", "Always given, of all groups of the cluster, whatever their detail."),
    MetricScope.SELF: ("groupwatch itself", "Always given."),
}

_OLDEST: Final = specs.GROUP_FINDING_OLDEST_SECONDS.name

_BEGIN: Final = f"""\
# Metrics

<!-- Written by `python -m dashboards.metrics_page` from monitor/metrics/specs.py: change that. -->

`/metrics` gives all of these, as Prometheus' text format 0.0.4 or, to a client that prefers it (as Prometheus does), as
OpenMetrics 1.0.0; both hold the same samples. A scrape sends bytes that were prepared before and asks nobody; only what
[the process](#the-process) says of itself is written for each scrape. Ages are those at the newest evaluation
(`{specs.LAST_EVALUATION_TIMESTAMP_SECONDS.name}`).

- **Absent means not known**, or that there is none. There is no -1, no NaN, and no 0 for what nobody knows. Series end
  with their group, topic or partition, and all series of groups are absent until the cluster is ready.
- **States** are one series for each, 1 for the one that is and 0 for the others.
- **Findings** of every kind have `{specs.GROUP_FINDINGS.name}` and `{_OLDEST}`; `kind` and
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

`max_series` caps all series but those of [the process](#the-process). Above it, series are left out: those of
partitions and members first, then the sums of topics, then groups. Of each, groups with 1,000 or more such series go
first, the largest at the front, then the smaller ones, a bucket of groups at a time. A group has all of a detail or
none of it. How many are missing is `{specs.SERIES_LEFT_OUT.name}`; alert on `sum({specs.SERIES_LEFT_OUT.name}) > 0`
([why so](decisions/0023-a-cap-on-series.md)).

Per-member series come and go with each rebalance, so they are given only where `member_info` or `owner_info` is set.
"""

_PROCESS: Final = """\

## The process

Always given, by `groupwatch run` and by `groupwatch collect`. A histogram has the series `_bucket`, `_count` and
`_sum`.

"""

_OF_PYTHON: Final = """\

`process_*` (CPU, memory, open files, start) and `python_*` (garbage collection, version) are those of
[prometheus-client](https://prometheus.github.io/client_python/collector/). They are of the process that serves: not of
Spark's JVM, and not of its Python workers. Where there is no `/proc`, there is no `process_*`.
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
    return "".join(
        [_BEGIN, *_sections(), _PROCESS, *_table(HISTOGRAMS), _OF_PYTHON, _COMPAT, *_table(KAFKA_EXPORTER), _NOT_GIVEN]
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
