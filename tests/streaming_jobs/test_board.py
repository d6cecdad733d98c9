"""The board gives what was put on it; what cannot be judged is an error that says why."""

import pytest

from monitor.metrics.app import NotJudgedError
from monitor.model import ClusterSnapshot, GroupVerdict
from monitor.tracking.stored import decode_group_state
from streaming_jobs.board import Board
from streaming_jobs.cluster_view import ClusterView
from streaming_jobs.rows import BucketRow, RowKind


def test_a_group_whose_state_cannot_be_read_is_an_error_with_the_reason():
    view = ClusterView("c")
    view.take([BucketRow(0, RowKind.GROUP, "g", b"no state")])

    def judge(group: str) -> GroupVerdict | None:
        stored = view.group_state(group)
        return stored and decode_group_state(stored)

    board = Board(["c"])
    board.publish(ClusterSnapshot(cluster="c", ready=True), judge)
    assert board.verdict("c", "absent") is None
    assert board.verdict("elsewhere", "g") is None
    with pytest.raises(NotJudgedError, match=r"^StateCorruptError: "):
        board.verdict("c", "g")
