"""A bucket folds events into its entities, and knows what each micro-batch changed; one entity's failure is its own."""

import msgspec
import pytest

from monitor.detection.thresholds.overrides import DetectionRules
from monitor.model import (
    Entity,
    EpochStored,
    GroupKind,
    GroupObserved,
    GroupsListed,
    GroupState,
    Member,
    MembershipStored,
    OffsetCommitted,
    OffsetDeleted,
    PartitionObserved,
    PassCompleted,
    PassTopicsCounted,
    PieceBegun,
    ReadablePartitionsStored,
    SharedTopic,
    ShortLife,
    Source,
    TopicObserved,
)
from monitor.tracking.cluster_fold import Key
from monitor.tracking.serialization import StateCorruptError, StateVersionError
from monitor.tracking.topic import catalog_of
from streaming_jobs.buckets.batch_context import BatchContext
from streaming_jobs.buckets.bucket import Bucket, Entry, EventRow, pack_entries, unpack_entries
from streaming_jobs.buckets.judge import BucketEvaluator
from streaming_jobs.buckets.processor import changed_rows
from streaming_jobs.buckets.store import CachedBucket
from streaming_jobs.ingest.schemas import RowKind
from tests.streaming_jobs.buckets.folding import fold

G, L, T, P = (Entity.GROUP, "g"), (Entity.LISTING, "any"), (Entity.TOPIC, "t"), (Entity.PASS, "")


def commit(offset: int) -> bytes:
    event = OffsetCommitted(group="g", topic="t", partition=0, offset=offset, committed_ms=offset)
    return msgspec.msgpack.encode([event])


def offset_deleted(topic: str) -> bytes:
    return msgspec.msgpack.encode([OffsetDeleted(group="g", topic=topic, partition=0)])


def topic(name: str, pass_ms: int) -> bytes:
    event = TopicObserved(
        cluster="c", topic=name, pass_ms=pass_ms, observed_ms=pass_ms, partitions=(PartitionObserved(partition=0),)
    )
    return msgspec.msgpack.encode([event])


def completed(pass_ms: int) -> bytes:
    return msgspec.msgpack.encode([PassCompleted(cluster="c", pass_ms=pass_ms, completed_ms=pass_ms, topics=1)])


def rows(*told: tuple[Key, bytes]) -> list[EventRow]:
    """Rows of events, in the order of the log."""
    return [EventRow(position, *key, payload) for position, (key, payload) in enumerate(told)]


def counted(pass_ms: int, topics: int) -> bytes:
    return msgspec.msgpack.encode([PassTopicsCounted(pass_ms=pass_ms, topics=topics)])


def test_what_moved_is_told_only_to_who_knows_what_it_moved_from(monkeypatch: pytest.MonkeyPatch):
    """Who has missed a micro-batch, in which something else changed, is told the whole group."""
    monkeypatch.setattr("streaming_jobs.buckets.bucket.MANY_OFFSETS", 2)
    bucket = Bucket("c")
    both = [OffsetCommitted(group="g", topic=topic, partition=0, offset=1, committed_ms=1) for topic in ("t", "u")]
    fold(bucket, Entity.GROUP, "g", [msgspec.msgpack.encode(both)], batch=1)
    fold(bucket, Entity.GROUP, "g", [offset_deleted("v"), commit(2)], batch=2)
    fold(bucket, Entity.GROUP, "g", [commit(3)], batch=3)
    told = {known: [entry.entity for entry in bucket.changes_since(known)] for known in (0, 1, 2)}
    assert told == {0: ["group"], 1: ["group"], 2: ["offsets"]}


def test_the_last_commit_in_log_order_stands():
    bucket = Bucket("c")
    fold(bucket, Entity.GROUP, "g", [commit(10), commit(7)], batch=1)
    (group,) = bucket.groups().values()
    assert [offset.offset for offset in group.offsets] == [7]


def test_a_group_is_there_once_its_own_log_has_it():
    """After compaction, the partitions that a share group can read may come before the group itself."""
    bucket = Bucket("c")
    readable = ReadablePartitionsStored(group="g", stored_ms=1, initialized=(SharedTopic("id", "t", (0,)),))
    fold(bucket, Entity.GROUP, "g", [msgspec.msgpack.encode([readable])], batch=1)
    assert bucket.groups() == {}
    epoch = EpochStored(group="g", kind=GroupKind.SHARE, epoch=1, stored_ms=2)
    fold(bucket, Entity.GROUP, "g", [msgspec.msgpack.encode([epoch])], batch=2)
    assert bucket.groups()["g"].share.initialized == readable.initialized


