"""Rebalances are seen while they last, each told when it begins, at times, and when it is over."""

from __future__ import annotations

import pytest
from kafka.admin import GroupState
from kafka.errors import (
    ClusterAuthorizationFailedError,
    IncompatibleBrokerVersion,
    KafkaConnectionError,
    RequestTimedOutError,
)
from msgspec.structs import replace

from monitor.collectors.kafka.rebalance_sampler import REPEAT_MS, RebalanceSampler
from monitor.collectors.kafka_client import batch_requests
from monitor.model import SAMPLE_LIFETIME_MS, RebalanceSampled

NOW = 1_000_000
PREPARING, COMPLETING = "PreparingRebalance", "CompletingRebalance"


class Brokers:
    """What kafka-python's admin client answers for two brokers; ``broken`` has the error of one of them."""

    def __init__(self):
        self.groups = {1: {}, 2: {}}
        self.broken = {}
        self.asked = []

    def describe_cluster(self):
        self.asked.append("cluster")
        if "cluster" in self.broken:
            raise self.broken["cluster"]
        return {"brokers": [{"broker_id": broker, "rack": None} for broker in self.groups]}

    def list_groups(self, broker_ids, states_filter):
        assert [GroupState.value_for(state) for state in states_filter] == [PREPARING, COMPLETING]
        (broker,) = broker_ids
        self.asked.append(broker)
        if broker in self.broken:
            raise self.broken[broker]
        return [{"group_id": group, "group_state": state} for group, state in self.groups[broker].items()]


@pytest.fixture
def admin():
    return Brokers()


@pytest.fixture
def states(admin):
    made = RebalanceSampler("prod")
    assert told(made, admin, NOW - 1_000) == []
    return made


def told(states, admin, now_ms):
    return [sample for some in states.ask(admin, lambda: now_ms) for sample in some]


def sampled(state, since_ms, now_ms, interval_ms=1_000, group="g"):
    return RebalanceSampled(
        cluster="prod", group=group, state=state, since_ms=since_ms, sampled_ms=now_ms, interval_ms=interval_ms
    )


