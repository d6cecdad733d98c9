"""A recording that begins while a backlog is read: the past accuses nobody who committed every second."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

import pyarrow as pa
import pytest

from monitor.detection.evaluate import evaluate
from monitor.history.recorded import RecordedEvent, RecordedRow, encode_events
from monitor.history.replay import inputs_at
from monitor.history.report.assemble import group_report
from monitor.model import (
    Entity,
    Member,
    MembershipStored,
    PartitionObserved,
    PassCompleted,
    TopicObserved,
    TopicPartitions,
)
from streaming_jobs.ingest.decoding import OffsetsLogDecoder
from streaming_jobs.recording.chunk import RecordingChunk
from tests.history.memory import MemoryRecording

START = 1_795_313_640_000
"""2026-11-22 02:14:00 UTC."""
GROUP, TOPIC, PARTITIONS = "g", "t", (0, 1)
POLLED_EVERY_S, RECORDED_EVERY_S = 10, 60


def at(second: float) -> int:
    return START + round(second * 1_000)


def commits(seconds: Iterable[int], stands: range = range(0)) -> Iterator[tuple[int, int, int]]:
    """Partition, offset and time of a commit of each partition every second: each second has one record.

    Partition 1 is not committed while its owner ``stands``.
    """
    for second in seconds:
        for partition in PARTITIONS:
            if not (partition == 1 and second in stands):
                yield partition, second, at(second + 0.3)


def decoded(portion: list[tuple[int, int, int]], recorded_ms: int) -> Iterator[RecordedRow]:
    """A portion of the offsets log as the recorder has it. Key: version 1; value: version 3."""
    keys = [struct.pack(">hh1sh1si", 1, 1, b"g", 1, b"t", partition) for partition, _, _ in portion]
    given = pa.RecordBatch.from_pydict(
        {
            "partition": pa.array([0] * len(portion), pa.int32()),
            "offset": pa.array([at_ms * 2 + partition for partition, _, at_ms in portion], pa.int64()),
            "timestamp_ms": pa.array([at_ms for _, _, at_ms in portion], pa.int64()),
            "key": pa.array(keys, pa.binary()),
            "value": pa.array([struct.pack(">hqihq", 3, each[1], -1, 0, each[2]) for each in portion], pa.binary()),
        }
    )
    for batch in OffsetsLogDecoder("c", 1, chunks=RecordingChunk)([given]):
        for row in batch.to_pylist():
            entity = Entity(row["entity"])
            yield RecordedRow(recorded_ms, entity, row["name"], row["position"], row["events"])


def row(recorded_ms: int, entity: Entity, name: str, at_ms: int, event: object) -> RecordedRow:
    return RecordedRow(recorded_ms, entity, name, at_ms, encode_events([RecordedEvent(at_ms, event)]))  # type: ignore[arg-type]


def recording(first_s: int, caught_up_s: int, until_s: int, stands: range = range(0)) -> MemoryRecording:
    """The log begins at ``first_s``; its first portion reaches to ``caught_up_s``, polls begin a minute earlier."""
    members = tuple(
        [
            Member(member_id=name, client_id=name, topics=(TOPIC,), assigned=(TopicPartitions(TOPIC, (number,)),))
            for number, name in enumerate("ab")
        ]
    )
    stored = MembershipStored(GROUP, 1, "consumer", "range", "a", stored_ms=at(first_s), members=members)
    rows = [row(at(caught_up_s), Entity.GROUP, GROUP, at(first_s), stored)]
    begins = [first_s, *range(caught_up_s, until_s, RECORDED_EVERY_S)]
    for begin, end in zip(begins, [*begins[1:], until_s], strict=True):
        rows += decoded(list(commits(range(begin, end), stands)), at(end))
    for second in range(caught_up_s - 60, until_s, POLLED_EVERY_S):
        recorded_ms = min(at(end) for end in [*begins[1:], until_s] if end > second)
        ends = tuple([PartitionObserved(partition=n, earliest=0, end=second) for n in PARTITIONS])
        seen = TopicObserved("c", TOPIC, pass_ms=at(second), observed_ms=at(second), partitions=ends, topic_id="T")
        rows.append(row(recorded_ms, Entity.TOPIC, TOPIC, at(second), seen))
        ended = PassCompleted(cluster="c", pass_ms=at(second), completed_ms=at(second), topics=1)
        rows.append(row(recorded_ms, Entity.PASS, "", at(second), ended))
    return MemoryRecording(rows)


@pytest.mark.parametrize("first_s", range(0, 60, 7))
@pytest.mark.parametrize("backlog_s", [75, 100, 300, 600])
def test_who_commits_every_second_is_not_accused(first_s: int, backlog_s: int):
    caught_up_s = first_s + backlog_s
    made = recording(first_s, caught_up_s, caught_up_s + 120)
    report = group_report(made, "c", GROUP, at(caught_up_s - 60), at(caught_up_s + 110))
    assert report is not None
    assert report.summary[0].startswith("Nothing happened")
    assert (report.findings, report.hung, report.not_committed) == ((), (), ())
    assert (report.lag.peak or 0) <= 4
    assert not report.lag.rose


@pytest.mark.parametrize("first_s", range(0, 60, 13))
def test_at_each_second_the_newest_commit_is_about_that_of_then(first_s: int):
    """As the job said: the commit of that second. An estimate may lie between two commits."""
    made = recording(first_s, first_s + 150, first_s + 270)
    for second in range(first_s + 90, first_s + 265):
        inputs = inputs_at(made, "c", GROUP, at(second + 0.5))
        assert inputs is not None
        for offset in inputs.group.offsets:
            assert second - 2 <= offset.offset <= second
            assert at(second - 2) < offset.committed_ms <= at(second + 0.5)
        assert not evaluate(inputs.group, inputs.catalog, inputs.now_ms, inputs.settings).findings


def test_who_stands_still_for_longer_than_a_portion_is_accused_also_in_a_backlog():
    made = recording(0, 600, 720, stands=range(560, 650))
    report = group_report(made, "c", GROUP, at(540), at(710))
    assert report is not None
    [hung] = report.hung
    assert hung.member.member_id == "b"
    assert abs(hung.from_ms - at(560)) <= 1_000
    assert abs((hung.until_ms or 0) - at(650)) <= 1_000
