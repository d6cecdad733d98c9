"""What the dashboards show where several jobs share the groups: the sum of what is divided, the worst of the rest."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest

from monitor.metrics.spec_types import MetricScope
from monitor.metrics.specs import FAMILIES
from tests.dashboards.boards import ALL, Asked, Window, asked, sent
from tests.dashboards.promtool import run_cases

SHARES: Final = {"max by shard"}
"""Each shard tells of its own groups, and its replicas of the same ones: one number a shard, to be added up."""

JOBS: Final = {"sum"}
"""Each job counts what it does and reads itself."""

AS_GOOD_AS_THE_WORST: Final = {"min"}
"""1 is well: where one shard is blind, not all is seen."""

AS_LATE_AS_THE_LAST: Final = {"max"}
"""Every shard reads the whole log, at its own pace, and judges by itself: of ages, durations and what is left."""

ONE_EACH: Final = {"count by instance"}
"""What a job says of itself as a job."""

ONE_EACH_SHARD: Final = {"count by shard"}
"""Who is there; a shard may have replicas. Beside a share it says whose share that is."""

OVER_SHARDS: Final = {
    "groupwatch_cluster_groups": SHARES,
    "groupwatch_cluster_lag": SHARES,
    "groupwatch_cluster_findings": SHARES,
    "groupwatch_cluster_unreadable_groups": SHARES,
    "groupwatch_cluster_unevaluated_groups": SHARES,
    "groupwatch_client_library_members": SHARES,
    "groupwatch_up": AS_GOOD_AS_THE_WORST,
    "groupwatch_ready": AS_GOOD_AS_THE_WORST,
    "groupwatch_findings_up": AS_GOOD_AS_THE_WORST,
    "groupwatch_recording_up": AS_GOOD_AS_THE_WORST,
    "groupwatch_collector_up": AS_GOOD_AS_THE_WORST,
    "groupwatch_warm_up_total_records": AS_LATE_AS_THE_LAST,
    "groupwatch_warm_up_remaining_records": AS_LATE_AS_THE_LAST,
    "groupwatch_warm_up_remaining_seconds": AS_LATE_AS_THE_LAST,
    "groupwatch_last_evaluation_timestamp_seconds": AS_LATE_AS_THE_LAST,
    "groupwatch_catalog_timestamp_seconds": AS_LATE_AS_THE_LAST,
    "groupwatch_input_lag_records": AS_LATE_AS_THE_LAST,
    "groupwatch_micro_batch_seconds_bucket": AS_LATE_AS_THE_LAST,
    "groupwatch_collector_last_success_timestamp_seconds": AS_LATE_AS_THE_LAST,
    "groupwatch_collector_pass_seconds_bucket": AS_LATE_AS_THE_LAST,
    "groupwatch_decode_errors_total": JOBS,
    "groupwatch_evaluation_errors_total": JOBS,
    "groupwatch_collector_passes_total": JOBS,
    "groupwatch_series_left_out": JOBS,
    "groupwatch_build_info": ONE_EACH,
    "groupwatch_shard_info": ONE_EACH,
    "groupwatch_shards": ONE_EACH_SHARD | {"max by instance"},
}
"""How the series that several shards have of a cluster may become one. Of moments, the age is what is aggregated."""

BESIDES: Final = {
    # Only so that there is a 0 at all.
    ("itself: Unreadable records A", "groupwatch_up"): "count",
    # Chooses those of Prometheus' own series that are about groupwatch, instance by instance.
    ("itself: Scrape A", "groupwatch_build_info"): None,
    ("itself: Series exposed A", "groupwatch_build_info"): None,
    # A line for each job: each has a JVM.
    ("itself: File descriptors of the JVM in use A", "groupwatch_jvm_open_fds"): None,
    ("itself: File descriptors of the JVM in use A", "groupwatch_jvm_max_fds"): None,
    ("itself: Threads of the JVM A", "groupwatch_jvm_threads"): None,
}

WINDOW: Final = Window(scrape_s=15, shown_s=3600)

QUERIES: Final = [query for query in asked() if query.values_of is None]


def innermost(expr: str, at: int) -> str | None:
    """What aggregates what is there in an expression first, and whether jobs or shards stay apart; None: nothing."""
    depth = 0
    for place in range(at - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(expr[place], 0)
        if depth < 0:
            depth = 0
            found = re.search(r"\b(sum|min|max|avg|count|topk|bottomk)(?: by \(([^()]*)\) )?$", expr[:place])
            if found:
                kept = [label for label in ("instance", "shard") if label in (found[2] or "").split(", ")]
                return " by ".join([found[1], *kept[:1]])
    return None


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("HERE", None),
        ("abs(HERE)", None),
        ("sum(HERE)", "sum"),
        ("avg(min by (cluster) (HERE))", "min"),
        ("max by (cluster, group) (time() - HERE)", "max"),
        ("sum(increase(y[5m])) or 0 * count(HERE)", "count"),
        ("sum(y) - HERE", None),
        ("topk(10, HERE)", "topk"),
        ("count by (instance, version) (HERE)", "count by instance"),
        ("count by (of) (count by (of, shard) (HERE))", "count by shard"),
        ("sum(max by (shard, of) (x * on (instance) (max by (instance, shard) (HERE) ^ 0)))", "max by instance"),
        ("sum(max by (shard, of) (HERE * on (instance) (max by (instance, shard) (x) ^ 0)))", "max by shard"),
    ],
)
def test_what_aggregates_first_is_found(expr: str, expected: str | None):
    assert innermost(expr, expr.index("HERE")) == expected


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.place)
def test_what_several_shards_tell_of_a_cluster_becomes_one_in_the_way_that_is_right(query: Asked):
    """And always becomes one: else there is a line for each shard, all of the same name."""
    for found in re.finditer(r"\bgroupwatch_\w+", query.expr):
        name = found[0]
        if name not in FAMILIES or FAMILIES[name].scope in (MetricScope.CLUSTER, MetricScope.SELF):
            allowed = {BESIDES[query.place, name]} if (query.place, name) in BESIDES else OVER_SHARDS[name]
            assert innermost(query.expr, found.start()) in allowed, (name, query.expr)


def series(family: str, /, *values: int, **more: str) -> list[dict[str, str]]:
    """A family as three shards expose it, or as these and a replica of the third."""
    labels = "".join(f',{label}="{value}"' for label, value in more.items())
    return [
        {
            "series": f'groupwatch_{family}{{cluster="c",instance="groupwatch-{place}:9464"{labels}}}',
            "values": f"{value}x5",
        }
        for place, value in enumerate(values)
    ]


def shard(place: int, number: int) -> dict[str, str]:
    """What the job at this place says of its share."""
    labels = f'cluster="c",instance="groupwatch-{place}:9464",shard="{number}",of="3"'
    return {"series": f"groupwatch_shards{{{labels}}}", "values": "3x5"}


KAFKA = {"collector": "kafka", "name": "main"}

SHARDS = [
    *(shard(place, number) for place, number in enumerate([1, 2, 3, 3])),
    *series("cluster_lag", 1000, 900, 1100, 1100),
    *series("cluster_groups", 10, 12, 8, 8, state="stable"),
    *series("up", 1, 0, 1),
    *series("ready", 1, 1, 0),
    *series("findings_up", 0, 1, 1),
    *series("recording_up", 1, 1, 0),
    *series("last_evaluation_timestamp_seconds", 110, 50, 100),
    *series("input_lag_records", 5, 70, 0),
    *series("collector_up", 1, 0, **KAFKA),
]
"""Each of the three has something else wrong; the third has a replica."""

C = '{cluster="c"}'

SHOWN = {
    "fleet: Lag A": [("{}", 3000), (C, 3000)],
    "fleet: Groups A": [("{}", 30)],
    "fleet: Clusters A": [(C, 30)],
    "fleet: Clusters B": [(C, 0)],
    "fleet: Clusters C": [(C, 0)],
    "fleet: Clusters D": [(C, 70)],
    "fleet: Clusters F": [(C, 3000)],
    "fleet: Clusters read A": [("{}", 0)],
    "itself: Clusters read A": [("{}", 0)],
    "itself: Clusters ready A": [("{}", 0)],
    "itself: Findings published A": [("{}", 0)],
    "itself: Cluster can be read A": [(C, 0)],
    "itself: Ready A": [(C, 0)],
    "itself: Findings topic writable A": [(C, 0)],
    "itself: Age of the newest evaluation A": [(C, 70)],
    "itself: Records not read yet A": [(C, 70)],
    "itself: Collectors B": [('{cluster="c",collector="kafka",name="main"}', 0)],
}
"""What a panel has of them two minutes after the beginning; of two panels of one title, each."""


def test_panels_show_the_whole_cluster_and_its_worst_shard(tmp_path: Path):
    looks: list[dict[str, Any]] = []
    for place, expected in SHOWN.items():
        exprs = [sent(query.expr, ALL, WINDOW) for query in QUERIES if query.place == place]
        assert len(exprs) == len(expected), place
        for expr, (labels, value) in zip(exprs, expected, strict=True):
            looks.append({"expr": expr, "eval_time": "2m", "exp_samples": [{"labels": labels, "value": value}]})
    run_cases(
        tmp_path,
        "groups: []",
        [{"name": "shards", "interval": "1m", "input_series": SHARDS, "promql_expr_test": looks}],
    )
