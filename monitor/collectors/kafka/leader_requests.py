"""Requests to the leaders of partitions, each by itself: a silent one delays no other."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from kafka.errors import ClusterAuthorizationFailedError, KafkaError, TopicAuthorizationFailedError
from kafka.future import Future
from kafka.protocol.consumer import IsolationLevel, ListOffsetsRequest, OffsetForLeaderEpochRequest

from monitor.collectors.kafka.leader_table import Place

ANSWER_S: Final = 2.0
"""How long a leader that has answered before may take. Kafka's own clients wait for 30 s, and for every partition."""

AGAIN_S: Final = 0.05
"""How long one may take that has not answered lately. Its answer counts at the next question, too."""

THROTTLED_S: Final = 30.0
"""How long a throttled response explains that other requests take too long."""

FORBIDDEN: Final = frozenset({TopicAuthorizationFailedError.errno, ClusterAuthorizationFailedError.errno})


class LeaderRequests:
    """The requests that are under way to brokers. ``name_of`` names a broker as sentences do."""

    def __init__(self, name_of: Callable[[int], str]) -> None:
        self._name_of = name_of
        self._under_way: dict[tuple[int, str], Any] = {}
        """The newest request to each broker, by what it asks for."""
        self.quiet: set[int] = set()
        """The brokers that did not answer last."""
        self._throttled: tuple[float, str] | None = None
        """When a broker last throttled requests, and which."""

    @property
    def throttling(self) -> str | None:
        """The problem that a broker has just throttled our requests, as the start of a sentence. For any thread."""
        throttled = self._throttled
        is_new = throttled is not None and time.monotonic() - throttled[0] <= THROTTLED_S
        return throttles(throttled[1]) if throttled is not None and is_new else None

    def forget(self) -> None:
        """Their client is closed: no request is under way."""
        self._under_way = {}
        self.quiet.clear()

    async def ask_all(
        self,
        manager: Any,  # noqa: ANN401 -- kafka-python has no types
        scope: str,
        requests: Mapping[int, Callable[[], Any]],
    ) -> dict[int, Any]:
        """The answers of the brokers, which get their requests at the same time; None: not in time, or never.

        ``scope`` says what the requests ask for. One that is still under way to a broker is not sent again.
        """
        for broker, request in requests.items():
            if not self._has_late_answer(broker, scope):
                self._under_way[broker, scope] = send(manager, request(), broker)
        deadline = time.monotonic() + ANSWER_S
        answers = {}
        for broker in requests:
            limit_s = AGAIN_S if broker in self.quiet else max(0.0, deadline - time.monotonic())
            answers[broker] = await self.answer(manager, broker, self._under_way[broker, scope], limit_s)
            self._note_broker(broker, has_answered=answers[broker] is not None)
        return answers

    def _has_late_answer(self, broker: int, scope: str) -> bool:
        """Whether no new request is needed: one is under way, or one was answered after its wait had ended."""
        newest = self._under_way.get((broker, scope))
        return newest is not None and (not newest.is_done or (broker in self.quiet and newest.succeeded()))

    def _note_broker(self, broker: int, *, has_answered: bool) -> None:
        """One that has not answered in time is not waited for again until it does."""
        if has_answered:
            self.quiet.discard(broker)
        else:
            self.quiet.add(broker)

    async def answer(self, manager: Any, broker: int, future: Any, limit_s: float) -> Any:  # noqa: ANN401 -- as above
        """The response, or None: it has not come in time, or will not come."""
        response = None
        with suppress(KafkaError):
            response = await manager.wait_for(future, limit_s * 1000)
        if is_throttled(manager, broker) or (response is not None and response.throttle_time_ms):
            self._throttled = time.monotonic(), self._name_of(broker)
        return response


def is_throttled(manager: Any, broker: int) -> bool:  # noqa: ANN401 -- kafka-python has no types
    """Whether the client waits before its next request to a broker, as that broker requested."""
    connection = manager._conns.get(broker)
    return connection is not None and "throttle" in connection.paused


def throttles(name: str) -> str:
    """Why a broker does not answer in time that slows its clients down, as the beginning of a sentence."""
    return f"{name} throttles groupwatch's requests (a client quota)"


def send(manager: Any, request: Any, broker: int) -> Any:  # noqa: ANN401 -- as above
    """The future answer of a broker; one that has failed, if there is no way to it."""
    try:
        return manager.send(request, node_id=broker)
    except KafkaError as error:
        return Future().failure(error)


def offsets_request(places: Iterable[Place], timestamp: int, level: str, epoch_of: Callable[[Place], int]) -> Any:  # noqa: ANN401 -- as above
    """Asks for the offsets at a timestamp, in the epochs of the leaders."""
    isolation = IsolationLevel.build_from(level).value
    of_topic = ListOffsetsRequest.ListOffsetsTopic
    return ListOffsetsRequest(
        replica_id=-1,
        isolation_level=isolation,
        topics=[
            of_topic(
                name=topic,
                partitions=[
                    of_topic.ListOffsetsPartition(
                        partition_index=place[1], current_leader_epoch=epoch_of(place), timestamp=timestamp
                    )
                    for place in its_places
                ],
            )
            for topic, its_places in _by_topic(places)
        ],
        min_version=max(1, ListOffsetsRequest.min_version_for_isolation_level(isolation)),
    )


def epoch_ends_request(
    places: Iterable[Place], epoch_of: Callable[[Place], int], former_epochs: Mapping[Place, int]
) -> Any:  # noqa: ANN401 -- as above
    """Asks the leaders of now where the logs of the epochs before ended (KIP-320)."""
    of_topic = OffsetForLeaderEpochRequest.OffsetForLeaderTopic
    return OffsetForLeaderEpochRequest(
        replica_id=-1,
        topics=[
            of_topic(
                topic=topic,
                partitions=[
                    of_topic.OffsetForLeaderPartition(
                        partition=place[1], current_leader_epoch=epoch_of(place), leader_epoch=former_epochs[place]
                    )
                    for place in its_places
                ],
            )
            for topic, its_places in _by_topic(places)
        ],
    )


def _by_topic(places: Iterable[Place]) -> Iterator[tuple[str, list[Place]]]:
    found: dict[str, list[Place]] = defaultdict(list)
    for place in places:
        found[place[0]].append(place)
    yield from found.items()


def offsets_in(response: Any) -> Iterator[tuple[Place, tuple[int, int]]]:  # noqa: ANN401 -- as above
    """The error code and the offset of each place in a ListOffsetsResponse."""
    for topic in response.topics:
        for each in topic.partitions:
            yield (topic.name, each.partition_index), (each.error_code, each.offset)


def epoch_ends_in(response: Any) -> Iterator[tuple[Place, int]]:  # noqa: ANN401 -- as above
    """Where the log of the requested epoch ends, of each place in the response; -1: it is not known.

    A newly elected leader may return an error, and is queried again. Without permission, the end stays unknown.
    """
    for topic in response.topics:
        for each in topic.partitions:
            if each.error_code == 0:
                yield (topic.topic, each.partition), each.end_offset
            elif each.error_code in FORBIDDEN:
                yield (topic.topic, each.partition), -1