def test_what_changed_is_known_by_micro_batch():
    bucket = Bucket("c")
    fold(bucket, Entity.GROUP, "g", [commit(10)], batch=1)
    fold(bucket, Entity.GROUP, "h", [commit(10)], batch=2)
    fold(bucket, Entity.GROUP, "g", [offset_deleted("never seen")], batch=3)
    assert bucket.changed_since(0) == [(Entity.GROUP, "g"), (Entity.GROUP, "h")]
    assert bucket.changed_since(1) == [(Entity.GROUP, "h")]
    bucket.forget_changes_until(1)
    assert bucket.changed_since(0) == [(Entity.GROUP, "h")]


def test_a_topic_that_two_completed_passes_did_not_see_is_gone_and_that_is_a_change():
    bucket = Bucket("c")
    fold(bucket, Entity.TOPIC, "gone", [topic("gone", 100)], batch=1)
    fold(bucket, Entity.TOPIC, "there", [topic("there", 200)], batch=1)
    fold(bucket, Entity.PASS, "", [completed(200)], batch=2)
    assert bucket.changed_since(1) == [(Entity.TOPIC, "gone"), (Entity.PASSES, ""), (Entity.PASS, "")]
    fold(bucket, Entity.TOPIC, "there", [topic("there", 300)], batch=3)
    fold(bucket, Entity.PASS, "", [completed(300)], batch=3)
    assert [name for entity, name in bucket.states if entity is Entity.TOPIC] == ["there"]
    assert Entry("topic", "gone", None) in bucket.entries(bucket.changed_since(2))


def test_the_end_of_a_pass_that_was_written_twice_ends_it_once():
    bucket = Bucket("c")
    bucket.fold_all(rows((T, topic("t", 100)), (P, completed(100)), (P, completed(200)), (P, completed(200))), 1)
    assert bucket.states[T].missed
    bucket.fold_all(rows((P, completed(200))), 2)
    assert bucket.states[T].missed
    assert bucket.changed_since(1) == []


def test_topics_that_two_passes_missed_are_gone_however_the_passes_are_cut_into_micro_batches():
    """The topic comes back in the last pass, and has begun anew then."""
    events = [(T, topic("t", 100)), *[(P, completed(at_ms)) for at_ms in (100, 200, 300)]]
    events += [(T, topic("t", 400)), (P, completed(400))]
    found = []
    for cut in range(len(events) + 1):
        bucket = Bucket("c")
        bucket.fold_all(rows(*events[:cut]), 1)
        bucket.fold_all(rows(*events[cut:]), 2)
        found.append((bucket.states[T].pass_ms, bucket.states[T].partitions[0].first_seen_ms))
    assert found == [(400, 400)] * 7


def test_a_pass_whose_events_were_lost_takes_no_topic_away():
    """It names three topics, and the log has one of them; also where a micro-batch ends in it."""
    lost = msgspec.msgpack.encode([PassCompleted(cluster="c", pass_ms=200, completed_ms=200, topics=3)])
    bucket = Bucket("c")
    bucket.fold_all(rows((T, topic("t", 50)), (P, completed(50)), (P, completed(100)), (P, counted(200, 1))), 1)
    bucket.fold_all(rows((P, counted(200, 0)), (P, lost)), 2)
    assert bucket.states[T].missed
    bucket.fold_all(rows((P, counted(300, 1)), (P, completed(300))), 3)
    assert T not in bucket.states


def test_a_row_that_goes_on_behind_passes_is_cut_there():
    """One row has all that a chunk tells of the topic, which three passes do not see in between."""
    seen = [TopicObserved("c", "t", at_ms, at_ms, (PartitionObserved(partition=0),)) for at_ms in (100, 500)]
    row = msgspec.msgpack.encode([seen[0], PieceBegun(9), seen[1]])
    ends = [EventRow(position, *P, completed(100 * n)) for n, position in enumerate((2, 4, 6, 8, 10), start=1)]
    bucket = Bucket("c")
    bucket.fold_all([*reversed(ends), EventRow(1, *T, row)], 1)
    assert bucket.failures == {}
    assert (bucket.states[T].pass_ms, bucket.states[T].partitions[0].first_seen_ms) == (500, 500)


def test_deleted_topics_go_within_an_hour_where_an_event_of_each_pass_is_refused():
    bucket, minute = Bucket("c"), 60_000
    for number in range(100):
        at_ms = minute * number
        key = (Entity.TOPIC, f"t{number}")
        short = msgspec.msgpack.encode([PassCompleted(cluster="c", pass_ms=at_ms, completed_ms=at_ms, topics=2)])
        bucket.fold_all(rows((key, topic(key[1], at_ms)), (P, counted(at_ms, 1)), (P, short)), number)
    left = [name for entity, name in bucket.states if entity is Entity.TOPIC]
    assert left == [f"t{number}" for number in range(40, 100)]
    assert bucket.states[Entity.PASSES, ""].lost == 1


