"""The state of a share group's partitions, folded from the log of share state."""

import pytest

from monitor.kinds.share import archived_counts
from monitor.model import (
    ArchivedRecords,
    DeliveredSince,
    ListedShareOffset,
    ReadablePartitionsStored,
    ShareBatch,
    ShareConfig,
    SharedTopic,
    ShareGroupRead,
    ShareGroupState,
    ShareOutcomes,
    SharePartition,
    ShareSnapshotStored,
    ShareStateDeleted,
    ShareUpdateStored,
)
from monitor.protocol.kafka.share_state import SHARE_STATE_TOPIC, decode_share_state
from monitor.tracking.share.partitions import MAX_DELIVERIES, ShareDraft
from tests.support.kind_captures import events, key_of, records, topic_ids, value_of

WAITS, DONE, ARCHIVED = 0, 2, 4


def snapshot(at_ms, *batches, start=None, count=None, epoch=0):
    return ShareSnapshotStored(
        group="g",
        topic_id="t",
        partition=0,
        stored_ms=at_ms,
        snapshot_epoch=epoch,
        state_epoch=1,
        leader_epoch=0,
        start_offset=start,
        complete_count=count,
        batches=tuple(ShareBatch(*each) for each in batches),
    )


def update(at_ms, *batches, start=None, count=None, leader_epoch=0):
    return ShareUpdateStored(
        group="g",
        topic_id="t",
        partition=0,
        stored_ms=at_ms,
        snapshot_epoch=0,
        leader_epoch=leader_epoch,
        start_offset=start,
        complete_count=count,
        batches=tuple(ShareBatch(*each) for each in batches),
    )


def folded(*events):
    draft = ShareDraft(None)
    for event in events:
        draft.apply(event)
    state = draft.freeze()
    return state and state.partitions[0]


def test_a_partition_begins_without_a_start():
    assert folded(snapshot(1)) == SharePartition(topic_id="t", partition=0, state_epoch=1)


def test_an_update_without_its_snapshot_is_out_of_date():
    assert folded(update(1, (0, 4, DONE, 1), start=0, count=5)) is None


def test_updates_add_to_the_snapshot_and_batches_are_cut_at_the_start():
    found = folded(
        snapshot(1),
        update(2, (0, 9, DONE, 1), start=0, count=10),
        update(3, (10, 11, WAITS, 1), (12, 14, DONE, 1), start=10, count=3),
    )
    assert (found.start_offset, found.complete_count) == (10, 3)
    assert found.batches == (ShareBatch(10, 11, WAITS, 1), ShareBatch(12, 14, DONE, 1))
    assert (found.accepted, found.returned, found.answered_ms) == (13, 2, 3)


def test_an_update_without_a_start_leaves_it_and_one_without_batches_is_no_sign_of_life():
    """A new leader of the partition writes one."""
    found = folded(snapshot(1), update(2, (0, 9, WAITS, 1), start=0, count=0), update(3, count=0, leader_epoch=7))
    assert (found.start_offset, found.leader_epoch, found.answered_ms) == (0, 7, 2)
    assert found.batches == (ShareBatch(0, 9, WAITS, 1),)


def test_a_snapshot_of_what_is_known_is_no_sign_of_life_and_counts_nothing_twice():
    """The broker writes one for partitions without answers from time to time."""
    before = folded(snapshot(1), update(2, (0, 1, ARCHIVED, 3), (2, 4, DONE, 1), start=0, count=5))
    draft = ShareDraft(ShareGroupState(partitions=(before,)))
    draft.apply(snapshot(9, (0, 1, ARCHIVED, 3), (2, 4, DONE, 1), start=0, count=5, epoch=1))
    (after,) = draft.freeze().partitions
    assert (after.answered_ms, after.snapshot_epoch) == (2, 1)
    assert (after.accepted, after.archived) == (3, (ArchivedRecords(3, 2, 1, 2),))


def test_a_snapshot_in_the_place_of_an_update_has_an_answer():
    found = folded(snapshot(1), snapshot(5, (0, 3, WAITS, 2), start=0, count=0, epoch=1))
    assert (found.answered_ms, found.returned, found.waiting) == (5, 4, (DeliveredSince(2, 5),))


def test_offsets_that_were_set_by_hand_forget_the_batches():
    found = folded(snapshot(1), update(2, (0, 9, WAITS, 2), start=0, count=0), snapshot(3, start=40, count=0))
    assert (found.start_offset, found.complete_count, found.batches, found.waiting) == (40, 0, (), ())
    assert (found.answered_ms, found.returned) == (2, 10)


