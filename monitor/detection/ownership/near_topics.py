"""Topics with names like one that does not exist, or that an expression nearly matches, to which a group subscribes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Final

from monitor.model import Catalog, GroupState
from monitor.model.patterns import PatternError, name_pattern

MAX_NAMED: Final = 3
MAX_TOPICS: Final = 10_000
"""In a cluster with more topics, none is proposed: each is compared, for each such group and evaluation."""

_SEPARATORS: Final = str.maketrans("", "", "-_.")


def near_topics(topic: str, topics: Collection[str]) -> tuple[str, ...]:
    """The first topics whose names differ in one character, in case, or in dashes, dots and underscores.

    >>> near_topics("order", ["orders", "refunds", "Order", "or-der"])
    ('Order', 'or-der', 'orders')
    """
    if len(topics) > MAX_TOPICS:
        return ()
    plain = _plain(topic)
    found = [name for name in topics if abs(len(name) - len(topic)) <= 3 and _is_near(topic, plain, name)]
    return tuple(sorted(found)[:MAX_NAMED])


def partly_matched(regex: str, topics: Collection[str]) -> tuple[str, ...]:
    """The first topics of which an expression matches a part, as librdkafka's own matching with libc did.

    >>> partly_matched("^order*", ["orders-eu", "old-orders"]), partly_matched("(?=a)", ["a"])
    (('orders-eu',), ())
    """
    if len(topics) > MAX_TOPICS:
        return ()
    try:
        pattern = name_pattern(regex)
    except PatternError:
        return ()
    return tuple(sorted(name for name in topics if pattern.is_found_in(name))[:MAX_NAMED])


def missing_topics(subscribed: Iterable[str], catalog: Catalog) -> list[str]:
    """The subscribed topics that no poll lists, sorted. A difference of sets would go through all topics instead."""
    return sorted([topic for topic in subscribed if topic not in catalog.topics])


def unresolved_regexes(group: GroupState) -> tuple[str, ...]:
    """The expressions of KIP-848 members for which the broker has found no topic."""
    if not group.regexes:  # nearly every group
        return ()
    used = {member.regex for member in group.members}
    return tuple(known.regex for known in group.regexes if not known.topics and known.regex in used)


def proposed_topics(group: GroupState, subscribed: AbstractSet[str], catalog: Catalog) -> Iterator[str]:
    """All topics that a finding about the subscriptions of a group may name."""
    for topic in missing_topics(subscribed, catalog):
        yield from near_topics(topic, catalog.topics)
    for regex in unresolved_regexes(group):
        yield from partly_matched(regex, catalog.topics)


def _is_near(topic: str, plain: str, name: str) -> bool:
    return _plain(name) == plain or _is_one_edit_away(topic, name)


def _plain(name: str) -> str:
    return name.casefold().translate(_SEPARATORS)


def _is_one_edit_away(one: str, other: str) -> bool:
    """Whether one character is too many, missing, another, or exchanged with the next. Names of one or two: never."""
    short, long = sorted((one, other), key=len)
    if len(short) < 3 or len(long) - len(short) > 1:
        return False
    start = next((at for at, (left, right) in enumerate(zip(short, long, strict=False)) if left != right), len(short))
    if len(long) > len(short):
        return short[start:] == long[start + 1 :]
    swapped = short[start + 1 : start + 2] + short[start : start + 1]
    return short[start + 1 :] == long[start + 1 :] or swapped + short[start + 2 :] == long[start:]
