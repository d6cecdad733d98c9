"""Reads a RocketMQ cluster as a whole: groups and who is in them, what each member holds, offsets, and topics.

Brokers keep members and offsets, each for its own queues, so every broker is queried. The order of the requests: groups
and their connections; the members; committed offsets; the routes of the topics; the offsets of their queues. So the
offsets of queues are never older than the committed ones.

A broker that does not respond, or whose master is away, returns no offsets: polls of groups are partial then. A broker
that does not report its connections may have all members of a group without members elsewhere. Such a group is not
reported. If other brokers have members of a group, these are all there are: every member of a group is to subscribe to
the same topics, and connects to all their brokers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from msgspec.structs import replace

from monitor.collectors.clock import wall_clock_ms
from monitor.collectors.errors import CollectorError, ConnectionFailed
from monitor.collectors.rocketmq import requests
from monitor.collectors.rocketmq.brokers import Brokers
from monitor.collectors.rocketmq.connection import Access, RocketMQConnection, tls_context
from monitor.collectors.rocketmq.groups import (
    GroupSeen,
    Moment,
    QueueOffset,
    group_observed,
    group_seen,
    observed_topic,
    offsets_by_group,
    queue_offsets,
    topics_of,
)
from monitor.collectors.rocketmq.members import MemberInfo, MemberInfoReader, MemberKey, MemberRequest
from monitor.collectors.rocketmq.redelivery import records_in_flight, redelivery_by_group, redelivery_topics
from monitor.collectors.rocketmq.requests import Survey
from monitor.collectors.rocketmq.unreadable import unreadable_queues
from monitor.collectors.snapshot import SourceSnapshot
from monitor.config import RocketMQSettings
from monitor.config.errors import ConfigError
from monitor.model import GroupObserved, Source, TopicObserved
from monitor.model.patterns import NamePattern
from monitor.model.rocketmq import RedeliveryObserved, UnreadableQueue
from monitor.protocol.rocketmq.acl import Signer
from monitor.protocol.rocketmq.names import is_group, is_proxy_client, is_topic
from monitor.protocol.rocketmq.responses import (
    BrokerAddress,
    CommittedOffset,
    Queue,
    QueueRange,
    RequestMode,
    RouteQueues,
)

MOST_THREADS: Final = 32
"""Brokers that are queried at the same time, including those queried about silent clients."""

Routes = Mapping[str, Sequence[RouteQueues]]
Ranges = Mapping[Queue, QueueRange]
Members = Mapping[MemberKey, MemberInfo]
Offsets = Mapping[str, tuple[CommittedOffset, ...]]
"""Committed offsets by the broker that keeps them."""
Committed = Mapping[str, Mapping[Queue, int]]
"""The same by group and queue."""


class RocketMQReader:
    """Reads a RocketMQ cluster of 4.9 or 5. For one thread; it has threads of its own, which ``close`` ends."""

    def __init__(self, settings: RocketMQSettings, clock: Callable[[], int] = wall_clock_ms) -> None:
        """Prepare; the first reading connects. ``clock`` gives the time in milliseconds since the epoch."""
        self._settings: Final = settings
        self._clock: Final = clock
        self._groups: Final = NamePattern(settings.groups, dot_matches_line_breaks=True)
        self._members: Final = MemberInfoReader(self._open)
        self._access: Access | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._servers = list(settings.addresses)
        self._connections: dict[str, RocketMQConnection] = {}

    def read(self, pass_ms: int) -> SourceSnapshot:
        """All groups of users that have members or offsets, and the topics that they read.

        Raises:
            ConfigError: a secret or the file of certificates cannot be read.
            ConnectionFailed: no name server answers, or no broker.
            PermissionMissing: no broker lets us ask.
        """
        server, known = self._name_server()
        brokers = Brokers(self._settings.name, known, self._connection, self._threads())
        seen, modes = self._groups_of(brokers)
        has_all = not brokers.failures
        told = self._read_members(brokers, seen)
        seen = _drop_departed_groups(brokers, seen, told)
        moment = Moment(cluster=self._settings.name, pass_ms=pass_ms, observed_ms=self._clock())
        offsets = brokers.ask_all(lambda broker, _: requests.offsets(broker), None)
        routes = self._routes(server, _topics(seen, told, offsets))
        moment = replace(moment, partial=bool(brokers.failures or brokers.slaves))
        committed = offsets_by_group(offsets)
        redelivery = _redelivery(brokers, seen, told, committed)
        ends_ms = self._clock()
        ranges = self._ranges(brokers, routes)
        wanted = {each.group: topics_of(each, told) for each in seen if each.members}
        is_whole = not brokers.failures and not brokers.slaves
        closed = _unreadable(wanted, routes, ranges, committed) if is_whole else {}
        told_of = [each for each in seen if each.members or has_all]
        groups = [
            replace(each, redelivery=redelivery.get(each.group), unreadable=closed.get(each.group))
            for each in _groups_observed(told_of, told, _by_group(offsets, routes, brokers.slaves), modes, moment)
        ]
        return SourceSnapshot(
            source=Source.SYSTEM,
            topics=_topics_observed(routes, ranges, moment, ends_ms),
            groups=tuple(groups),
            complete=not brokers.failures,
            problems=tuple(brokers.problems),
        )

    def close(self) -> None:
        """Close all connections. The members' responses are kept; secrets are looked up again."""
        self._members.close()
        for connection in self._connections.values():
            connection.close()
        self._connections = {}
        self._access = None
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)

    def _name_server(self) -> tuple[RocketMQConnection, tuple[BrokerAddress, ...]]:
        """The first name server that responds, and the brokers it knows. The next poll tries that server first."""
        failures: list[str] = []
        for address in tuple(self._servers):
            server = self._connection(address)
            try:
                known = requests.brokers(server)
            except CollectorError as error:
                failures.append(str(error))
                self._rotate_name_servers()
            else:
                self._keep({*self._servers, *(each.address for each in known)})
                return server, known
        raise ConnectionFailed(f"Cluster {self._settings.name}: no name server answers. {' '.join(failures)}")

    def _routes(self, server: RocketMQConnection, topics: Iterable[str]) -> Routes:
        try:
            return requests.routes(server, sorted(topics))
        except CollectorError as error:
            self._rotate_name_servers()
            raise type(error)(f"Cluster {self._settings.name}: {error}") from None

    def _rotate_name_servers(self) -> None:
        self._servers.append(self._servers.pop(0))

    def _groups_of(self, brokers: Brokers) -> tuple[list[GroupSeen], list[RequestMode]]:
        surveys = brokers.ask_all(requests.survey, self._is_watched)
        if not surveys:
            if brokers.failures:
                raise type(brokers.failures[0])(brokers.problems[-1])
            raise ConnectionFailed(f"Cluster {self._settings.name}: no broker is registered with {self._servers[0]}.")
        return _groups_seen(surveys), [mode for survey in surveys.values() for mode in survey.modes]

    def _read_members(self, brokers: Brokers, seen: Sequence[GroupSeen]) -> Members:
        """What the members say; those that came by the proxy never do."""
        asked = [
            MemberRequest(
                key=MemberKey(group=group.group, client_id=each.client_id), address=brokers.addresses[each.broker]
            )
            for group in seen
            for each in group.members
            if not is_proxy_client(each.client_id)
        ]
        return self._members.read(asked, self._threads())

    def _ranges(self, brokers: Brokers, routes: Routes) -> Ranges:
        wanted = {broker: of for broker, of in _topics_by_broker(routes).items() if broker not in brokers.slaves}
        return {each.queue: each for found in brokers.ask(requests.ranges, wanted).values() for each in found}

    def _is_watched(self, group: str) -> bool:
        return is_group(group) and self._groups.matches(group)

    def _connection(self, address: str) -> RocketMQConnection:
        """The one connection to a server that answers for itself."""
        if address not in self._connections:
            self._connections[address] = self._open(address)
        return self._connections[address]

    def _open(self, address: str) -> RocketMQConnection:
        if self._access is None:
            self._access = _access(self._settings)
        return RocketMQConnection(address, self._access)

    def _keep(self, addresses: set[str]) -> None:
        """Close the connections to servers that are gone."""
        for address in self._connections.keys() - addresses:
            self._connections.pop(address).close()

    def _threads(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix=f"rocketmq-{self._settings.name}")
        return self._pool


