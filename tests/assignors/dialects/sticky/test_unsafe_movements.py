"""librdkafka's books, by hand; places 0 to 3 are partitions of one topic, and the members are 0 to 2."""

from __future__ import annotations

import pytest

from monitor.assignors import AssignorError
from monitor.assignors.dialects.sticky.unsafe_movements import UnsafeMovements


def books(*moves):
    movements = UnsafeMovements([0, 0, 0, 0])
    for move in moves:
        movements.record(*move)
    return movements


def test_what_went_the_other_way_is_found_oldest_first():
    movements = books((0, 1, 2), (1, 1, 2))
    way_back = movements.way_back(3, 2, 1)
    assert way_back is not None
    assert way_back.first() == 0
    assert movements.way_back(3, 1, 2) is None


def test_a_partition_can_itself_be_what_goes_back():
    way_back = books((0, 1, 2)).way_back(0, 2, 1)
    assert way_back is not None
    assert way_back.first() == 0


def test_the_next_one_moves_when_the_first_is_taken_back():
    movements = books((0, 1, 2), (1, 1, 2))
    way_back = movements.way_back(3, 2, 1)
    assert way_back is not None
    movements.record(way_back.first(), 2, 1)
    assert way_back.first() == 1


def test_the_last_one_cannot_be_taken_back():
    movements = books((0, 1, 2))
    way_back = movements.way_back(3, 2, 1)
    assert way_back is not None
    movements.record(way_back.first(), 2, 1)
    with pytest.raises(AssignorError, match="signal 11"):
        way_back.first()


def test_a_partition_that_is_not_where_its_route_ends_fails_an_assertion():
    with pytest.raises(AssignorError, match="signal 6: rdkafka_sticky_assignor"):
        books((0, 1, 2), (1, 1, 2), (0, 1, 0))


def test_a_key_is_freed_when_the_partition_that_brought_it_moves_on():
    movements = books((0, 1, 2), (1, 1, 2), (0, 2, 0))
    with pytest.raises(AssignorError, match="signal 11"):
        movements.way_back(3, 2, 1)


def test_a_partition_that_came_home_is_not_forgotten():
    """Its list is gone, and the topic's with it, but it is still said to have moved."""
    with pytest.raises(AssignorError, match="signal 11"):
        books((0, 1, 2), (0, 2, 1), (0, 1, 2))
