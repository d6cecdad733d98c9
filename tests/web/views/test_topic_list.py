"""Which topics are found, and in which order; and what a job that watches a shard cannot know."""

import pytest
from msgspec.structs import replace

from monitor.model import ClusterSnapshot, ConnectConfigsState, ConnectorConfig, EndOffsetAt, Phase, Shard, TopicState
from monitor.model.connect import TargetState
from monitor.topics.uses import group_use
from monitor.web.app import create_app
from monitor.web.views.topic_list import ClusterTopics, TopicColumn, TopicListings, TopicWish, search_topics
from tests.support.builders import catalog, commit, group, member, topic
from tests.web.api.api_example import NOW_MS, example
from tests.web.examples import Served, ready_cluster, snapshot
from tests.web.problems import problem
from tests.web.saved import Saved
from tests.web.test_app import Client


def written(name: str, *rates: int) -> TopicState:
    """A topic with so many records a second in each partition, for a minute."""
    made = topic(name, len(rates))
    partitions = [
        replace(each, ends=(EndOffsetAt(0, 0), EndOffsetAt(60_000, 60 * rate)))
        for each, rate in zip(made.partitions, rates, strict=True)
    ]
    return replace(made, partitions=tuple(partitions))


CATALOG = catalog(
    written("orders", 5, 5),
    written("Mail", 9, 1),
    written("audit", 1),
    written("groupwatch.events", 1),
    replace(topic("new", 1), partitions=(replace(topic("new", 1).partitions[0], ends=()),)),
)
STATES = (
    replace(group(member("a", ["orders", "Mail"])), group="both"),
    replace(group(phase=Phase.EMPTY, offsets=[commit("audit", 0), commit("orders", 0)]), group="stopped"),
    replace(group(phase=Phase.OFFSETS_ONLY, offsets=[commit("Mail", 0)]), group="script"),
)
TOPICS = ClusterTopics(CATALOG, tuple(group_use(each, CATALOG) for each in STATES))


def names(**wish) -> list[str]:
    return [each.topic for each in search_topics([TOPICS], TopicWish(**wish))]


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        pytest.param({}, ["audit", "groupwatch.events", "Mail", "new", "orders"], id="by name, in any case"),
        pytest.param({"search": "AI"}, ["Mail"], id="a part of the name"),
        pytest.param({"unread": True}, ["audit", "new"], id="offsets alone read nothing; groupwatch's own is left out"),
        pytest.param(
            {"column": TopicColumn.READERS}, ["Mail", "orders", "audit", "groupwatch.events", "new"], id="readers"
        ),
    ],
)
def test_which_topics_are_found(wish, expected):
    assert names(**wish) == expected


@pytest.mark.parametrize(
    ("column", "first", "last"),
    [(TopicColumn.RATE, {"orders", "Mail"}, "new"), (TopicColumn.SKEW, {"Mail"}, "new")],
)
def test_the_most_comes_first_and_what_is_unknown_last_in_both_orders(column, first, last):
    assert names(column=column)[0] in first
    assert names(column=column)[-1] == names(column=column, turned=True)[-1] == last


def test_groups_that_read_are_counted_apart_from_those_that_only_have_offsets():
    found = {each.topic: (each.groups, each.readers) for each in search_topics([TOPICS], TopicWish())}
    assert found == {"orders": (2, 1), "Mail": (2, 2), "audit": (1, 0), "groupwatch.events": (0, 0), "new": (0, 0)}


def test_a_shard_does_not_say_which_topics_no_group_reads():
    source = example()
    shard = Served(replace(source.shown, shard=Shard(number=2, of=3)), source.saved)
    client = Client(create_app(shard, lambda: NOW_MS))
    answer = client.get("/api/v1/topics?unread=1&partial=1")
    told = "unread cannot be known here. Shard 2 of 3: other jobs watch the other groups."
    assert (answer.status_code, answer.json()) == (400, problem(400, told))
    assert "unread" not in client.get("/api/v1/topics/main/orders").json()
    page = client.get("/topics/?kind=unread").text
    assert "So it is unknown which topics no group reads." in page
    assert "No group reads it" not in page


@pytest.mark.parametrize(
    ("polled_ms", "why"),
    [
        pytest.param(NOW_MS - 30_000, "known in about 30 s, after a minute of polls", id="the first minute"),
        pytest.param(NOW_MS - 240_000, "unknown: 1 partition was not polled for 4 min", id="polled once, long ago"),
        pytest.param(None, "not polled yet", id="not at all"),
    ],
)
def test_what_comes_in_says_from_when_on_it_is_known(polled_ms, why):
    ends = () if polled_ms is None else (EndOffsetAt(polled_ms, 5),)
    made = topic("young", 1)
    young = replace(made, partitions=(replace(made.partitions[0], ends=ends),))
    saved = Saved(replace(catalog(young), cluster="main"), (), NOW_MS)
    client = Client(create_app(Served(snapshot(ready_cluster()), {"main": saved}), lambda: NOW_MS))
    assert f'<span class="quiet">{why}</span>' in client.get("/topics/").text
    assert f'<span class="quiet">{why}</span>' in client.get("/topics/main/young").text
    known_ms = None if polled_ms is None else polled_ms + 60_000
    for path in ("/api/v1/topics/main/young", "/api/v1/topics"):
        (found,) = [answer] if isinstance(answer := client.get(path).json(), dict) else answer
        assert found.get("rate_known_ms") == known_ms


def test_what_could_be_deleted_is_checked_with_the_newest_state_and_spares_known_sinks():
    """Of three groups without a commit for eight days, one is of a paused sink, and one has committed meanwhile."""
    old = group(phase=Phase.EMPTY, phase_ms=0, offsets=[commit("orders", 0, at_ms=1)])
    known = tuple(replace(old, cluster="main", group=name) for name in ("connect-s3", "forgotten", "woken"))
    s3 = ConnectorConfig(connector="s3", is_configured=True, target_state=TargetState.PAUSED)
    configs = {"connect": ConnectConfigsState(cluster="main", topic="configs", connectors=(s3,))}
    now_ms = 8 * 86_400_000
    newest = replace(known[2], offsets=(commit("orders", 0, at_ms=now_ms),))
    saved = Saved(replace(CATALOG, cluster="main", connect_configs=configs), (*known[:2], newest), now_ms)

    class Cached(Served):
        """Its uses are of the states before the newest commit."""

        def uses(self, cluster):
            return tuple(group_use(each, saved.catalog) for each in known)

    cluster = ClusterSnapshot(cluster="main", ready=True, evaluated_ms=now_ms)
    found = TopicListings(Cached(snapshot(cluster), {"main": saved})).find_unused(cluster)
    assert [each.group for each in found] == ["forgotten"]


def test_a_cluster_that_is_not_ready_is_named_and_not_shown_as_empty():
    client = Client(create_app(example(), lambda: NOW_MS))
    assert "so far: 1 cluster not ready" in client.get("/topics/").text
    for name in ("topics", "unused"):
        answer = client.get(f"/api/v1/{name}")
        assert (answer.status_code, answer.headers["x-not-ready"]) == (200, "slow")
        assert client.get(f"/api/v1/{name}?partial=0").status_code == 503
    assert client.get("/topics/slow/t").status_code == 503