def _access(settings: RocketMQSettings) -> Access:
    signer, tls = None, None
    if settings.access_key is not None and settings.secret_key is not None:
        access_key = settings.access_key.resolve(f"{settings.place}.access_key")
        signer = Signer(access_key, settings.secret_key.resolve(f"{settings.place}.secret_key"))
    if settings.tls:
        try:
            tls = tls_context(settings.tls_ca_file)
        except OSError as error:
            reason = error.strerror or "it holds no certificates"
            raise ConfigError(f"{settings.place}.tls_ca_file cannot be used ({reason}).") from None
    return Access(limit_s=settings.request_limit_s, tls=tls, signer=signer)


def _groups_seen(surveys: Mapping[str, Survey]) -> list[GroupSeen]:
    """All groups, by name."""
    names = sorted({group for survey in surveys.values() for group in survey.groups})
    return [
        group_seen(name, {broker: survey.live[name] for broker, survey in surveys.items() if name in survey.live})
        for name in names
    ]


def _drop_departed_groups(brokers: Brokers, seen: Sequence[GroupSeen], told: Members) -> list[GroupSeen]:
    """The groups without the members that have left since they were listed: those did not answer either."""
    doubtful = [each.group for each in seen if any(_is_silent(each.group, m.client_id, told) for m in each.members)]
    if not doubtful:
        return list(seen)
    failures = len(brokers.failures)
    now = brokers.ask_all(requests.connections, doubtful)
    if len(brokers.failures) > failures:
        return list(seen)  # who is connected to a broker that does not say so any more has not left
    present = {
        (group, each.client_id) for live in now.values() for group, found in live.items() for each in found.connections
    }
    return [each if each.group not in doubtful else each.without(present) for each in seen]


