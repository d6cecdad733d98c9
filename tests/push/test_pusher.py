"""The push to an OpenTelemetry collector: the values of /metrics, and a failure that is told and stops nothing."""

from __future__ import annotations

import logging
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from opentelemetry.semconv._incubating.attributes import messaging_attributes as conventions
from prometheus_client.parser import text_string_to_metric_families

from monitor.config.otlp import OtlpSettings
from monitor.demo.servers.ports import free_ports
from monitor.metrics.process_metrics import ProcessMetrics
from monitor.push import pusher as pushing
from monitor.push.attributes import Convention
from monitor.push.pusher import Pusher, served_text
from monitor.web.app import create_app
from monitor.web.server import HttpServer
from tests.push.receiver import Pairs, Received, grpc_receiver, http_receiver
from tests.support import plain_http
from tests.support.job_process import eventually
from tests.web.examples import HOSTILE_NAMES, Served, falling_behind, offsets_only, orders, ready_cluster, snapshot
from tests.web.http.certificates import Authority

GROUPS = [orders(), falling_behind(), *(offsets_only(name) for name in HOSTILE_NAMES)]
SOURCE = Served(snapshot(ready_cluster(*GROUPS)))
RESOURCE = {"service.name": "groupwatch", "service.version": "1.2.3"}
OF_THE_MOMENT = ("process_", "python_gc_", "groupwatch_scrape_seconds", "groupwatch_otlp_push_seconds")
"""What differs from one look to the next."""

PROTOCOLS = pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])


@pytest.fixture
def process() -> ProcessMetrics:
    made = ProcessMetrics()
    for duration_ms in (200, 200, 7_000, 400_000):
        made.observe_micro_batch("main", duration_ms)
    return made


@pytest.fixture
def received() -> Received:
    return Received()


def receiver(protocol: str, received: Received) -> AbstractContextManager[str]:
    return grpc_receiver(received) if protocol == "grpc" else http_receiver(received)


def settings(address: str, protocol: str = "grpc", scheme: str = "http", **more: object) -> OtlpSettings:
    return OtlpSettings.model_validate({"endpoint": f"{scheme}://{address}", "protocol": protocol, **more})


def pusher(of: OtlpSettings, process: ProcessMetrics, text: Callable[[], str] | None = None) -> Pusher:
    return Pusher(of, text or (lambda: served_text(SOURCE.shown, process)), process, RESOURCE)


def served(process: ProcessMetrics) -> dict[tuple[str, Pairs], float]:
    """What a scrape gets over HTTP, as Prometheus' parser reads it, with bounds as numbers."""
    with HttpServer(create_app(SOURCE, process=process), port=0) as server:
        return parsed(plain_http.get(f"{server.url}/metrics").text)


def parsed(text: str) -> dict[tuple[str, Pairs], float]:
    """The samples of a text, by name and labels."""
    return {
        (sample.name, frozenset(as_numbers(sample.labels).items())): sample.value
        for metric in text_string_to_metric_families(text)
        for sample in metric.samples
    }


def as_numbers(labels: Mapping[str, str]) -> dict[str, str]:
    return {name: repr(float(value)) if name == "le" else value for name, value in labels.items()}


def steady(samples: Mapping[tuple[str, Pairs], float]) -> dict[tuple[str, Pairs], float]:
    return {key: value for key, value in samples.items() if not key[0].startswith(OF_THE_MOMENT)}


@PROTOCOLS
def test_a_collector_gets_the_values_of_a_scrape(protocol: str, process: ProcessMetrics, received: Received):
    with receiver(protocol, received) as address:
        pusher(settings(address, protocol), process).push()
    found = received.samples()
    assert steady(found) == steady(served(process))
    assert len(steady(found)) > 250
    assert {key for key, _ in found} >= {"process_cpu_seconds_total", "python_gc_collections_total"}
    assert {name for group in HOSTILE_NAMES for name, labels in found if ("group", group) in labels} != set()


@PROTOCOLS
def test_types_units_and_resource_are_those_of_opentelemetry(protocol, process, received):
    with receiver(protocol, received) as address:
        pusher(settings(address, protocol), process).push()
    metrics = {metric.name: metric for metric in received.metrics()}
    lag, moves = metrics["groupwatch_group_lag"], metrics["groupwatch_group_moved_partitions_total"]
    batches = metrics["groupwatch_micro_batch_seconds"]
    assert lag.WhichOneof("data") == "gauge"
    assert (moves.sum.is_monotonic, moves.sum.aggregation_temporality) == (True, 2), "cumulative"
    assert (batches.unit, batches.histogram.aggregation_temporality) == ("s", 2)
    assert metrics["groupwatch_group_imbalance_ratio"].unit == "1"
    assert lag.description == "Lag of the group in records, summed over partitions."
    assert {point.time_unix_nano for point in lag.gauge.data_points} != {0}
    (resource,) = received.requests[0].resource_metrics
    told = {each.key: each.value.string_value for each in resource.resource.attributes}
    assert told.items() >= RESOURCE.items()
    assert resource.scope_metrics[0].scope.name == "groupwatch"


