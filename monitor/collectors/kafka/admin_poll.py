"""One poll of all groups of a Kafka cluster: their members, and their committed offsets.

A request has a hundred groups, and several requests are under way to each broker. A failure of one group concerns only
that group: this poll does not report it, and its last known state stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from kafka.errors import for_code
from msgspec.structs import replace

from monitor.collectors.kafka.admin_requests import AdminRequests, FailedRequest, GroupsRequest, GroupsResponse
from monitor.collectors.kafka_client.batch_requests import split_into_batches
from monitor.collectors.kafka_client.connection import error_name
from monitor.model import GroupObserved, Value
from monitor.protocol.kafka_admin.described_groups import AnyDescribed, observed_group
from monitor.protocol.kafka_admin.requests import SEVERAL_GROUPS, Api
from monitor.protocol.kafka_admin.responses import (
    ConsumerGroupDescribeResponse,
    DescribeGroupsResponse,
    OffsetFetchResponse,
    ShareGroupDescribeResponse,
    SingleGroupOffsetFetchResponse,
    StreamsGroupDescribeResponse,
    TopicFetched,
    read_response,
)
from monitor.protocol.wire.errors import DecodeError

DEAD: Final = "Dead"
"""The state of a classic group that has been deleted."""

_RESPONSES: Final[
    Mapping[
        Api,
        type[
            DescribeGroupsResponse
            | ConsumerGroupDescribeResponse
            | ShareGroupDescribeResponse
            | StreamsGroupDescribeResponse
        ],
    ]
] = {
    Api.DESCRIBE_GROUPS: DescribeGroupsResponse,
    Api.CONSUMER_GROUP_DESCRIBE: ConsumerGroupDescribeResponse,
    Api.SHARE_GROUP_DESCRIBE: ShareGroupDescribeResponse,
    Api.STREAMS_GROUP_DESCRIBE: StreamsGroupDescribeResponse,
}
_NOT_FOUND: Final = 69  # GROUP_ID_NOT_FOUND


class Listing(Value):
    """The groups that the brokers list, by the broker that coordinates each, with what to ask for it."""

    homes: dict[str, int]
    asks: dict[str, Api]
    answered: frozenset[int]
    problems: tuple[str, ...]


class AdminPoll:
    """One round of questions about all groups, and what came of it."""

    def __init__(self, cluster: str, pass_ms: int, requests: AdminRequests) -> None:
        self._cluster = cluster
        self._pass_ms = pass_ms
        self._requests = requests
        self._fetches_several = (requests.newest(Api.OFFSET_FETCH) or 0) >= SEVERAL_GROUPS
        self._described: dict[str, AnyDescribed] = {}
        self._asked_ms: dict[str, int] = {}
        self._fetched: dict[str, tuple[TopicFetched, ...]] = {}
        self._failed: dict[str, set[str]] = {}
        self._again: list[GroupsRequest] = []

    def ask(self, listing: Listing) -> None:
        """Request all groups. What did not fit into a response, or could not be read, is requested again in halves."""
        questions = list(self._describe_requests(listing))
        while questions:
            self._again = []
            for answer in self._requests.ask(questions):
                self._take(answer)
            questions = self._again

    def groups(self) -> Iterator[GroupObserved]:
        """The groups of which both the members and the offsets are known."""
        for name, described in self._described.items():
            offsets = self._fetched.get(name)
            if offsets is not None:
                yield observed_group(
                    described,
                    offsets,
                    cluster=self._cluster,
                    pass_ms=self._pass_ms,
                    observed_ms=max(self._pass_ms, self._asked_ms[name]),
                )

    def problems(self) -> tuple[str, ...]:
        """The groups that the poll could not report, a sentence for each reason."""
        return tuple(
            f"Cluster {self._cluster}: {len(groups)} group{'s are' if len(groups) > 1 else ' is'} missing from the poll"
            f" ({reason}), one of them {min(groups)[:60]!a}; the last known state stays."
            for reason, groups in sorted(self._failed.items())
        )

    def _describe_requests(self, listing: Listing) -> Iterator[GroupsRequest]:
        by_home: dict[tuple[int, Api], list[str]] = {}
        for group, api in listing.asks.items():
            by_home.setdefault((listing.homes[group], api), []).append(group)
        for (broker, api), groups in by_home.items():
            if self._requests.newest(api) is None:
                self._fail("UnsupportedVersion", groups)
                continue
            for some in split_into_batches(groups):
                yield GroupsRequest(broker=broker, api=api, groups=tuple(some))
                yield from self._fetches(broker, api, some)

    def _fetches(self, broker: int, api: Api, groups: Sequence[str]) -> Iterator[GroupsRequest]:
        if api is Api.SHARE_GROUP_DESCRIBE:  # they commit no offsets
            self._fetched.update(dict.fromkeys(groups, ()))
        elif self._fetches_several:
            yield GroupsRequest(broker=broker, api=Api.OFFSET_FETCH, groups=tuple(groups))
        else:
            yield from (GroupsRequest(broker=broker, api=Api.OFFSET_FETCH, groups=(group,)) for group in groups)

    def _take(self, answer: GroupsResponse | FailedRequest) -> None:
        question = answer.question
        if isinstance(answer, FailedRequest):
            self._take_failure(question, answer.error, may_be_one=answer.is_too_large)
            return
        try:
            if question.api is Api.OFFSET_FETCH:
                self._take_offsets(answer)
            else:
                self._take_descriptions(answer)
        except DecodeError:
            self._take_failure(question, "the response cannot be decoded", may_be_one=True)

    def _take_failure(self, question: GroupsRequest, reason: str, *, may_be_one: bool) -> None:
        groups = question.groups
        if may_be_one and len(groups) > 1:
            middle = len(groups) // 2
            self._again += [replace(question, groups=half) for half in (groups[:middle], groups[middle:])]
        else:
            self._fail(reason, groups)

    def _take_descriptions(self, answer: GroupsResponse) -> None:
        told = read_response(_RESPONSES[answer.question.api], answer.version, answer.data)
        for group in told.groups:
            if group.error_code:
                self._fail_with(group.error_code, group.group_id)
            elif group.group_state != DEAD:
                self._described[group.group_id] = group
                self._asked_ms[group.group_id] = answer.asked_ms

    def _take_offsets(self, answer: GroupsResponse) -> None:
        if answer.version >= SEVERAL_GROUPS:
            told = read_response(OffsetFetchResponse, answer.version, answer.data)
            for group in told.groups:
                self._take_topics(group.group_id, group.error_code, group.topics)
            return
        one = read_response(SingleGroupOffsetFetchResponse, answer.version, answer.data)
        self._take_topics(answer.question.groups[0], one.error_code, one.topics)

    def _take_topics(self, group: str, error_code: int, topics: tuple[TopicFetched, ...]) -> None:
        """Take all offsets of a group or none: a missing offset would look deleted."""
        codes = [partition.error_code for topic in topics for partition in topic.partitions if partition.error_code]
        if error_code or codes:
            self._fail_with(error_code or codes[0], group)
        else:
            self._fetched[group] = topics

    def _fail_with(self, code: int, group: str) -> None:
        if code != _NOT_FOUND:  # deleted since it was listed
            self._fail(error_name(for_code(code)()), [group])

    def _fail(self, reason: str, groups: Iterable[str]) -> None:
        self._failed.setdefault(reason, set()).update(groups)
