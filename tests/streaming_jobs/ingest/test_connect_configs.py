"""The job reads configurations of Connect beside the collectors' events; nothing secret of them leaves the decoder."""

import json

import msgspec
import pyarrow as pa
import pytest

from monitor.model import (
    AnyEvent,
    ConnectConfigsState,
    ConnectorConfig,
    ConnectorConfigured,
    ConnectorTargetSet,
    ConnectorTasksSet,
    DecodeFailed,
    Entity,
    GroupKind,
    GroupObserved,
    GroupsListed,
    PartitionObserved,
    PassCompleted,
    Shard,
    Source,
    TargetState,
    TopicObserved,
)
from monitor.protocol.events_topic import encode_event
from streaming_jobs.buckets.bucket import Bucket, EventRow, unpack_entries
from streaming_jobs.driver.cluster_view import ClusterView
from streaming_jobs.ingest.decoding import EventsDecoder, OffsetsLogDecoder
from streaming_jobs.ingest.schemas import BucketRow, RowKind

CONFIGS = "connect-configs"
EVENTS = "groupwatch.events"
SECRET = "hunter2-do-not-tell"
SECRETS = (
    (
        b"connector-s3",
        {
            "properties": {
                "consumer.override.group.id": "own-group",
                "name": SECRET,
                "connector.class": SECRET,
                "aws.secret.access.key": SECRET,
                "consumer.override.sasl.jaas.config": SECRET,
                "topics": SECRET,
            },
            "other": SECRET,
        },
    ),
    (b"task-s3-0", {"properties": {"password": SECRET, "consumer.override.group.id": SECRET}}),
    (b"commit-s3", {"tasks": 2, "by": SECRET}),
    (b"target-state-s3", {"state": "STARTED", "state.v2": "STARTED", "reason": SECRET}),
    (b"session-key", {"key": SECRET, "algorithm": "HmacSHA256", "creation-timestamp": 1}),
    (b"tasks-fencing-s3", {"tasks": 2, "token": SECRET}),
    (b"restart-connector-s3", {"include-tasks": True, "token": SECRET}),
    (b"logger-cluster-org", {"level": SECRET}),
    (b"unknown-s3", {"what": SECRET}),
    (b"connector-broken", {"properties": SECRET}),
    (b"commit-broken", {"tasks": SECRET}),
    (b"target-state-broken", {"state": SECRET}),
)
"""Each kind of record, a secret in every field but those that are meant to be read; the last ones are unreadable."""


def batch(*rows):
    """Records by their topics; the collectors' one is read with them."""
    topics, keys, values = zip(*rows, strict=True)
    return pa.RecordBatch.from_pydict(
        {
            "partition": pa.array([0] * len(rows), pa.int32()),
            "offset": pa.array(range(len(rows)), pa.int64()),
            "timestamp_ms": pa.array([1_000] * len(rows), pa.int64()),
            "key": pa.array(keys, pa.binary()),
            "value": pa.array(values, pa.binary()),
            "topic": pa.array(topics),
        }
    )


def secrets():
    return batch(*((CONFIGS, key, json.dumps(value).encode()) for key, value in SECRETS))


def decoder(**more):
    return EventsDecoder("c", 4, config_topics=frozenset({CONFIGS}), **more)


def event_rows(rows):
    return [EventRow(row["position"], Entity(row["entity"]), row["name"], row["payload"]) for row in rows]


def events_of(out):
    decode = msgspec.msgpack.Decoder(list[AnyEvent]).decode
    return {(row["entity"], row["name"]): decode(row["payload"]) for row in out.to_pylist()}


def decoder_of_the_log():
    """Where another cluster carries the events, configurations come beside the log of groups."""
    return OffsetsLogDecoder("c", 4, config_topics=frozenset({CONFIGS}))


@pytest.mark.parametrize("made", [decoder, decoder_of_the_log])
def test_names_counts_states_and_the_group_are_read(made):
    (out,) = made()([secrets()])
    assert events_of(out)["connect", CONFIGS] == [
        ConnectorConfigured("s3", group_id="own-group", stored_ms=1_000),
        ConnectorTasksSet("s3", 2, stored_ms=1_000),
        ConnectorTargetSet("s3", TargetState.STARTED, stored_ms=1_000),
    ]


