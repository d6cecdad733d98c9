"""What a backlog becomes: commits of hours, which a live portion of a minute never has."""

from __future__ import annotations

import struct

import pyarrow as pa
import pytest

from monitor.history.recorded import RecordedRow, decode_events
from monitor.model import CommitRun, Entity, GroupsListed, OffsetCommitted, PassTopicsCounted, TopicObserved
from monitor.model.group_choice import GroupChoice
from monitor.protocol.events_topic import encode_event
from streaming_jobs.ingest.decoding import EventsDecoder, OffsetsLogDecoder
from streaming_jobs.recording.chunk import RecordingChunk
from tests.streaming_jobs.ingest.test_decoding import KEY_G1_T0_7

START = 1_795_313_640_000
APART_MS = 5_000
"""The commit interval of Java's client."""


def value(offset: int, committed_ms: int) -> bytes:
    """Version 3 of an offset commit: offset, leader epoch, metadata, time."""
    return struct.pack(">hqihq", 3, offset, -1, 0, committed_ms)


def recorded(commits: int) -> list[OffsetCommitted | CommitRun]:
    """So many commits of one partition, as one chunk has them."""
    times = [START + n * APART_MS for n in range(commits)]
    given = pa.RecordBatch.from_pydict(
        {
            "partition": pa.array([0] * commits, pa.int32()),
            "offset": pa.array(range(commits), pa.int64()),
            "timestamp_ms": pa.array(times, pa.int64()),
            "key": pa.array([KEY_G1_T0_7] * commits, pa.binary()),
            "value": pa.array([value(n, at_ms) for n, at_ms in enumerate(times)], pa.binary()),
        }
    )
    (batch,) = OffsetsLogDecoder("c", 1, chunks=RecordingChunk)([given])
    (row,) = batch.to_pylist()
    events = decode_events(RecordedRow(0, Entity.GROUP, "g", 0, row["events"]))
    return [each.event for each in events if isinstance(each.event, OffsetCommitted | CommitRun)]


def commits_by(events: list[OffsetCommitted | CommitRun], at_ms: int) -> int:
    """The newest commit that is known at an instant."""
    newest = 0
    for event in events:
        if isinstance(event, OffsetCommitted):
            newest = max(newest, event.committed_ms if event.committed_ms <= at_ms else 0)
        else:
            points = [event.first, *event.points]
            newest = max([newest, *[point.committed_ms for point in points if point.committed_ms <= at_ms]])
    return newest


def test_commits_of_hours_have_no_hole_longer_than_a_minute():
    events = recorded(2_160)
    times = [commits_by(events, START + minute * 60_000) for minute in range(1, 180)]
    assert max(START + minute * 60_000 - newest for minute, newest in enumerate(times, 1)) <= 60_000
    assert sum(event.commits if isinstance(event, CommitRun) else 1 for event in events) == 2_160


@pytest.mark.parametrize("commits", [1, 12, 15])
def test_commits_of_a_minute_are_one_event(commits: int):
    assert len(recorded(commits)) == 1


def test_a_group_that_is_left_out_by_name_is_not_recorded_and_not_listed():
    chunk = RecordingChunk(1, groups=GroupChoice(allow=("team-.*",), deny=(".*-test",)))
    for group in ("team-a", "team-a-test", "other"):
        chunk.add(Entity.GROUP, group, 0, OffsetCommitted(group, "t", 0, 1, START))
    chunk.add(Entity.TOPIC, "other", 0, TopicObserved("c", "other", START, START, ()))
    chunk.add(Entity.LISTING, "", 0, GroupsListed("c", "admin", START, START, ("other", "team-a", "team-a-test")))
    rows = {(row["entity"], row["name"]): row["events"] for row in chunk.to_arrow().to_pylist()}
    assert rows.keys() == {("group", "team-a"), ("topic", "other"), ("listing", "")}
    (listed,) = decode_events(RecordedRow(0, Entity.LISTING, "", 0, rows["listing", ""]))
    assert listed.event == GroupsListed("c", "admin", START, START, ("team-a",))


def test_the_topics_of_a_pass_are_counted_at_the_time_of_their_log_and_not_of_one_that_is_read_beside_it():
    """Kafka Connect dates its own records. The end of the pass may be recorded with an earlier time than these."""
    seen = TopicObserved("c", "t", START, START, (), None)
    given = pa.RecordBatch.from_pydict(
        {
            "partition": pa.array([0, 0], pa.int32()),
            "offset": pa.array([7, 0], pa.int64()),
            "timestamp_ms": pa.array([START + 100, START + 90_000], pa.int64()),
            "key": pa.array([None, b"connector-s3"], pa.binary()),
            "value": pa.array([encode_event(seen), b"{}"], pa.binary()),
            "topic": pa.array(["groupwatch.events", "connect-configs"]),
        }
    )
    decoder = EventsDecoder("c", 1, config_topics=frozenset({"connect-configs"}), chunks=RecordingChunk)
    (batch,) = decoder([given])
    (events,) = [row["events"] for row in batch.to_pylist() if row["entity"] == "pass"]
    (counted,) = decode_events(RecordedRow(0, Entity.PASS, "", 0, events))
    assert (counted.at_ms, counted.event) == (START + 100, PassTopicsCounted(START, 1))
