"""Real groups of all client libraries that can be had here, churned beside a real job, by `make test-clients`.

GROUPWATCH_CLIENTS_MINUTES says how long (1), GROUPWATCH_CLIENTS_LIBRARIES which libraries (all),
GROUPWATCH_CLIENTS_GROUPS which groups, by pieces of their names (all). Of less than a minute, most would be the start
of Spark: it is played then.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients.churn import ONE_LIBRARY
from tests.clients.libraries import CLIENTS
from tests.support.beside import Beside

MINUTES = os.environ.get("GROUPWATCH_CLIENTS_MINUTES", "1")
LIBRARIES = os.environ.get("GROUPWATCH_CLIENTS_LIBRARIES", "")
GROUPS = os.environ.get("GROUPWATCH_CLIENTS_GROUPS", "")

pytestmark = [pytest.mark.clients, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def report() -> Iterator[dict[str, Any]]:
    """The report of a churn, over; broker, job and members are gone as well."""
    chosen = [*(["--libraries", LIBRARIES] if LIBRARIES else []), *(["--groups", GROUPS] if GROUPS else [])]
    chosen += ["--without-spark"] if float(MINUTES) < 1 else []
    with Beside() as programs:
        programs.begin("churn", "tests.clients.churn", "--seed", "1", "--minutes", MINUTES, *chosen)
        yield programs.report("churn")


@pytest.mark.parametrize(
    "client",
    [client for client in CLIENTS if not LIBRARIES or client.name in LIBRARIES.split(",")],
    ids=lambda client: client.name,
)
def test_members_of_the_library_were_recognized(report: dict[str, Any], client):
    if client.name in report["skipped"]:
        pytest.skip(report["skipped"][client.name])
    recognized = report["recognition"]["by_library"][client.library.value]
    assert recognized["members"] > 0
    assert recognized["as_set"] == 1.0, report["recognition"]["wrong"]


def test_most_members_were_recognized_as_one_library(report: dict[str, Any]):
    assert report["recognition"]["as_one"] >= ONE_LIBRARY, report["recognition"]


def test_healthy_groups_had_no_finding_that_grew_older_than_it_may(report: dict[str, Any]):
    assert report["false_alarms"] == [], report["sentences"]


def test_no_assignment_of_a_library_was_taken_for_drift(report: dict[str, Any]):
    assert report["drift"] == [], report["sentences"]


@pytest.mark.parametrize("kind", ["unassigned", "misplaced"])
def test_what_nobody_read_was_told_in_time(report: dict[str, Any], kind: str):
    orphans = report["orphans"][kind]
    if not orphans["generations"]:
        pytest.skip("no leader left topics out: that takes KafkaJS or @platformatic/kafka, and minutes")
    assert orphans["late"] == []
    assert orphans["told"] > 0


def test_members_joined_left_and_restarted_and_none_failed(report: dict[str, Any]):
    assert min(report["done"].get(action, 0) for action in ("join", "leave", "restart")) > 0, report["done"]
    assert report["failures"] == []
