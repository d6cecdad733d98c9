"""Chunks of raw records become rows of events; what cannot be read becomes a counted event of its own."""

import msgspec
import pyarrow as pa
import pytest

from monitor.model import AnyEvent, DecodeFailed, OffsetCommitted, PartitionObserved, PassCompleted, TopicObserved
from monitor.protocol.events_topic import encode_event
from streaming_jobs.buckets import Entity, bucket_of
from streaming_jobs.decoding import EventsDecoder, OffsetsLogDecoder

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


def test_the_commits_of_one_group_in_a_chunk_are_one_row_in_log_order():
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
