"""Chunks of raw records become rows of events; what cannot be read becomes a counted event of its own."""

import struct

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import (
    AnyEvent,
    CommitUnread,
    DecodeFailed,
    Entity,
    GroupKind,
    GroupsListed,
    OffsetCommitted,
    PartitionObserved,
    PassCompleted,
    PassTopicsCounted,
    PieceBegun,
    RecordUnread,
    Rewind,
    Source,
    TopicObserved,
)
from monitor.protocol.events_topic import encode_event
from monitor.protocol.offsets_topic import Foreign, decode_record
from monitor.protocol.wire.errors import DecodeError
from monitor.tracking.group import fold_group
from streaming_jobs.ingest.bucket_of import bucket_of
from streaming_jobs.ingest.decoding import EventsDecoder, OffsetsLogDecoder
from tests.support.captures import records as captured

# Key and value of commits as the format says: version, group, topic, partition / version 1, offset, metadata, times.
KEY_G1_T0_7 = bytes.fromhex("0001 0002 6731 0002 7430 00000007")
VALUE_42 = bytes.fromhex("0001 000000000000002a 0000 0000000000000064 ffffffffffffffff")
VALUE_43 = bytes.fromhex("0001 000000000000002b 0000 00000000000000c8 ffffffffffffffff")

DECODE_EVENTS = msgspec.msgpack.Decoder(list[AnyEvent]).decode


def records(*rows: tuple[int, int, bytes | None, bytes | None]) -> pa.RecordBatch:
    partitions, offsets, keys, values = zip(*rows, strict=True)
    return pa.RecordBatch.from_pydict(
        {
            "partition": pa.array(partitions, pa.int32()),
            "offset": pa.array(offsets, pa.int64()),
            "timestamp_ms": pa.array([1000] * len(rows), pa.int64()),
            "key": pa.array(keys, pa.binary()),
            "value": pa.array(values, pa.binary()),
        }
    )


def decoded(decoder, batch: pa.RecordBatch) -> list[dict]:
    (out,) = decoder([batch])
    return [{**row, "payload": DECODE_EVENTS(row["payload"])} for row in out.to_pylist()]


def test_a_record_of_a_version_that_is_not_known_is_counted_and_told_to_its_group():
    """Of the members, and of a commit; a value that is damaged is only counted."""
    key = bytes.fromhex("0002 0002 6731")
    log = records((3, 10, key, b"\0\5new"), (3, 11, KEY_G1_T0_7, b"\0\6new"), (3, 12, key, b"\0\4"))
    group, source = sorted(decoded(OffsetsLogDecoder("c", 8), log), key=lambda row: row["entity"])
    assert group["name"] == "g1"
    assert group["payload"] == [
        RecordUnread(
            group="g1",
            kind=GroupKind.CLASSIC,
            record_type=2,
            record="GroupMetadata",
            version=5,
            newest=4,
            stored_ms=1000,
        ),
        CommitUnread(group="g1", topic="t0", partition=7, version=6, newest=4, stored_ms=1000),
    ]
    assert [event.reason for event in source["payload"]] == ["unknown_value_version"] * 2 + ["underflow"]


def test_the_events_of_one_group_in_a_chunk_are_one_row_in_log_order():
    rows = decoded(OffsetsLogDecoder("c", 8), records((3, 10, KEY_G1_T0_7, VALUE_42), (3, 12, KEY_G1_T0_7, VALUE_43)))
    commit = OffsetCommitted(group="g1", topic="t0", partition=7, offset=42, committed_ms=100)
    assert rows == [
        {
            "bucket": bucket_of(Entity.GROUP, "g1", 8),
            "entity": "group",
            "name": "g1",
            "position": 10,
            "payload": [commit, msgspec.structs.replace(commit, offset=43, committed_ms=200)],
        }
    ]


def test_a_record_that_cannot_be_read_is_counted_with_its_place_and_the_rest_goes_on():
    rows = decoded(OffsetsLogDecoder("c", 8), records((3, 10, b"\x00", b"x"), (3, 11, KEY_G1_T0_7, VALUE_42)))
    (failure,) = next(row["payload"] for row in rows if row["entity"] == "source")
    assert isinstance(failure, DecodeFailed)
    assert (failure.source, failure.log_partition, failure.log_offset) == ("__consumer_offsets", 3, 10)
    assert [row["name"] for row in rows if row["entity"] == "group"] == ["g1"]


def test_a_completed_pass_reaches_every_bucket():
    done = PassCompleted(cluster="c", pass_ms=5, completed_ms=6, topics=0)
    rows = decoded(EventsDecoder("c", 4), records((0, 9, None, encode_event(done))))
    assert sorted((row["bucket"], row["entity"]) for row in rows) == [(bucket, "pass") for bucket in range(4)]


