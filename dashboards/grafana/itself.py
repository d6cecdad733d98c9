"""groupwatch itself: whether what the other dashboards show is complete and new."""

from __future__ import annotations

from typing import Final

from dashboards.grafana import variables
from dashboards.grafana.cluster_shares import cluster_share, clusters_read
from dashboards.grafana.layout import Band, Board
from dashboards.grafana.panels import (
    BAD,
    CALM,
    Column,
    Meaning,
    Panel,
    Query,
    graph,
    marked_from,
    stat,
    table,
    timeline,
)
from dashboards.queries import across, chosen, described, increased, since, slowest, summed
from monitor.metrics import specs
from monitor.metrics.promql import CLUSTER, everywhere
from monitor.metrics.spec_types import MetricSpec
from monitor.model.dashboard_uids import ITSELF_UID

_CLUSTER: Final = "{{cluster}}"
_COLLECTOR: Final = ("cluster", "collector", "name")
_COLLECTOR_NAME: Final = "{{cluster}} {{collector}} {{name}}"
_NO_YES: Final = (Meaning("no", BAD), Meaning("yes", CALM))


def ready() -> Panel:
    """The share of all clusters whose groups are exposed."""
    return cluster_share("Clusters ready", specs.READY)


def oldest_evaluation() -> Panel:
    """How old the oldest numbers are."""
    family = specs.LAST_EVALUATION_TIMESTAMP_SECONDS
    return stat("Oldest evaluation", described(family), "s", f"max({since(family)})", marked=marked_from(60, 120))


def longest_batch() -> Panel:
    """How long groupwatch needs to read and judge. A long batch ends rarely, so it looks back further than a graph."""
    family = specs.MICRO_BATCH_SECONDS
    expr = f"max({slowest(family, CLUSTER, 0.99, '15m')})"
    return stat("Slowest batches", described(family), "s", expr, marked=marked_from(30, 60))


def findings_told() -> Panel:
    """The share of clusters with a topic for findings whose topic can be written."""
    return cluster_share("Findings published", specs.FINDINGS_UP)


def unreadable_now() -> Panel:
    """Records that could not be read in the time shown."""
    family = specs.DECODE_ERRORS_TOTAL
    expr = f"sum({increased(family, '$__range')}) or 0 * count({chosen(specs.UP)})"
    return stat("Unreadable records", described(family), "short", expr, marked=marked_from(1))


def _yes_or_no(title: str, family: MetricSpec) -> Panel:
    """When that was so of each cluster; of jobs that share it, of all of them."""
    return timeline(title, described(family), Query(expr=across("min", CLUSTER, family), legend=_CLUSTER), _NO_YES)


def up_over_time() -> Panel:
    """When each cluster could be read."""
    return _yes_or_no("Cluster can be read", specs.UP)


def ready_over_time() -> Panel:
    """When the groups of each cluster were exposed."""
    return _yes_or_no("Ready", specs.READY)


def evaluation_age() -> Panel:
    """How old the numbers of all dashboards are."""
    family = specs.LAST_EVALUATION_TIMESTAMP_SECONDS
    return _of_clusters("Age of the newest evaluation", "s", family, since(family))


def batch_durations() -> Panel:
    """How long micro-batches take, all of them and not only the newest at each scrape."""
    family = specs.MICRO_BATCH_SECONDS
    return graph(
        "Micro-batches, median and slowest 1 %",
        described(family),
        "s",
        Query(expr=slowest(family, CLUSTER, 0.5), legend=f"{_CLUSTER} median"),
        Query(expr=slowest(family, CLUSTER, 0.99), legend=f"{_CLUSTER} slowest 1 %"),
    )


def input_lag() -> Panel:
    """How far groupwatch itself is behind."""
    return _of_clusters("Records not read yet", "short", specs.INPUT_LAG_RECORDS)


def catalog_age() -> Panel:
    """How old the list of topics, and the ends of their partitions, are."""
    family = specs.CATALOG_TIMESTAMP_SECONDS
    return _of_clusters("Age of the list of topics", "s", family, since(family))


def decode_errors() -> Panel:
    """Records that could not be read, by what they are and why."""
    family = specs.DECODE_ERRORS_TOTAL
    expr = summed(family, (*CLUSTER, "source", "reason"), increased(family, "5m"))
    query = Query(expr=expr, legend="{{cluster}} {{source}} {{reason}}")
    return graph("Unreadable records in 5 minutes", described(family), "short", query)


def evaluation_errors() -> Panel:
    """Group evaluations that failed."""
    family = specs.EVALUATION_ERRORS_TOTAL
    query = Query(expr=summed(family, CLUSTER, increased(family, "5m")), legend=_CLUSTER)
    return graph("Failed evaluations in 5 minutes", described(family), "short", query)


def findings_topic() -> Panel:
    """When findings could be written."""
    return _yes_or_no("Findings topic writable", specs.FINDINGS_UP)


def recording() -> Panel:
    """When the recording could be written."""
    return _yes_or_no("Recording writable", specs.RECORDING_UP)


def warm_up() -> Panel:
    """How much of the backlog is left after a start."""
    families = (specs.WARM_UP_REMAINING_RECORDS, specs.WARM_UP_TOTAL_RECORDS)
    return graph(
        "Backlog after a start",
        described(*families),
        "short",
        Query(expr=across("max", CLUSTER, families[0]), legend=f"{_CLUSTER} still to read"),
        Query(expr=across("max", CLUSTER, families[1]), legend=f"{_CLUSTER} at the start"),
    )


def warm_up_time() -> Panel:
    """How long the rest of the backlog will take."""
    return _of_clusters("Time until ready", "s", specs.WARM_UP_REMAINING_SECONDS)


