"""However workers take turns with a bucket, it is what its events make of it. Spark's state is played by lists here.

That Spark keeps such lists, and hands them back after a crash, is for the tests of the whole job.
"""

from copy import deepcopy
from dataclasses import dataclass, field

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.detection.thresholds.overrides import DetectionRules
from monitor.model import Entity, OffsetCommitted
from monitor.tracking.serialization import encode_state
from streaming_jobs.buckets import bucket
from streaming_jobs.buckets import store as bucket_store
from streaming_jobs.buckets.batch_context import BatchContext
from streaming_jobs.buckets.bucket import Bucket
from streaming_jobs.buckets.judge import BucketEvaluator
from streaming_jobs.buckets.processor import changed_rows
from streaming_jobs.buckets.store import BucketStore, CachedBucket
from streaming_jobs.driver.cluster_view import ClusterView
from tests.streaming_jobs.buckets.folding import fold


@dataclass
class Rows:
    """A ListState or ValueState of Spark, of one key."""

    rows: list = field(default_factory=list)
    read: int = 0

    def get(self):
        self.read += 1
        return iter(list(self.rows))

    def exists(self):
        return bool(self.rows)

    def put(self, rows):
        assert rows, "Spark refuses an empty list"
        self.rows = list(rows)

    def appendList(self, rows):  # noqa: N802 -- Spark's name
        self.rows += rows

    def clear(self):
        self.rows = []


class Value(Rows):
    def get(self):
        return self.rows[0] if self.rows else None

    def update(self, value):
        self.rows = [value]


@dataclass
class Handle:
    """Spark's handle of a stateful processor, of one key."""

    states: dict[str, Rows] = field(default_factory=dict)

    def getListState(self, name, _schema):  # noqa: N802 -- Spark's name
        return self.states.setdefault(name, Rows())

    def getValueState(self, name, _schema):  # noqa: N802
        return self.states.setdefault(name, Value())


@pytest.fixture(autouse=True)
def small_bases(monkeypatch):
    """So that a base is written anew now and then, and that of most groups only what has moved is written."""
    monkeypatch.setattr(bucket, "MANY_OFFSETS", 2)
    monkeypatch.setattr(bucket_store, "LEAST_RECENT_BYTES", 500)
    monkeypatch.setattr(bucket_store, "ROW_BYTES", 300)


def commit(group: str, offset: int) -> bytes:
    """Of one of three partitions."""
    event = OffsetCommitted(group=group, topic="t", partition=offset % 3, offset=offset, committed_ms=offset)
    return msgspec.msgpack.encode([event])


def turn(handle: Handle, kept: CachedBucket | None, batch: int, commits: dict[str, int]) -> CachedBucket:
    """One micro-batch of the bucket in a worker that remembers ``kept``."""
    store = BucketStore(handle)
    now = store.load_newest(kept, "c", batch)
    for group, offset in commits.items():
        fold(now.bucket, Entity.GROUP, group, [commit(group, offset)], batch)
    store.save(now, batch)
    return now


BATCHES = st.lists(
    st.tuples(st.integers(0, 2), st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 50), max_size=4)),
    max_size=30,
)


@given(BATCHES, st.data())
def test_workers_that_take_turns_see_what_one_alone_would_see(batches, data):
    handle, workers, alone = Handle(), [None, None, None], Bucket("c")
    for batch, (worker, commits) in enumerate(batches):
        if data.draw(st.integers(0, 5)) == 0:  # an attempt that another worker makes again: its state is thrown away
            other = data.draw(st.integers(0, 2))
            workers[other] = turn(deepcopy(handle), workers[other], batch, commits)
        workers[worker] = turn(handle, workers[worker], batch, commits)
        for group, offset in commits.items():
            fold(alone, Entity.GROUP, group, [commit(group, offset)], batch)
        assert workers[worker].bucket.states == alone.states
    assert turn(handle, None, len(batches), {}).bucket.states == alone.states


