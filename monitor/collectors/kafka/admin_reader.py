"""The groups of a Kafka cluster as its brokers report them, for clusters whose offsets topic may not be read.

Each broker lists the groups that it coordinates, so there is no need to look for coordinators. Then each receives
requests for its own groups, see :mod:`monitor.collectors.kafka.admin_poll`. A pass does not write groups again that
have not changed.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec
from kafka.admin import KafkaAdminClient
from kafka.errors import for_code
from msgspec.structs import replace

from monitor.collectors.clock import wall_clock_ms
from monitor.collectors.errors import ConnectionFailed
from monitor.collectors.kafka.admin_poll import DEAD, AdminPoll, Listing
from monitor.collectors.kafka.admin_requests import AdminRequests, FailedRequest, GroupsRequest, GroupsResponse
from monitor.collectors.kafka_client.connection import (
    CONNECT_LIMIT_S,
    REQUEST_LIMIT_MS,
    error_name,
    explain_request_errors,
    open_admin,
)
from monitor.collectors.snapshot import SourceSnapshot
from monitor.config import ClusterSettings
from monitor.model import GroupObserved, Source, Value
from monitor.protocol.kafka_admin.requests import Api
from monitor.protocol.kafka_admin.responses import ListGroupsResponse, read_response
from monitor.protocol.wire.errors import DecodeError

REWRITE_MS: Final = 180_000
"""A group that has not changed is written again after this time at most, for a job that has started since."""

_ENCODER: Final = msgspec.msgpack.Encoder()
_DESCRIBES: Final[Mapping[str, Api]] = {
    "": Api.DESCRIBE_GROUPS,  # brokers before 3.8 have no others
    "classic": Api.DESCRIBE_GROUPS,
    "consumer": Api.CONSUMER_GROUP_DESCRIBE,
    "share": Api.SHARE_GROUP_DESCRIBE,
    "streams": Api.STREAMS_GROUP_DESCRIBE,
}
"""What to ask for a group of each type, as a broker names it."""


class _Written(Value):
    """What was written of a group, as a number that another content would not have, and when."""

    content: int
    at_ms: int


class AdminReader:
    """Reads the groups of one Kafka cluster by the admin API, with their offsets; its topics are read by others."""

    def __init__(
        self,
        cluster: ClusterSettings,
        clock: Callable[[], int] = wall_clock_ms,
        connect_limit_s: float = CONNECT_LIMIT_S,
        request_ms: int = REQUEST_LIMIT_MS,
    ) -> None:
        """Prepare; the first reading connects.

        Args:
            cluster: the cluster.
            clock: gives the time in milliseconds since the epoch.
            connect_limit_s: how long an attempt to connect may take.
            request_ms: how long a request may take, with the connection to a further broker that it may need.
        """
        self._cluster = cluster
        self._clock = clock
        self._connect_limit_s = connect_limit_s
        self._request_ms = request_ms
        self._admin: KafkaAdminClient | None = None
        self._written: dict[str, _Written] = {}
        self._listed: frozenset[str] = frozenset()
        self._absent: frozenset[str] = frozenset()

    def read(self, pass_ms: int) -> SourceSnapshot:
        """All groups there are; in ``groups`` those that have changed since they were last read, or are due anyway.

        Raises:
            ConfigError: the client properties cannot be used.
            ConnectionFailed: no broker responds.
        """
        requests = self._connect()
        with explain_request_errors(self._cluster):
            brokers = requests.brokers()
        listing = self._list(requests, brokers)
        round_ = AdminPoll(self._cluster.name, pass_ms, requests)
        round_.ask(listing)
        complete = listing.answered == frozenset(brokers)
        names = frozenset(listing.homes) | self._not_certainly_gone(requests, listing, complete=complete)
        self._listed = names if complete else self._listed | names
        self._written = {group: written for group, written in self._written.items() if group in self._listed}
        return SourceSnapshot(
            source=Source.ADMIN,
            groups=tuple(group for group in round_.groups() if self._is_due(group)),
            complete=complete,
            problems=(*listing.problems, *round_.problems()),
            listed=tuple(sorted(names)),
        )

    def close(self) -> None:
        """Close the connections. The next poll writes everything again: the last one may not have arrived."""
        self._written = {}
        admin, self._admin = self._admin, None
        if admin is not None:
            admin.close()

    def _connect(self) -> AdminRequests:
        if self._admin is None:
            self._admin = open_admin(self._cluster, self._connect_limit_s, request_ms=self._request_ms)
        return AdminRequests(self._admin, self._request_ms / 1000, self._clock)

    def _list(self, requests: AdminRequests, brokers: Sequence[int]) -> Listing:
        homes: dict[str, int] = {}
        asks: dict[str, Api] = {}
        answered, reasons = set(), {}
        for answer in requests.ask([GroupsRequest(broker=broker, api=Api.LIST_GROUPS) for broker in brokers]):
            broker = answer.question.broker
            told = _read_listing(answer)
            if isinstance(told, str):
                reasons[broker] = told
                continue
            answered.add(broker)
            for group in told.groups:
                api = _DESCRIBES.get(group.group_type.lower())
                homes[group.group_id] = broker
                if api is not None and group.group_state != DEAD:
                    asks[group.group_id] = api
        if not answered:
            raise ConnectionFailed(
                f"Cluster {self._cluster.name}: no broker lists its groups"
                f" ({', '.join(sorted(set(reasons.values()))) or 'there is none'})."
            )
        problems = tuple(
            f"Cluster {self._cluster.name}: broker {broker} does not list its groups ({reason})."
            for broker, reason in sorted(reasons.items())
        )
        return Listing(homes=homes, asks=asks, answered=frozenset(answered), problems=problems)

    def _not_certainly_gone(self, requests: AdminRequests, listing: Listing, *, complete: bool) -> frozenset[str]:
        """Groups that no broker lists and that may still exist.

        A group may be moving to another coordinator, so one listing without it proves nothing. While the partition of
        the offsets topic that has it is without a leader, no broker lists it.
        """
        missing = self._listed - listing.homes.keys()
        if not complete:
            return missing
        suspected, self._absent = self._absent & missing, missing
        return missing - self._select_gone(requests, sorted(suspected), listing)

    def _select_gone(self, requests: AdminRequests, groups: Sequence[str], listing: Listing) -> frozenset[str]:
        """Those of these groups whose coordinator is there and does not list them."""
        if requests.newest(Api.FIND_COORDINATOR) is None:
            return frozenset(groups)  # brokers before 3.0, which accept one group a request
        return frozenset(
            found.key
            for found in requests.coordinators(groups, min(listing.answered))
            if found.error_code == 0 and found.node_id in listing.answered
        )

    def _is_due(self, group: GroupObserved) -> bool:
        """Whether to write the group; it is then taken to be written."""
        content = hash(_ENCODER.encode(replace(group, pass_ms=0, observed_ms=0)))
        before = self._written.get(group.group)
        if before is not None and before.content == content:
            # not all in one pass: a part of the interval is a group's own
            interval_ms = REWRITE_MS - zlib.crc32(group.group.encode()) % (REWRITE_MS // 2)
            if 0 <= group.pass_ms - before.at_ms < interval_ms:
                return False
        self._written[group.group] = _Written(content=content, at_ms=group.pass_ms)
        return True


def _read_listing(answer: GroupsResponse | FailedRequest) -> ListGroupsResponse | str:
    """The broker's groups, or why it does not report them."""
    if isinstance(answer, FailedRequest):
        return answer.error
    try:
        told = read_response(ListGroupsResponse, answer.version, answer.data)
    except DecodeError:
        return "the response cannot be decoded"
    return error_name(for_code(told.error_code)()) if told.error_code else told
