"""The driver's view: the newest of what every bucket has told, and nothing of what is gone."""

import msgspec

from monitor.model import (
    DecodeFailed,
    FormerRetention,
    GroupState,
    GroupSummary,
    GrownLog,
    OffsetsRetention,
    PartitionObserved,
    PassCompleted,
    PassHistory,
    Phase,
    ShortLife,
    ShortLives,
    TopicObserved,
)
from monitor.tracking.decode_errors import fold_decode_errors
from monitor.tracking.serialization import encode_state
from monitor.tracking.topic import fold_topic
from streaming_jobs.driver.cluster_view import ClusterView
from streaming_jobs.ingest.schemas import BucketRow, RowKind


def topic(bucket: int, name: str, pass_ms: int) -> BucketRow:
    seen = TopicObserved(
        cluster="c", topic=name, pass_ms=pass_ms, observed_ms=pass_ms, partitions=(PartitionObserved(partition=0),)
    )
    return BucketRow(bucket, RowKind.TOPIC, name, encode_state(fold_topic("c", name, None, [seen])))


def completed(bucket: int, pass_ms: int, topics: int = 0, retention: OffsetsRetention | None = None) -> BucketRow:
    event = PassCompleted(
        cluster="c", pass_ms=pass_ms, completed_ms=pass_ms, topics=topics, offsets_retention=retention
    )
    return BucketRow(bucket, RowKind.PASS, "", msgspec.msgpack.encode(event))


def group(bucket: int, name: str) -> BucketRow:
    return BucketRow(bucket, RowKind.GROUP, name, encode_state(GroupState(cluster="c", group=name)))


def test_there_is_no_catalog_before_the_first_completed_pass():
    view = ClusterView("c")
    view.take([topic(0, "t", 100)])
    assert view.catalog() is None
    view.take([completed(0, 100), completed(1, 100)])
    assert view.catalog().topics.keys() == {"t"}


def test_the_newest_pass_counts_and_topics_that_it_did_not_see_are_gone():
    view = ClusterView("c")
    view.take([topic(0, "old", 100), topic(1, "new", 200), completed(0, 100), completed(1, 200)])
    assert view.catalog().pass_ms == 200
    assert view.catalog().topics.keys() == {"new"}
    view.take([BucketRow(1, RowKind.TOPIC, "new", None)])
    assert view.catalog().topics == {}


def test_it_says_whether_the_catalog_may_have_changed():
    view = ClusterView("c")
    for rows, changed in (([topic(0, "t", 1)], True), ([group(0, "g")], False), ([completed(0, 1)], True), ([], False)):
        view.take(rows)
        assert view.catalog_changed is changed


def test_a_bucket_that_tells_all_makes_what_was_known_of_it_void_and_of_no_other():
    view = ClusterView("c")
    view.take([group(0, "a"), group(1, "b"), topic(0, "t", 100), completed(1, 100)])
    view.take([BucketRow(0, RowKind.WHOLE, "", b""), group(0, "c")])
    assert [name for name in "abc" if view.group_state(name) is not None] == ["b", "c"]
    assert view.catalog().topics == {}


def test_what_could_not_be_read_is_known_by_source_and_failures_are_those_of_the_batch():
    failed = DecodeFailed(source="log", reason="Truncated", log_partition=1, log_offset=2, position=3)
    source = BucketRow(3, RowKind.SOURCE, "log", encode_state(fold_decode_errors("c", "log", None, [failed])))
    view = ClusterView("c")
    view.take([source, BucketRow(3, RowKind.FAILURE, "group/g", b"KeyError: 1")])
    assert [state.source for state in view.sources()] == ["log"]
    assert view.failures == ("group/g: KeyError: 1",)
    view.take([])
    assert [state.source for state in view.sources()] == ["log"]
    assert view.failures == ()


def test_it_counts_the_micro_batches_that_had_something_of_a_reading():
    view = ClusterView("c")
    read = [BucketRow(bucket, RowKind.READING, "", b"") for bucket in (0, 1)]
    for rows, count in (([group(0, "g")], 0), (read, 1), ([], 1), ([completed(0, 1)], 1), (read[1:], 2)):
        view.take(rows)
        assert view.readings == count


