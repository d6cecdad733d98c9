"""Since when brokers are away and partitions have no leader: what passes saw, folded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from monitor.model.brokers import BrokersHealth, BrokersSeen, LeaderlessPartitions, MissedBroker
from monitor.model.values import PartitionId

KEPT_MS: Final = 3_600_000
"""How long it is remembered that partitions had no leader. A silence counts from the end of that."""


def brokers_after(
    before: BrokersHealth | None, seen: BrokersSeen | None, before_ms: int | None, at_ms: int
) -> BrokersHealth | None:
    """What is known after a pass at ``at_ms`` that saw the brokers (None: it did not, and nothing new is known).

    So a fault ends only with a pass that sees its end. How old the knowledge is, ``seen_ms`` of it has.
    ``before_ms`` is when the pass before it began; None: there was none.
    """
    if seen is None:
        return before
    health = before or BrokersHealth()
    return BrokersHealth(
        listed=seen.listed,
        away=_away(health, seen, before_ms, at_ms),
        leaderless=_leaderless(health, seen, before_ms, at_ms),
        seen_ms=at_ms,
        interval_ms=0 if before_ms is None else max(0, at_ms - before_ms),
    )


def _away(health: BrokersHealth, seen: BrokersSeen, before_ms: int | None, at_ms: int) -> tuple[MissedBroker, ...]:
    """The brokers that are missing and were there before.

    One that no pass has ever listed may lack the listener of the collector, and be well. What one led stays as the
    first pass said that knew it: a collector that starts meanwhile does not.
    """
    missed = {each.broker.broker: each for each in health.away}
    found = []
    for broker in sorted(seen.away, key=lambda each: each.broker):
        last = missed.get(broker.broker)
        if last is not None:
            knows_more = broker.led_anything and not last.broker.led_anything
            found.append(replace(last, broker=broker) if knows_more else last)
        elif broker.broker in health.listed and before_ms is not None:
            found.append(MissedBroker(broker, at_ms, before_ms))
    return tuple(found)


def _leaderless(
    health: BrokersHealth, seen: BrokersSeen, before_ms: int | None, at_ms: int
) -> dict[str, tuple[LeaderlessPartitions, ...]]:
    now = {each.topic: frozenset(each.partitions) for each in seen.without_leader}
    after: defaultdict[str, list[LeaderlessPartitions]] = defaultdict(list)
    for topic, known in health.leaderless.items():
        after[topic] += _continue(known, now.get(topic, frozenset()), at_ms)
    for topic, partitions in now.items():
        new = partitions - {place for each in after[topic] if each.ended_ms is None for place in each.partitions}
        if new:
            after[topic].append(LeaderlessPartitions(_in_order(new), at_ms, before_ms))
    return {topic: tuple(found) for topic, found in sorted(after.items()) if found}


def _continue(
    known: Iterable[LeaderlessPartitions], now: frozenset[PartitionId], at_ms: int
) -> Iterator[LeaderlessPartitions]:
    """Those that have no leader still, and those that have one again, for as long as these are remembered."""
    for each in known:
        if each.ended_ms is not None:
            if at_ms - each.ended_ms <= KEPT_MS:
                yield each
            continue
        lasting, ended = now.intersection(each.partitions), frozenset(each.partitions) - now
        if lasting:
            yield replace(each, partitions=_in_order(lasting))
        if ended:
            yield replace(each, partitions=_in_order(ended), ended_ms=at_ms)


def _in_order(partitions: Iterable[PartitionId]) -> tuple[PartitionId, ...]:
    return tuple(sorted(partitions, key=lambda each: (isinstance(each, str), each)))
