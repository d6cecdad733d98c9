"""The time between two readings: longer than the commit interval of Kafka's Java client, or there is one reading."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import closing
from itertools import islice

import pytest
from rich.console import Console

from monitor.cli.render_doctor import render_diagnosis
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.doctor.diagnosis import Diagnosis
from monitor.doctor.examination import PAUSE_S, Examination, first_answer, renewed_answers
from monitor.doctor.reader import ClusterReader
from monitor.doctor.reading import Reading
from monitor.doctor.target import target_cluster
from tests.support.clients import commit, create_topic, produce

pytestmark = pytest.mark.broker

COMMIT_INTERVAL_S = 5.0
"""``auto.commit.interval.ms`` of Kafka's Java client by default."""

PROMISE_S = 10.0


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

    def clock_s(self) -> float:
        return self.now_s

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
        return first_answer(Examination(reader, "c"), reader.wait, reader.clock_s)


@pytest.mark.parametrize(("took_s", "readings"), [(0.1, 2), (1.0, 2), (1.7, 2), (3.0, 1), (4.0, 1), (12.0, 1)])
def test_a_second_reading_comes_after_a_commit_interval_or_not_at_all(servers: str, took_s: float, readings: int):
    reader = SlowReader(servers, took_s)
    answer = answer_of(reader)
    assert len(reader.readings) == answer.readings == readings
    assert all(gap > COMMIT_INTERVAL_S for gap in reader.gaps())
    assert reader.now_s <= max(took_s, PROMISE_S)
    assert bool(answer.notes) == (readings == 1)


def test_that_there_was_no_second_reading_is_in_the_answer_with_its_consequence(servers: str):
    answer = answer_of(SlowReader(servers, 3.0))
    console = Console(file=io.StringIO(), width=300)
    console.print(render_diagnosis(answer))
    assert isinstance(console.file, io.StringIO)
    headline, note, *_ = console.file.getvalue().splitlines()
    assert headline.endswith("1 of them only if nothing changes.")
    assert note.strip() == answer.notes[0]
    assert note.startswith("The only reading took 3.0 s")
    assert "may be of consumers that work: use --watch." in note


@pytest.mark.parametrize("took_s", [0.1, 4.0, 12.0])
def test_readings_of_a_watch_are_a_commit_interval_apart(servers: str, took_s: float):
    with closing(SlowReader(servers, took_s)) as reader:
        list(islice(renewed_answers(Examination(reader, "c"), reader.wait), 4))
    assert reader.gaps() == pytest.approx([PAUSE_S] * 3)