def test_it_knows_how_many_topics_of_the_newest_pass_are_missing():
    view = ClusterView("c")
    lost = [BucketRow(bucket, RowKind.PASSES, "", encode_state(PassHistory(first_ms=1, lost=2))) for bucket in (0, 1)]
    view.take([topic(0, "b", 200), completed(0, 200, topics=3), *lost])
    assert view.catalog() is not None
    assert view.unseen == 2


def test_collectors_have_looked_since_the_end_of_the_first_pass_as_soon_as_every_bucket_knows_it():
    """States of an older groupwatch do not know it: then the oldest topic tells."""
    view = ClusterView("c")
    first = BucketRow(0, RowKind.PASSES, "", encode_state(PassHistory(first_ms=70)))
    view.take([first, topic(0, "t", 100), completed(0, 100), completed(1, 100)])
    assert view.catalog().watched_ms == 100
    view.take([BucketRow(1, RowKind.PASSES, "", encode_state(PassHistory(first_ms=70)))])
    assert view.catalog().watched_ms == 70


def test_the_retentions_that_brokers_had_before_are_those_of_the_passes():
    view = ClusterView("c")
    former = FormerRetention(600_000, until_ms=50)
    history = BucketRow(0, RowKind.PASSES, "", encode_state(PassHistory(first_ms=70, former_retentions=(former,))))
    view.take([history, completed(0, 100, retention=OffsetsRetention(60_000))])
    retention = view.catalog().offsets_retention
    assert [retention.at(ms) for ms in (49, 50)] == [600_000, 60_000]


def test_what_a_growth_of_the_offsets_topic_did_is_known_of_all_buckets():
    view = ClusterView("c")
    growths = (GrownLog(7, 3, 5_000, 2, ("b",)), GrownLog(7, 3, 5_000, 1, ("a",)))
    view.take([BucketRow(n, RowKind.PLACES, "", encode_state(grown)) for n, grown in enumerate(growths)])
    assert view.grown_log() == GrownLog(7, 3, 5_000, 3, ("a", "b"))
    view.take([BucketRow(0, RowKind.WHOLE, "", b"")])
    assert view.grown_log() == growths[1]


def evaluated(bucket: int, name: str, life: ShortLife | None) -> BucketRow:
    summary = GroupSummary("c", name, "kafka-classic", Phase.EMPTY, None, 0, 0, (), short_life=life)
    return BucketRow(bucket, RowKind.SUMMARIES, "", msgspec.msgpack.encode([summary]))


def test_groups_that_came_and_went_alike_are_known_over_all_buckets():
    view = ClusterView("c")
    view.take([topic(0, "t", 100), completed(0, 100)])
    assert view.short_lives() == {}
    lives = [ShortLife("app-*", 10 * number, 10 * number + 5) for number in range(5)]
    view.take([evaluated(number % 2, f"app-{number}", life) for number, life in enumerate(lives)])
    view.take([evaluated(0, "billing", None), evaluated(1, "job-1", ShortLife("job-*", 1, 2))])
    assert view.short_lives() == {"app-*": ShortLives((5, 15, 25), (20, 30, 40))}


def test_groups_that_came_and_went_alike_are_known_before_the_first_is_evaluated():
    """A worker sends the lives of its groups as long as it sends no group; then what is evaluated counts."""
    view = ClusterView("c")
    lives = [ShortLife("app-*", 10 * number, 10 * number + 5) for number in range(5)]
    for bucket in (0, 1):
        view.take(
            [
                BucketRow(bucket, RowKind.WHOLE, "", b""),
                BucketRow(bucket, RowKind.LIVES, "", msgspec.msgpack.encode(lives[bucket::2])),
            ]
        )
    assert view.short_lives() == {"app-*": ShortLives((5, 15, 25), (20, 30, 40))}
    view.take([BucketRow(0, RowKind.WHOLE, "", b""), *[evaluated(0, f"app-{n}", lives[n]) for n in (0, 2)]])
    assert view.short_lives() == {"app-*": ShortLives((5, 15, 25), (10, 20, 30))}
