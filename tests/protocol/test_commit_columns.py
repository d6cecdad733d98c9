"""Commits read by column are what the decoder of single records reads, for any bytes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import OffsetCommitted
from monitor.protocol.commit_columns import commit_columns
from monitor.protocol.errors import DecodeError
from monitor.protocol.offsets_topic import decode_record
from tests.protocol.captures import BROKERS, records
from tests.protocol.test_offsets_topic import mutated

KEY = bytes.fromhex("0001 0002 6731 0002 7430 00000007")
VALUES = [r.value for broker in BROKERS for r in records(broker) if r.record_type == 1 and r.value is not None]


def columns_of(values):
    ends = np.cumsum([len(value) for value in values], dtype=np.int64)
    starts = ends - np.array([len(value) for value in values], dtype=np.int64)
    return commit_columns(np.frombuffer(b"".join(values), np.uint8), starts, ends)


def by_itself(value):
    try:
        return decode_record(KEY, value, 0)
    except DecodeError:
        return None


def assert_read_alike(values):
    columns = columns_of(values)
    for row, value in enumerate(values):
        if columns.regular[row]:
            alone = by_itself(value)
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
