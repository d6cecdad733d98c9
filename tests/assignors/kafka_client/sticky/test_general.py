"""Members with different subscriptions. The answers were asked of kafka-clients' StickyAssignor (4.3.1)."""

from __future__ import annotations

import pytest

from monitor.assignors import AssignorError
from monitor.assignors.kafka_client.sticky import StickyAssignor
from monitor.model import Member, Quirk, TopicShape
from tests.assignors.golden import plain
from tests.assignors.kafka_client.sticky.written import user_data


def member(name, topics, owned=None, *, generation=2, rack=None, field=-1):
    """``generation`` is that of the user data, ``field`` that of the subscription."""
    told = user_data(owned or {}, generation)
    return Member(member_id=name, topics=tuple(topics), user_data=told, rack=rack, generation=field)


def on_racks(**racks):
    """The rack of the one replica of each partition."""
    return [
        TopicShape(topic=name, partitions=len(each), racks=tuple((f"r{rack}",) for rack in each))
        for name, each in racks.items()
    ]


def topics(**counts):
    return [TopicShape(topic=name, partitions=count) for name, count in counts.items()]


def test_two_members_do_not_swap_partitions_of_a_topic():
    """t0-2 is to leave B for C. C's t0-0 was moved to ... nobody: B keeps 1, 3 and 4, and C gets 2 and 5."""
    members = [
        member("A", ["t1"]),
        member("B", ["t0", "t1"], {"t0": [1, 3, 4], "t1": [0, 1]}),
        member("C", ["t0", "t1"], {"t0": [0]}, generation=1),
    ]
    answer = StickyAssignor().assign(members, topics(t0=6, t1=2))
    assert plain(answer) == {"A": {"t1": [0, 1]}, "B": {"t0": [3, 4, 1]}, "C": {"t0": [0, 2, 5]}}
    assert answer.quirks == ()


def test_a_partition_returns_to_an_earlier_owner_that_no_longer_asks_for_it():
    members = [
        member("A", ["t0", "t1"]),
        member("B", ["t0", "t1"], {"t1": [0]}),
        member("C", ["t1"], {"t0": [0, 1, 2]}, generation=1),
    ]
    answer = StickyAssignor().assign(members, topics(t0=3, t1=1))
    assert plain(answer) == {"A": {"t0": [1]}, "B": {"t1": [0], "t0": [2]}, "C": {"t0": [0]}}
    assert answer.quirks == (Quirk.NOT_SUBSCRIBED,)


def test_behind_a_partition_that_does_not_exist_everything_is_given_out_again():
    """A owns t1-2 of two partitions. The original's comparison of sorted lists never gets past it."""
    members = [member("A", ["t0", "t1"], {"t1": [2]}), member("B", ["t0"], {"t0": [0]}, generation=1)]
    answer = StickyAssignor().assign(members, topics(t0=1, t1=2))
    assert plain(answer) == {"A": {"t1": [2, 0, 1]}, "B": {"t0": [0, 0]}}
    assert answer.quirks == (Quirk.DOES_NOT_EXIST,)


def test_an_earlier_owner_that_takes_no_part_makes_the_original_fail():
    members = [
        member("A", ["t0"], {"t2": [0, 1]}, generation=1),
        member("B", ["t1", "t2"], {"t0": [0], "t1": [5], "t2": [2]}),
        member("C", ["t2"], {"t1": [1]}, generation=1),
    ]
    with pytest.raises(AssignorError, match=r'^NullPointerException: Cannot invoke "java.util.List.size\(\)" because'):
        StickyAssignor().assign(members, topics(t0=2, t1=6, t2=6))


def test_claims_for_which_the_original_goes_round_for_ever_are_an_error():
    """kafka-clients 4.3.1 did not answer this within 12 s; partitions go back and forth between A and the others."""
    members = [
        member("A", ["t1"], {"t0": [4], "t1": [2, 5, 6]}, generation=1, rack="r2", field=2),
        member("B", ["t1", "t0"], {"t0": [1, 3, 4], "t1": [1, 2, 4]}, rack="r2", field=2),
        member("C", ["t1", "t0"], {"t0": [1, 5, 6, 7], "t1": [0]}, field=2),
        member("D", ["t0"], {"t0": [4], "t1": [2]}, field=2),
    ]
    with pytest.raises(AssignorError, match=r"^NoAnswer: the original moves partitions in a circle for ever$"):
        StickyAssignor().assign(members, on_racks(t0="12222", t1="11112"))


def test_subscribers_on_a_rack_of_the_partition_are_asked_first():
    """In another order a member that takes no part would be asked, and what follows would be different."""
    members = [
        member("A", ["t0"], {"t0": [1], "t1": [0], "t2": [4, 5, 6, 7]}, field=2),
        member("B", ["t2", "t1", "t0"], {"t0": [0, 2], "t2": [1, 5, 6, 7, 8]}, generation=1, field=2),
        member("C", ["t2", "t1"], {"t0": [1], "t2": [1, 2, 3]}, generation=1, field=2),
        member("D", ["t1", "t0", "t2"], {}, generation=1, rack="r2", field=2),
    ]
    answer = plain(StickyAssignor().assign(members, on_racks(t0="1121", t1="2", t2="11222")))
    assert answer == {
        "A": {"t0": [1, 3, 0]},
        "B": {"t0": [2], "t2": [1, 8]},
        "C": {"t2": [2, 3, 0]},
        "D": {"t1": [0], "t2": [4]},
    }
