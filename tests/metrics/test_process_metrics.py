"""What the process says of itself, beside what was prepared: read over HTTP, in both formats, packed and not."""

import gzip
import os
import platform
import resource
import zlib
from collections.abc import Iterable, Iterator

import pytest
from prometheus_client import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_text

from monitor.expectations.met_time import MetTime
from monitor.metrics.process_metrics import ProcessMetrics
from monitor.metrics.specs import COUNTERS, FAMILIES, HISTOGRAMS
from monitor.model import CollectorHealth, Snapshot
from monitor.web.app import create_app
from monitor.web.collect_app import create_collect_app
from monitor.web.server import HttpServer
from tests.support import plain_http
from tests.support.job_process import eventually
from tests.web.examples import HOSTILE_NAMES, Served, orders, ready_cluster, snapshot

OPENMETRICS = {"Accept": "application/openmetrics-text;version=1.0.0"}
SHOWN = snapshot(ready_cluster(orders()))
COLLECTOR = CollectorHealth("prod", "kafka", "prod", complete=1, last_success_ms=5, pass_ms=700)

OF_PYTHON = {
    "python_info",
    "python_gc_objects_collected_total",
    "python_gc_objects_uncollectable_total",
    "python_gc_collections_total",
}
OF_THE_PROCESS = {
    "process_virtual_memory_bytes",
    "process_resident_memory_bytes",
    "process_start_time_seconds",
    "process_cpu_seconds_total",
    "process_open_fds",
    "process_max_fds",
}

Values = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture
def process() -> ProcessMetrics:
    """Of two clusters: micro-batches of 0.2 s, 0.2 s and 7 s, and one of 400 s; a pass of 0.7 s. A push, a delivery.

    Two skipped records; an expectation that was met for 90 s and is not known for a minute.
    """
    made = ProcessMetrics()
    for cluster, duration_ms in (("main", 200), ("main", 200), ("main", 7_000), ("other", 400_000)):
        made.observe_micro_batch(cluster, duration_ms)
    made.observe_pass(COLLECTOR)
    made.observe_pass(CollectorHealth("prod", "kafka", "has not ended one"))
    made.observe_push(0.2, is_success=True)
    made.observe_delivery("main", "delivered", 0.1)
    made.count_skipped("main", "foreign", 0)
    made.count_skipped("main", "foreign", 2)
    made.met.watch("main", lambda: {"orders": MetTime(yes_ms=90_000, unknown_ms=60_000)})
    return made


@pytest.fixture
def url(process: ProcessMetrics) -> Iterator[str]:
    with HttpServer(create_app(Served(SHOWN), process=process), port=0) as server:
        yield f"{server.url}/metrics"


def values(metrics: Iterable[Metric]) -> Values:
    return {(s.name, tuple(sorted(s.labels.items()))): s.value for metric in metrics for s in metric.samples}


def of(found: Values, name: str, /, **labels: str) -> float:
    return found[name, tuple(sorted(labels.items()))]


def buckets(found: Values, name: str, /, **labels: str) -> dict[float, float]:
    """By their upper bounds, in seconds."""
    rows = {
        (key, dict(pairs).get("le"), tuple((k, v) for k, v in pairs if k != "le")): v
        for (key, pairs), v in found.items()
    }
    own = tuple(sorted(labels.items()))
    return {float(le): value for (key, le, pairs), value in rows.items() if (key, pairs) == (f"{name}_bucket", own)}


def test_process_and_python_are_told(url: str):
    found = values(read_text(plain_http.get(url).text))
    names = {name for name, _ in found}
    assert names >= OF_PYTHON | OF_THE_PROCESS
    assert of(found, "process_max_fds") == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert 0 < of(found, "process_cpu_seconds_total") <= sum(os.times()[:2])
    (version,) = [dict(labels)["version"] for name, labels in found if name == "python_info"]
    assert version == platform.python_version()


@pytest.mark.parametrize("headers", [{}, OPENMETRICS], ids=["text", "openmetrics"])
def test_durations_are_counted(url: str, headers: dict[str, str]):
    text = plain_http.get(url, headers=headers).text
    found = values(read_openmetrics(text) if headers else read_text(text))
    name = "groupwatch_micro_batch_seconds"
    assert of(found, f"{name}_count", cluster="main") == 3
    assert of(found, f"{name}_sum", cluster="main") == pytest.approx(7.4)
    counts = buckets(found, name, cluster="main")
    assert (counts[0.1], counts[0.25], counts[5], counts[10], counts[float("inf")]) == (0, 2, 2, 3, 3)
    assert buckets(found, name, cluster="other")[300] == 0
    passes = {"cluster": "prod", "collector": "kafka", "name": "prod"}
    assert of(found, "groupwatch_collector_pass_seconds_count", **passes) == 1
    assert of(found, "groupwatch_collector_pass_seconds_sum", **passes) == pytest.approx(0.7)
    assert not [labels for _, labels in found if ("name", "has not ended one") in labels]


def test_a_scrape_tells_of_those_before_it(url: str):
    def counted() -> float:
        return of(values(read_text(plain_http.get(url).text)), "groupwatch_scrape_seconds_count")

    assert counted() == 0
    eventually(lambda: counted() > 3, "the scrapes before", 30)