@pytest.mark.parametrize("keeps_labels", [False, True])
def test_attributes_can_have_the_names_of_opentelemetrys_conventions(keeps_labels, process, received):
    """The names are those of OpenTelemetry's own package."""
    convention = Convention({"mq": "metaq"}, "cluster", keeps_labels=keeps_labels)
    text = (
        '# TYPE a gauge\na{cluster="main",group="g",topic="t",partition="7"} 5\na{cluster="mq",consumergroup="g"} 6\n'
        '# TYPE b histogram\nb_bucket{cluster="main",client_id="c",le="+Inf"} 1\n'
        'b_sum{cluster="main",client_id="c"} 2\n# TYPE c gauge\nc{cluster="mq"} 7\n'
    )
    with receiver("grpc", received) as address:
        Pusher(settings(address), lambda: text, process, RESOURCE, convention).push()
    group, system = {conventions.MESSAGING_CONSUMER_GROUP_NAME: "g"}, conventions.MESSAGING_SYSTEM
    place = {conventions.MESSAGING_DESTINATION_NAME: "t", conventions.MESSAGING_DESTINATION_PARTITION_ID: "7"}
    labels = [{"group": "g", "topic": "t", "partition": "7"}, {"consumergroup": "g"}, {"client_id": "c"}]
    own = labels if keeps_labels else [{}, {}, {}]
    found = {(name, pairs): value for (name, pairs), value in received.samples().items() if not name.startswith("b_")}
    assert found == {
        ("a", frozenset({"cluster": "main", system: "kafka", **group, **place, **own[0]}.items())): 5,
        ("a", frozenset({"cluster": "mq", system: "metaq", **group, **own[1]}.items())): 6,
        ("c", frozenset({("cluster", "mq")})): 7,
    }
    of_client = {"cluster": "main", system: "kafka", conventions.MESSAGING_CLIENT_ID: "c", **own[2]}
    assert received.samples()["b_sum", frozenset(of_client.items())] == 2


@PROTOCOLS
def test_headers_are_secrets_of_files_and_a_new_one_counts_at_the_next_push(protocol, process, received, tmp_path):
    token = tmp_path / "token"
    token.write_text("one\n", encoding="utf-8")
    of = {"Authorization": f"Bearer ${{file:{token}}}"}
    with receiver(protocol, received) as address:
        pushes = pusher(settings(address, protocol, headers=of), process)
        pushes.push()
        token.write_text("two\n", encoding="utf-8")
        pushes.push()
    assert [headers["authorization"] for headers in received.headers] == ["Bearer one", "Bearer two"]
    assert "tiger" not in repr(settings("a:1", headers={"authorization": "tiger"}))


@PROTOCOLS
def test_a_refusal_is_told_once_and_counted_and_the_end_of_it_too(protocol, process, received, caplog):
    received.fails = True
    with receiver(protocol, received) as address, caplog.at_level(logging.INFO):
        pushes = pusher(settings(address, protocol), process)
        pushes.push()
        pushes.push()
        received.fails = False
        pushes.push()
    warning, recovery = caplog.records
    assert warning.getMessage().startswith(
        f"Metrics cannot be pushed to http://{address}; the next pushes are tried in time: Failed to export metrics"
    )
    assert ("PERMISSION_DENIED" if protocol == "grpc" else "403") in warning.getMessage()
    assert "\n" not in warning.getMessage()
    assert recovery.getMessage() == f"Metrics are pushed to http://{address} again, after 2 failed pushes."
    counts = served(process)
    for result, count in (("failure", 2), ("success", 1)):
        assert counts["groupwatch_otlp_push_seconds_count", frozenset({("result", result)})] == count


@PROTOCOLS
@pytest.mark.parametrize("echo", ["{authorization}", "{x-token}", "no PLAIN-TIGER"])
def test_a_header_that_the_collector_repeats_is_hidden(protocol, echo, process, received, caplog):
    received.fails, received.refusal = True, f"the token does not match: {echo}"
    of = {"authorization": "Bearer plain-tiger", "x-token": "other-tiger"}
    with receiver(protocol, received) as address, caplog.at_level(logging.DEBUG):
        pusher(settings(address, protocol, headers=of), process).push()
    assert "the token does not match: " in caplog.text
    assert "[hidden]" in caplog.text
    assert "tiger" not in caplog.text.lower()