@given(BATCHES, st.data())
def test_the_driver_is_told_enough_to_know_every_group(batches, data):
    """A micro-batch in which nothing was judged tells nothing of groups; after that it has to be told all again."""
    handle, workers, judge = Handle(), [None, None, None], BucketEvaluator(0, DetectionRules())
    view, known = ClusterView("c"), -1
    for batch, (worker, commits) in enumerate(batches):
        workers[worker] = turn(handle, workers[worker], batch, commits)
        judged = data.draw(st.integers(0, 3)) > 0
        catalog = "some" if judged else None
        view.take(
            changed_rows(
                0, workers[worker], judge, BatchContext(run="r", batch=batch, now_ms=0, known=known, catalog=catalog)
            )
        )
        known = batch if judged else -1  # as streaming_jobs.driver.publisher has it
        if judged:
            groups = workers[worker].bucket.groups()
            assert {name: view.group_state(name) for name in "abcdef"} == {name: groups.get(name) for name in "abcdef"}


def test_of_a_group_with_many_partitions_a_micro_batch_writes_and_tells_only_what_has_moved(monkeypatch):
    monkeypatch.setattr(bucket, "MANY_OFFSETS", 100)
    monkeypatch.setattr(bucket_store, "LEAST_RECENT_BYTES", 1_000_000)
    handle, orders = Handle(), BatchContext(run="r", batch=2, now_ms=0, known=1, catalog="some")
    kept = turn(handle, None, 0, {})
    many = [OffsetCommitted(group="g", topic="t", partition=p, offset=7, committed_ms=7) for p in range(10_000)]
    earlier = OffsetCommitted(group="g", topic="t", partition=0, offset=0, committed_ms=1)  # so it has a pace
    fold(kept.bucket, Entity.GROUP, "g", [msgspec.msgpack.encode([earlier, *many])], 1)
    BucketStore(handle).save(kept, 1)
    whole = len(encode_state(kept.bucket.groups()["g"]))
    kept = turn(handle, kept, 2, {"g": 8})
    (row,) = changed_rows(0, kept, BucketEvaluator(0, DetectionRules()), orders)
    assert whole > 300_000
    assert len(handle.states["recent"].rows[-1][1]) < 200
    assert len(row.payload) < 200


def test_a_worker_that_had_the_last_turn_reads_only_the_mark():
    handle = Handle()
    kept = turn(handle, None, 0, {"a": 1})
    kept = turn(handle, kept, 1, {"a": 2})
    before = handle.states["base"].read, handle.states["recent"].read
    turn(handle, kept, 2, {"a": 3})
    assert (handle.states["base"].read, handle.states["recent"].read) == before


def test_a_worker_that_missed_a_turn_reads_what_is_recent_and_learns_what_changed():
    handle = Handle()
    mine = turn(handle, None, 0, {"a": 1, "b": 1})
    turn(handle, None, 1, {"b": 2})
    reads = handle.states["base"].read
    mine = turn(handle, mine, 2, {})
    assert handle.states["base"].read == reads
    assert mine.bucket.changed_since(0) == [(Entity.GROUP, "b")]


def test_a_micro_batch_writes_what_it_changed_until_that_is_as_much_as_the_bucket():
    handle = Handle()
    kept = turn(handle, None, 0, {"a": 1})
    written = []
    for batch in range(1, 20):
        base = handle.states["base"].rows
        kept = turn(handle, kept, batch, {"a": batch})
        written.append("base" if handle.states["base"].rows is not base else "recent")
    assert written[0] == "recent"
    assert 1 <= written.count("base") <= len(written) // 3


def test_nothing_new_writes_nothing():
    handle = Handle()
    kept = turn(handle, None, 0, {"a": 1})
    before = deepcopy(handle.states)
    turn(handle, kept, 1, {})
    assert {name: rows.rows for name, rows in handle.states.items()} == {n: r.rows for n, r in before.items()}