def test_a_topic_whose_events_cannot_be_folded_is_not_taken_for_missed():
    bucket = Bucket("c")
    bucket.fold_all(rows((T, topic("t", 100)), (P, counted(100, 1)), (P, completed(100))), 1)
    for at_ms in (200, 300, 400):
        bucket.fold_all(rows((T, b"\xc1 not MessagePack"), (P, counted(at_ms, 1)), (P, completed(at_ms))), at_ms)
        assert list(bucket.failures) == ["topic/t"]
    assert not bucket.states[T].missed


def test_an_end_that_another_program_wrote_too_early_does_not_make_the_pass_incomplete():
    bucket = Bucket("c")
    bucket.fold_all(rows((T, topic("t", 100)), (P, counted(100, 1)), (P, completed(100))), 1)
    for at_ms in (200, 300):
        early = msgspec.msgpack.encode([PassCompleted(cluster="c", pass_ms=at_ms, completed_ms=at_ms - 9, topics=0)])
        bucket.fold_all(rows((P, early), (P, counted(at_ms, 1)), (P, completed(at_ms))), at_ms)
    assert T not in bucket.states


def test_an_entity_of_a_newer_groupwatch_is_refused():
    with pytest.raises(StateCorruptError, match="tomorrow"):
        Bucket("c").load([Entry("tomorrow", "", b"")], batch=1)


def test_groups_that_a_listing_lacks_are_gone_and_begin_anew_in_the_one_after_it():
    def listed_by(pass_ms: int, *groups: str) -> bytes:
        listing = GroupsListed("c", Source.SYSTEM, pass_ms=pass_ms, completed_ms=pass_ms, groups=groups)
        return msgspec.msgpack.encode([listing])

    events = [(G, seen(Source.SYSTEM, 100)), (L, listed_by(200)), (L, listed_by(300, "g"))]
    bucket = Bucket("c")
    bucket.fold_all(rows(*events), 1)
    assert bucket.groups() == {}
    bucket.fold_all(rows((G, seen(Source.SYSTEM, 400)), (L, listed_by(400, "g"))), 2)
    assert bucket.groups()["g"].observed_ms == 400


def test_a_clock_that_is_set_back_an_hour_between_two_jobs_takes_no_topic_and_leaves_none():
    """The collector of the job that starts then dates its passes an hour back; one topic was deleted in between."""
    hour = 3_600_000
    bucket = Bucket("c")
    known = [((Entity.TOPIC, name), topic(name, 2 * hour)) for name in ("there", "deleted")]
    bucket.fold_all(rows(*known, (P, completed(2 * hour))), batch=1)
    steps = ((hour, ["there", "deleted"]), (hour + 10_000, ["there"]), (hour + 20_000, ["there"]))
    for batch, (at_ms, names) in enumerate(steps, start=2):
        bucket.fold_all(rows(((Entity.TOPIC, "there"), topic("there", at_ms)), (P, completed(at_ms))), batch)
        assert [name for entity, name in bucket.states if entity is Entity.TOPIC] == names
        assert bucket.states[Entity.TOPIC, "there"].pass_ms == at_ms


def test_a_pass_after_the_clock_was_set_back_takes_no_topic_while_a_micro_batch_ends_inside_it():
    hour = 3_600_000
    one, two = (Entity.TOPIC, "one"), (Entity.TOPIC, "two")
    bucket = Bucket("c")
    bucket.fold_all(rows((one, topic("one", 2 * hour)), (two, topic("two", 2 * hour)), (P, completed(2 * hour))), 1)
    bucket.fold_all(rows((one, topic("one", hour))), batch=2)
    topics = [state for (entity, _), state in bucket.states.items() if entity is Entity.TOPIC]
    assert list(catalog_of("c", 2 * hour, topics).topics) == ["one", "two"]
    bucket.fold_all(rows((two, topic("two", hour)), (P, completed(hour))), batch=3)
    assert [bucket.states[key].pass_ms for key in (one, two)] == [hour, hour]


def test_events_that_cannot_be_folded_leave_the_state_and_the_others_alone():
    bucket = Bucket("c")
    fold(bucket, Entity.GROUP, "g", [commit(10)], batch=1)
    bucket.fold_all(rows((G, b"\xc1 not MessagePack"), ((Entity.GROUP, "h"), commit(11))), batch=2)
    assert list(bucket.failures) == ["group/g"]
    assert list(bucket.groups()) == ["g", "h"]
    assert bucket.changed_since(1) == [(Entity.GROUP, "h")]


