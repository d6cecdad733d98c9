"""Records that RocketMQ's groups sent back and gave up, judged. Times are in ms."""

from __future__ import annotations

import pytest

from monitor.detection import DetectionSettings, evaluate
from monitor.model import Catalog, Finding, GroupKind, GroupState, GroupVerdict, Member, Phase, Source
from monitor.model.rocketmq import ConsumptionPoint, Redelivery, RedeliveryObserved, RocketMQGroupState

NOW = 1_795_000_000_000
MINUTE, HOUR = 60_000, 3_600_000


def verdict(redelivery: Redelivery, now_ms: int = NOW) -> GroupVerdict:
    group = GroupState(
        cluster="mq",
        group="g",
        kind=GroupKind.ROCKETMQ,
        source=Source.SYSTEM,
        phase=Phase.STABLE,
        observed_ms=now_ms,
        members=(Member(member_id="a", topics=("t",)),),
        rocketmq=RocketMQGroupState(redelivery=redelivery),
    )
    return evaluate(group, Catalog(cluster="mq", pass_ms=now_ms), now_ms, DetectionSettings())


def found(redelivery: Redelivery, now_ms: int = NOW) -> list[Finding]:
    return [each for each in verdict(redelivery, now_ms).findings if each.kind == "poison"]


def given_up(**more: int) -> Redelivery:
    newest = RedeliveryObserved(given_up=20, given_up_ms=NOW - 10 * MINUTE, dead_letters=18)
    return Redelivery(newest=newest, **({"given_up_since_ms": NOW - 30 * MINUTE} | more))


def sent_back(records: int, consumed: int, *, ago_ms: int = 0, waiting: int = 0) -> Redelivery:
    """Within the last seven minutes."""
    return Redelivery(
        newest=RedeliveryObserved(sent_back=1_000 + records, consumed=9_000 + consumed, waiting=waiting),
        waiting_since_ms=NOW - 90_000 if waiting else 0,
        sent_back_since_ms=NOW - 40 * MINUTE,
        sent_back_ms=NOW - ago_ms,
        points=(ConsumptionPoint(NOW - 7 * MINUTE, 1_000, 9_000), ConsumptionPoint(NOW - 2 * MINUTE, 1_000, 9_000)),
    )


def test_dead_letters_are_found_with_how_many_and_when():
    """alibaba/rocketmq #170, apache/rocketmq #5439: nobody reads the dead-letter topic, and nothing shows it."""
    (finding,) = found(given_up())
    assert (finding.kind, finding.reason, finding.since_ms) == ("poison", "dead_letters", NOW - 30 * MINUTE)
    assert "has given up 20 records, the newest at 10:56:40 UTC." in finding.sentence
    assert "18 of them are in %DLQ%g" in finding.sentence


def test_dead_letters_are_found_for_an_hour_after_the_newest():
    assert len(found(given_up(), NOW + 50 * MINUTE - 1)) == 1
    assert found(given_up(), NOW + 50 * MINUTE) == []


def test_a_group_that_sends_everything_back_is_found():
    """apache/rocketmq #2724: a listener that always returns RECONSUME_LATER; the lag is 0 for hours, by default."""
    (finding,) = found(sent_back(40, 60, waiting=7))
    assert (finding.reason, finding.since_ms) == ("sent_back", NOW - 40 * MINUTE)
    assert "members have sent back 40 records, and the group has consumed 60" in finding.sentence
    assert "7 records wait in the retry topic, the oldest since" in finding.sentence


@pytest.mark.parametrize(
    ("records", "consumed", "ago_ms", "is_found"),
    [
        pytest.param(10, 20, 0, True, id="ten, half of all"),
        pytest.param(9, 9, 0, False, id="nine of nine: one record that fails, or a few errors"),
        pytest.param(10, 21, 0, False, id="less than half"),
        pytest.param(0, 0, 0, False, id="nothing"),
        pytest.param(40, 60, 10 * MINUTE - 1, True, id="nearly ten minutes ago"),
        pytest.param(40, 60, 10 * MINUTE, False, id="ten minutes ago"),
    ],
)
def test_a_few_errors_are_normal(records: int, consumed: int, ago_ms: int, is_found: bool):
    assert bool(found(sent_back(records, consumed, ago_ms=ago_ms))) is is_found


def test_the_numbers_are_in_the_verdict():
    told = verdict(sent_back(40, 60, waiting=7)).redelivery
    assert told is not None
    assert (told.sent_back, told.waiting, told.waiting_since_ms, told.given_up) == (1_040, 7, NOW - 90_000, 0)
    assert (told.given_up_ms, told.dead_letters, told.in_flight) == (None, 0, None)
