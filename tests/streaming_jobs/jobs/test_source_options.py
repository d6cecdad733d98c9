"""The options of a query's sources from one start to the next: consumers are kept as long as nothing else would do."""

from __future__ import annotations

from monitor.config import ClusterSettings
from streaming_jobs.jobs.source_options import SourceOptions

GROUP = "kafka.group.id"
SERVERS = "kafka.bootstrap.servers"
POLL = "kafkaConsumer.pollTimeoutMs"


def options_of(**client: str) -> SourceOptions:
    cluster = ClusterSettings(name="prod", bootstrap_servers="a:1,b:1", client=client)
    return SourceOptions(cluster, serves_tokens=False)


def test_equal_options_keep_the_group_and_with_it_the_consumers():
    options = options_of()
    assert options.source_options() == options.source_options()
    assert options.source_options()[GROUP].startswith("groupwatch-")
    assert options_of().source_options()[GROUP] != options.source_options()[GROUP]


def test_while_a_broker_does_not_answer_new_consumers_begin_with_those_that_do():
    options = options_of()
    usual = options.source_options()
    assert usual[SERVERS] == "a:1,b:1"
    without = options.source_options(["10.0.0.1:9092"])
    assert without[SERVERS] == "10.0.0.1:9092"
    assert without[GROUP] != usual[GROUP], "Spark refuses other options for consumers of the same group"


def test_fetches_that_take_too_long_get_twice_the_time_up_to_two_minutes():
    options = options_of()
    limits = [options.source_options()[POLL]]
    for _ in range(6):
        options.wait_longer()
        limits.append(options.source_options()[POLL])
    assert limits == ["4000", "8000", "16000", "32000", "64000", "120000", "120000"]


def test_a_limit_that_a_deployment_chooses_stays():
    options = options_of(**{"default.api.timeout.ms": "60000", "request.timeout.ms": "30000"})
    assert options.source_options()["kafka.default.api.timeout.ms"] == "60000"
    assert options.source_options()["kafka.request.timeout.ms"] == "30000"
