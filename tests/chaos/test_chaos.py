"""Whatever is killed, and whenever: the job comes back, and what it then says is what an undisturbed job says.

The long version is ``make chaos``.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.chaos.faults import Victim, plan
from tests.chaos.load import EVENTS_TOPIC, FLAVOURS
from tests.support.beside import Beside


@pytest.fixture(scope="module")
def chaos_run(beside: Beside) -> dict[str, Any]:
    """Its report. A process of its own: kafka-python leaves sockets open when a broker has died."""
    return beside.report("chaos_run")


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.timeout(1200)
def test_a_job_that_was_killed_says_what_an_undisturbed_one_and_the_broker_say(chaos_run: dict[str, Any]):
    assert chaos_run["differences"] == []
    # a comparison of what was there to lose and to double
    kills = {Victim.SESSION: 1, Victim.JVM: 1, Victim.BROKER: 1}
    assert chaos_run["faults"] == kills | {Victim.CLOCK: 1, Victim.FULL_DISK: 1}
    assert chaos_run["looks"] > 20
    assert chaos_run["jvm_ends_told"] == 1, "a job whose JVM was killed says so and ends"
    assert set(chaos_run["spoilt"]) == {"__consumer_offsets", EVENTS_TOPIC}
    assert min(chaos_run["spoilt"].values()) > 10
    assert all(chaos_run["rebalances"][name] > 1 for name in FLAVOURS)
    assert chaos_run["commits"] > 20
    assert chaos_run["open_findings"] > 0
    assert chaos_run["closed_findings"] > 0


def test_a_seed_plans_the_same_faults_again_and_another_one_others():
    assert plan(7, 20, 6) == plan(7, 20, 6) != plan(8, 20, 6)
    assert {fault.victim for fault in plan(7, 20, 6)} == set(Victim)
    assert Counter(fault.victim for fault in plan(7, 20, 6))[Victim.BROKER] >= 2