def over(since_ms, now_ms, *, seen_ms, gap_ms, broker, interval_ms=1_000, group="g"):
    return replace(sampled(None, since_ms, now_ms, interval_ms, group), seen_ms=seen_ms, gap_ms=gap_ms, broker=broker)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Failures are said at once: how long they must last is a test of its own."""
    monkeypatch.setattr(batch_requests, "LASTS_S", 0)


def said(caplog):
    lines = [record.getMessage().split(";")[0].removeprefix("Cluster prod: ") for record in caplog.records]
    caplog.clear()
    return lines


def test_a_rebalance_from_its_beginning_to_its_end(states, admin):
    admin.groups[2] = {"g": PREPARING}
    assert told(states, admin, NOW) == [sampled(PREPARING, NOW, NOW)]
    admin.groups[2] = {"g": COMPLETING}
    assert told(states, admin, NOW + 1_000) == [sampled(COMPLETING, NOW, NOW + 1_000)]
    admin.groups[2] = {}
    assert told(states, admin, NOW + 2_000) == [over(NOW, NOW + 2_000, seen_ms=NOW + 1_000, gap_ms=1_000, broker=2)]
    assert told(states, admin, NOW + 3_000) == []
    admin.groups[2] = {"g": PREPARING}
    assert told(states, admin, NOW + 4_000) == [sampled(PREPARING, NOW + 4_000, NOW + 4_000)], "another one"


def test_one_that_goes_on_is_told_often_at_first_and_then_every_ten_seconds(states, admin):
    admin.groups[1] = {"g": PREPARING}
    at = [second for second in range(60) if told(states, admin, NOW + 1_000 * second)]
    assert at == [0, 1, 2, 4, 8, 16, 26, 36, 46, 56]
    assert REPEAT_MS == 10_000


def test_of_a_group_that_rebalances_when_it_is_first_looked_at_nobody_knows_since_when(admin):
    admin.groups[1] = {"g": PREPARING}
    assert told(RebalanceSampler("prod"), admin, NOW) == [sampled(PREPARING, NOW, NOW, None)]


def test_a_gap_between_two_samples_is_told(states, admin):
    """A pass of the collector took 7 s; the broker 2 has not answered for longer."""
    admin.broken = {2: KafkaConnectionError()}
    told(states, admin, NOW)
    admin.broken = {}
    states.begin_pass()
    admin.groups = {1: {"g": PREPARING}, 2: {"h": PREPARING}}
    assert told(states, admin, NOW + 7_000) == [
        sampled(PREPARING, NOW + 7_000, NOW + 7_000, 7_000),
        sampled(PREPARING, NOW + 7_000, NOW + 7_000, 8_000, group="h"),
    ]


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (KafkaConnectionError, "no connection to a broker, retrying"),
        (RequestTimedOutError, "RequestTimedOut, retrying"),
        (ConnectionResetError, "the connection failed, retrying"),
        (ClusterAuthorizationFailedError, "the user lacks permission, ClusterAuthorizationFailed"),
        (IncompatibleBrokerVersion, "its brokers are older than Kafka 2.6"),
    ],
)
def test_a_broker_that_does_not_answer_hides_nothing_of_the_other_and_costs_its_time_limit_once_a_pass(
    states, admin, caplog, error, why
):
    admin.groups = {1: {"g": PREPARING}, 2: {"h": PREPARING}}
    told(states, admin, NOW)
    admin.broken = {1: error()}
    admin.groups = {1: {}, 2: {}}
    assert told(states, admin, NOW + 1_000) == [over(NOW, NOW + 1_000, seen_ms=NOW, gap_ms=0, broker=2, group="h")]
    admin.asked.clear()
    assert told(states, admin, NOW + 2_000) == []
    assert admin.asked == [2]
    assert said(caplog) == [f"the rebalancing groups: not available ({why})"]
    states.begin_pass()
    told(states, admin, NOW + 3_000)
    assert not said(caplog), "said once until it has healed"
    admin.broken = {}
    states.begin_pass()
    assert told(states, admin, NOW + 4_000) == [over(NOW, NOW + 4_000, seen_ms=NOW, gap_ms=0, broker=1)]


def test_a_cluster_that_does_not_tell_its_brokers_is_asked_again_with_the_next_pass(admin, caplog):
    states = RebalanceSampler("prod")
    admin.broken = {"cluster": KafkaConnectionError()}
    assert told(states, admin, NOW) == told(states, admin, NOW + 1) == []
    assert admin.asked == ["cluster"]
    assert said(caplog) == ["the list of brokers: not available (no connection to a broker, retrying)"]
    admin.broken = {}
    states.begin_pass()
    admin.groups[1] = {"g": PREPARING}
    assert told(states, admin, NOW + 2) == [sampled(PREPARING, NOW + 2, NOW + 2, None)]


def test_a_group_that_moves_to_another_broker_goes_on(states, admin):
    admin.groups = {1: {"g": PREPARING}, 2: {}}
    told(states, admin, NOW)
    admin.groups = {1: {"g": PREPARING}, 2: {"g": PREPARING}}
    told(states, admin, NOW + 1_000)
    admin.groups = {1: {}, 2: {"g": PREPARING}}
    assert told(states, admin, NOW + 4_000) == [sampled(PREPARING, NOW, NOW + 4_000)]
    admin.groups = {1: {}, 2: {}}
    assert told(states, admin, NOW + 5_000) == [over(NOW, NOW + 5_000, seen_ms=NOW + 4_000, gap_ms=3_000, broker=2)]


def test_the_longest_answer_and_the_longest_time_between_two_questions_are_told(admin):
    """Each of three rounds asks two brokers; the second one's answers take 70, 30 and 50 ms."""
    states = RebalanceSampler("prod")
    rounds = [(0, 0), (1_000, 1_070)], [(2_000, 2_000), (4_000, 4_030)], [(5_000, 5_000), (6_000, 6_050)]
    for number, asked in enumerate(rounds):
        admin.groups[2] = {"g": PREPARING} if number == 1 else {}
        times = iter([NOW + at_ms for each in asked for at_ms in each] + [NOW + 7_000])
        samples = [sample for some in states.ask(admin, lambda times=times: next(times)) for sample in some]
    assert samples == [
        replace(over(NOW + 4_000, NOW + 6_000, seen_ms=NOW + 4_000, gap_ms=0, broker=2, interval_ms=3_000), took_ms=70)
    ]


def test_a_group_of_a_broker_that_is_gone_is_forgotten_when_nobody_believes_in_it_any_more(states, admin):
    admin.groups[1] = {"g": PREPARING}
    told(states, admin, NOW)
    admin.broken = {1: KafkaConnectionError()}
    late_ms = NOW + SAMPLE_LIFETIME_MS + 1
    assert told(states, admin, late_ms) == []
    admin.broken = {}
    states.begin_pass()
    assert told(states, admin, late_ms + 1_000) == [sampled(PREPARING, late_ms + 1_000, late_ms + 1_000, None)]


def test_whoever_takes_no_more_leaves_the_other_brokers_unasked(states, admin):
    """So a job that is told to stop waits for one time limit at most."""
    admin.asked.clear()
    admin.broken = {1: RequestTimedOutError()}
    next(states.ask(admin, lambda: NOW))
    assert admin.asked == [1]


def test_a_broker_that_passes_the_filter_over_makes_no_rebalance(states, admin):
    admin.groups[1] = {"g": "Stable"}
    assert told(states, admin, NOW) == []


def test_a_clock_that_is_set_back_does_no_harm(states, admin):
    admin.groups[1] = {"g": PREPARING}
    (first,) = told(states, admin, NOW - 5_000)
    assert (first.sampled_ms, first.interval_ms) == (NOW - 5_000, 0)
