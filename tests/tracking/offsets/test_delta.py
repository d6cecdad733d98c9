"""What commits move of a group is told apart from the rest, or not at all if anything else has changed."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.model import STATE_VERSION, CommittedOffset, GroupState, OffsetCommitted, Phase
from monitor.tracking.group import fold_group
from monitor.tracking.offsets.delta import apply_delta, decode_delta, encode_delta, offset_delta
from monitor.tracking.serialization import StateCorruptError, StateVersionError


def group(*offsets: CommittedOffset) -> GroupState:
    return GroupState(cluster="c", group="g", phase=Phase.OFFSETS_ONLY, offsets=offsets)


def at(partition: int, offset: int, topic: str = "t") -> CommittedOffset:
    return CommittedOffset(topic, partition, offset, 1000 + offset)


def test_what_has_moved_is_all_that_is_told():
    before, after = group(at(0, 5), at(1, 5), at(2, 5)), group(at(0, 5), at(1, 6), at(2, 5))
    assert offset_delta(before, after) == (at(1, 6),)
    assert offset_delta(before, before) == ()


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(group(at(0, 6), at(1, 5)), id="a partition came"),
        pytest.param(group(), id="a partition went"),
        pytest.param(group(at(3, 5)), id="one came for another"),
        pytest.param(group(at(0, 5, "other")), id="one of another topic came for it"),
        pytest.param(replace(group(at(0, 6)), rebalances=1), id="something else of the group"),
        pytest.param(replace(group(at(0, 6)), fastest=8), id="it has read faster than ever"),
        pytest.param(replace(group(at(0, 6)), unconfirmed=(at(1, 1),)), id="a commit that does not count"),
    ],
)
def test_it_is_not_told_if_more_has_changed(after):
    assert offset_delta(group(at(0, 5)), after) is None


COMMITS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 99)), max_size=20)


def goes_back(earlier, later):
    newest = dict(earlier)
    for partition, offset in later:
        if offset < newest.get(partition, offset):
            return True
        newest[partition] = offset
    return False


@given(COMMITS, COMMITS)
def test_what_has_moved_makes_of_the_group_before_the_group_after(earlier, later):
    states = [None]
    for commits in (earlier, later):
        events = [
            OffsetCommitted(group="g", topic="t", partition=p, offset=o, committed_ms=60_000 * i)
            for i, (p, o) in enumerate(commits)
        ]
        states.append(fold_group("c", "g", states[-1], events))
    _, before, after = states
    if before is None or after is None:
        return
    moved = offset_delta(before, after)
    is_more = len({p for p, _ in earlier}) != len({p for p, _ in earlier + later})
    is_of_all = goes_back(earlier, later) or before.fastest != after.fastest  # the group as a whole counts these
    assert (moved is None) == (is_more or is_of_all)
    if moved is not None:
        assert apply_delta(before, decode_delta(encode_delta(moved))) == after
        assert list(moved) == [offset for offset in after.offsets if offset not in before.offsets]


def test_bytes_of_another_version_and_bytes_that_are_none_are_told_apart():
    for version in (STATE_VERSION - 1, STATE_VERSION + 1):
        with pytest.raises(StateVersionError):
            decode_delta(msgspec.msgpack.encode((version, "whatever it may be")))
    for broken in (b"", encode_delta((at(0, 1),))[:-1], msgspec.msgpack.encode((STATE_VERSION, 7))):
        with pytest.raises(StateCorruptError):
            decode_delta(broken)