@pytest.mark.parametrize("headers", [{}, OPENMETRICS], ids=["text", "openmetrics"])
def test_it_stands_beside_what_was_prepared_in_one_stream(url: str, headers: dict[str, str]):
    """Whoever reads the first member of a gzip file only (as curl does) has all."""
    prepared = gzip.decompress(SHOWN.openmetrics_gzip or b"" if headers else SHOWN.metrics_gzip)
    with plain_http.stream("GET", url, headers={**headers, "Accept-Encoding": "gzip"}) as response:
        packed = b"".join(response.iter_raw())
    assert len(packed) == int(response.headers["content-length"])
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16)
    text = unpacking.decompress(packed)
    assert (unpacking.eof, unpacking.unused_data) == (True, b"")
    plain = plain_http.get(url, headers={**headers, "Accept-Encoding": "identity"})
    assert len(plain.content) == int(plain.headers["content-length"])
    for whole in (text, plain.content):
        assert whole.endswith(prepared)
        assert b"process_cpu_seconds_total" in whole.removesuffix(prepared)
        assert whole.count(b"# EOF") == len(headers)
    for coding in ("gzip", "identity"):
        head = plain_http.head(url, headers={**headers, "Accept-Encoding": coding})
        assert (head.status_code, head.content) == (200, b"")
        assert int(head.headers["content-length"]) > len(prepared) * (coding == "identity")


def test_skipped_records_are_a_counter_in_both_formats(url: str):
    name = "groupwatch_webhook_skipped_records"
    text, openmetrics = plain_http.get(url).text, plain_http.get(url, headers=OPENMETRICS).text
    for families in (read_text(text), read_openmetrics(openmetrics)):
        (family,) = [metric for metric in families if metric.name == name]
        assert family.type == "counter"
        assert [(sample.name, sample.labels, sample.value) for sample in family.samples] == [
            (f"{name}_total", {"cluster": "main", "reason": "foreign"}, 2)
        ]


def test_both_formats_hold_the_same_samples(url: str):
    text, openmetrics = (
        read_text(plain_http.get(url).text),
        read_openmetrics(plain_http.get(url, headers=OPENMETRICS).text),
    )
    told = [values(text), values(openmetrics)]
    assert told[0].keys() == told[1].keys()
    assert len(told[0]) > 60


def test_only_what_the_table_names_and_nothing_twice(url: str):
    histograms = {f"{spec.name}_{part}" for spec in HISTOGRAMS for part in ("bucket", "count", "sum")}
    kinds = {metric.name: metric.type for metric in read_text(plain_http.get(url).text)}
    names = [sample.name for metric in read_text(plain_http.get(url).text) for sample in metric.samples]
    assert set(names) - FAMILIES.keys() == histograms | OF_PYTHON | OF_THE_PROCESS | {spec.name for spec in COUNTERS}
    assert not FAMILIES.keys() & {name.removesuffix("_bucket") for name in histograms}
    assert {spec.name: kinds[spec.name] for spec in HISTOGRAMS} == dict.fromkeys(
        [s.name for s in HISTOGRAMS], "histogram"
    )
    assert len(plain_http.get(url).text.split("# TYPE process_cpu_seconds_total")) == 2


def test_before_anything_was_prepared(process: ProcessMetrics):
    with HttpServer(create_app(Served(Snapshot()), process=process), port=0) as server:
        for coding in ("gzip", "identity"):
            found = values(read_text(plain_http.get(f"{server.url}/metrics", headers={"Accept-Encoding": coding}).text))
            assert of(found, "groupwatch_micro_batch_seconds_count", cluster="other") == 1


@pytest.mark.parametrize("headers", [{}, OPENMETRICS], ids=["text", "openmetrics"])
def test_a_process_that_only_collects_tells_too(process: ProcessMetrics, headers: dict[str, str]):
    with HttpServer(create_collect_app(lambda: (COLLECTOR,), process), port=0) as server:
        url = f"{server.url}/metrics"
        text = plain_http.get(url, headers=headers).text
        assert text.endswith("# EOF\n") is bool(headers)
        found = values(read_openmetrics(text) if headers else read_text(text))
        assert {name for name, _ in found} >= OF_PYTHON | OF_THE_PROCESS | {"groupwatch_collector_up"}
        eventually(
            lambda: of(values(read_text(plain_http.get(url).text)), "groupwatch_scrape_seconds_count") > 0,
            "the scrape before",
            30,
        )


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_names_are_escaped(name: str):
    process = ProcessMetrics()
    process.observe_micro_batch(name, 5)
    for found in (read_text(process.text()), read_openmetrics(process.text(openmetrics=True) + "# EOF\n")):
        assert of(values(found), "groupwatch_micro_batch_seconds_count", cluster=name) == 1


def test_two_processes_of_a_test_have_nothing_in_common():
    first, second = ProcessMetrics(), ProcessMetrics()
    first.observe_micro_batch("main", 5)
    assert "main" in first.text()
    assert "main" not in second.text()
