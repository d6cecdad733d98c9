"""Two readings are a commit interval of Kafka's Java client apart, however long each takes; and so is a slow line."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import closing
from itertools import islice

import pytest
from rich.console import Console

from monitor.cli.doctor import exit_code
from monitor.cli.render_doctor import render_diagnosis
from monitor.collectors.errors import CollectorError
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.ports import free_ports
from monitor.demo.servers.settings import BrokerSettings
from monitor.doctor.diagnosis import Diagnosis
from monitor.doctor.examination import PAUSE_S, Examination, first_answer, renewed_answers
from monitor.doctor.reader import ClusterReader
from monitor.doctor.reading import Reading
from monitor.doctor.target import target_cluster
from tests.support.clients import commit, create_topic, produce
from tests.support.slow_line import slow_line

pytestmark = pytest.mark.broker

COMMIT_INTERVAL_S = 5.0
"""``auto.commit.interval.ms`` of Kafka's Java client by default."""

SLOW_S = 5.0
"""How long a response takes on a slow line. The doctor's first attempt to connect ends by then."""


class SlowReader(ClusterReader):
    """Reads a real cluster; each reading takes so long on a clock of its own."""

    def __init__(self, servers: str, took_s: float) -> None:
        super().__init__(target_cluster(servers, None))
        self.now_s, self.took_s = 0.0, took_s
        self.readings: list[tuple[float, float]] = []

    def read(self) -> Reading:
        began_s, self.now_s = self.now_s, self.now_s + self.took_s
        self.readings.append((began_s, self.now_s))
        return super().read()

    def wait(self, seconds: float) -> None:
        self.now_s += seconds

    def gaps(self) -> list[float]:
        """The times from the end of a reading to the start of the next."""
        return [after[0] - before[1] for before, after in zip(self.readings, self.readings[1:], strict=False)]


@pytest.fixture(scope="module")
def servers() -> Iterator[str]:
    """A cluster with a group that has lag and no members, which only time confirms."""
    with EmbeddedKafka() as broker:
        create_topic(broker.bootstrap_servers, "orders", 1)
        produce(broker.bootstrap_servers, "orders", {0: 3})
        commit(broker.bootstrap_servers, "behind", "orders", {0: 1})
        yield broker.bootstrap_servers


def answer_of(reader: SlowReader) -> Diagnosis:
    with closing(reader):
        return first_answer(Examination(reader, "c"), reader.wait)


@pytest.mark.parametrize("took_s", [0.1, 1.7, 3.0, 12.0, 60.0])
def test_the_second_reading_comes_a_commit_interval_after_the_first(servers: str, took_s: float):
    reader = SlowReader(servers, took_s)
    answer = answer_of(reader)
    assert (len(reader.readings), answer.readings, answer.notes) == (2, 2, ())
    assert reader.gaps() == [pytest.approx(PAUSE_S)]
    assert PAUSE_S > COMMIT_INTERVAL_S
    assert [(each.group, str(each.kind)) for each in answer.findings] == [("behind", "lag")]


class OneReading(SlowReader):
    """A cluster that is away after the first reading."""

    def read(self) -> Reading:
        if self.readings:
            raise CollectorError("Cluster c: no broker answers at b:9092 (tried for 5 s).")
        return super().read()


def test_without_a_second_reading_nothing_is_a_finding_that_only_time_confirms(servers: str):
    """The answer has the groups, how many findings were to be confirmed, and why they were not."""
    answer = answer_of(OneReading(servers, 1.0))
    assert (answer.findings, answer.unconfirmed, exit_code(answer)) == ((), 1, 2)
    assert answer.problems == ("Cluster c: no broker answers at b:9092 (tried for 5 s).",)
    lines = text_of(answer).splitlines()
    assert lines[0].endswith(": 1 group judged, no finding. A second look must confirm 1 more finding.")


def text_of(answer: Diagnosis) -> str:
    console = Console(file=io.StringIO(), width=300)
    console.print(render_diagnosis(answer))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_groups_are_a_table_below_the_findings(servers: str):
    lines = text_of(answer_of(SlowReader(servers, 1.0))).splitlines()
    (heading,) = [number for number, line in enumerate(lines) if line.split()[:2] == ["group", "kind"]]
    assert lines[heading].split() == ["group", "kind", "state", "members", "partitions", "lag", "age"]
    row = lines[heading + 2].split()
    assert row == ["behind", "kafka-classic", "offsets_only", "unknown", "1", "2", "unknown"]


def test_a_cluster_whose_responses_take_5_s_is_read():
    """It accepts connections, so it gets more time than an address at which nothing does."""
    real, port = free_ports(2)
    properties = {"advertised.listeners": f"CLIENTS://127.0.0.1:{port}"}
    with slow_line(port, real) as line, EmbeddedKafka(BrokerSettings(port=real, properties=properties)):
        create_topic(f"127.0.0.1:{port}", "orders", 1)
        line.delay_s, line.slow = SLOW_S, 5  # three attempts, of which the last one takes three responses
        with closing(ClusterReader(target_cluster(f"127.0.0.1:{port}", None))) as reader:
            reading = reader.read()
    assert [each.topic for each in reading.topics if each.topic == "orders"] == ["orders"]


@pytest.mark.parametrize("took_s", [0.1, 4.0, 12.0])
def test_readings_of_a_watch_are_a_commit_interval_apart(servers: str, took_s: float):
    with closing(SlowReader(servers, took_s)) as reader:
        list(islice(renewed_answers(Examination(reader, "c"), reader.wait), 4))
    assert reader.gaps() == pytest.approx([PAUSE_S] * 3)
