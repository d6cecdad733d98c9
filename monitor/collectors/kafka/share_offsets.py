"""How far share groups are, as their coordinators say: for clusters whose log of share state may not be read.

A coordinator says less than that log: the start offset and the lag of each partition (from Kafka 4.2 on, KIP-1226), and
nothing of single records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError, UnsupportedVersionError, for_code

from monitor.collectors.errors import CollectorError, PermissionMissing
from monitor.collectors.kafka.admin_requests import AdminRequests, FailedRequest, GroupsRequest, GroupsResponse
from monitor.collectors.kafka.preflight import readable_share_partitions
from monitor.collectors.kafka_client.batch_requests import BatchRequests, split_into_batches
from monitor.collectors.kafka_client.connection import REQUEST_LIMIT_MS, explain_request_errors
from monitor.config import ClusterSettings
from monitor.model import ListedShareOffset
from monitor.protocol.kafka_admin.requests import Api
from monitor.protocol.kafka_admin.responses import (
    DescribeShareGroupOffsetsResponse,
    ShareGroupOffsets,
    read_response,
)
from monitor.protocol.wire.errors import DecodeError

OFFSETS: Final = "the offsets of a share group"
NEEDED: Final = "Kafka 4.1"
MEANWHILE: Final = "the lag of share groups is unknown meanwhile."

Offsets = tuple[ListedShareOffset, ...]


class ShareOffsetsReader:
    """Asks the coordinators of one cluster how far share groups are. For one thread."""

    def __init__(self, cluster: ClusterSettings) -> None:
        """Prepare; no request is made yet."""
        self._cluster = cluster
        self._questions = BatchRequests(cluster.name, MEANWHILE, NEEDED)
        self.unanswered: frozenset[str] = frozenset()
        """The groups for which the newest ``read`` got no offsets."""

    def is_needed(self, admin: KafkaAdminClient) -> bool:
        """Whether the log of share state is not read: groups come from the admin API, or the user may not read it.

        While the brokers do not say, it is taken to be read.
        """
        if self._cluster.groups_from != "log":
            return True
        try:
            with explain_request_errors(self._cluster):
                readable_share_partitions(self._cluster, admin)
        except PermissionMissing:
            return True
        except CollectorError:
            return False
        return False

    def read(self, admin: KafkaAdminClient, groups: Sequence[str], clock: Callable[[], int]) -> Mapping[str, Offsets]:
        """How far these groups are; without those whose coordinator does not say. Errors are logged, once.

        Args:
            admin: a connected client.
            groups: share groups.
            clock: gives the time in milliseconds since the epoch.
        """
        requests = AdminRequests(admin, REQUEST_LIMIT_MS / 1000, clock)
        if requests.newest(Api.SHARE_GROUP_OFFSETS) is None:
            self._questions.note_failure(OFFSETS, groups, UnsupportedVersionError())
            self.unanswered = frozenset(groups)
            return {}
        found: dict[str, Offsets] = {}
        try:
            for answer in requests.ask(self._questions_to_coordinators(requests, groups)):
                for group, told in _read_answer(answer):
                    if isinstance(told, KafkaError):
                        self._questions.note_failure(OFFSETS, [group], told)
                    else:
                        found[group] = told
        except (KafkaError, OSError) as error:
            self._questions.note_failure(OFFSETS, groups, error)
        self._questions.note_success(OFFSETS, list(found))
        self.unanswered = frozenset(groups) - found.keys()
        return found

    def _questions_to_coordinators(self, requests: AdminRequests, groups: Sequence[str]) -> Iterator[GroupsRequest]:
        homes: dict[int, list[str]] = {}
        anybody = min(requests.brokers(), default=-1)
        for found in requests.coordinators(groups, anybody):
            if found.error_code:
                self._questions.note_failure(OFFSETS, [found.key], for_code(found.error_code)())
            else:
                homes.setdefault(found.node_id, []).append(found.key)
        for broker, own in homes.items():
            for some in split_into_batches(own):
                yield GroupsRequest(broker=broker, api=Api.SHARE_GROUP_OFFSETS, groups=tuple(some))


def _read_answer(answer: GroupsResponse | FailedRequest) -> Iterator[tuple[str, Offsets | KafkaError]]:
    """The offsets of each requested group, or why they are missing; nothing for groups that are gone."""
    if isinstance(answer, FailedRequest):
        yield from ((group, KafkaError(answer.error)) for group in answer.question.groups)
        return
    try:
        told = read_response(DescribeShareGroupOffsetsResponse, answer.version, answer.data)
    except DecodeError as error:
        yield from ((group, KafkaError(str(error))) for group in answer.question.groups)
        return
    for group in told.groups:
        code = group.error_code
        yield group.group_id, for_code(code)() if code else _offsets(group)


def _offsets(group: ShareGroupOffsets) -> Offsets:
    return tuple(
        sorted(
            ListedShareOffset(
                topic.topic_id, each.partition_index, _offset_or_none(each.start_offset), _offset_or_none(each.lag)
            )
            for topic in group.topics
            for each in topic.partitions
            if each.error_code == 0
        )
    )


def _offset_or_none(number: int) -> int | None:
    return number if number >= 0 else None
