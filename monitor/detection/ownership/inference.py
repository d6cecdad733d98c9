"""Which assignor a group uses if no data names it: MetaQ, and the ZooKeeper consumers of Kafka 0.8 to 0.10.

Their consumers are configured each for itself and write down only what they own. So every strategy computes the
owners, and the one that gives exactly the actual owners fits. Small groups often fit several: then the first in the
order of the candidates is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from monitor.assignors.kafka_zookeeper.group import ConsumerShare, Release, ZooKeeperGroup
from monitor.assignors.kafka_zookeeper.range_threads import RangeThreads
from monitor.assignors.kafka_zookeeper.roundrobin_threads import RoundRobinThreads
from monitor.assignors.registry import ASSIGNORS, System
from monitor.model import Value


class Place(Value, order=True):
    """One partition; ``partition`` as the system writes it: ``7``, or MetaQ's ``0-10``."""

    topic: str
    partition: str


OwnersOf = dict[Place, tuple[str, ...]]
"""Who owns a partition, sorted: consumers, or threads. A partition without an owner has no entry."""


class Candidate(Value):
    """A strategy with what it gives for the inputs of now; ``owners`` None: it fails for them, and cannot be it."""

    name: str
    owners: OwnersOf | None


class Fit(Value):
    """The strategy that fits best. ``differing`` partitions belong to others than it gives; 0: it fits.

    ``fitting`` are all that fit, in the order of the candidates. ``since_ms`` is since when this one has fitted, or
    since when none has fitted and this has been the nearest.
    """

    candidate: str
    differing: int
    fitting: tuple[str, ...]
    since_ms: int

    @property
    def is_exact(self) -> bool:
        """Whether it gives exactly the owners."""
        return not self.differing


def best_fit(candidates: Sequence[Candidate], actual: OwnersOf, now_ms: int) -> Fit | None:
    """The candidate that explains the owners best; None if none of them has an answer.

    Args:
        candidates: with distinct names, the likelier first.
        actual: who owns what.
        now_ms: since when it is so.

    >>> a, b = Place("t", "0"), Place("t", "1")
    >>> tried = [Candidate("even", {a: ("x",), b: ("y",)}), Candidate("greedy", {a: ("x",), b: ("x",)})]
    >>> best_fit(tried, {a: ("x",), b: ("x",)}, now_ms=5)
    Fit(candidate='greedy', differing=0, fitting=('greedy',), since_ms=5)
    """
    distances = {c.name: _distance(c.owners, actual) for c in candidates if c.owners is not None}
    if not distances:
        return None
    least = min(distances.values())
    nearest = [name for name, distance in distances.items() if distance == least]
    fitting = () if least else tuple(nearest)
    return Fit(candidate=nearest[0], differing=least, fitting=fitting, since_ms=now_ms)


def metaq_candidates(topic: str, partitions: Sequence[str], consumers: Sequence[str]) -> tuple[Candidate, ...]:
    """What each of MetaQ's strategies gives; the arguments as ``Strategy.allocate`` takes them."""
    return tuple(
        _candidate(
            row.rule.name,
            [(share.client, topic, share.queues) for share in shares],
            failed=any(share.error is not None for share in shares),
        )
        for row in ASSIGNORS[System.METAQ]
        for shares in (row.rule.allocate(partitions, consumers, consumers),)
    )


def zookeeper_candidates(group: ZooKeeperGroup) -> tuple[Candidate, ...]:
    """What each assignor of the ZooKeeper consumers gives, by thread; ``roundrobin`` differs between releases."""
    return (
        _of_threads("range", RangeThreads().allocate(group)),
        _of_threads("roundrobin", RoundRobinThreads(release=Release.KAFKA_0_10).allocate(group)),
        _of_threads("roundrobin of 0.8", RoundRobinThreads(release=Release.KAFKA_0_8).allocate(group)),
    )


def _of_threads(name: str, shares: Sequence[ConsumerShare]) -> Candidate:
    taken = [
        (thread.thread, entry.topic, [str(number) for number in entry.partitions])
        for share in shares
        for thread in share.threads
        for entry in thread.topics
    ]
    return _candidate(name, taken, failed=any(share.error is not None for share in shares))


def _candidate(name: str, taken: Iterable[tuple[str, str, Iterable[str] | None]], *, failed: bool) -> Candidate:
    owners: dict[Place, set[str]] = {}
    for owner, topic, partitions in taken:
        for partition in partitions or ():
            owners.setdefault(Place(topic, partition), set()).add(owner)
    return Candidate(name, None if failed else {place: tuple(sorted(names)) for place, names in owners.items()})


def _distance(given: OwnersOf, actual: OwnersOf) -> int:
    """How many partitions have other owners."""
    return sum(given.get(place, ()) != actual.get(place, ()) for place in given.keys() | actual.keys())
