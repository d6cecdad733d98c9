"""The time of expectations in the checkpoint: it is there after a restart, whatever was cut off."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from monitor.expectations.entries import EntriesOfCluster
from monitor.expectations.expectation import Expectation, Expectations
from monitor.expectations.met_time import MetTime
from monitor.metrics.process_metrics import ProcessMetrics
from monitor.model.expectations import Met
from streaming_jobs.driver.met_ledger import FILES, MetLedger
from streaming_jobs.runtime.hadoop_files import FilesError
from tests.expectations.test_accounts import START, found

EXPECTED = EntriesOfCluster(Expectations((Expectation('a"b'),)), "prod")


class InMemory:
    """Notes in memory; ``is_away``: their file system does not answer; ``is_full``: it cuts off what is written."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.is_away = False
        self.is_full = False
        self.unreadable: set[str] = set()

    def __call__(self, name: str) -> InMemoryNote:
        return InMemoryNote(self, name)


class InMemoryNote(NamedTuple):
    notes: InMemory
    name: str

    def read(self) -> str | None:
        if self.name in self.notes.unreadable:
            raise FilesError("no answer")
        return self.notes.texts.get(self.name)

    def write(self, text: str) -> None:
        if self.notes.is_away:
            raise FilesError("away")
        if self.notes.is_full:
            self.notes.texts[self.name] = text[:20]
            raise FilesError("No space left on device")
        self.notes.texts[self.name] = text


def run(notes: InMemory, *seconds: int, cluster: str = "prod") -> MetLedger:
    ledger = MetLedger(cluster, notes)
    ledger.load()
    for second in seconds:
        ledger.take(EXPECTED, [found('a"b', Met.YES)], None, START + 1_000 * second)
    return ledger


def shown(ledger: MetLedger, second: int) -> MetTime | None:
    return ledger.shown_time(START + 1_000 * second).get('a"b')


def test_counters_go_on_after_a_restart():
    notes = InMemory()
    run(notes, 0, 20, 40)
    assert shown(run(notes), 50) == MetTime(yes_ms=40_000)
    ledger = run(notes, 100, 120)
    assert shown(ledger, 120) == MetTime(yes_ms=40_000), "until Prometheus has it"
    ledger.take_silence(START + 180_001)
    assert shown(ledger, 181) == MetTime(yes_ms=60_000, unknown_ms=60_000 + 60_001)


def test_a_text_that_was_cut_off_leaves_the_one_before():
    notes = InMemory()
    run(notes, 0, 20, 40)
    newest = max(FILES, key=lambda name: notes.texts[name].count("40000"))
    notes.texts[newest] = notes.texts[newest][:-9]
    assert shown(run(notes), 50) == MetTime(yes_ms=20_000)
    notes.texts = dict.fromkeys(FILES, "{")
    assert shown(run(notes), 50) is None


@pytest.mark.parametrize("failures", [1, 2, 3])
def test_a_full_disk_leaves_what_was_stored_last(failures):
    notes = InMemory()
    ledger = run(notes, 0, 20, 40)
    notes.is_full = True
    for second in range(60, 60 + 20 * failures, 20):
        ledger.take(EXPECTED, [found('a"b', Met.YES)], None, START + 1_000 * second)
    notes.is_full = False
    assert shown(run(notes), 50) == MetTime(yes_ms=40_000)


def test_nothing_counts_and_nothing_is_lost_while_what_was_stored_cannot_be_read(caplog):
    notes = InMemory()
    run(notes, 0, 20, 40)
    before = dict(notes.texts)
    notes.unreadable = set(FILES)
    ledger = run(notes, *range(100, 500, 20))
    assert (shown(ledger, 480), notes.texts) == (None, before)
    assert [record.getMessage() for record in caplog.records] == [
        "Cluster prod: the time of expectations cannot be read (no answer)"
    ]
    notes.unreadable = set()
    for second in (500, 520):
        ledger.take(EXPECTED, [found('a"b', Met.YES)], None, START + 1_000 * second)
    assert shown(ledger, 520) == MetTime(yes_ms=40_000)
    ledger.take(EXPECTED, [found('a"b', Met.YES)], None, START + 580_000)
    assert shown(ledger, 580) == MetTime(yes_ms=40_000 + 80_000, unknown_ms=460_000)


def test_a_file_that_stays_unreadable_ends_no_counting():
    """As one with a wrong checksum of Hadoop does. The other one is written only after it."""
    notes = InMemory()
    run(notes, 0, 20, 40)
    newest = max(FILES, key=lambda name: notes.texts[name].count("40000"))
    (older,) = set(FILES) - {newest}
    kept, notes.unreadable = notes.texts[older], {newest}
    assert shown(run(notes, *range(100, 300, 20)), 280) is None
    assert shown(run(notes, *range(100, 320, 20)), 300) == MetTime(yes_ms=20_000)
    assert notes.texts[older] == kept


def test_a_checkpoint_of_another_cluster_does_not_count():
    notes = InMemory()
    run(notes, 0, 20)
    assert shown(run(notes, cluster="other"), 20) is None


def test_a_file_system_that_is_away_stops_no_job():
    notes = InMemory()
    notes.is_away = True
    assert shown(run(notes, 0, 20), 20) == MetTime(yes_ms=20_000)


def test_the_metric_has_three_series_for_each_entry():
    process = ProcessMetrics("kafka")
    assert "groupwatch_expectation_seconds" not in process.text()
    ledger = run(InMemory(), 0, 20)
    process.met.watch("prod", lambda: ledger.shown_time(START + 21_500))
    own = 'groupwatch_expectation_seconds_total{kafka="prod",expectation="a\\"b",met='
    lines = [line for line in process.text().splitlines() if line.startswith("groupwatch_expectation")]
    assert lines == [f'{own}"yes"}} 20', f'{own}"no"}} 0', f'{own}"unknown"}} 0']
    assert "# UNIT groupwatch_expectation_seconds seconds\n" in process.text(openmetrics=True)
