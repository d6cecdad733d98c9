"""A bucket folds events into stored entities; one entity's failure is its own."""

import msgspec
import pytest

from monitor.model import OffsetCommitted, OffsetDeleted, PartitionObserved, PassCompleted, TopicObserved
from monitor.tracking.stored import StateVersionError, decode_group_state, decode_topic_state
from streaming_jobs.bucket_processor import Bucket
from streaming_jobs.buckets import Entity


def commit(offset: int) -> bytes:
    event = OffsetCommitted(group="g", topic="t", partition=0, offset=offset, committed_ms=offset)
    return msgspec.msgpack.encode([event])


def offset_deleted(topic: str) -> bytes:
    return msgspec.msgpack.encode([OffsetDeleted(group="g", topic=topic, partition=0)])


def topic(name: str, pass_ms: int) -> bytes:
    event = TopicObserved(
        cluster="c", topic=name, pass_ms=pass_ms, observed_ms=pass_ms, partitions=(PartitionObserved(partition=0),)
    )
    return msgspec.msgpack.encode([event])


def completed(pass_ms: int) -> bytes:
    return msgspec.msgpack.encode([PassCompleted(cluster="c", pass_ms=pass_ms, completed_ms=pass_ms, topics=1)])


def test_the_last_commit_in_log_order_stands():
    bucket = Bucket("c")
    bucket.fold(Entity.GROUP, "g", [commit(10), commit(7)])
    (row,) = bucket.rows()
    (offset,) = decode_group_state(row[2]).offsets
    assert offset.offset == 7


def test_nothing_new_changes_nothing():
    bucket = Bucket("c")
    bucket.fold(Entity.GROUP, "g", [commit(10)])
    again = Bucket("c", dict(bucket.stored))
    again.fold(Entity.GROUP, "g", [offset_deleted("never seen")])
    assert not again.changed


def test_a_topic_that_a_completed_pass_did_not_see_is_dropped():
    bucket = Bucket("c")
    bucket.fold(Entity.TOPIC, "gone", [topic("gone", 100)])
    bucket.fold(Entity.TOPIC, "there", [topic("there", 200)])
    bucket.fold(Entity.PASS, "", [completed(200)])
    bucket.expire_topics()
    topics = [decode_topic_state(payload).topic for entity, _, payload in bucket.rows() if entity == "topic"]
    assert topics == ["there"]


def test_events_that_cannot_be_folded_leave_the_state_and_the_others_alone():
    bucket = Bucket("c")
    bucket.fold(Entity.GROUP, "g", [commit(10)])
    bucket.fold(Entity.GROUP, "g", [b"\xc1 not MessagePack"])
    bucket.fold(Entity.GROUP, "h", [commit(11)])
    assert list(bucket.failures) == ["group/g"]
    assert [name for _, name, _ in bucket.rows()] == ["g", "h"]


def test_a_state_of_a_newer_groupwatch_stops_the_job():
    newer = msgspec.msgpack.encode((999, {"cluster": "c", "group": "g"}))
    bucket = Bucket("c", {(Entity.GROUP, "g"): newer})
    with pytest.raises(StateVersionError, match="999"):
        bucket.fold(Entity.GROUP, "g", [commit(10)])