def test_events_of_another_cluster_on_the_same_topic_are_left_out():
    other = TopicObserved(
        cluster="other", topic="t", pass_ms=5, observed_ms=6, partitions=(PartitionObserved(partition=0),)
    )
    assert decoded(EventsDecoder("c", 4), records((0, 9, None, encode_event(other)))) == []


@pytest.mark.parametrize("name", ["payments", "", "grüße", "a/b\n", "\ud800"])
def test_a_bucket_is_always_in_range(name):
    assert 0 <= bucket_of(Entity.GROUP, name, 7) < 7


# --- chunks of the real thing -----------------------------------------------------------------------------------------


def folded(events_by_group):
    return {group: fold_group("c", group, None, events) for group, events in events_by_group.items()}


@st.composite
def logs(draw):
    """A log of captured records, in any order and many times over, with commits that go up and down between them."""
    pool = [(r.key, r.value) for r in captured("4.3.1")]
    commits = [(key, value) for key, value in pool if key[:2] == b"\x00\x01" and value is not None]
    some = draw(st.lists(st.sampled_from(commits), min_size=1, max_size=6))
    rows = draw(st.lists(st.sampled_from(some) | st.sampled_from(pool) | st.just((b"\x00", b"")), max_size=60))
    return [(3, 2 * offset, key, value) for offset, (key, value) in enumerate(rows)]


@given(logs(), st.integers(1, 20))
def test_events_of_chunks_leave_what_the_single_records_leave(log, size):
    if not log:
        return
    one_by_one, failures = {}, 0
    for _, _, key, value in log:
        try:
            event = decode_record(key, value, 1000)
        except DecodeError:
            failures += 1
            continue
        if not isinstance(event, Foreign):
            one_by_one.setdefault(event.group, []).append(event)
    chunked, failed = {}, 0
    for start in range(0, len(log), size):
        rows = decoded(OffsetsLogDecoder("c", 4), records(*log[start : start + size]))
        for row in sorted(rows, key=lambda row: row["position"]):
            if row["entity"] == Entity.SOURCE:
                failed += len(row["payload"])
            else:
                chunked.setdefault(row["name"], []).extend(row["payload"])
    assert failed == failures
    assert folded(chunked) == folded(one_by_one)


def test_repeated_commits_become_one_event():
    log = [(3, n, KEY_G1_T0_7, struct.pack(">hqihq", 3, 50 - n, n, 0, 1000 + n)) for n in range(30)]
    (row,) = decoded(OffsetsLogDecoder("c", 4), records(*log))
    (run,) = row["payload"]
    assert (run.commits, run.rewinds, run.first.offset, run.points[-1].offset, run.leader_epoch) == (30, 29, 50, 21, 29)
    assert run.last_rewind == Rewind(at_ms=1029, before=22, after=21, before_ms=1028)
    assert len(run.points) == 10


def test_what_stands_between_two_commits_ends_the_run():
    """A deletion of the offset: what was committed before it is forgotten."""
    v3 = [struct.pack(">hqihq", 3, offset, 0, 0, 1000) for offset in (7, 8, 9)]
    log = [
        (3, 0, KEY_G1_T0_7, v3[0]),
        (3, 1, KEY_G1_T0_7, v3[1]),
        (3, 2, KEY_G1_T0_7, None),
        (3, 3, KEY_G1_T0_7, v3[2]),
    ]
    (row,) = decoded(OffsetsLogDecoder("c", 4), records(*log))
    assert [type(event).__name__ for event in row["payload"]] == ["CommitRun", "OffsetDeleted", "OffsetCommitted"]


def test_a_slice_of_a_larger_batch_is_read_where_it_lies():
    log = [(3, n, KEY_G1_T0_7, struct.pack(">hqihq", 3, n, 0, 0, 1000)) for n in range(10)]
    (row,) = decoded(OffsetsLogDecoder("c", 4), records(*log).slice(4, 2))
    assert (row["position"], row["payload"][0].first.offset, row["payload"][0].commits) == (4, 4, 2)


def test_an_event_with_partitions_of_another_system_is_counted_and_not_folded():
    """Partitions of both types in one topic could not be sorted, so no such event may reach a bucket."""
    named = TopicObserved("c", "t", pass_ms=1, observed_ms=2, partitions=(PartitionObserved(partition="a-0"),))
    batch = records((0, 3, None, encode_event(named)))
    (counted,) = decoded(EventsDecoder("c", 4), batch)
    assert (counted["entity"], counted["payload"][0].reason) == ("source", "bad_event")
    folded = [row for row in decoded(EventsDecoder("c", 4, text_partitions=True), batch) if row["entity"] == "topic"]
    assert [row["payload"] for row in folded] == [[named]]
    assert decoded(EventsDecoder("other", 4), batch) == []


