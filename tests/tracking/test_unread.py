"""Records of a version that is not known hide what they tell, and nothing else, until it can be read again."""

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.model import (
    CommitUnread,
    GroupDeleted,
    GroupKind,
    GroupState,
    Member,
    MembershipStored,
    MemberStored,
    OffsetCommitted,
    OffsetDeleted,
    Phase,
    RecordUnread,
)
from monitor.protocol.offsets_topic import decode_record, key_group, unread_event
from monitor.tracking.group import fold_group
from monitor.tracking.serialization import decode_group_state, encode_state
from monitor.tracking.unread import UnreadDraft
from tests.support import captures, kind_captures

MEMBERS = (Member(member_id="a"), Member(member_id="b"))
NEWER = (99).to_bytes(2, "big")
"""In front of a value: a version that no Kafka writes yet."""


def stored(generation=1, at_ms=1_000, members=MEMBERS):
    return MembershipStored(
        group="g",
        generation=generation,
        protocol_type="consumer",
        protocol="range",
        leader="a",
        stored_ms=at_ms,
        members=members,
    )


def unread(kind=GroupKind.CLASSIC, record_type=2, record="GroupMetadata", at_ms=2_000, subject=""):
    return RecordUnread(
        group="g",
        kind=kind,
        record_type=record_type,
        record=record,
        version=5,
        newest=4,
        stored_ms=at_ms,
        subject=subject,
    )


def committed(offset=1, at_ms=1_000, partition=0):
    return OffsetCommitted(group="g", topic="t", partition=partition, offset=offset, committed_ms=at_ms)


def commit_unread(at_ms=2_000, partition=0):
    return CommitUnread(group="g", topic="t", partition=partition, version=5, newest=4, stored_ms=at_ms)


def folded(*events) -> GroupState | None:
    return fold_group("c", "g", None, events)


def logs_of_groups():
    """Of each captured group, its records: key, value and time."""
    logs = [[(r.group, r.key, r.value, r.timestamp_ms) for r in captures.records(b)] for b in captures.BROKERS]
    kinds = [
        (key_group(kind_captures.key_of(r)), kind_captures.key_of(r), kind_captures.value_of(r), r["ts"])
        for r in kind_captures.records()
        if r["topic"] == "__consumer_offsets" and r["key"] is not None
    ]
    for log in (*logs, kinds):
        for _, own in groupby(sorted(log, key=lambda record: record[0]), key=lambda record: record[0]):
            yield [record[1:] for record in own]


LOGS = tuple(log for log in logs_of_groups() if len(log) > 1)


def test_a_group_whose_generation_cannot_be_read_has_no_members_and_keeps_its_offsets():
    state = folded(stored(), committed(7), unread(at_ms=2_000), unread(at_ms=9_000))
    assert state is not None
    assert (state.phase, state.members, state.generation) == (Phase.OFFSETS_ONLY, (), 0)
    assert [offset.offset for offset in state.offsets] == [7]
    assert state.unread is not None
    ((number, name, version, newest, since_ms),) = [
        (each.record_type, each.record, each.version, each.newest, each.since_ms) for each in state.unread.records
    ]
    assert (number, name, version, newest, since_ms) == (2, "GroupMetadata", 5, 4, 2_000), "the first of them"


def test_the_next_generation_that_can_be_read_is_compared_with_the_last_one():
    state = folded(stored(1), unread(), stored(3, at_ms=3_000, members=MEMBERS[:1]))
    assert state is not None
    assert state.unread is None
    assert [member.member_id for member in state.members] == ["a"]
    assert state.history[-1].left == 1


def test_a_group_of_which_nothing_can_be_read_is_there_until_it_is_deleted():
    assert folded(unread()).phase is Phase.OFFSETS_ONLY
    assert folded(unread(), GroupDeleted(group="g", deleted_ms=3_000)) is None
    assert folded(commit_unread()).phase is Phase.OFFSETS_ONLY
    assert folded(commit_unread(), OffsetDeleted(group="g", topic="t", partition=0)) is None


def test_a_member_that_cannot_be_read_is_not_known_by_the_record_of_another():
    """Of a KIP-848 group each record tells of one member."""
    first = unread(GroupKind.CONSUMER, 5, "ConsumerGroupMemberMetadata", subject="a")
    of_b = MemberStored(group="g", kind=GroupKind.CONSUMER, member=MEMBERS[1], stored_ms=3_000)
    of_a = MemberStored(group="g", kind=GroupKind.CONSUMER, member=MEMBERS[0], stored_ms=3_000)
    assert folded(first, of_b).unread is not None
    after = folded(first, of_b, of_a)
    assert after.unread is None
    assert {member.member_id for member in (*after.members, *after.incomplete_members)} == {"a", "b"}


