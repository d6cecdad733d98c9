"""``java.util.PriorityQueue``: OpenJDK 17 was asked for the orders by a small program."""

from __future__ import annotations

import pytest

from monitor.assignors.java.priority_queue import PriorityQueue


@pytest.mark.parametrize(
    ("loads", "java"),
    [
        ([3, 1, 2, 1, 3, 2, 1, 2], [1, 3, 6, 3, 1, 5, 7, 2, 0, 4]),
        ([5, 4, 3, 2, 1, 1, 2, 3, 4, 5], [4, 5, 5, 3, 4, 6, 7, 2, 8, 1, 0, 9]),
        ([1, 1, 1, 1, 1, 1, 1], [0, 6, 5, 6, 1, 4, 3, 2, 0]),
    ],
)
def test_elements_of_one_load_come_as_in_java(loads, java):
    """Two are taken out and put back, the first one with a greater load; then all are taken."""
    loads = list(loads)
    queue = PriorityQueue(range(len(loads)), key=loads.__getitem__)
    first, second = queue.poll(), queue.poll()
    loads[first] += 1
    queue.add(first)
    queue.add(second)
    assert [first, second, *(queue.poll() for _ in range(len(queue)))] == java
    assert queue.poll() is None