@PROTOCOLS
def test_a_header_of_the_environment_is_hidden_too(protocol, process, received, caplog, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20plain-tiger")
    received.fails, received.refusal = True, "the token does not match: {authorization}"
    with receiver(protocol, received) as address:
        pusher(settings(address, protocol), process).push()
    assert "the token does not match: [hidden]" in caplog.text
    assert "tiger" not in caplog.text


@PROTOCOLS
def test_a_wrong_header_of_the_environment_is_not_shown(protocol, process, received, caplog, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "plain-tiger")
    with receiver(protocol, received) as address, caplog.at_level(logging.INFO):
        pusher(settings(address, protocol), process).push()
    assert "tiger" not in caplog.text


def test_the_path_of_the_endpoint_is_hidden(process, received, caplog):
    received.fails, received.refusal = True, "nothing at /tiger-path"
    with http_receiver(received) as address, caplog.at_level(logging.INFO):
        pusher(settings(f"{address}/tiger-path", "http/protobuf"), process).push()
    (port,) = free_ports(1)
    pusher(settings(f"127.0.0.1:{port}/tiger-path", "http/protobuf"), process).push()
    assert caplog.text.count("Metrics cannot be pushed to http://127.0.0.1:") == 2
    assert "tiger" not in caplog.text


@pytest.mark.parametrize("status", [301, 302, 304, 307, 308])
def test_a_redirection_is_a_failure_and_is_not_followed(status, process, received, caplog):
    received.fails, received.status = True, status
    with http_receiver(received) as address:
        pusher(settings(address, "http/protobuf"), process).push()
    assert f"in time: it responded with status {status}, and redirections are not followed" in caplog.text
    assert len(received.headers) == 1
    assert served(process)["groupwatch_otlp_push_seconds_count", frozenset({("result", "failure")})] == 1


def test_a_long_response_is_read_up_to_a_limit(process, received):
    received.body = b"x" * 30_000_000
    with http_receiver(received) as address:
        tracemalloc.start()
        try:
            pusher(settings(address, "http/protobuf"), process).push()
            _, highest = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert highest < 20_000_000
    assert len(received.requests) == 1


@PROTOCOLS
def test_pushes_begin_again_when_a_collector_is_back(protocol, process, received):
    received.fails = True
    with receiver(protocol, received) as address, pusher(settings(address, protocol, interval_s=1), process):
        received.wait_for_refusal()
        received.fails = False
        received.wait_for(1)
    assert steady(Received(requests=received.requests[:1]).samples()) == steady(served(process))


def test_an_end_does_not_wait_for_a_collector_that_is_away(process: ProcessMetrics):
    """The exporter would try for ten seconds; its wait is interrupted, also if it has not begun."""
    (port,) = free_ports(1)
    for is_begun in (True, False):
        with pusher(settings(f"127.0.0.1:{port}"), process) as pushes:
            eventually(lambda: not is_begun or pushes._exporter is not None, "a push under way")  # noqa: B023
        assert not pushes._thread.is_alive()


def test_a_large_text_is_sent_in_portions(process, received, monkeypatch):
    monkeypatch.setattr(pushing, "MAX_PORTION", 5_000)
    with grpc_receiver(received) as address:
        pusher(settings(address), process).push()
    assert len(received.requests) > 5
    assert steady(received.samples()) == steady(served(process))


@pytest.mark.parametrize(
    ("headers", "sentence"),
    [
        ({"authorization": "${file:/none}"}, "otlp.headers.authorization refers to the file /none, which cannot be"),
        ({"authorization": "gehe\u00efm"}, "otlp.headers.authorization should be printable ASCII."),
    ],
)
def test_a_header_that_cannot_be_sent_is_told_without_its_value(headers, sentence, process, received, caplog):
    with grpc_receiver(received) as address:
        pusher(settings(address, headers=headers), process).push()
    assert sentence in caplog.text
    assert "gehe" not in caplog.text
    assert received.headers == []


def test_what_no_one_expected_is_told_without_its_text(process, received, caplog):
    def broken() -> str:
        raise ValueError("secret")

    with grpc_receiver(received) as address:
        pusher(settings(address), process, broken).push()
    assert "tried in time: ValueError in the exporter" in caplog.text
    assert "secret" not in caplog.text


@contextmanager
def secured(folder: Path, received: Received) -> Iterator[tuple[str, Path]]:
    authority = Authority(folder)
    with grpc_receiver(received, authority.sign("collector")) as address:
        yield address, authority.file


def test_tls_with_a_ca_of_ones_own(tmp_path, process, received):
    with secured(tmp_path, received) as (address, ca_file):
        pusher(settings(address, scheme="https", ca_file=str(ca_file)), process).push()
    assert len(received.requests) == 1
