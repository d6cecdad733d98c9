"""Records of ``__share_group_state``: events say what Kafka's own classes read, and broken bytes give typed errors."""

import pytest

from monitor.model import ShareBatch, ShareSnapshotStored, ShareStateDeleted, ShareUpdateStored
from monitor.protocol.kafka.share_state import SHARE_STATE_TOPIC, decode_share_state
from monitor.protocol.wire.errors import DecodeError
from tests.support.kind_captures import key_of, records, value_of

CAPTURED = [record for record in records() if record["topic"] == SHARE_STATE_TOPIC]
KEY = "0002 6731" + "00" * 15 + "07 00000003"
SNAPSHOT = "0000" + KEY
UPDATE = "0001" + KEY
TOPIC_ID = "AAAAAAAAAAAAAAAAAAAABw"


def decode(key, value, at_ms=5):
    return decode_share_state(bytes.fromhex(key), None if value is None else bytes.fromhex(value), at_ms)


def known(number):
    return None if number == -1 else number


def batches(stored):
    names = ("firstOffset", "lastOffset", "deliveryState", "deliveryCount")
    return tuple(ShareBatch(*(batch[name] for name in names)) for batch in stored)


@pytest.mark.parametrize(("name", "count"), [("ShareSnapshot", 117), ("ShareUpdate", 294)])
def test_captured_states_read_as_kafka_reads_them(name, count):
    compared = 0
    for record in CAPTURED:
        told, value = record["decoded"], record["decoded"]["value"]
        if told["type"] != name or value is None:
            continue
        event = decode_share_state(key_of(record), value_of(record), record["ts"])
        assert isinstance(event, ShareSnapshotStored if name == "ShareSnapshot" else ShareUpdateStored)
        assert (event.group, event.topic_id, event.partition) == tuple(told["key"].values())
        assert (event.snapshot_epoch, event.leader_epoch) == (value["snapshotEpoch"], value["leaderEpoch"])
        assert (event.start_offset, event.stored_ms) == (known(value["startOffset"]), record["ts"])
        assert event.complete_count == known(value.get("deliveryCompleteCount", -1))
        assert event.batches == batches(value["stateBatches"])
        if name == "ShareSnapshot":
            assert event.state_epoch == value["stateEpoch"]
        compared += 1
    assert compared == count


def test_captured_deletions():
    deleted = [record for record in CAPTURED if record["value"] is None]
    assert len(deleted) == 16
    for record in deleted:
        place = record["decoded"]["key"]
        assert decode_share_state(key_of(record), None, record["ts"]) == ShareStateDeleted(
            group=place["groupId"],
            topic_id=place["topicId"],
            partition=place["partition"],
            deleted_ms=record["ts"],
        )


def test_a_snapshot_before_kafka_4_2_has_no_count():
    times = "0000000000000001" * 2
    batch = "0000000000000005 0000000000000007 02 0001 00"
    value = f"0000 00000001 00000002 00000003 0000000000000005 {times} 02 {batch} 00"
    assert decode(SNAPSHOT, value) == ShareSnapshotStored(
        group="g1",
        topic_id=TOPIC_ID,
        partition=3,
        stored_ms=5,
        snapshot_epoch=1,
        state_epoch=2,
        leader_epoch=3,
        start_offset=5,
        batches=(ShareBatch(5, 7, 2, 1),),
    )


def test_an_update_with_a_count_and_a_field_of_a_newer_broker():
    value = "0000 00000001 ffffffff ffffffffffffffff 01 02 00 04 0000000c 09 02 abcd"
    assert decode(UPDATE, value) == ShareUpdateStored(
        group="g1", topic_id=TOPIC_ID, partition=3, stored_ms=5, snapshot_epoch=1, leader_epoch=-1, complete_count=12
    )


def update(*, epoch="00000001", leader="00000000", start="0000000000000005", batch="", count=""):
    batches_ = f"02 {batch} 00" if batch else "01"
    return f"0000 {epoch} {leader} {start} {batches_} " + (f"01 00 04 {count}" if count else "00")


FIVE, SEVEN, BEYOND = "0000000000000005", "0000000000000007", "1000000000000001"

REFUSED = [
    pytest.param("0002" + KEY, None, "unknown_key_version", id="a type that is not known"),
    pytest.param(SNAPSHOT[:-8] + "ffffffff", None, "bad_number", id="partition -1"),
    pytest.param(UPDATE + "00", None, "trailing_bytes", id="a key that goes on"),
    pytest.param("0001 0002 67", None, "underflow", id="a key that is cut"),
    pytest.param(UPDATE, "0001", "unknown_value_version", id="a version that is not known"),
    pytest.param(UPDATE, update() + "00", "trailing_bytes", id="a value that goes on"),
    pytest.param(UPDATE, update(epoch="ffffffff"), "bad_number", id="snapshot epoch -1"),
    pytest.param(UPDATE, update(leader="fffffffe"), "bad_number", id="leader epoch -2"),
    pytest.param(UPDATE, update(start="fffffffffffffffe"), "bad_number", id="start offset -2"),
    pytest.param(UPDATE, update(start=BEYOND), "bad_number", id="a start offset beyond all logs"),
    pytest.param(UPDATE, update(count="fffffffe"), "bad_number", id="count -2"),
    pytest.param(UPDATE, update(batch=f"{SEVEN} {FIVE} 02 0001"), "bad_number", id="a batch that ends early"),
    pytest.param(UPDATE, update(batch=f"{'ff' * 8} {FIVE} 02 0001"), "bad_number", id="a batch from -1"),
    pytest.param(UPDATE, update(batch=f"{FIVE} {BEYOND} 02 0001"), "bad_number", id="a batch beyond all logs"),
    pytest.param(UPDATE, update(batch=f"{FIVE} {SEVEN} ff 0001"), "bad_number", id="delivery state -1"),
    pytest.param(UPDATE, update(batch=f"{FIVE} {SEVEN} 02 ffff"), "bad_number", id="delivered -1 times"),
]


@pytest.mark.parametrize(("key", "value", "reason"), REFUSED)
def test_what_is_no_share_state_is_refused_with_a_reason(key, value, reason):
    with pytest.raises(DecodeError) as caught:
        decode(key, value)
    assert caught.value.reason == reason


def test_a_state_of_a_later_version_is_a_number():
    """3 is one that Kafka has a name for and does not write yet (KIP-1191)."""
    assert decode(UPDATE, update(batch=f"{FIVE} {SEVEN} 03 0001")).batches == (ShareBatch(5, 7, 3, 1),)


def test_there_is_no_record_without_a_key():
    with pytest.raises(DecodeError) as caught:
        decode_share_state(None, None, 0)
    assert (caught.value.reason, caught.value.where) == ("null_key", "key")
