"""The same samples in OpenMetrics 1.0.0, as its reference parser reads them, and who gets them."""

import asyncio
import gzip
from collections.abc import Iterable

import httpx
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_text
from starlette.applications import Starlette

from monitor.metrics.collector_samples import collectors_exposition
from monitor.metrics.render import prepared
from monitor.metrics.spec_types import MetricKind
from monitor.metrics.specs import METRICS
from monitor.model import ClusterSnapshot, CollectorHealth, Snapshot
from monitor.web.app import create_app
from monitor.web.collect_app import create_collect_app
from monitor.web.negotiation import prefers_gzip, prefers_openmetrics
from tests.web.examples import (
    HOSTILE_NAMES,
    Served,
    falling_behind,
    offsets_only,
    orders,
    ready_cluster,
    snapshot,
    unattended,
)

OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
TEXT = "text/plain; version=0.0.4; charset=utf-8"
PROMETHEUS_2_42 = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)
PROMETHEUS_3 = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
    "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
    "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)

GOLDEN = """\
# TYPE groupwatch_build info
# HELP groupwatch_build 1, with the version of groupwatch.
groupwatch_build_info{version="1.2.3"} 1
# TYPE groupwatch_collector_up gauge
# HELP groupwatch_collector_up 1 if the newest poll of the collector was complete, else 0.
groupwatch_collector_up{cluster="prod",collector="kafka",name="prod"} 1
# TYPE groupwatch_collector_last_success_timestamp_seconds gauge
# UNIT groupwatch_collector_last_success_timestamp_seconds seconds
# HELP groupwatch_collector_last_success_timestamp_seconds Unix time at which the collector last wrote a complete poll.
groupwatch_collector_last_success_timestamp_seconds{cluster="prod",collector="kafka",name="prod"} 1700000000.5
# TYPE groupwatch_collector_passes counter
# HELP groupwatch_collector_passes Polls of the collector: complete, incomplete (a response is missing) or failed.
groupwatch_collector_passes_total{cluster="prod",collector="kafka",name="prod",result="complete"} 3
groupwatch_collector_passes_total{cluster="prod",collector="kafka",name="prod",result="incomplete"} 1
groupwatch_collector_passes_total{cluster="prod",collector="kafka",name="prod",result="failed"} 0
# TYPE groupwatch_collector_pass_duration_seconds gauge
# UNIT groupwatch_collector_pass_duration_seconds seconds
# HELP groupwatch_collector_pass_duration_seconds Deprecated: see \
groupwatch_collector_pass_seconds. Duration of the newest poll.
groupwatch_collector_pass_duration_seconds{cluster="prod",collector="kafka",name="prod"} 0.25
# EOF
"""

COLLECTOR = CollectorHealth(
    "prod", "kafka", "prod", last_success_ms=1_700_000_000_500, complete=3, incomplete=1, pass_ms=250
)


def in_both(clusters: Iterable[ClusterSnapshot]) -> tuple[list[Metric], list[Metric]]:
    """The metrics as the classic parser and as the one of OpenMetrics read them."""
    texts = prepared(tuple(clusters), "1.2.3")
    text, openmetrics = gzip.decompress(texts.text_gzip), gzip.decompress(texts.openmetrics_gzip)
    return list(read_text(text.decode())), list(read_openmetrics(openmetrics.decode()))


def samples(metrics: Iterable[Metric]) -> list[tuple[str, tuple[tuple[str, str], ...], float]]:
    return sorted((s.name, tuple(sorted(s.labels.items())), s.value) for metric in metrics for s in metric.samples)


def answer(app: Starlette, **headers: str) -> httpx.Response:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://groupwatch") as client:
            return await client.get("/metrics", headers=headers)

    return asyncio.run(ask())


def test_the_whole_text_in_openmetrics():
    assert collectors_exposition([COLLECTOR], "1.2.3", openmetrics=True) == GOLDEN


def test_both_formats_hold_the_same_samples():
    cluster = ready_cluster(orders(), offsets_only("x"), falling_behind(), unattended("y"))
    cluster = msgspec.structs.replace(cluster, collectors=(COLLECTOR,), catalog_ms=5)
    other = ready_cluster(offsets_only("x", "other"), cluster="other")
    text, openmetrics = in_both([cluster, other, ClusterSnapshot(cluster="new")])
    assert samples(text) == samples(openmetrics)
    assert len(samples(text)) > 100
    kinds = {metric.name: metric.type for metric in openmetrics}
    for spec in METRICS:
        name = spec.name.removesuffix("_total") if spec.kind is MetricKind.COUNTER else spec.name.removesuffix("_info")
        expected = "info" if spec.name.endswith("_info") else spec.kind.value
        assert kinds.get(name, expected) == expected
    units = {metric.unit for metric in openmetrics}
    assert units == {"", "seconds", "records", "ratio"}