def test_a_partition_is_forgotten_with_its_state():
    deleted = ShareStateDeleted(group="g", topic_id="t", partition=0, deleted_ms=3)
    assert folded(snapshot(1), update(2, (0, 9, DONE, 1), start=0, count=10), deleted) is None


def test_what_became_of_the_records_is_counted_on_when_a_partition_is_forgotten_and_comes_again():
    draft = ShareDraft(None)
    readable = SharedTopic("u", "orders", (0,))
    draft.store_readable(ReadablePartitionsStored(group="g", stored_ms=1, initialized=(readable,)))
    deleted = ShareStateDeleted(group="g", topic_id="t", partition=0, deleted_ms=3)
    first = update(2, (0, 4, DONE, 1), (5, 5, ARCHIVED, 1), (6, 9, ARCHIVED, 3), start=0, count=10)
    again = update(5, (0, 0, DONE, 1), (1, 2, ARCHIVED, 3), start=0, count=3)
    for event in (snapshot(1), first, deleted, deleted):
        draft.apply(event)
    archived = (ArchivedRecords(1, 1, 5, 2), ArchivedRecords(3, 4, 9, 2))
    assert draft.freeze().former == ShareOutcomes(accepted=5, archived=archived)
    for event in (snapshot(4), again, deleted):
        draft.apply(event)
    archived = (ArchivedRecords(1, 1, 5, 2), ArchivedRecords(3, 6, 2, 5))
    assert draft.freeze().former == ShareOutcomes(accepted=6, archived=archived)


def test_configs_are_those_that_were_read_last_and_none_once_the_group_is_gone():
    draft = ShareDraft(None)
    for config in (ShareConfig(3, 30_000), ShareConfig(4, 2_000)):
        draft.apply(ShareGroupRead(cluster="c", group="g", read_ms=1, config=config))
    assert draft.freeze() == ShareGroupState(config=ShareConfig(4, 2_000))
    draft.apply(ShareGroupRead(cluster="c", group="g", read_ms=2, config=ShareConfig()))
    assert draft.freeze() is None


def test_offsets_are_those_that_were_listed_last_and_none_once_the_log_is_read():
    draft = ShareDraft(None)
    config, listed = ShareConfig(3, 30_000), (ListedShareOffset("t", 0, 7, 12),)
    draft.apply(ShareGroupRead(cluster="c", group="g", read_ms=1, config=config, offsets=listed))
    assert draft.freeze() == ShareGroupState(config=config, listed=listed)
    draft.apply(ShareGroupRead(cluster="c", group="g", read_ms=2, config=config))
    assert draft.freeze() == ShareGroupState(config=config)


def test_when_records_were_archived_is_not_known_if_the_log_begins_after_it():
    found = folded(snapshot(1, (0, 2, ARCHIVED, 3)), update(2, (3, 3, ARCHIVED, 3)))
    assert found.archived == (ArchivedRecords(3, 4, 3, 2),)
    assert folded(snapshot(1, (0, 2, ARCHIVED, 3))).archived == (ArchivedRecords(3, 3, 2, 0),)


def test_archived_records_are_counted_by_their_deliveries():
    found = folded(
        snapshot(1),
        update(2, (0, 0, ARCHIVED, 1), (1, 2, ARCHIVED, 3), (3, 3, WAITS, 2), start=0, count=3),
        update(3, (0, 0, ARCHIVED, 1), (3, 4, ARCHIVED, 3), start=0, count=5),
        update(4, (5, 5, ARCHIVED, 32_000), start=5, count=1),
    )
    assert found.archived == (
        ArchivedRecords(1, 1, 0, 2),
        ArchivedRecords(3, 4, 4, 3),
        ArchivedRecords(MAX_DELIVERIES, 1, 5, 4),
    )


def test_what_was_archived_keeps_the_limit_that_was_known_then_or_first():
    def limited(read_ms, limit):
        config = ShareConfig(delivery_limit=limit)
        return ShareGroupRead(cluster="c", group="g", read_ms=read_ms, config=config)

    draft = ShareDraft(None)
    for event in (
        snapshot(1, (0, 0, ARCHIVED, 3)),
        update(2, (1, 2, ARCHIVED, 3)),
        limited(3, 5),
        update(4, (3, 3, ARCHIVED, 3), (4, 4, ARCHIVED, 5)),
        limited(5, 3),
        update(6, (5, 5, ARCHIVED, 3)),
    ):
        draft.apply(event)
    assert draft.freeze().partitions[0].archived == (
        ArchivedRecords(3, 1, 5, 6, limit=3),
        ArchivedRecords(3, 4, 3, 4, limit=5),
        ArchivedRecords(5, 1, 4, 4, limit=5),
    )


