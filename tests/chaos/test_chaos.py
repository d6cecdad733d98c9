"""Whatever is killed, and whenever: the job comes back, and what it then says is what an undisturbed job says.

The long version is ``make chaos``.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.faults import Victim, plan
from tests.chaos.load import EVENTS_TOPIC, FLAVOURS

SEED = 1
KILLS = 4
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    """Its report. A process of its own: kafka-python leaves sockets open when a broker has died."""
    command = [sys.executable, "-m", "tests.chaos.run", "--seed", str(SEED), "--kills", str(KILLS)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert ended.returncode in (0, 1), ended.stderr[-3000:]
    lines = [line for line in ended.stdout.splitlines() if "{" in line and "differences" in line]
    assert lines, ended.stderr[-3000:]
    report: dict[str, Any] = json.loads(lines[-1][lines[-1].index("{") :])
    return report


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.timeout(1200)
def test_a_job_that_was_killed_says_what_an_undisturbed_one_and_the_broker_say(seen: dict[str, Any]):
    assert seen["differences"] == []
    # a comparison of what was there to lose and to double
    assert seen["kills"] == {Victim.SESSION: 1, Victim.JVM: 1, Victim.DRIVER: 1, Victim.BROKER: 1}
    assert seen["jvm_ends_told"] == 1, "a job whose JVM was killed says so and ends"
    assert set(seen["spoilt"]) == {"__consumer_offsets", EVENTS_TOPIC}
    assert min(seen["spoilt"].values()) > 10
    assert all(seen["rebalances"][name] > 1 for name in FLAVOURS)
    assert seen["commits"] > 20


def test_a_seed_plans_the_same_faults_again_and_another_one_others():
    assert plan(7, 20) == plan(7, 20) != plan(8, 20)
    assert {fault.victim for fault in plan(7, 20)} == set(Victim)
    assert Counter(fault.victim for fault in plan(7, 20))[Victim.BROKER] >= 2