def _is_silent(group: str, client_id: str, told: Members) -> bool:
    said = told.get(MemberKey(group=group, client_id=client_id))
    return said is not None and not said.answers


def _redelivery(
    brokers: Brokers, seen: Sequence[GroupSeen], told: Members, committed: Committed
) -> Mapping[str, RedeliveryObserved]:
    """What brokers keep of records that groups sent back.

    Nothing if one of them is away, or refuses: a part of a sum is no sum.
    """
    groups = [each.group for each in seen]
    topics = redelivery_topics(groups, committed)
    ranges = {
        broker: found
        for broker, found in brokers.ask_all(requests.ranges_if_allowed, topics).items()
        if found is not None
    }
    if len(ranges) < len(brokers.addresses) or brokers.slaves:
        return {}
    by_group: dict[str, list[MemberInfo]] = defaultdict(list)
    for key, info in told.items():
        by_group[key.group].append(info)
    in_flight = {group: records_in_flight(infos) for group, infos in by_group.items()}
    return redelivery_by_group(groups, committed, ranges, in_flight)


def _topics(seen: Sequence[GroupSeen], told: Members, offsets: Offsets) -> set[str]:
    """The topics that a group reads, or has read."""
    groups = {each.group for each in seen}
    subscribed = {topic for each in seen for topic in topics_of(each, told)}
    return subscribed | {
        each.topic for kept in offsets.values() for each in kept if each.group in groups and is_topic(each.topic)
    }


def _by_group(offsets: Offsets, routes: Routes, slaves: AbstractSet[str]) -> dict[str, list[QueueOffset]]:
    """The offsets of every group that has any; those from a slave are left out."""
    readable = {(each.broker, topic): each.readable for topic, route in routes.items() for each in route}
    found: dict[str, list[QueueOffset]] = defaultdict(list)
    for broker, kept in offsets.items():
        for each in queue_offsets(broker, kept, readable):
            of_group = found[each.group]
            if broker not in slaves:
                of_group.append(each)
    return found


def _groups_observed(
    seen: Sequence[GroupSeen],
    told: Members,
    offsets: Mapping[str, Sequence[QueueOffset]],
    modes: Sequence[RequestMode],
    moment: Moment,
) -> Iterator[GroupObserved]:
    """The groups that have members or offsets: brokers keep the names of others, too."""
    for each in seen:
        if each.members or each.group in offsets:
            yield group_observed(each, told, offsets.get(each.group, ()), modes, moment)


def _unreadable(
    wanted: Mapping[str, Iterable[str]], routes: Routes, ranges: Ranges, committed: Committed
) -> Mapping[str, tuple[UnreadableQueue, ...]]:
    """The queues that the members of each group may not read, of the topics to which they subscribe."""
    return {group: unreadable_queues(group, topics, routes, ranges, committed) for group, topics in wanted.items()}


def _topics_observed(routes: Routes, ranges: Ranges, moment: Moment, observed_ms: int) -> tuple[TopicObserved, ...]:
    of_topic: dict[str, list[QueueRange]] = defaultdict(list)
    for each in ranges.values():
        of_topic[each.queue.topic].append(each)
    return tuple(
        observed_topic(topic, route, of_topic[topic], moment, observed_ms)
        for topic, route in sorted(routes.items())
        if any(each.readable for each in route)
    )


def _topics_by_broker(routes: Routes) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for topic, route in sorted(routes.items()):
        for each in route:
            found[each.broker].append(topic)
    return found
