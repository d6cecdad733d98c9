"""Records of the offsets topic that are not in the partition of their group do not count."""

import struct

import pytest

from monitor.model import CommittedOffset, Entity, GroupPlaced, GroupState, GrownLog, LogPlaces, OffsetCommitted, Phase
from streaming_jobs.buckets.bucket import Bucket
from streaming_jobs.ingest.decoding import OffsetsLogDecoder
from tests.streaming_jobs.ingest.test_decoding import VALUE_42, VALUE_43, decoded, records

# The hash code of "d" is 100: partition 1 of three, 2 of seven. That of "i" is 105: partition 0 of both.


def key(group: str) -> bytes:
    return struct.pack(">hh", 1, len(group)) + group.encode() + struct.pack(">h", 1) + b"t" + struct.pack(">i", 0)


def committed(group: str, offset: int) -> OffsetCommitted:
    return OffsetCommitted(
        group=group, topic="t", partition=0, offset=offset, committed_ms=100 if offset == 42 else 200
    )


def told(places: LogPlaces, *rows) -> dict:
    return {row["name"]: row["payload"] for row in decoded(OffsetsLogDecoder("c", 8, places=places), records(*rows))}


LOG = ((1, 90, key("d"), VALUE_43), (2, 10, key("d"), VALUE_42), (0, 5, key("i"), VALUE_43), (1, 6, key("i"), VALUE_42))


def test_a_record_counts_in_the_partition_of_its_group_only():
    assert told(LogPlaces(7), *LOG) == {"d": [committed("d", 42)], "i": [committed("i", 43)]}
    assert told(LogPlaces(3), *LOG) == {"d": [committed("d", 43)], "i": [committed("i", 43)]}


def test_without_the_number_of_partitions_every_record_counts():
    assert told(LogPlaces(), *LOG)["d"] == [committed("d", 43), committed("d", 42)]


def test_while_the_number_is_open_either_place_counts_and_is_named():
    assert told(LogPlaces(7, before=3), *LOG) == {
        "d": [
            GroupPlaced(group="d", partitions=3),
            committed("d", 43),
            GroupPlaced(group="d", partitions=7, before=3),
            committed("d", 42),
        ],
        "i": [committed("i", 43)],
    }


def test_a_group_is_placed_once_by_its_first_record_whatever_is_before_it():
    """Records without a key, or of other groups, are among them; its first record dates the event."""
    log = (
        (2, 5, None, None),
        (2, 6, key("k"), VALUE_42),
        (2, 7, key("d"), VALUE_42),
        (2, 8, key("k"), VALUE_43),
        (2, 9, key("d"), VALUE_43),
    )
    rows = decoded(OffsetsLogDecoder("c", 8, places=LogPlaces(7, before=3)), records(*log))
    found = {row["name"]: (row["position"], len(row["payload"])) for row in rows if row["entity"] == "group"}
    assert found["d"][0] == 7
    assert found["k"][0] == 6, "107 is 2 by three and by seven"
    (placed,) = [event for row in rows for event in row["payload"] if isinstance(event, GroupPlaced)]
    assert placed == GroupPlaced(group="d", partitions=7, before=3)


def test_a_record_that_names_no_group_is_counted_wherever_it_is():
    (row,) = decoded(OffsetsLogDecoder("c", 8, places=LogPlaces(7)), records((4, 9, b"\0", b""), (4, 10, None, None)))
    assert [event.reason for event in row["payload"]] == ["underflow", "null_key"]


def state(group: str, **more) -> GroupState:
    return GroupState(cluster="c", group=group, phase=Phase.EMPTY, offsets=(CommittedOffset("t", 0, 7, 1_000),), **more)


@pytest.fixture
def bucket() -> Bucket:
    own = Bucket("c")
    own.states.update({(Entity.GROUP, name): state(name) for name in ("d", "i")})
    own.place_groups(3, batch=1, now_ms=1_000)
    return own


def test_groups_are_dropped_once_the_brokers_place_them_elsewhere(bucket):
    bucket.place_groups(3, batch=2, now_ms=2_000)
    assert bucket.changed_since(1) == []
    bucket.place_groups(7, batch=3, now_ms=3_000)
    assert bucket.states == {
        (Entity.GROUP, "i"): state("i"),
        (Entity.PLACES, ""): GrownLog(7, before=3, grown_ms=3_000, groups=2, lost=("d",)),
    }
    bucket.place_groups(0, batch=4, now_ms=4_000)
    bucket.place_groups(3, batch=5, now_ms=5_000)
    assert bucket.changed_since(3) == [], "a number that is not known, or of before, changes nothing"


def test_a_checkpoint_of_before_begins_with_the_number_of_now(bucket):
    """What its groups were placed by is not known: none is dropped."""
    del bucket.states[Entity.PLACES, ""]
    bucket.place_groups(7, batch=2, now_ms=2_000)
    assert (Entity.GROUP, "d") in bucket.states
    assert bucket.states[Entity.PLACES, ""] == GrownLog(7)


def test_by_how_many_partitions_a_bucket_is_placed_is_stored_with_it(bucket):
    bucket.place_groups(7, batch=3, now_ms=3_000)
    again = Bucket("c")
    again.load(bucket.entries(bucket.states), batch=3)
    assert again.states == bucket.states
