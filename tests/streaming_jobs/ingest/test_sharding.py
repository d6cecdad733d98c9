"""Jobs that share the groups: each group and each record is one job's, evenly, and for ever the same one's."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import (
    Entity,
    ListedOffset,
    OffsetsListed,
    PartitionObserved,
    PassCompleted,
    RebalanceSampled,
    Shard,
    TopicObserved,
)
from monitor.protocol.events_topic import encode_event
from monitor.protocol.kafka.records import RECORD_TYPES
from monitor.protocol.offsets_topic import decode_record, key_group, read_record
from monitor.protocol.wire.errors import DecodeError
from streaming_jobs.ingest.bucket_of import bucket_of
from streaming_jobs.ingest.decoding import EventsDecoder, OffsetsLogDecoder
from streaming_jobs.ingest.sharding import select_own_records, shard_of, watches
from streaming_jobs.runtime.checkpoint import Layout, differences
from tests.streaming_jobs.ingest.test_decoding import KEY_G1_T0_7, VALUE_42, decoded, folded, logs, records
from tests.support.captures import records as captured


def shards(of: int) -> list[Shard]:
    return [Shard(number=number, of=of) for number in range(1, of + 1)]


# --- groups -----------------------------------------------------------------------------------------------------------


@given(st.text(st.characters()), st.integers(1, 60))
def test_a_group_is_in_one_shard_and_no_other(group, of):
    assert [shard.number for shard in shards(of) if watches(shard, group)] == [shard_of(group, of)]


def test_a_group_stays_in_its_shard_for_ever():
    """Another version must not move it: the states of two jobs would be mixed up."""
    assert [shard_of(group, 3) for group in ("payments", "", "grüße", "\ud800")] == [3, 1, 3, 3]


@pytest.mark.parametrize("of", [2, 3, 4, 8])
@pytest.mark.parametrize("name", ["group-{:05d}", "console-consumer-{}"])
def test_groups_are_spread_evenly_over_shards_and_in_each_over_all_buckets(of, name):
    """With the hash of the buckets, names of one length would leave half of the buckets of two shards empty."""
    places = Counter(
        (shard_of(group, of), bucket_of(Entity.GROUP, group, 32)) for group in (name.format(n) for n in range(20_000))
    )
    mean = 20_000 / (of * 32)
    assert len(places) == of * 32
    assert max(places.values()) < 1.7 * mean
    for shard in shards(of):
        own = sum(count for (number, _), count in places.items() if number == shard.number)
        assert own == pytest.approx(20_000 / of, rel=0.06)


# --- records of the offsets topic -------------------------------------------------------------------------------------


def test_the_first_field_of_every_key_is_the_group():
    assert {kind.key.__struct_fields__[0] for kind in RECORD_TYPES.values()} == {"group", "group_id"}
    for record in captured("4.3.1"):
        key = read_record(record.key, None).key
        assert key_group(record.key) == getattr(key, key.__struct_fields__[0])


@given(st.binary(max_size=12) | st.binary(max_size=8).map(lambda rest: b"\x00\x01" + rest))
def test_a_key_with_a_group_that_cannot_be_read_cannot_be_read(key):
    if key_group(key) is None:
        with pytest.raises(DecodeError):
            decode_record(key, None, 0)


@given(logs(), st.integers(1, 20), st.integers(2, 4))
def test_the_shards_together_read_what_one_job_reads_and_each_error_once(log, size, of):
    whole, errors = read_by(Shard(), log, size)
    together, counted = {}, 0
    for shard in shards(of):
        own, failed = read_by(shard, log, size)
        assert all(watches(shard, group) for group in own)
        assert not together.keys() & own.keys()
        together |= own
        counted += failed
    assert together == whole
    assert counted == errors


def read_by(shard: Shard, log: list, size: int) -> tuple[dict, int]:
    """The groups' states after the log, and how many records could not be read."""
    events, failed = {}, 0
    for start in range(0, len(log), size):
        for row in decoded(OffsetsLogDecoder("c", 4, shard=shard), records(*log[start : start + size])):
            if row["entity"] == Entity.SOURCE:
                failed += len(row["payload"])
            else:
                events.setdefault(row["name"], []).extend(row["payload"])
    return folded(events), failed


def test_a_record_without_a_key_or_with_a_broken_one_is_the_first_shards():
    broken = [(None, b"x"), (b"", b"x"), (b"\x00\x01\x00\x09short", VALUE_42), (b"\x7f\xff\x00\x00", b"x")]
    batch = records(*((0, offset, key, value) for offset, (key, value) in enumerate(broken)))
    assert [select_own_records(batch, shard).num_rows for shard in shards(3)] == [4, 0, 0]


def test_a_broken_value_is_counted_by_the_shard_of_its_group():
    batch = records((3, 10, KEY_G1_T0_7, b"\x00"), (3, 11, KEY_G1_T0_7, VALUE_42))
    for shard in shards(3):
        rows = decoded(OffsetsLogDecoder("c", 8, shard=shard), batch)
        assert [row["entity"] for row in rows] == (["source", "group"] if watches(shard, "g1") else [])


def test_without_shards_a_chunk_is_not_even_looked_at():
    batch = records((3, 10, KEY_G1_T0_7, VALUE_42))
    assert select_own_records(batch, Shard()) is batch


# --- events of the collector ------------------------------------------------------------------------------------------


def test_every_shard_is_told_of_topics_and_passes():
    topic = TopicObserved(
        cluster="c", topic="t", pass_ms=5, observed_ms=6, partitions=(PartitionObserved(partition=0),)
    )
    done = PassCompleted(cluster="c", pass_ms=5, completed_ms=6, topics=1)
    batch = records((0, 8, None, encode_event(topic)), (0, 9, None, encode_event(done)))
    whole = decoded(EventsDecoder("c", 4), batch)
    assert len(whole) == 5
    assert all(decoded(EventsDecoder("c", 4, shard=shard), batch) == whole for shard in shards(3))


def test_a_listing_of_a_groups_offsets_and_an_unreadable_event_are_one_shards():
    listed = OffsetsListed(
        cluster="c", group="g1", asked_ms=5, offsets=(ListedOffset(topic="t", partition=0, offset=1),)
    )
    batch = records((0, 8, None, encode_event(listed)), (0, 9, None, b"{"))
    for shard in shards(3):
        found = [row["entity"] for row in decoded(EventsDecoder("c", 4, shard=shard), batch)]
        assert found == ["group"] * watches(shard, "g1") + ["source"] * shard.is_first


def test_a_sample_of_a_rebalance_is_one_shards():
    seen = RebalanceSampled(cluster="c", group="g1", state="PreparingRebalance", since_ms=5, sampled_ms=6)
    batch = records((0, 8, None, encode_event(seen)))
    for shard in shards(3):
        found = [
            (row["entity"], row["name"], row["payload"]) for row in decoded(EventsDecoder("c", 4, shard=shard), batch)
        ]
        assert found == [("group", "g1", [seen])] * watches(shard, "g1")


# --- the checkpoint ---------------------------------------------------------------------------------------------------


def test_a_changed_shard_is_named_where_a_checkpoint_is_refused():
    written, wanted = (Layout(cluster="c", buckets=4, events_topic="e", shard=shard) for shard in ("2/2", "1/2"))
    assert differences(written, wanted) == "shard = '2/2' (now '1/2')"
