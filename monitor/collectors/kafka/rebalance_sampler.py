"""Which classic groups rebalance now, as their brokers report: the log shows a rebalance only once it is complete.

Each broker gets a request for its groups in the two states of a classic rebalance (``ListGroups`` with a filter of
states, KIP-518). So the response is empty most of the time, however many groups there are. It names only groups that
the user may describe. A group is reported when it is first seen, then again after as long as it has been seen, at least
every REPEAT_MS. It is reported once more when it is no longer seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from kafka.admin import GroupState, KafkaAdminClient
from msgspec.structs import replace

from monitor.collectors.kafka_client.batch_requests import BatchRequests
from monitor.collectors.kafka_client.cluster_description import describe_cluster
from monitor.model import SAMPLE_LIFETIME_MS, RebalanceSampled, Value

REBALANCING_STATES: Final = (GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE)
"""kafka-python 3.0.12 takes the names themselves for unknown ones, whatever it says of them."""

SAMPLE_S: Final = 1.0
"""The interval of the requests to a broker, which limits how exact the start of a rebalance is. Members learn of a
rebalance with their next heartbeat, up to 3 s later by default. So this sees most rebalances that have to wait for a
member. The broker goes over all its groups for the response, hence no shorter interval."""

REPEAT_MS: Final = 10_000
"""How often a rebalance that continues is reported, for a job that starts. It also limits how long a job relies on a
rebalance whose collector has died (SAMPLE_LIFETIME_MS)."""

BROKERS: Final = "the list of brokers"
STATES: Final = "the rebalancing groups"
MEANWHILE: Final = "the rebalance delays of classic groups are unknown meanwhile."


class _RequestTime(Value):
    """When a request was sent to a broker, and how long its response took."""

    at_ms: int
    took_ms: int


class _SeenRebalancing(Value):
    """A group that rebalances: which broker reported it, since when, and when it was last seen and last written.

    ``gap_ms`` is the longest time between two sights, ``took_ms`` the longest that an answer took, from
    the one before the first sight on.
    """

    broker: int
    since_ms: int
    seen_ms: int
    told_ms: int
    interval_ms: int | None
    gap_ms: int
    took_ms: int

    def is_due(self, now_ms: int) -> bool:
        """Whether to tell it again: soon at first, as a sample is not believed that is as old as a generation."""
        return now_ms - self.told_ms >= min(REPEAT_MS, self.told_ms - self.since_ms)


class RebalanceSampler:
    """Asks the brokers of a cluster, one after the other, which groups rebalance. For one thread."""

    def __init__(self, cluster: str) -> None:
        """Prepare; ``cluster`` is the name that the events bear."""
        self._cluster = cluster
        self._questions = BatchRequests(cluster, MEANWHILE, needed="Kafka 2.6")
        self._brokers: tuple[int, ...] | None = None
        self._silent: set[int] = set()
        self._asked: dict[int, _RequestTime] = {}
        self._seen: dict[str, _SeenRebalancing] = {}

    def begin_pass(self) -> None:
        """Look up the brokers again, and ask those again that did not answer: each costs a time limit at most once."""
        self._brokers = None
        self._silent = set()

    def ask(self, admin: KafkaAdminClient, clock: Callable[[], int]) -> Iterator[list[RebalanceSampled]]:
        """The events to write now, a list for each broker. A caller may stop early; other brokers are then not queried.

        This does not raise the cluster's errors: it logs each once.

        Args:
            admin: a connected client.
            clock: gives the time in milliseconds since the epoch.
        """
        for broker in self._known_brokers(admin):
            if broker in self._silent:
                continue
            now_ms = clock()
            groups = self._questions.ask(
                STATES, [broker], lambda some: {each: _rebalancing_groups(admin, each) for each in some}
            )
            answer = groups.get(broker)
            if answer is None:
                self._silent.add(broker)
                yield []
                continue
            asked = _RequestTime(at_ms=now_ms, took_ms=max(0, clock() - now_ms))
            yield self._samples(broker, answer, asked)
            self._asked[broker] = asked
        self._drop_outdated(clock())

    def _known_brokers(self, admin: KafkaAdminClient) -> tuple[int, ...]:
        if self._brokers is None:
            told = self._questions.ask(BROKERS, [self._cluster], lambda names: dict.fromkeys(names, _brokers(admin)))
            self._brokers = told.get(self._cluster) or ()
            self._asked = {broker: asked for broker, asked in self._asked.items() if broker in self._brokers}
        return self._brokers

    def _samples(self, broker: int, groups: dict[str, str], asked: _RequestTime) -> list[RebalanceSampled]:
        told = [
            self._event(group, state, asked.at_ms)
            for group, state in groups.items()
            if self._note(group, broker, asked)
        ]
        ended = [group for group, seen in self._seen.items() if seen.broker == broker and group not in groups]
        told += [self._end_sample(group, asked) for group in ended]
        for group in ended:
            del self._seen[group]
        return told

    def _note(self, group: str, broker: int, asked: _RequestTime) -> bool:
        """Remember that the group was seen, and return whether an event is due."""
        now_ms = asked.at_ms
        before = self._seen.get(group) or self._first_seen(broker, now_ms)
        is_due = before.is_due(now_ms)
        self._seen[group] = replace(
            before,
            broker=broker,
            seen_ms=now_ms,
            told_ms=now_ms if is_due else before.told_ms,
            gap_ms=max(before.gap_ms, now_ms - before.seen_ms),
            took_ms=max(before.took_ms, asked.took_ms),
        )
        return is_due

    def _first_seen(self, broker: int, now_ms: int) -> _SeenRebalancing:
        before = self._asked.get(broker)
        return _SeenRebalancing(
            broker=broker,
            since_ms=now_ms,
            seen_ms=now_ms,
            told_ms=now_ms,
            interval_ms=None if before is None else max(0, now_ms - before.at_ms),
            gap_ms=0,
            took_ms=0 if before is None else before.took_ms,
        )

    def _event(self, group: str, state: str | None, now_ms: int) -> RebalanceSampled:
        seen = self._seen[group]
        return RebalanceSampled(
            cluster=self._cluster,
            group=group,
            state=state,
            since_ms=seen.since_ms,
            sampled_ms=now_ms,
            interval_ms=seen.interval_ms,
        )

    def _end_sample(self, group: str, asked: _RequestTime) -> RebalanceSampled:
        seen = self._seen[group]
        return replace(
            self._event(group, None, asked.at_ms),
            seen_ms=seen.seen_ms,
            gap_ms=seen.gap_ms,
            took_ms=max(seen.took_ms, asked.took_ms),
            broker=seen.broker,
        )

    def _drop_outdated(self, now_ms: int) -> None:
        """Drop groups that were last seen too long ago: their broker does not respond, or is gone."""
        lost = [group for group, seen in self._seen.items() if now_ms - seen.seen_ms > SAMPLE_LIFETIME_MS]
        for group in lost:
            self._asked.pop(self._seen.pop(group).broker, None)  # its last response was not empty


def _rebalancing_groups(admin: KafkaAdminClient, broker: int) -> dict[str, str]:
    """The groups of the broker that rebalance, with their states.

    A broker that passes the filter over, as no Kafka does, would give all its groups: those are left out here.
    """
    found = admin.list_groups(broker_ids=[broker], states_filter=list(REBALANCING_STATES))
    states = {str(row["group_id"]): str(row["group_state"]) for row in found}
    return {group: state for group, state in states.items() if state in REBALANCING_STATES}


def _brokers(admin: KafkaAdminClient) -> tuple[int, ...]:
    return tuple(sorted(broker["broker_id"] for broker in describe_cluster(admin)["brokers"]))