@pytest.mark.parametrize(("topics", "counted"), [(2, []), (3, [PassTopicsCounted(1, 2)])], ids=["all", "one more"])
def test_a_row_of_the_events_log_says_where_it_goes_on_behind_a_listing_or_the_end_of_a_pass(topics, counted):
    """And how many topics of a pass are there, where that is not all of them: some may be in the chunk before."""
    seen = [TopicObserved("c", "t", pass_ms, pass_ms, (PartitionObserved(partition=0),)) for pass_ms in (1, 1, 5, 9)]
    listing = GroupsListed("c", Source.ADMIN, 1, 2)
    ended = PassCompleted("c", pass_ms=1, completed_ms=3, topics=topics)
    told = [seen[0], listing, seen[1], ended, seen[2], seen[3]]
    rows = decoded(EventsDecoder("c", 1), records(*[(0, 10 + n, None, encode_event(e)) for n, e in enumerate(told)]))
    assert [(row["position"], row["entity"], row["payload"]) for row in rows] == [
        (10, "topic", [seen[0], PieceBegun(12), seen[1], PieceBegun(14), *seen[2:]]),
        (11, "listing", [listing]),
        (13, "pass", [*counted, ended]),
        (15, "pass", [PassTopicsCounted(5, 1), PassTopicsCounted(9, 1)]),
    ]


@pytest.mark.parametrize(
    ("value", "counted"),
    [
        (b'{"event":"passcompleted","cluster":"c","version":2}', True),
        (b'{"event":"passcompleted","cluster":"other","version":2}', False),
        (b'{"event":"passcompleted","cluster":"other"}', False),
        (b'{"event":"passcompleted","cluster":7}', True),
        (b"no JSON", True),
        (b"\xff", True),
        (b"[" * 100_000, True),
        (None, True),
    ],
)
def test_what_cannot_be_read_is_counted_unless_it_is_another_clusters(value, counted):
    rows = decoded(EventsDecoder("c", 4), records((0, 9, None, value)))
    assert [row["entity"] for row in rows] == ["source"] * counted


NOON = 1_700_000_000_000


def written_at(batch: pa.RecordBatch, at_ms: int) -> pa.RecordBatch:
    return batch.set_column(2, "timestamp_ms", pa.array([at_ms] * len(batch), pa.int64()))


@pytest.mark.parametrize(("ahead_ms", "entity"), [(300_000, "pass"), (300_001, "source")])
def test_an_event_that_is_dated_minutes_ahead_of_its_record_is_counted_and_not_believed(ahead_ms, entity):
    ended = PassCompleted(cluster="c", pass_ms=NOON, completed_ms=NOON + ahead_ms, topics=0)
    rows = decoded(EventsDecoder("c", 1), written_at(records((0, 9, None, encode_event(ended))), NOON))
    assert [row["entity"] for row in rows] == [entity]
    if entity == "source":
        (failure,) = rows[0]["payload"]
        assert (failure.reason, failure.log_offset) == ("from_the_future", 9)


@pytest.mark.parametrize(
    ("known", "told", "entity"),
    [("a", "a", "pass"), ("a", None, "pass"), (None, "b", "pass"), ("a", "b", "source")],
)
def test_the_end_of_a_pass_over_another_source_is_counted_and_not_believed(known, told, entity):
    ended = PassCompleted(cluster="c", pass_ms=NOON, completed_ms=NOON, topics=0, source_id=told)
    rows = decoded(EventsDecoder("c", 1, source_id=known), written_at(records((0, 9, None, encode_event(ended))), NOON))
    assert [row["entity"] for row in rows] == [entity]
    if entity == "source":
        (failure,) = rows[0]["payload"]
        assert (failure.reason, failure.log_offset) == ("other_source", 9)


def test_an_event_of_another_cluster_that_is_dated_ahead_is_the_other_ones():
    ended = PassCompleted(cluster="other", pass_ms=2**62, completed_ms=2**62, topics=0)
    assert decoded(EventsDecoder("c", 1), written_at(records((0, 9, None, encode_event(ended))), NOON)) == []


@pytest.mark.parametrize("low", ["ff" * 8, "80" + "00" * 7])
def test_a_commit_of_a_negative_offset_leaves_no_committed_offset_and_is_no_failure(low):
    """42, then -1 or -2^63, in the layout that is read by column. The partition beside it keeps its own."""
    none = bytes.fromhex(f"0003 {low} 00000004 0000 0000000000000064")
    beside = bytes.fromhex("0001 0002 6731 0002 7430 00000008")
    log = records((3, 10, KEY_G1_T0_7, VALUE_42), (3, 11, beside, VALUE_42), (3, 12, KEY_G1_T0_7, none))
    (row,) = decoded(OffsetsLogDecoder("c", 1), log)
    group = fold_group("c", "g1", None, row["payload"])
    assert group is not None
    assert [(each.partition, each.offset) for each in group.offsets] == [(8, 42)]