def test_families_do_not_clash_in_openmetrics():
    """Of a counter and an info the family's name is shorter: it must not be that of another one."""
    names = [spec.name.removesuffix("_total").removesuffix("_info") for spec in METRICS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_are_read_alike_in_both_formats(name: str):
    text, openmetrics = in_both([ready_cluster(offsets_only(name, cluster=name), cluster=name)])
    assert samples(text) == samples(openmetrics)


@given(st.lists(st.text(max_size=20), unique=True, max_size=4))
def test_any_names_are_read_alike_in_both_formats(names):
    text, openmetrics = in_both([ready_cluster(*map(offsets_only, names))])
    assert samples(text) == samples(openmetrics)
    lags = [s.labels["group"] for metric in openmetrics for s in metric.samples if s.name == "groupwatch_partition_lag"]
    assert lags == names


@pytest.mark.parametrize(
    ("accept", "is_preferred"),
    [
        pytest.param(PROMETHEUS_2_42, True, id="prometheus 2.42"),
        pytest.param(PROMETHEUS_3, True, id="prometheus 3"),
        pytest.param("application/openmetrics-text", True, id="no version named"),
        pytest.param("Application/OpenMetrics-Text; Version=1.0.0", True, id="in capitals"),
        pytest.param('application/openmetrics-text; version="1.0.0"; charset=utf-8', True, id="quoted"),
        pytest.param("text/plain;q=0.5, application/openmetrics-text;q=0.5", True, id="both alike"),
        pytest.param("text/*;q=0.9, text/plain;q=0.1, application/openmetrics-text;q=0.5", True, id="the specific one"),
        pytest.param("application/openmetrics-text;q=0.4, text/*;q=0.5", False, id="any text rather"),
        pytest.param("application/openmetrics-text;version=0.0.1", False, id="a version that is not spoken"),
        pytest.param("application/openmetrics-text;q=0", False, id="refused"),
        pytest.param("application/openmetrics-text;q=0.0, */*;q=0", False, id="all refused"),
        pytest.param("application/openmetrics-text;q=2", False, id="a weight that is none"),
        pytest.param("application/openmetrics-text;q=nan", False, id="no number"),
        pytest.param("*/*", False, id="anything"),
        pytest.param("application/*", False, id="any application"),
        pytest.param("text/html,application/xhtml+xml,*/*;q=0.8", False, id="a browser"),
        pytest.param("", False, id="nothing said"),
        pytest.param(";;=,,;q=1", False, id="nonsense"),
    ],
)
def test_openmetrics_is_for_those_who_prefer_it(accept: str, is_preferred: bool):
    assert prefers_openmetrics(accept) is is_preferred
    app = create_app(Served(snapshot(ready_cluster(orders()))))
    for coding in ("gzip", "identity"):
        got = answer(app, **{"Accept": accept, "Accept-Encoding": coding})
        assert got.headers["content-type"] == (OPENMETRICS if is_preferred else TEXT)
        assert got.headers["vary"] == "Accept, Accept-Encoding"
        assert got.text.endswith("\n# EOF\n") is is_preferred


@pytest.mark.parametrize(
    ("accepted", "is_preferred"),
    [
        ("gzip", True),
        ("x-gzip", True),
        ("gzip ; q=0.5", True),
        ("gzip;q=0.001", True),
        ("gzip;q=0.000", False),
        ("*;q=0.5", True),
        ("*, gzip;q=0", False),
        ("gzip;q=0, *", False),
        ("identity;q=1, gzip;q=0.5", False),
        ("identity;q=0.5, gzip", True),
        ("br, deflate", False),
        ("", False),
    ],
)
def test_gzip_is_for_those_who_take_it(accepted: str, is_preferred: bool):
    assert prefers_gzip(accepted) is is_preferred


@given(st.text(alphabet='gzip*;q=0.1,/ openmetrics"', max_size=60))
def test_no_header_is_an_error(header: str):
    assert prefers_gzip(header) in (True, False)
    assert prefers_openmetrics(header) in (True, False)


def test_a_list_in_several_header_lines_is_one_list():
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(create_app(Served(snapshot())))
        lines = [("accept", "text/plain;q=0.5"), ("accept", "application/openmetrics-text")]
        async with httpx.AsyncClient(transport=transport, base_url="http://g", headers=lines) as client:
            client.headers = httpx.Headers(lines)
            return await client.get("/metrics")

    assert asyncio.run(ask()).headers["content-type"] == OPENMETRICS


def test_what_was_not_prepared_is_sent_as_text():
    got = answer(create_app(Served(Snapshot())), Accept=PROMETHEUS_2_42)
    assert (got.headers["content-type"], got.content) == (TEXT, b"")


def test_a_process_that_only_collects_negotiates_too():
    app = create_collect_app(lambda: (COLLECTOR,))
    text, openmetrics = answer(app), answer(app, Accept=PROMETHEUS_2_42)
    assert (text.headers["content-type"], openmetrics.headers["content-type"]) == (TEXT, OPENMETRICS)
    assert samples(read_text(text.text)) == samples(read_openmetrics(openmetrics.text))