def test_what_stands_before_and_behind_a_listing_is_folded_whatever_it_is_about():
    """Configurations, a record that cannot be read, a topic and a group, each before and after the listing."""
    topic = TopicObserved("c", "t", 1, 2, (PartitionObserved(partition=0),))
    group = GroupObserved("c", "g", GroupKind.CLASSIC, Source.ADMIN, 1, 2, state="Stable")
    listing = GroupsListed("c", Source.ADMIN, 1, 2, ("g",))
    own = [(EVENTS, None, encode_event(each)) for each in (topic, group)]
    around = [*((CONFIGS, key, json.dumps(value).encode()) for key, value in SECRETS), *own, (EVENTS, None, b"no JSON")]
    (out,) = decoder()([batch(*around, (EVENTS, None, encode_event(listing)), *around)])
    bucket = Bucket("c")
    bucket.fold_all(event_rows(out.to_pylist()), 1)
    assert bucket.failures == {}
    kinds = {Entity.CONNECT, Entity.GROUP, Entity.TOPIC, Entity.SOURCE, Entity.PASSES}
    assert {entity for entity, _ in bucket.states} == kinds
    assert [error.count for error in bucket.states[Entity.SOURCE, EVENTS].errors] == [2]


def test_no_secret_leaves_the_decoder_or_is_stored_or_shown():
    """Nothing of the values but what is meant to be read is in the rows, in the state or in what the driver has."""
    (out,) = decoder()([secrets()])
    rows = out.to_pylist()
    bucket = Bucket("c")
    bucket.fold_all(event_rows(rows), 1)
    entries = bucket.entries(bucket.states)
    view = ClusterView("c")
    view.take([BucketRow(0, RowKind(each.entity), each.name, each.state) for each in entries])
    known = view.connect_configs({"connect-cluster": CONFIGS, "other": "other-configs"})
    s3 = ConnectorConfig("s3", True, 2, TargetState.STARTED, "own-group", changed_ms=1_000)
    assert known == {"connect-cluster": ConnectConfigsState(cluster="c", topic=CONFIGS, connectors=(s3,))}
    seen = (repr(rows), repr(entries), repr(bucket.failures), repr(known), repr(view.sources()))
    assert [text for text in seen if SECRET in text] == []
    assert SECRET.encode() not in msgspec.msgpack.encode([*rows, *entries])
    assert SECRET in repr(secrets().to_pylist()), "it is there to be found"


def test_what_cannot_be_read_is_counted_by_the_first_shard_with_its_place_alone():
    (out,) = decoder()([secrets()])
    failed = events_of(out)["source", CONFIGS]
    assert [type(each) for each in failed] == [DecodeFailed] * 3
    assert {each.log_offset for each in failed} == {9, 10, 11}
    (out,) = decoder(shard=Shard(2, 2))([secrets()])
    assert events_of(out).keys() == {("connect", CONFIGS)}


def test_events_of_collectors_are_read_beside_them_and_without_such_topics():
    passed = PassCompleted(cluster="c", pass_ms=900, completed_ms=950, topics=0)
    record = ("groupwatch.events", None, encode_event(passed))
    (out,) = decoder()([batch(record, (CONFIGS, b"commit-s3", b'{"tasks":1}'))])
    assert set(events_of(out)) == {("pass", ""), ("connect", CONFIGS)}
    (out,) = EventsDecoder("c", 4)([batch(record).select(["partition", "offset", "timestamp_ms", "key", "value"])])
    assert set(events_of(out)) == {("pass", "")}


def test_a_stored_bucket_has_them_again_after_a_restart():
    bucket = Bucket("c")
    (out,) = decoder()([secrets()])
    bucket.fold_all(event_rows(out.to_pylist()), 1)
    again = Bucket("c")
    again.load(unpack_entries(msgspec.msgpack.encode(bucket.entries(bucket.states))), 1)
    assert again.states == bucket.states
