"""The orders in which the libraries serve members, and the orders that the log leaves open.

Go compares ids by their bytes of UTF-8, C and Python by code points: that is the same order, and Python's own. Only
Java and JavaScript, which compare units of UTF-16, put ids beyond the Basic Multilingual Plane elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from monitor.assignors.java.text import string_key
from monitor.assignors.order_sensitivity import other_orders
from monitor.model import Member

MAX_ORDERS: Final = 24
"""How many orders of members are tried where the log does not tell it: all there are of four members."""


def by_member_id(members: Sequence[Member]) -> list[Member]:
    """By member id alone, static members too.

    >>> [member.member_id for member in by_member_id([Member(member_id="b", instance_id="1"), Member(member_id="a")])]
    ['a', 'b']
    """
    return sorted(members, key=lambda member: member.member_id)


def by_member_id_in_utf16(members: Sequence[Member]) -> list[Member]:
    """By member id alone, as JavaScript sorts strings."""
    return sorted(members, key=lambda member: string_key(member.member_id))


def static_first(members: Sequence[Member]) -> list[Member]:
    """Static members by instance id, then dynamic ones by member id.

    >>> ids = [("a", None), ("c", "i1"), ("b", "i2")]
    >>> [member.member_id for member in static_first([Member(member_id=name, instance_id=i) for name, i in ids])]
    ['c', 'b', 'a']
    """
    return sorted(members, key=_static_key)


def last_runs(members: Sequence[Member]) -> list[Member]:
    """As ``static_first``, but of each kind only the last run of neighbours: kafka-python groups without sorting first.

    >>> ids = [("a", "i1"), ("b", None), ("c", "i2")]
    >>> [member.member_id for member in last_runs([Member(member_id=name, instance_id=i) for name, i in ids])]
    ['c', 'b']
    """
    runs = {static: list(run) for static, run in groupby(members, key=_is_static)}
    return sorted((member for run in runs.values() for member in run), key=lambda m: (*_static_key(m), m.member_id))


def merge_sorted(members: Sequence[Member]) -> list[Member]:
    """By instance ids where both of two members have one, else by member ids, as glibc's merge sort puts them.

    The comparison is no order if static and dynamic members meet: a < b < c < a is possible. Which order comes out
    then depends on the sort and on the order before. Source: ``rd_kafka_group_member_cmp`` of librdkafka.

    >>> ids = [("a", "i9"), ("b", None), ("c", "i1")]
    >>> [member.member_id for member in merge_sorted([Member(member_id=name, instance_id=i) for name, i in ids])]
    ['a', 'b', 'c']
    """
    if len(members) < 2:
        return list(members)
    half = len(members) // 2
    left, right = merge_sorted(members[:half]), merge_sorted(members[half:])
    merged: list[Member] = []
    one = other = 0
    while one < len(left) and other < len(right):
        if _is_behind(left[one], right[other]):
            merged.append(right[other])
            other += 1
        else:
            merged.append(left[one])
            one += 1
    return merged + left[one:] + right[other:]


def is_mixed(members: Sequence[Member]) -> bool:
    """Whether static and dynamic members meet."""
    return len({_is_static(member) for member in members}) > 1


def member_orders(members: Sequence[Member]) -> Iterator[tuple[Member, ...]]:
    """The given order, and up to ``MAX_ORDERS`` - 1 others: all there are, if they are so few."""
    yield tuple(members)
    for order in other_orders(len(members), MAX_ORDERS - 1):
        yield tuple(members[place] for place in order)


def _is_static(member: Member) -> bool:
    return member.instance_id is not None


def _static_key(member: Member) -> tuple[bool, str]:
    return (True, member.member_id) if member.instance_id is None else (False, member.instance_id)


def _is_behind(one: Member, other: Member) -> bool:
    if one.instance_id is None or other.instance_id is None:
        return one.member_id > other.member_id
    return one.instance_id > other.instance_id
