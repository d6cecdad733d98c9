"""Commits read by column are what the decoder of single records reads, for any bytes."""

import struct

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import OffsetCommitted
from monitor.protocol.kafka.commit_columns import are_valid, commit_columns
from monitor.protocol.offsets_topic import decode_record
from monitor.protocol.wire.errors import DecodeError
from tests.protocol.test_offsets_topic import mutated
from tests.support.captures import BROKERS, records

KEY = bytes.fromhex("0001 0002 6731 0002 7430 00000007")
VALUES = [r.value for broker in BROKERS for r in records(broker) if r.record_type == 1 and r.value is not None]


def columns_of(values):
    ends = np.cumsum([len(value) for value in values], dtype=np.int64)
    starts = ends - np.array([len(value) for value in values], dtype=np.int64)
    return commit_columns(np.frombuffer(b"".join(values), np.uint8), starts, ends)


def by_itself(value, written_ms=0):
    try:
        return decode_record(KEY, value, written_ms)
    except DecodeError:
        return None


def assert_read_alike(values, written_ms=0):
    columns = columns_of(values)
    sound = are_valid(columns, np.full(len(values), written_ms, np.int64))
    for row, value in enumerate(values):
        alone = by_itself(value, written_ms)
        if columns.regular[row]:
            assert sound[row] == isinstance(alone, OffsetCommitted)
        if columns.regular[row] and sound[row]:
            assert isinstance(alone, OffsetCommitted)
            key = int(columns.topic_key[row]) or None
            found = (columns.offset[row], columns.leader_epoch[row], columns.committed_ms[row], key)
            assert found == (alone.offset, alone.leader_epoch, alone.committed_ms, alone.topic_key)
    return columns


def test_every_captured_commit_of_the_usual_versions_is_regular():
    columns = assert_read_alike(VALUES)
    left = [value for value, regular in zip(VALUES, columns.regular, strict=True) if not regular]
    assert len(VALUES) - len(left) > 4000
    long_texts = [value for value in left if int.from_bytes(value[:2]) >= 3]
    assert all(len(value) > 150 for value in long_texts)
    assert {int.from_bytes(value[:2]) for value in left} == {1, 3, 4} - {3}


@given(st.lists(st.sampled_from(VALUES).flatmap(mutated) | st.binary(max_size=60), min_size=1, max_size=8))
def test_mutated_commits_are_read_alike_or_left_to_the_decoder(values):
    assert_read_alike(values)


def test_no_values_at_all():
    assert columns_of([b""]).regular.tolist() == [False]
    assert columns_of([b"\x00\x03"]).regular.tolist() == [False]


def value_of(offset, leader_epoch, committed_ms):
    """A commit in version 3, as the format says: version, offset, leader epoch, no metadata, time."""
    return struct.pack(">hqihq", 3, offset, leader_epoch, 0, committed_ms)


NOON = 1_700_000_000_000
AT_THE_EDGE = [
    *((offset, 0, NOON) for offset in (-(2**63), -1, 0, 2**60, 2**60 + 1, 2**63 - 1)),
    *((0, epoch, NOON) for epoch in (-(2**31), -2, -1, 0, 2**31 - 1)),
    *((0, 0, time) for time in (-(2**63), -1, 0, NOON + 300_000, NOON + 300_001, 2**63 - 1)),
]


def test_the_numbers_of_a_commit_have_these_limits():
    columns = columns_of([value_of(*numbers) for numbers in AT_THE_EDGE])
    sound = are_valid(columns, np.full(len(AT_THE_EDGE), NOON, np.int64)).tolist()
    assert columns.regular.all()
    passed = [numbers for numbers, each in zip(AT_THE_EDGE, sound, strict=True) if each]
    assert passed == [
        *((0, 0, NOON), (2**60, 0, NOON)),
        *((0, -1, NOON), (0, 0, NOON), (0, 2**31 - 1, NOON)),
        *((0, 0, 0), (0, 0, NOON + 300_000)),
    ]


NUMBERS = st.builds(
    value_of,
    st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3),
    st.integers(-(2**31), 2**31 - 1) | st.integers(-3, 3),
    st.integers(-(2**63), 2**63 - 1) | st.integers(NOON - 3, NOON + 300_003),
)


@given(st.lists(NUMBERS, min_size=1, max_size=8), st.sampled_from([NOON, NOON + 1, 0, -1, 2**63 - 1]))
def test_any_numbers_are_refused_by_column_as_they_are_one_by_one(values, written_ms):
    assert_read_alike(values, written_ms)
