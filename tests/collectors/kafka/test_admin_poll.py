"""A round asks for many groups at once, for fewer where an answer does not fit, and brokers of old one by one."""

from __future__ import annotations

import random
from contextlib import closing

import pytest
from kafka import OffsetAndMetadata, TopicPartition
from kafka.admin import KafkaAdminClient
from kafka.errors import BrokerResponseError, NoError

from monitor.collectors.kafka.admin_poll import AdminPoll, Listing
from monitor.collectors.kafka.admin_reader import AdminReader
from monitor.collectors.kafka.admin_requests import AdminRequests
from monitor.collectors.kafka_client.batch_requests import GROUPS_PER_REQUEST
from monitor.collectors.polling import PollingCollector
from monitor.model import GroupObserved, GroupsListed
from monitor.protocol.kafka_admin.requests import Api
from tests.support.clients import admin, create_topic
from tests.support.job_process import eventually

pytestmark = pytest.mark.broker
TOPIC, PARTITIONS, SEED = "round", 12, 20261122
LIMIT = 1_000
"""Bytes; what a broker says of its versions when a connection begins takes nearly as much."""


@pytest.fixture(scope="module")
def committed(broker):
    """What 230 groups have committed, by name."""
    create_topic(broker.bootstrap_servers, TOPIC, PARTITIONS)
    chosen = random.Random(SEED)
    groups = {}
    with admin(broker.bootstrap_servers) as client:
        for number in range(230):
            places = chosen.sample(range(PARTITIONS), chosen.randint(1, PARTITIONS))
            offsets = {place: chosen.randrange(1 << 40) for place in sorted(places)}
            told = {TopicPartition(TOPIC, p): OffsetAndMetadata(o, "x" * 120, -1) for p, o in offsets.items()}
            eventually(lambda group=f"round-{number}", told=told: stored(client, group, told), "the commit", 30)
            groups[f"round-{number}"] = offsets
    return groups


def stored(client: KafkaAdminClient, group: str, offsets) -> bool:
    """Whether the group's coordinator took them; the first one has yet to make its log."""
    try:
        return set(client.alter_group_offsets(group, offsets).values()) == {NoError}
    except BrokerResponseError:
        return False


def listing(groups, broker=1) -> Listing:
    return Listing(
        homes=dict.fromkeys(groups, broker),
        asks=dict.fromkeys(groups, Api.DESCRIBE_GROUPS),
        answered=frozenset({broker}),
        problems=(),
    )


class Counted(AdminRequests):
    """Knows what it was asked."""

    def ask(self, questions):
        asked = list(questions)
        self.asked = [*getattr(self, "asked", ()), *asked]
        return super().ask(asked)


def round_of(client, groups) -> tuple[AdminPoll, Counted]:
    requests = Counted(client, 10.0, lambda: 5)
    asking = AdminPoll("prod", 1, requests)
    asking.ask(listing(groups))
    return asking, requests


def offsets_of(asking: AdminPoll) -> dict[str, dict[object, int]]:
    return {group.group: {each.partition: each.offset for each in group.offsets} for group in asking.groups()}


def test_a_hundred_groups_to_a_question(broker, committed):
    with closing(KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)) as client:
        asking, requests = round_of(client, committed)
        assert offsets_of(asking) == committed
        assert asking.problems() == ()
        assert len(requests.asked) == 2 * 3
        assert {len(question.groups) for question in requests.asked} == {GROUPS_PER_REQUEST, 30}


def test_answers_that_do_not_fit_are_asked_for_in_halves_and_only_what_never_fits_is_missing(broker, committed):
    """Some groups' offsets fit together, and those of groups with many partitions never do."""
    few = {group: committed[group] for group in sorted(committed)[:60]}
    with closing(
        KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers, receive_message_max_bytes=LIMIT)
    ) as client:
        asking, _ = round_of(client, few)
        # a partition takes 4 + 8 + 4 + 121 + 2 + 1 bytes in the answer; beside them there are less than 60
        fits = {group: offsets for group, offsets in few.items() if 140 * len(offsets) + 60 <= LIMIT}
        assert 0 < len(fits) < len(few)
        told = offsets_of(asking)
        assert {group: told.get(group) for group in fits} == fits, asking.problems()
        missing = few.keys() - offsets_of(asking).keys()
        assert {group for group in few if 140 * len(few[group]) > LIMIT} <= missing
        (problem,) = asking.problems()
        assert f"{len(missing)} group" in problem
        assert "InvalidReceive" in problem


@pytest.mark.parametrize("version", [(2, 5), (2, 0)])
def test_brokers_before_3_0_are_asked_for_the_offsets_of_one_group_at_a_time(broker, committed, version):
    with closing(KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers, api_version=version)) as client:
        asking, requests = round_of(client, committed)
        assert offsets_of(asking) == committed
        assert sum(question.api is Api.OFFSET_FETCH for question in requests.asked) == len(committed)


def test_a_broker_that_is_none_fails_its_groups_and_no_other(broker, committed):
    with closing(KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)) as client:
        requests = AdminRequests(client, 10.0, lambda: 5)
        asking = AdminPoll("prod", 1, requests)
        homes = {group: 1 + number % 2 for number, group in enumerate(committed)}
        asking.ask(Listing(homes=homes, asks=listing(committed).asks, answered=frozenset({1}), problems=()))
        assert offsets_of(asking) == {group: committed[group] for group, home in homes.items() if home == 1}
        (problem,) = asking.problems()
        assert "115 groups are missing from the poll (a broker that the cluster does not list)" in problem


def test_the_events_of_two_passes_name_every_group_and_tell_each_once(cluster, committed, events_of):
    collector = PollingCollector("prod", AdminReader(cluster), cluster, 10.0)
    try:
        assert collector.attempt()
        assert collector.attempt()
    finally:
        collector.close()
    events = [event for _, event in events_of(cluster)]
    told = [event.group for event in events if isinstance(event, GroupObserved) and event.group in committed]
    assert sorted(told) == sorted(committed)
    first, second = [event for event in events if isinstance(event, GroupsListed)]
    assert set(committed) <= set(first.groups)
    assert set(committed) <= set(second.groups)
    assert {type(event) for event in events} == {GroupObserved, GroupsListed}, "its topics are another collector's"
