"""What the state of a group takes for each partition: a field more of every partition shows here first.

The limits may only fall. Before jumps, attempts and standstills were known (commit b6d7f5ca), the same groups took 225,
356, 356 and 225 bytes a partition.
"""

import pytest

from monitor.model import GroupState, OffsetCommitted
from monitor.tracking.group import fold_group
from monitor.tracking.serialization import encode_state

NOW = 1_795_313_640_000
PARTITIONS = 50


def steady(by: int, commits: int) -> GroupState:
    """A group of which each partition was committed every 5 s so often, by so many records each time."""
    events = (
        OffsetCommitted("g", "orders", number, offset=1_000_000 + by * n, committed_ms=NOW + 5_000 * n)
        for n in range(commits)
        for number in range(PARTITIONS)
    )
    state = fold_group("c", "g", None, events)
    assert state is not None
    return state


@pytest.mark.parametrize(
    ("by", "commits", "most"),
    [
        pytest.param(40, 40, 233, id="three minutes of small steps"),
        pytest.param(40, 800, 364, id="an hour of small steps"),
        pytest.param(5_000, 800, 364, id="an hour of large steps: the jump of the second commit is forgotten"),
        pytest.param(0, 40, 244, id="three minutes without records: the standstill"),
        pytest.param(5_000, 40, 282, id="three minutes of large steps: the jump of the second commit"),
    ],
)
def test_a_partition_takes_no_more_bytes(by: int, commits: int, most: int):
    assert len(encode_state(steady(by, commits))) / PARTITIONS <= most