def test_records_that_are_done_with_count_once_even_if_their_delivery_count_is_written_again():
    found = folded(snapshot(1, (0, 3, DONE, 1), (4, 6, ARCHIVED, 2)), update(2, (0, 3, DONE, 2), (4, 6, ARCHIVED, 3)))
    assert found.accepted == 4
    assert sum(each.records for each in found.archived) == 3


def test_since_when_records_wait_that_were_delivered_so_often():
    found = folded(
        snapshot(1),
        update(2, (0, 0, WAITS, 2), (1, 1, WAITS, 1), start=0, count=0),
        update(3, (2, 2, WAITS, 2), start=0, count=0),
    )
    assert found.waiting == (DeliveredSince(1, 2), DeliveredSince(2, 2))
    gone = folded(
        snapshot(1),
        update(2, (0, 0, WAITS, 2), start=0, count=0),
        update(3, (0, 0, DONE, 3), start=0, count=1),
        update(4, (1, 1, WAITS, 2), start=0, count=1),
    )
    assert gone.waiting == (DeliveredSince(2, 4),)


def test_readable_partitions_come_from_another_log_and_stay_beside():
    shared = (SharedTopic("t", "orders", (0, 1)),)
    draft = ShareDraft(None)
    draft.store_readable(ReadablePartitionsStored(group="g", stored_ms=1, initializing=shared))
    assert draft.freeze() == ShareGroupState(initializing=shared)
    draft.apply(snapshot(2))
    draft.store_readable(ReadablePartitionsStored(group="g", stored_ms=3))
    assert draft.freeze() == ShareGroupState(partitions=(SharePartition("t", 0, state_epoch=1),))


# --- what became of every record in the captures ----------------------------------------------------------------------

LIMIT = 3
"""The groups' ``share.delivery.count.limit``."""


@pytest.fixture(scope="module")
def counts():
    """Given up, and rejected, by group and topic id, as the logs have it; deletions left out."""
    drafts = {}
    for record in records():
        if record["topic"] == SHARE_STATE_TOPIC and record["value"] is not None:
            event = decode_share_state(key_of(record), value_of(record), record["ts"])
            drafts.setdefault(event.group, ShareDraft(None)).apply(event)
    found = {}
    for group, draft in drafts.items():
        for partition in draft.freeze().partitions:
            told = archived_counts(partition.archived, LIMIT)
            given_up, rejected = found.get((group, partition.topic_id), (0, 0))
            found[group, partition.topic_id] = given_up + told.given_up, rejected + told.rejected
    return found


def group_of_clients():
    return {each["client"]: each["group"] for each in events() if each["event"] == "start"}


def last_deliveries(group):
    """By record: how often it was delivered to clients of the group at most, and how they answered the last time."""
    of_client, found = group_of_clients(), {}
    for each in events():
        if of_client.get(each.get("client")) != group:
            continue
        for record in each.get("records", ()) if each["event"] == "delivered" else ():
            place = f"{record['tp']}@{record['o']}"
            found[place] = max(record["count"], found.get(place, (0, ""))[0]), ""
        for kind, places in (each.get("answers") or {}).items() if each["event"] == "answered" else ():
            for place in places:
                if place in found:
                    found[place] = found[place][0], kind
    return found


def test_given_up_are_the_records_that_clients_got_three_times_and_never_accepted(counts):
    total = 0
    for group in ("sg2b6e-pool", "sg7e0f-pool"):
        expected = {}
        for place, (deliveries, answer) in last_deliveries(group).items():
            if deliveries == LIMIT and answer != "accept":
                topic = place.partition("@")[0].rpartition("-")[0]
                expected[topic] = expected.get(topic, 0) + 1
        ids = topic_ids()
        told = {topic: counts[group, ids[topic]][0] for topic in expected}
        assert told == expected
        total += sum(told.values())
    assert total == 10


def test_rejected_are_the_records_that_clients_rejected_before_their_last_delivery(counts):
    for group in ("sg2b6e-pool", "sg7e0f-pool"):
        expected = sum(
            answer == "reject" and deliveries < LIMIT for deliveries, answer in last_deliveries(group).values()
        )
        assert sum(rejected for (name, _), (_, rejected) in counts.items() if name == group) == expected > 20


def test_markers_and_aborted_records_look_like_rejected_ones(counts):
    """Nobody got them: those are the 6 of the two groups that read a transactional topic."""
    archived = {name: rejected for (name, _), (_, rejected) in counts.items() if name.endswith("-committed")}
    assert archived == {"sg2b6e-committed": 3, "sg7e0f-committed": 3}
    for group in archived:
        assert not any(answer == "reject" for _, answer in last_deliveries(group).values())
