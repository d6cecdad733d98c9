"""The ends of the logs of some topics, requested from each leader by itself: a silent one does not delay the others.

Each leader gets a request of its own, all at the same time. One that does not answer in time is *silent*: its request
stays under way, and its partitions have no end until it answers or another broker leads them. Nothing waits for it
again.

A request names the epoch of its leader (KIP-320), so it fails if the leader has changed meanwhile. The new leader gets
a request for the end of the previous epoch. If that lies below what was read, the log was cut, as by an
unclean election.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any, Final

import msgspec
from kafka.admin import KafkaAdminClient
from kafka.errors import (
    SaslAuthenticationFailedError,
    for_code,
)

from monitor.collectors.clock import wall_clock_ms
from monitor.collectors.errors import ConnectionFailed
from monitor.collectors.kafka.known_leaders import DESCRIBE_S, KnownLeaders
from monitor.collectors.kafka.leader_requests import (
    is_throttled,
    offsets_in,
    offsets_request,
    throttles,
)
from monitor.collectors.kafka.leader_table import (
    Place,
)
from monitor.collectors.kafka.log_cuts import LogCuts
from monitor.collectors.kafka.preflight import READ_UNCOMMITTED, LogBounds, PartitionBounds
from monitor.collectors.kafka.silence import Silence, SilenceHistory
from monitor.collectors.kafka_client.connection import error_name, explain_request_errors, open_admin
from monitor.config import ClusterSettings
from monitor.model import Outage, Value

KNOWN_LEADERS_S: Final = 5.0
"""How old the knowledge of who leads may be while all leaders answer; it also shows new partitions."""

ROUNDS: Final = 2
"""How many requests one call makes: a second one for partitions whose leader has changed."""

NOBODY_ANSWERS: Final = "no broker answers"
"""Why no partition is read. The collectors report that of the cluster."""

LATEST: Final = -1
EARLIEST: Final = -2
"""Kafka's timestamps for the end and the start of a log."""


class Ends(Value, frozen=True):
    """Where logs end.

    ``ends`` has the partitions whose leader answered. ``cut`` has those whose log was cut below what was read of them,
    with the offset of the cut. ``silent`` has all others.
    """

    ends: Mapping[Place, int]
    cut: Mapping[Place, int] = msgspec.field(default_factory=dict)
    silent: Mapping[Place, Silence] = msgspec.field(default_factory=dict)


