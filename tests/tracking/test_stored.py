"""States as bytes: what was written is read, and what cannot be read says why."""

import pickle
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import (
    STATE_VERSION,
    CommittedOffset,
    EndOffsetAt,
    ErrorCount,
    GroupState,
    Member,
    PartitionState,
    Phase,
    SourceState,
    TopicPartitions,
    TopicState,
)
from monitor.tracking.stored import (
    StateCorruptError,
    StateVersionError,
    decode_group_state,
    decode_source_state,
    decode_topic_state,
    encode_state,
)

MEMBER = Member(
    member_id="m",
    topics=("t",),
    instance_id="i",
    rack="r",
    generation=3,
    owned=(TopicPartitions("t", (1,)),),
    user_data=b"\x00\xff",
    assigned=(TopicPartitions("t", (1, 2)),),
    unreadable="x",
)
GROUP = GroupState(
    cluster="c",
    group="g\n\u202e",
    phase=Phase.STABLE,
    members=(MEMBER,),
    offsets=(CommittedOffset(topic="t", partition=1, offset=2**63 - 1, committed_ms=-1, leader_epoch=4),),
)
TOPIC = TopicState(
    cluster="c",
    topic="t",
    pass_ms=1,
    partitions=(
        PartitionState(partition=0, first_seen_ms=1, racks=("r", None), ends=(EndOffsetAt(at_ms=1, offset=2),)),
    ),
    observed_ms=2,
)
SOURCE = SourceState(
    cluster="c", source="s", errors=(ErrorCount(reason="underflow", count=1, log_partition=2, log_offset=3),)
)
STORED = [(GROUP, decode_group_state), (TOPIC, decode_topic_state), (SOURCE, decode_source_state)]
BOTH = pytest.mark.parametrize(("state", "decode"), STORED, ids=["group", "topic", "source"])


@BOTH
def test_a_state_is_read_as_it_was_written(state, decode):
    assert decode(encode_state(state)) == state


@BOTH
def test_a_state_names_the_version_that_wrote_it(state, decode):
    assert msgspec.msgpack.decode(encode_state(state))[0] == STATE_VERSION
    with pytest.raises(StateVersionError, match=f"version {STATE_VERSION + 1};.*versions up to {STATE_VERSION}$"):
        decode(encode_state(msgspec.structs.replace(state, version=STATE_VERSION + 1)))


def test_a_newer_state_need_not_have_our_shape():
    with pytest.raises(StateVersionError) as caught:
        decode_group_state(msgspec.msgpack.encode([7, "something else"]))
    assert (caught.value.written, caught.value.known) == (7, STATE_VERSION)


@BOTH
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\xff", id="no array"),
        pytest.param(b"\x92\x01\x80", id="no fields"),
        pytest.param(b"\x92\x01\x81\xa7cluster\xa1\xff", id="no UTF-8"),
        pytest.param(b"\x92\x01\x81\xa1x" + b"\x91" * 100_000, id="deeper than any state"),
        pytest.param(b"\x92\x01\x81\xa7cluster\xdd\xff\xff\xff\xff", id="a length of 4 GB"),
    ],
)
def test_bytes_that_are_no_state(state, decode, data):
    with pytest.raises(StateCorruptError, match=f"^the stored bytes are no {type(state).__name__}$"):
        decode(data)


def test_one_kind_is_not_taken_for_another():
    with pytest.raises(StateCorruptError):
        decode_group_state(encode_state(TOPIC))


@given(st.sampled_from(STORED), st.data())
def test_only_typed_errors_ever_come_out(stored, data):
    state, decode = stored
    written = bytearray(encode_state(state))
    start = data.draw(st.integers(0, len(written)))
    written[start : start + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
    with suppress(StateCorruptError, StateVersionError):
        assert isinstance(decode(bytes(written)), type(state))


@pytest.mark.parametrize("error", [StateVersionError(2), StateCorruptError("GroupState")])
def test_the_errors_survive_the_way_between_processes(error):
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
