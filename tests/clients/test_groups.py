"""The groups of a churn have every library with all that it can."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest

from tests.clients.groups import GROUPS, Configured, groups_of, places
from tests.clients.libraries import CLIENT, CLIENTS

BY_NAME = {group.name: group for group in GROUPS}


def test_no_two_groups_have_the_same_name():
    assert [name for name, count in Counter(group.name for group in GROUPS).items() if count > 1] == []


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_every_library_has_each_of_its_assignors_with_equal_and_unequal_topics(client):
    of_it = {name for name, group in BY_NAME.items() if group.clients == (client.name,) and not group.static}
    kinds = {f"{client.name}.{name}.{kind}" for name in client.strategies for kind in ("equal", "unequal")}
    assert of_it == kinds - {"librdkafka.cooperative-sticky.unequal"}, "whose leader ends its process"


def test_members_have_instance_ids_only_where_the_library_lets_them():
    static = {group.clients[0] for group in GROUPS if group.static}
    assert static == {client.name for client in CLIENTS if client.has_static_members}


def test_the_libraries_of_a_mixed_group_all_have_its_assignor():
    mixed = [group for group in GROUPS if len(group.clients) > 1]
    assert mixed
    for group in mixed:
        assert [name for name in group.clients if group.strategy not in CLIENT[name].strategies] == [], group.name


def test_without_a_library_its_groups_are_left_out():
    without = groups_of(client for client in CLIENTS if client.name != "sarama")
    assert not any("sarama" in group.clients for group in without)
    assert len(without) > len(GROUPS) / 2


def test_what_nobody_has_chosen_is_left_to_the_library():
    group = BY_NAME["franz-go.cooperative-sticky.equal"]
    assert group.configured is Configured.NOTHING
    (place,) = islice(places(group), 1)
    command = place.command(group)
    assert (command["strategies"], command["client_id"], command["instance_id"]) == (None, None, None)
    assert "session_ms" not in command


def test_places_take_turns_at_libraries_and_topics():
    taken = list(islice(places(BY_NAME["kafkajs.RoundRobinAssigner.unequal"]), 4))
    assert [len(place.topics) for place in taken] == [1, 2, 3, 1]
    mixed = BY_NAME["mixed.range.equal"]
    taken = list(islice(places(mixed), len(mixed.clients)))
    assert tuple(place.client.name for place in taken) == mixed.clients


def test_static_members_have_different_instance_ids_that_stay_with_their_places():
    group = BY_NAME["sarama.range.static"]
    first, second = (place.command(group)["instance_id"] for place in islice(places(group), 2))
    assert first != second
    assert first == next(places(group)).command(group)["instance_id"]