class LogEnds:
    """Asks where the logs of some topics of one cluster end. ``ask`` is one thread's at a time."""

    def __init__(
        self,
        cluster: ClusterSettings,
        topics: Iterable[str],
        clock: Callable[[], int] = wall_clock_ms,
        read_until: Callable[[], int] | None = None,
    ) -> None:
        """Nothing is connected yet.

        Args:
            cluster: the cluster; ``offsets_isolation`` says which ends count.
            topics: all topics of later requests.
            clock: gives the time in ms since the epoch.
            read_until: gives the instant until which the partitions that answer have been read, likewise. A partition
                that turns out to be silent has been so since then: what was written into it after that is not known.
                None: until now.
        """
        self._cluster = cluster
        self._clock = clock
        self._read_until = read_until or clock
        self._admin: KafkaAdminClient | None = None
        self._leaders = KnownLeaders(cluster, topics)
        self._requests = self._leaders.requests
        self._cuts = LogCuts(self._leaders)
        self._silences = SilenceHistory()
        self._in_use = threading.Lock()
        self._is_closed = False

    @property
    def silent(self) -> Mapping[Place, Silence]:
        """The partitions whose newest request failed, for any thread. They are not read."""
        return self._silences.silent

    @property
    def is_read_elsewhere(self) -> bool:
        """Whether a partition of any topic is not silent, by the newest requests. For any thread."""
        return not self._cuts.has_only(self.silent)

    @property
    def throttling(self) -> str | None:
        """The problem that a broker has just throttled our requests, as the start of a sentence. For any thread."""
        return self._requests.throttling

    def outages(self, topic: str) -> dict[int, Outage]:
        """The newest outage of each partition of a topic that was silent. For any thread."""
        return self._silences.outages(topic)

    def partition_count(self, topic: str) -> int:
        """How many partitions a topic has by the brokers' newest response; 0: unknown. For any thread."""
        return self._leaders.table.partition_count(topic)

    def ask(self, read: Mapping[Place, int]) -> Ends:
        """Where the logs end now, of the partitions that are read.

        Args:
            read: the partitions, each with the offset up to which it has been read.

        Raises:
            ConfigError: the client properties cannot be used.
            ConnectionFailed: no broker answers.
            AnotherSource: a topic was created again.
            OffsetsTopicMissing, PermissionMissing: a topic is gone, or the user may not see it.
        """
        try:
            found: Ends = self._run(self._ends, read)
        except ConnectionFailed:  # it is an outage of each of them, which excuses who could not commit
            self._note((), dict.fromkeys(read, self.throttling or NOBODY_ANSWERS))
            raise
        return found

    def starts(self, places: Collection[Place]) -> dict[Place, int]:
        """Where these logs start; those of silent leaders are absent. Raises like ``ask``."""
        found: dict[Place, int] = self._run(self._starts, places)
        return found

    def bounds(self, topic: str) -> LogBounds:
        """Where the partitions of a topic start and end, without those that are silent. Raises like ``ask``."""
        found: LogBounds = self._run(self._bounds, topic)
        return found

    def _run(self, question: Callable[..., Any], about: object) -> Any:  # noqa: ANN401 -- kafka-python has no types
        """The result of a request to the brokers, which is made in the thread of the client."""
        with self._in_use, explain_request_errors(self._cluster):
            manager = self._manager()
            return manager.run(question, manager, about)

    def accept_new_topics(self) -> None:
        """Take topics that were recreated for what is to be read: a query that starts compares their ids.

        What is known of a topic that is still the same stays: a cut that reading has yet to go back to, and the epochs.
        """
        self._leaders.accept_new_topics()

    def restart_recreated(self, starts: Mapping[Place, int]) -> None:
        """Let reading go back to these offsets, where it is beyond the ends: the logs are others than those it read."""
        self._cuts.restart_recreated(starts)

    @property
    def answering(self) -> tuple[str, ...]:
        """The addresses of the brokers that answer, if one does not; empty: all do. For any thread."""
        quiet, addresses = set(self._requests.quiet), self._leaders.table.addresses
        return tuple(address for broker, address in sorted(addresses.items()) if broker not in quiet) if quiet else ()

    def close(self) -> None:
        """Close the connections, for good."""
        with self._in_use:
            self._is_closed = True
            if self._admin is not None:
                self._admin.close()
                self._admin = None

    def _manager(self) -> Any:  # noqa: ANN401 -- kafka-python has no types
        if self._is_closed:
            raise ConnectionFailed(f"Cluster {self._cluster.name}: its query has ended.")
        if self._admin is None:
            self._admin = open_admin(self._cluster)
        return self._admin._manager  # each leader by itself, all at once: there is no public way

    async def _ends(self, manager: Any, read: Mapping[Place, int]) -> Ends:  # noqa: ANN401 -- as above
        """Where the logs end for their reader, and so where it has to go back to."""
        ends = await self._answered_ends(manager, read)
        known = self.silent
        silent = {place: known[place] for place in read if place not in ends}
        return Ends(ends=ends, cut=self._cuts.at(read, ends), silent=silent)

    async def _answered_ends(self, manager: Any, read: Mapping[Place, int]) -> dict[Place, int]:  # noqa: ANN401 -- as above
        """Where the logs end whose leaders answer. What is silent, or was cut, is kept."""
        ends: dict[Place, int] = {}
        reasons: dict[Place, str] = {}
        missing = set(read)
        for number in range(ROUNDS):
            await self._know_leaders(manager, anew=number > 0)
            for topic in {topic for topic, _ in missing}:
                self._leaders.require_described(topic)
            unsure = await self._cuts.compare(manager, {place: read[place] for place in missing})
            answers, reasons = await self._offsets(manager, missing - unsure, LATEST)
            ends |= answers
            missing -= answers.keys()
            if not missing:
                break
        self._note(ends, {place: reasons.get(place) or self._leaders.silence_reason(place) for place in missing})
        return ends

    async def _starts(self, manager: Any, places: Collection[Place]) -> dict[Place, int]:  # noqa: ANN401 -- as above
        await self._know_leaders(manager)
        answers, _ = await self._offsets(manager, set(places), EARLIEST)
        return answers

    async def _bounds(self, manager: Any, topic: str) -> LogBounds:  # noqa: ANN401 -- as above
        await self._know_leaders(manager)
        self._leaders.require_described(topic)
        places = [place for place in self._leaders.table.leaders if place[0] == topic]
        ends = written = await self._answered_ends(manager, dict.fromkeys(places, 0))
        if self._cluster.offsets_isolation != READ_UNCOMMITTED:
            written, _ = await self._offsets(manager, places, LATEST, READ_UNCOMMITTED)
        starts = await self._starts(manager, places)
        return LogBounds(
            topic=topic,
            partitions=tuple(
                PartitionBounds(partition=place[1], begin=starts[place], end=ends[place], written=written[place])
                for place in sorted(places)
                if place in starts and place in ends and place in written
            ),
            topic_id=self._leaders.table.topic_ids.get(topic),
            cluster_id=self._leaders.table.cluster_id,
            partition_count=len(places),
        )

    def _note(self, ends: Collection[Place], silent: Mapping[Place, str]) -> None:
        """Keep what is silent, each since it first was, and the epochs in which the others answered."""
        now_ms = self._clock()
        self._silences.note(ends, silent, now_ms, min(now_ms, self._read_until()))
        self._cuts.note_answered(ends)

    async def _know_leaders(self, manager: Any, *, anew: bool = False) -> None:  # noqa: ANN401 -- as above
        """Ask who leads, if that is not known, is old, or has just turned out to be wrong."""
        limit_s = 0.0 if anew else DESCRIBE_S if self.silent else KNOWN_LEADERS_S
        try:
            for topic in await self._leaders.refresh(manager, limit_s):
                self._cuts.forget_log(topic)
        except (ConnectionFailed, SaslAuthenticationFailedError):  # the next client reads the credentials again
            self._forget_client()
            raise

    def _forget_client(self) -> None:
        """Begin with the bootstrap servers at the next question: the brokers may be elsewhere by then."""
        admin, self._admin = self._admin, None
        self._requests.forget()
        if admin is not None:
            threading.Thread(target=admin.close, name="close-log-ends", daemon=True).start()  # not in its own thread

    async def _offsets(
        self,
        manager: Any,  # noqa: ANN401 -- as above
        places: Collection[Place],
        timestamp: int,
        isolation: str | None = None,
    ) -> tuple[dict[Place, int], dict[Place, str]]:
        """The offsets by place, and why there is none of the others that have a leader."""
        asked = self._leaders.table.by_broker(places)
        level = isolation or self._cluster.offsets_isolation
        # What of a question goes to a leader is one request: the topics tell which question it was.
        scope = f"{timestamp} {level} {' '.join(sorted({topic for topic, _ in places}))}"
        answers = await self._requests.ask_all(
            manager,
            scope,
            {
                broker: partial(offsets_request, of_broker, timestamp, level, self._leaders.epoch)
                for broker, of_broker in asked.items()
            },
        )
        offsets: dict[Place, int] = {}
        reasons: dict[Place, str] = {}
        for broker, of_broker in asked.items():
            told = dict(offsets_in(answers[broker])) if answers[broker] is not None else {}
            for place in of_broker:
                code, offset = told.get(place, (None, -1))
                if code == 0 and offset >= 0:
                    offsets[place] = offset
                else:
                    reasons[place] = self._reason(manager, broker, code)
        return offsets, reasons

    def _reason(self, manager: Any, broker: int, code: int | None) -> str:  # noqa: ANN401 -- as above
        """Why a leader gave no offset, as the beginning of a sentence."""
        name = self._leaders.table.name_of(broker)
        if code is not None:
            return f"{name} leads it and answers {_words(code)}"
        return throttles(name) if is_throttled(manager, broker) else f"{name} does not answer"


def _words(code: int) -> str:
    return error_name(for_code(code)())
