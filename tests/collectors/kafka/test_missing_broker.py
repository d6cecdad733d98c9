"""What a poll says of a broker that was killed: on two real brokers."""

from __future__ import annotations

from contextlib import closing, suppress

import pytest
from kafka.errors import KafkaError

from monitor.collectors.errors import CollectorError
from monitor.collectors.kafka.catalog import KafkaCatalogCollector
from monitor.config import ClusterSettings
from monitor.model import TopicPartitions
from monitor.model.brokers import BrokerAway, BrokersSeen
from tests.support.job_process import eventually
from tests.support.several_brokers import await_leader, brokers_with_placed_offsets, create_on

pytestmark = [
    pytest.mark.broker,
    pytest.mark.jobs,  # several brokers
    # kafka-python leaves the sockets of failed connections to the garbage collector.
    pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning"),
]


def poll(collector: KafkaCatalogCollector) -> BrokersSeen | None:
    """What a poll sees of the brokers; None: it fails, as while a leader is elected."""
    with suppress(KafkaError, CollectorError):
        return collector.collect().brokers
    return None


def test_a_poll_names_what_a_killed_broker_led_until_it_is_back_and_what_nobody_leads():
    """The second leads the partitions 1 and 2 of the offsets topic, and 1 of "t"; it alone has "u"."""
    with brokers_with_placed_offsets() as (first, second):
        one, two = first.node_id, second.node_id
        create_on(first.bootstrap_servers, "t", [(one, two), (two, one)])
        create_on(first.bootstrap_servers, "u", [(two,)])
        cluster = ClusterSettings(name="c", bootstrap_servers=first.bootstrap_servers)
        with closing(KafkaCatalogCollector(cluster)) as collector:
            eventually(lambda: poll(collector) == BrokersSeen((one, two)), "both brokers")
            second.kill()
            seen = eventually(lambda: (found := poll(collector)) and found.away and found, "a broker that is away")
            (away,) = seen.away
            assert (seen.listed, away.broker, away.log_partitions) == ((one,), two, (1, 2))
            own = {each.topic: each.partitions for each in away.topics if each.topic in ("t", "u")}
            assert own == {"t": (1,), "u": (0,)}
            assert seen.without_leader == (TopicPartitions("u", (0,)),)
            later = BrokersSeen((one,), (BrokerAway(two),), seen.without_leader)
            eventually(lambda: poll(collector) == later, "a poll after that")
            second.start()
            await_leader(first.bootstrap_servers, 2)
            await_leader(first.bootstrap_servers, 0, "u")
            eventually(lambda: poll(collector) == BrokersSeen((one, two)), "both brokers again")