def test_entries_are_the_entities_again_once_they_are_loaded():
    bucket = Bucket("c")
    fold(bucket, Entity.GROUP, "g", [commit(10)], batch=1)
    fold(bucket, Entity.TOPIC, "t", [topic("t", 100)], batch=1)
    fold(bucket, Entity.PASS, "", [completed(100)], batch=1)
    again = Bucket("c")
    again.load(unpack_entries(pack_entries(bucket.entries(bucket.states))), batch=5)
    assert again.states == bucket.states
    assert again.changed_since(4) == list(bucket.states)
    again.load([Entry("group", "g", None)], batch=6)
    assert again.groups() == {}


def test_a_row_that_is_none_says_so():
    with pytest.raises(StateCorruptError, match="bucket"):
        unpack_entries(b"\xc1 not MessagePack")


def test_a_state_of_a_newer_groupwatch_stops_the_job():
    newer = msgspec.msgpack.encode((999, GroupState(cluster="c", group="g")))
    with pytest.raises(StateVersionError, match="999"):
        Bucket("c").load([Entry("group", "g", newer)], batch=1)


def seen(source: Source, pass_ms: int) -> bytes:
    event = GroupObserved(
        cluster="c", group="g", kind=GroupKind.ROCKETMQ, source=source, pass_ms=pass_ms, observed_ms=pass_ms
    )
    return msgspec.msgpack.encode([event])


def listed(source: Source) -> bytes:
    return msgspec.msgpack.encode([GroupsListed(cluster="c", source=source, pass_ms=1, completed_ms=2, groups=("g",))])


def test_a_micro_batch_has_something_of_a_reading_if_a_group_was_read_or_all_are_listed():
    """A topic, the end of a Kafka's pass over its topics, and a query of Spark are no readings of its groups."""
    bucket = Bucket("c")
    for batch, (events, is_one) in enumerate(
        [
            ([(G, seen(Source.SYSTEM, 100))], True),  # of an incomplete pass, too
            ([], False),
            ([(G, seen(Source.SYSTEM, 100))], False),  # read again after a restart
            ([(G, seen(Source.SYSTEM, 200))], True),
            ([(L, listed(Source.SYSTEM))], True),
            ([(L, listed(Source.ADMIN))], True),  # nothing has changed in any group
            ([(L, listed(Source.CHECKPOINT))], False),
            ([(T, topic("t", 300)), (P, completed(300))], False),
        ]
    ):
        bucket.fold_all(rows(*events), batch)
        assert bucket.had_reading is is_one, (batch, events)
        told = changed_rows(
            7, CachedBucket(bucket), BucketEvaluator(7, DetectionRules()), BatchContext(run="r", batch=batch, now_ms=0)
        )
        assert any(row.kind is RowKind.READING for row in told) is is_one


def test_the_short_lives_of_groups_are_sent_before_their_states():
    """After a start, the driver has to know them when the first group is evaluated: it compares groups."""
    member = Member("m", topics=("t",), session_timeout_ms=45_000, client_id="app")
    came = MembershipStored("app-1", 1, "consumer", "range", None, 100_000, (member,))
    went = MembershipStored("app-1", 2, "consumer", None, None, 112_000, ())
    read = OffsetCommitted(group="app-1", topic="t", partition=0, offset=5, committed_ms=111_000)
    bucket, judge = Bucket("c"), BucketEvaluator(0, DetectionRules())
    fold(bucket, Entity.GROUP, "app-1", [msgspec.msgpack.encode([came, read, went])], 0)
    fold(bucket, Entity.GROUP, "g", [commit(5)], 0)
    start = BatchContext(run="r", batch=0, now_ms=0, known=-1, catalog=None)
    told = {row.kind: row.payload for row in changed_rows(0, CachedBucket(bucket, 0), judge, start)}
    assert msgspec.msgpack.decode(told[RowKind.LIVES], type=list[ShortLife]) == [ShortLife("app-*", 100_000, 112_000)]
    assert RowKind.GROUP not in told
    judged = msgspec.structs.replace(start, catalog="some")
    assert RowKind.LIVES not in {row.kind for row in changed_rows(0, CachedBucket(bucket, 0), judge, judged)}


def test_a_query_of_spark_that_was_read_is_no_reading_of_the_cluster():
    bucket = Bucket("c")
    bucket.fold_all(rows((G, seen(Source.CHECKPOINT, 100))), 0)
    assert not bucket.had_reading