def collectors() -> Panel:
    """All collectors, and how their newest passes went."""
    success = specs.COLLECTOR_LAST_SUCCESS_TIMESTAMP_SECONDS
    return table(
        "Collectors",
        described(specs.COLLECTOR_UP, success, specs.COLLECTOR_PASS_SECONDS),
        _COLLECTOR,
        Column("Complete", across("max", _COLLECTOR, success, since(success)), "s", warn_from=300),
        Column("Up", across("min", _COLLECTOR, specs.COLLECTOR_UP), "bool_yes_no"),
        Column("Slowest polls", slowest(specs.COLLECTOR_PASS_SECONDS, _COLLECTOR, 0.99, "1h"), "s"),
    )


def passes() -> Panel:
    """How many passes collectors make, by how they ended."""
    family = specs.COLLECTOR_PASSES_TOTAL
    expr = summed(family, (*_COLLECTOR, "result"), increased(family, "5m"))
    query = Query(expr=expr, legend=f"{_COLLECTOR_NAME} {{{{result}}}}")
    return graph("Polls of collectors in 5 minutes", described(family), "short", query)


def pass_duration() -> Panel:
    """How long passes take. They are minutes apart, so it looks back further than other graphs."""
    family = specs.COLLECTOR_PASS_SECONDS
    query = Query(expr=slowest(family, _COLLECTOR, 0.99, "15m"), legend=_COLLECTOR_NAME)
    return graph("Polls, slowest 1 % in 15 minutes", described(family), "s", query)


def scrape_duration() -> Panel:
    """How long Prometheus needs to fetch the metrics, by its own clock."""
    description = (
        "How long Prometheus took to fetch groupwatch's metrics. A scrape copies prepared text, and writes what the "
        "process says of itself."
    )
    return graph(
        "Scrape", description, "s", Query(expr=_scrape_query("scrape_duration_seconds"), legend="{{instance}}")
    )


def scrape_samples() -> Panel:
    """How many series groupwatch exposes."""
    description = "Samples in one scrape of groupwatch: one for each exposed series."
    query = Query(expr=_scrape_query("scrape_samples_scraped"), legend="{{instance}}")
    return graph("Series exposed", description, "short", query)


def descriptors() -> Panel:
    """How much of the JVM's file descriptors is used."""
    opened, limit = specs.JVM_OPEN_FDS, specs.JVM_MAX_FDS
    query = Query(expr=f"{everywhere(opened)} / {everywhere(limit)}", legend="{{instance}}")
    return graph("File descriptors of the JVM in use", described(opened, limit), "percentunit", query)


def jvm_threads() -> Panel:
    """How many threads the JVM has."""
    family = specs.JVM_THREADS
    query = Query(expr=everywhere(family), legend="{{instance}}")
    return graph("Threads of the JVM", described(family), "short", query)


def left_out() -> Panel:
    """What a cap on the number of series left out."""
    family = specs.SERIES_LEFT_OUT
    query = Query(expr=summed(family, (*CLUSTER, "detail")), legend="{{cluster}} {{detail}}")
    return graph("Series left out", described(family), "short", query, steps=True)


def versions() -> Panel:
    """Which versions run, and which share of the groups each has."""
    return table(
        "Versions",
        described(specs.BUILD_INFO),
        ("instance", "version"),
        Column("Jobs", f"count by (instance, version) ({everywhere(specs.BUILD_INFO)})"),
    )


def shards() -> Panel:
    """Which share of the groups each job has."""
    return table(
        "Shards",
        described(specs.SHARD_INFO),
        ("instance", "shard", "of"),
        Column("Jobs", f"count by (instance, shard, of) ({everywhere(specs.SHARD_INFO)})"),
    )


def shards_seen() -> Panel:
    """When a shard was away."""
    family, division = specs.SHARDS, ("cluster", "of")
    expr = across("count", division, family, across("count", (*division, "shard"), family))
    description = f"Shards with metrics, compared with the configured number.\n\n{described(family)}"
    return graph("Shards seen", description, "short", Query(expr=expr, legend=f"{_CLUSTER} of {{{{of}}}}"), steps=True)


BOARD: Final = Board(
    uid=ITSELF_UID,
    title="groupwatch: the monitor itself",
    description="Whether the data of the other dashboards is complete and current.",
    variables=(variables.clusters, variables.page_address),
    bands=(
        Band(4, (clusters_read, ready, oldest_evaluation, longest_batch, findings_told, unreadable_now)),
        Band(6, (up_over_time, ready_over_time, findings_topic, recording)),
        Band(8, (evaluation_age, batch_durations, input_lag), "Reading and evaluation"),
        Band(8, (decode_errors, evaluation_errors, catalog_age)),
        Band(8, (warm_up, warm_up_time), "After a start"),
        Band(8, (collectors, passes, pass_duration), "Collectors"),
        Band(8, (scrape_duration, scrape_samples, left_out), "Scrapes"),
        Band(8, (descriptors, jvm_threads), "The JVM"),
        Band(6, (versions, shards, shards_seen)),
    ),
)


def _of_clusters(title: str, unit: str, family: MetricSpec, expr: str | None = None) -> Panel:
    """The largest value of a family, or an expression of it, for each cluster: of several shards, the worst."""
    return graph(title, described(family), unit, Query(expr=across("max", CLUSTER, family, expr), legend=_CLUSTER))


def _scrape_query(family: str) -> str:
    """A series that Prometheus itself keeps of each target, of those targets that are groupwatch."""
    return f"{family} and on (job, instance) {everywhere(specs.BUILD_INFO)}"