def test_a_conversion_to_another_kind_of_group_leaves_nothing_unread_of_the_former():
    modern = unread(GroupKind.CONSUMER, 3, "ConsumerGroupMetadata")
    converted = folded(stored(), unread(), GroupDeleted(group="g", deleted_ms=3_000), modern)
    assert [each.record for each in converted.unread.records] == ["ConsumerGroupMetadata"]
    assert converted.kind is GroupKind.CONSUMER
    assert folded(stored(), modern, stored(2)).unread is None, "converted back"


def test_a_partition_whose_commit_cannot_be_read_has_no_committed_offset_until_the_next():
    state = folded(stored(), committed(7), committed(8, partition=1), commit_unread(2_000), commit_unread(9_000))
    assert [(offset.partition, offset.offset) for offset in state.offsets] == [(1, 8)]
    assert [(each.partition, each.since_ms) for each in state.unread_commits] == [(0, 2_000)]
    assert len(state.members) == 2, "who has the partitions is known"
    again = fold_group("c", "g", state, [committed(9, 10_000)])
    assert [(offset.partition, offset.offset) for offset in again.offsets] == [(0, 9), (1, 8)]
    assert again.unread_commits == ()


def test_what_is_not_known_is_stored_with_the_group():
    state = folded(stored(), committed(7), commit_unread(partition=3), unread())
    assert decode_group_state(encode_state(state)) == state


@pytest.mark.parametrize("broker", captures.BROKERS)
def test_of_every_captured_record_of_a_newer_version_the_group_is_told(broker):
    told = 0
    for record in captures.records(broker):
        if record.value is None:
            continue
        event = unread_event(record.key, NEWER + record.value[2:], record.timestamp_ms)
        assert event is not None
        assert (event.group, event.version, event.stored_ms) == (record.group, 99, record.timestamp_ms)
        assert isinstance(event, CommitUnread) == (record.record_type in (0, 1))
        told += 1
        assert unread_event(record.key, record.value, record.timestamp_ms) is None, "it can be read"
        assert unread_event(record.key, b"\xff\xff" + record.value[2:], 0) is None, "nobody writes version -1"
        assert unread_event(record.key[:-1], NEWER, 0) is None, "nor can the key be read"
    assert told > 50


@given(st.sampled_from(LOGS), st.data())
def test_a_record_that_could_not_be_read_leaves_no_trace_once_it_is_written_readably(log, data):
    """Whatever the group is, and wherever the log is cut: the same group as if all could have been read at once."""
    at = data.draw(st.integers(1, len(log) - 1))
    key, value, at_ms = log[at]
    hidden = unread_event(key, NEWER + (value or b"")[2:], at_ms)
    if not isinstance(hidden, RecordUnread):
        return  # a commit that cannot be read does leave one: the commits before it are of the past
    before = [decode_record(*record) for record in log[:at]]
    rest = [decode_record(*record) for record in log[at:]]
    group = hidden.group
    state = fold_group("c", group, None, before)
    if state is None or state.kind is not hidden.kind:
        return  # the group was not there, so the record also tells that it is
    after = fold_group("c", group, state, [hidden])
    assert after.unread is not None
    assert after.members == ()
    assert after.offsets == state.offsets
    expected = without_deletions(fold_group("c", group, state, rest))
    assert without_deletions(fold_group("c", group, after, rest)) == expected
    assert without_deletions(fold_group("c", group, None, [*before, hidden, *rest])) == expected


def without_deletions(state):
    """Of an offset that is deleted meanwhile, it is not known whether the group had members, so whether it expired."""
    return None if state is None or state.phase is Phase.UNSEEN else replace(state, deleted_offsets=())


def test_each_type_of_record_and_its_deletion_tell_that_its_subject_is_known_again():
    types: set[int] = set()
    for key, value, at_ms in (record for log in LOGS for record in log):
        hidden = unread_event(key, NEWER + (value or b"")[2:], at_ms)
        if not isinstance(hidden, RecordUnread):
            continue
        draft = UnreadDraft(GroupState(cluster="c", group=hidden.group))
        draft.take(hidden)
        assert draft
        draft.take(decode_record(key, value, at_ms))
        assert not draft
        types.add(hidden.record_type)
    assert types == {2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 19, 20, 21, 22, 23}
