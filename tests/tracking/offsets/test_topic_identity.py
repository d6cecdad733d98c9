"""A commit that falls because its topic was deleted and made anew: nothing is delivered again."""

from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.model import CommittedTopic, OffsetCommitted, OffsetDeleted
from monitor.tracking.group import fold_group
from tests.tracking.test_group import combined
from tests.tracking.test_group_captures import events

OLD, NEW = 7, -8


def commit(at_ms, offset, key=None, partition=0, topic="t"):
    return OffsetCommitted("g", topic, partition, offset, at_ms, topic_key=key)


def runs(log):
    """The commits as the decoder combines those of a chunk: by partition and topic, in the order of the first ones."""
    found = {}
    for event in log:
        found.setdefault((event.topic, event.partition, event.topic_key), []).append(replace(event, topic="t"))
    return [
        replace(run, topic=topic, partition=partition)
        for (topic, partition, _), own in found.items()
        for run in combined(own)
    ]


def redelivered(log):
    """However the log is cut into batches, and with each run of commits of one partition combined or not."""
    state, whole = None, fold_group("c", "g", None, log)
    for event in log:
        state = fold_group("c", "g", state, [event])
    assert state == whole
    for cut in range(len(log)):
        pieces = fold_group("c", "g", fold_group("c", "g", None, runs(log[:cut])), runs(log[cut:]))
        assert pieces.redelivered_records == whole.redelivered_records
    return whole.redelivered_records


@pytest.mark.parametrize(
    ("log", "records"),
    [
        pytest.param([commit(1, 50, OLD), commit(2, 3, NEW), commit(3, 9, NEW)], 0, id="it begins anew"),
        pytest.param([commit(1, 50, OLD), commit(2, 3, OLD)], 47, id="the same topic"),
        pytest.param([commit(1, 50), commit(2, 3)], 47, id="an older broker does not say which topic"),
        pytest.param([commit(1, 50, OLD), commit(2, 3)], 47, id="a commit does not say which"),
        pytest.param([commit(1, 50), commit(2, 3, NEW)], 47, id="nor did the one before"),
        pytest.param(
            [commit(1, 50, OLD), commit(2, 50, NEW), commit(3, 4, NEW)],
            0,
            id="the consumer commits its old position in the new topic first",
        ),
        pytest.param(
            [commit(1, 50, OLD), commit(2, 50, NEW), commit(3, 4, NEW), commit(4, 9, NEW), commit(5, 7, NEW)],
            2,
            id="only the first fall is that of the topic",
        ),
        pytest.param(
            [commit(1, 50, OLD), commit(2, 1, NEW, partition=1), commit(3, 9, NEW, partition=1), commit(4, 5, NEW)],
            0,
            id="another partition told it first",
        ),
        pytest.param(
            [commit(1, 50, OLD), commit(2, 3, NEW), commit(3, 9, NEW, partition=1), commit(4, 5, NEW, partition=1)],
            4,
            id="a partition that only the new topic has goes back",
        ),
        pytest.param(
            [commit(1, 50, OLD), commit(1, 60, OLD, topic="u"), commit(2, 3, NEW), commit(3, 40, OLD, topic="u")],
            20,
            id="another topic goes back",
        ),
    ],
)
def test_records_are_delivered_again_only_where_the_topic_is_the_same(log, records):
    assert redelivered(log) == records


STEPS = st.tuples(st.sampled_from([0, 0, 0, 0, 1]), st.integers(0, 1), st.integers(0, 9))


@given(st.lists(STEPS, min_size=1, max_size=25), st.lists(st.integers(0, 25), max_size=4))
def test_what_is_delivered_again_does_not_depend_on_how_the_log_is_cut(steps, cuts):
    topics = accumulate(step for step, _, _ in steps)
    rows = enumerate(zip(topics, steps, strict=True), 1)
    log = [commit(at_ms, offset, 1 + topic, partition) for at_ms, (topic, (_, partition, offset)) in rows]
    state, whole = None, fold_group("c", "g", None, log)
    for begin, end in pairwise([0, *sorted(cuts), len(log)]):
        state = fold_group("c", "g", state, runs(log[begin:end])) if begin < end else state
    assert state is None or state.redelivered_records == whole.redelivered_records


def test_a_topic_that_is_made_anew_twice_falls_twice():
    log = [commit(1, 50, OLD), commit(2, 3, NEW), commit(3, 9, NEW), commit(4, 2, OLD + 1)]
    assert fold_group("c", "g", None, log).redelivered_records == 0


def test_that_the_commit_went_back_is_still_told():
    state = fold_group("c", "g", None, [commit(1, 50, OLD), commit(2, 3, NEW)])
    (known,) = state.offsets
    assert (known.rewinds, known.last_rewind.before, known.last_rewind.after) == (1, 50, 3)


def test_a_topic_without_committed_offsets_is_forgotten():
    state = fold_group("c", "g", None, [commit(1, 50, OLD), commit(2, 3, NEW, topic="u")])
    assert state.committed_topics == (CommittedTopic("t", OLD), CommittedTopic("u", NEW))
    state = fold_group("c", "g", state, [OffsetDeleted("g", "t", 0)])
    assert state.committed_topics == (CommittedTopic("u", NEW),)


@pytest.mark.parametrize(("group", "fallen"), [("xenon-otter48-group", 8 + 32 + 37), ("xenon-pearl50-group", None)])
def test_a_real_topic_that_was_made_anew_costs_no_redelivery_though_its_tombstones_are_lost(group, fallen):
    """Kafka 4.3.1 writes tombstones when a topic is deleted; here they are left out."""
    log = [event for _, _, event in events("4.3.1")[group] if not isinstance(event, OffsetDeleted)]
    commits = [event for event in log if isinstance(event, OffsetCommitted)]
    by_place = {}
    for event in commits:
        by_place.setdefault((event.topic, event.partition), []).append(event.offset)
    falls = sum(max(0, before - after) for offsets in by_place.values() for before, after in pairwise(offsets))
    assert fallen is None or falls == fallen
    unknown = [replace(event, topic_key=None) if isinstance(event, OffsetCommitted) else event for event in log]
    assert fold_group("c", group, None, unknown).redelivered_records == falls
    assert fold_group("c", group, None, log).redelivered_records == 0
