"""Commits of one partition in a chunk become one run, which says what they said."""

from itertools import groupby, pairwise
from operator import attrgetter

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import CommitPoint, Rewind, Standstill
from monitor.model.commit_history import thin
from monitor.protocol.kafka.commit_runs import combine_commits

ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 30) | st.integers(0, 3_000_000)),
    max_size=120,
)


def runs(rows):
    codes, offsets, times = (np.array([row[column] for row in rows], dtype=np.int64) for column in range(3))
    return list(combine_commits(codes, offsets, times, np.zeros(len(rows), dtype=np.int64)))


@given(ROWS)
def test_each_partition_has_one_run_in_the_order_of_their_first_commits(rows):
    found = runs(rows)
    assert [rows[run.first_row][0] for run in found] == list(dict.fromkeys(code for code, _, _ in rows))
    assert [run.first_row for run in found] == sorted(run.first_row for run in found)


@given(ROWS)
def test_a_run_says_what_its_commits_said(rows):
    for run in runs(rows):
        own = [CommitPoint(at_ms, offset) for code, offset, at_ms in rows if code == rows[run.first_row][0]]
        falls = [(a, b) for a, b in pairwise(own) if b.offset < a.offset]
        rewinds = [Rewind(b.committed_ms, a.offset, b.offset, before_ms=a.committed_ms) for a, b in falls]
        assert (run.commits, run.first) == (len(own), own[0])
        assert rows[run.last_row][1] == own[-1].offset
        assert run.points == thin(own)
        assert run.rewinds == len(rewinds)
        assert run.last_rewind == (rewinds[-1] if rewinds else None)
        assert run.first_rewind == (rewinds[0] if len(rewinds) > 1 else None)
        assert run.rewound == sum(rewind.before - rewind.after for rewind in rewinds)
        same = [list(equal) for _, equal in groupby(own, key=attrgetter("offset"))][-1]
        assert run.standstill == (Standstill(same[0].committed_ms, len(same)) if len(same) > 1 else None)


def test_a_run_ends_where_the_topic_was_made_anew():
    """Of partitions 0, 1, 0, 0, 1, 0, the third is the first of another topic of that name."""
    codes, topics = np.array([0, 1, 0, 0, 1, 0]), np.array([5, 5, 6, 6, 6, 6])
    offsets, times = np.array([90, 80, 3, 2, 4, 7]), np.arange(6)
    found = list(combine_commits(codes, offsets, times, topics))
    assert [(run.first_row, run.last_row, run.commits) for run in found] == [(0, 0, 1), (1, 1, 1), (2, 5, 3), (4, 4, 1)]
    assert [run.rewound for run in found] == [0, 0, 1, 0]


def test_nothing_gives_nothing():
    assert runs([]) == []


def test_rewinds_that_no_number_can_hold_together_end_at_the_largest():
    """A fall of 2^63 - 1 and one of 90: 64 bits hold 2^63 - 1."""
    offsets = np.array([2**63 - 1, 0, 90, 0], np.int64)
    zeros = np.zeros(4, np.int64)
    (run,) = combine_commits(zeros, offsets, np.arange(4, dtype=np.int64), zeros)
    assert (run.rewinds, run.rewound) == (2, 2**63 - 1)
    msgspec.msgpack.encode(run)


def test_falls_are_counted_exactly_up_to_the_largest_number():
    """One fall of 2^62 in the first run, one of 3 in the second."""
    offsets = np.array([2**62, 0, 5, 2], np.int64)
    codes, zeros = np.array([0, 0, 1, 1], np.int64), np.zeros(4, np.int64)
    assert [run.rewound for run in combine_commits(codes, offsets, zeros, zeros)] == [2**62, 3]
