"""What a reader reads is written as a pass; what it cannot read is told, and tried again less and less often."""

from __future__ import annotations

import pytest

from monitor.collectors.errors import ConnectionFailed
from monitor.collectors.polling import LONGEST_PAUSE_S, PollingCollector
from monitor.collectors.snapshot import SourceSnapshot
from monitor.model import GroupKind, GroupObserved, PartitionObserved, Source, TopicObserved
from tests.support.job_process import eventually
from tests.support.threads import working

pytestmark = [pytest.mark.broker, pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning")]


class OneGroup:
    """Reads a group and a topic, or what it was told to; None is an error."""

    def __init__(self, source: Source = Source.SYSTEM) -> None:
        self.source = source
        self.reading: SourceSnapshot | None = SourceSnapshot(source=source)
        self.closed = 0

    def has(self, *groups: str, topics: tuple[str, ...] = (), **more: object) -> None:
        seen = (PartitionObserved(partition="a-0", end=1),)
        self.reading = SourceSnapshot(
            source=self.source,
            topics=tuple(TopicObserved("sys", topic, 1, 2, seen) for topic in topics),
            groups=tuple(GroupObserved("sys", group, GroupKind.METAQ, self.source, 1, 2) for group in groups),
            **more,
        )

    def read(self, pass_ms: int) -> SourceSnapshot:
        if self.reading is None:
            raise ConnectionFailed("Nobody answers.")
        return self.reading

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def reader():
    return OneGroup()


@pytest.fixture
def collector(cluster, reader):
    made = PollingCollector("sys", reader, cluster, 1.0, clock=iter(range(1000, 10**9, 10)).__next__)
    yield made
    made.close()


def kinds(events):
    return [type(event).__name__ for _, event in events]


def test_a_complete_pass_ends_with_the_groups_that_there_are_and_the_end_of_the_topics(
    collector, reader, cluster, events_of
):
    reader.has("g", topics=("t",))
    collector.collect()
    written = events_of(cluster)
    assert kinds(written) == ["TopicObserved", "GroupObserved", "GroupsListed", "PassCompleted"]
    assert [key for key, _ in written] == ["t", "g", "", ""]
    listed, completed = (event for _, event in written[2:])
    assert (listed.cluster, listed.source, listed.groups) == ("sys", Source.SYSTEM, ("g",))
    assert (completed.cluster, completed.pass_ms, completed.topics) == ("sys", listed.pass_ms, 1)


def test_a_system_without_topics_has_passes_too(collector, reader, cluster, events_of):
    """Otherwise its last topic would never disappear, and a system that is empty would never be ready."""
    collector.collect()
    assert kinds(events_of(cluster)) == ["GroupsListed", "PassCompleted"]


@pytest.mark.parametrize("source", [Source.ADMIN, Source.CHECKPOINT])
def test_groups_of_a_cluster_whose_topics_another_collector_lists_end_no_pass_over_topics(cluster, events_of, source):
    reader = OneGroup(source)
    reader.has("g")
    collector = PollingCollector("prod", reader, cluster, 1.0)
    collector.collect()
    collector.close()
    assert kinds(events_of(cluster)) == ["GroupObserved", "GroupsListed"]


def test_an_incomplete_reading_makes_nothing_disappear(collector, reader, cluster, events_of):
    reader.has("g", complete=False, problems=("One broker is away.", "Another one too."))
    assert collector.attempt()
    assert kinds(events_of(cluster)) == ["GroupObserved"]
    health = collector.health()
    assert (health.complete, health.incomplete, health.failed, health.last_success_ms) == (0, 1, 0, None)
    assert health.problem == "One broker is away. Another one too."


def test_what_a_complete_reading_says_is_a_warning_and_no_problem(collector, reader):
    """One node of many is out of date: the system is read all the same."""
    reader.has("g", problems=("One node is out of date.",))
    collector.attempt()
    health = collector.health()
    assert (health.complete, health.problem, health.warning) == (1, None, "One node is out of date.")
    assert health.last_success_ms is not None
    reader.has("g", complete=False, problems=("One broker is away.",))
    collector.attempt()
    assert (collector.problem, collector.warning) == ("One broker is away.", None)
    reader.has("g", problems=("One node is out of date.",))
    collector.attempt()
    reader.reading = None
    collector.attempt()
    assert (collector.problem, collector.warning) == ("Nobody answers.", None)


def test_a_failure_is_told_and_forgotten_with_the_next_complete_pass(collector, reader):
    told = []
    collector.after_pass = lambda: told.append(collector.problem)
    reader.reading = None
    assert not collector.attempt()
    assert reader.closed == 1
    reader.has("g")
    assert collector.attempt()
    assert told == ["Nobody answers.", None]
    health = collector.health()
    assert (health.complete, health.incomplete, health.failed, health.problem) == (1, 0, 1, None)
    assert health.last_success_ms is not None
    assert health.pass_ms is not None


def test_after_failures_it_waits_longer_and_never_longer_than_a_minute(collector, reader):
    assert collector._pause_s() == 1.0
    reader.reading = None
    longest = []
    for failures in range(1, 9):
        collector.attempt()
        pauses = [collector._pause_s() for _ in range(200)]
        assert 1.0 <= min(pauses) <= max(pauses) <= min(2**failures, LONGEST_PAUSE_S)
        assert len(set(pauses)) > 100, "not the same for every collector"
        longest.append(max(pauses))
    assert longest[-1] > 30 > longest[2]
    reader.has("g")
    collector.attempt()
    assert collector._pause_s() == 1.0


def test_it_runs_until_it_is_stopped_and_closes_its_reader(collector, reader):
    with working(collector.run):
        eventually(lambda: collector.complete_passes, "a pass")
    assert reader.closed == 1


def test_a_defect_of_a_reader_fails_a_pass_and_not_the_collector_and_shows_no_value(
    collector, reader, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    def defect(_pass_ms: int) -> SourceSnapshot:
        raise ValueError("s3cret")

    with monkeypatch.context() as broken:
        broken.setattr(reader, "read", defect)
        assert not collector.attempt()
    assert collector.problem == "Cluster sys: a pass ended with a ValueError, a defect (see the log)."
    assert (collector.failed_passes, reader.closed) == (1, 1)
    assert "in defect" in caplog.text
    assert "s3cret" not in caplog.text.replace('raise ValueError("s3cret")', "")
    assert collector.attempt()
    assert collector.problem is None
