"""What is said of partitions that are not read: each broker by its reason, and in the log only if it lasts."""

from __future__ import annotations

import logging

import pytest

from monitor.collectors.kafka.log_ends import NOBODY_ANSWERS
from monitor.collectors.kafka.silence import Silence
from streaming_jobs.jobs.unread_partitions import UnreadLog, unread_partitions, unread_problem

AWAY = "broker 2 (b2:9092) does not answer"
PROBLEM = "Cluster prod: broker 2 (b2:9092) does not answer."


def test_each_reason_has_its_partitions_and_the_time_of_the_first():
    silent = {
        ("log", 1): Silence(reason=AWAY, since_ms=61_000),
        ("log", 4): Silence(reason=AWAY, since_ms=60_000),
        ("events", 0): Silence(reason="it has no leader", since_ms=120_000),
    }
    assert unread_problem("prod", {"log": 50, "events": 1}, silent) == (
        "Cluster prod: 1 of 1 partition of events has not been read since 1970-01-01 00:02:00 UTC: it has no leader."
        f" 2 of 50 partitions of log have not been read since 1970-01-01 00:01:00 UTC: {AWAY}."
    )
    assert unread_problem("prod", {"log": 50}, {}) is None


def test_that_no_broker_answers_is_said_of_the_cluster_and_not_of_its_partitions():
    silent = {("log", 1): Silence(reason=NOBODY_ANSWERS, since_ms=61_000)}
    assert unread_problem("prod", {"log": 50}, silent) is None


@pytest.mark.parametrize(
    ("first_evaluated_ms", "was_read"),
    [(None, False), (90_000, False), (60_000, True), (61_004, True)],
)
def test_what_was_silent_before_the_first_evaluation_was_never_read_by_this_process(first_evaluated_ms, was_read):
    silent = {("log", 1): Silence(reason=AWAY, since_ms=61_000), ("other", 1): Silence(reason=AWAY, since_ms=0)}
    assert {n: each.was_read for n, each in unread_partitions("log", silent, first_evaluated_ms).items()} == {
        1: was_read
    }


def test_a_leader_that_moves_is_not_logged_and_what_lasts_is_logged_once(caplog: pytest.LogCaptureFixture):
    told = UnreadLog("prod")
    with caplog.at_level(logging.INFO):
        for passed_ms, problem in [(0, PROBLEM), (2_000, PROBLEM), (3_000, None), (4_000, PROBLEM)]:
            told.look(problem, passed_ms)
        assert caplog.messages == []
        for passed_ms in (7_000, 8_000, 600_000):
            told.look(PROBLEM, passed_ms)
        told.look(None, 601_000)
        told.look(None, 602_000)
    assert caplog.messages == [
        f"{PROBLEM} Their groups are not evaluated until then.",
        "Cluster prod: all partitions of its logs are read again",
    ]
