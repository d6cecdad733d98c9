"""Strangers write into both logs for half a minute, and ten healthy groups are judged as if they had not.

The long version is ``make hostile``.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.chaos.load import EVENTS_TOPIC
from tests.hostile.records import LOG, Stranger
from tests.support.beside import Beside


@pytest.fixture(scope="module")
def hostile_run(beside: Beside) -> dict[str, Any]:
    """Its report."""
    return beside.report("hostile_run")


@pytest.mark.broker
@pytest.mark.timeout(600)
def test_healthy_groups_are_judged_as_without_hostile_records(hostile_run: dict[str, Any]):
    assert hostile_run["differences"] == []
    assert hostile_run["looks"] > 10
    assert min(hostile_run["sent"][topic] for topic in (LOG, EVENTS_TOPIC)) > 100
    assert hostile_run["groups"] > 11, "the strangers' own groups are shown, too"
    assert len(hostile_run["refused"]) > 5, "reasons for which records were refused"


def test_a_seed_writes_the_same_records_again():
    first, again, other = (
        [record for _ in range(5) for record in Stranger(seed, "c", ["g"], "t", 3).records(1_700_000_000_000)]
        for seed in (7, 7, 8)
    )
    assert first == again != other
