"""Healthy groups of every kind, whose members come and go beside each other: nothing false is found in them.

``python -m tests.kind_churn.run`` tells more; ``make test-long`` has the long form.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any

import pytest

from monitor.model import FindingKind, OrphanReason
from tests.conftest import CHURNING, TASK_KINDS
from tests.kind_churn.allowed import false_findings
from tests.kind_churn.connect import CLUSTER
from tests.kind_churn.run import KINDS
from tests.support.beside import Beside
from tests.systems.watching import Found


@pytest.fixture(scope="module")
def kind_churn_run(beside: Beside) -> dict[str, Any]:
    """The report of half a minute."""
    return beside.report("kind_churn_run")


@pytest.fixture(scope="module")
def long_report() -> Iterator[dict[str, Any]]:
    """That of ten minutes."""
    with Beside() as programs:
        programs.begin("churn", "tests.kind_churn.run", "--seed", "1", "--minutes", "10")
        yield programs.report("churn")


@pytest.mark.broker
@pytest.mark.timeout(900)
def test_nothing_false_is_found_in_healthy_groups(kind_churn_run: dict[str, Any]):
    assert_healthy(kind_churn_run, set(CHURNING), fewest=1)


@pytest.mark.long
@pytest.mark.broker
@pytest.mark.timeout(1800)
def test_nothing_false_is_found_in_ten_minutes(long_report: dict[str, Any]):
    assert_healthy(long_report, KINDS.keys(), fewest=12)
    assert min(sum(long_report["done"][kind].values()) for kind in TASK_KINDS) >= 30, long_report["done"]
    assert long_report["judged"].keys() >= {"members-kip848", "tail-classic", "copied-0", "regex-kip848"}
    assert long_report["done"]["connect"].keys() >= {"create", "change", "pause", "stop", "resume", "delete"}
    assert long_report["done"]["connect"]["restart_worker"] > 0


def assert_healthy(report: dict[str, Any], kinds: Set[str], fewest: int) -> None:
    assert report["false"] == []
    assert report["errors"] == []
    assert report["done"].keys() == kinds
    assert min(sum(done.values()) for done in report["done"].values()) >= fewest, report["done"]
    assert report["judged"].keys() >= {"pool", "streams-classic", "streams-kip1071", CLUSTER.group}


def found(reason: str, lasted_ms: int, group: str = CLUSTER.group, closed: bool = True) -> Found:
    return Found(group, FindingKind.ORPHANED, reason, 1_000, "words", closed_ms=1_000 + lasted_ms if closed else None)


def test_a_finding_may_be_there_in_its_group_and_for_its_time_only():
    delay, limit_ms = OrphanReason.DELAY, CLUSTER.delay_ms + 10_000
    good = [found(delay, limit_ms)]
    wrong = [found(delay, limit_ms + 1), found(delay, 0, "pool"), found("grew", 0), found(delay, 0, closed=False)]
    lines = list(false_findings([*good, *wrong], end_ms=1_000_000, late_s=0.0))
    assert [line.split(" at ")[0] for line in lines] == [
        f"{CLUSTER.group}: orphaned/delay",
        "pool: orphaned/delay",
        f"{CLUSTER.group}: orphaned/grew",
        f"{CLUSTER.group}: orphaned/delay",
    ]
    assert list(false_findings([found(delay, limit_ms + 1)], end_ms=0, late_s=1.0)) == []


def test_a_silence_is_excused_only_where_the_machine_stood_still():
    silence = Found("members-range", FindingKind.LAG, "not_committing", 1_000, "words", closed_ms=2_000)
    assert len(list(false_findings([silence], end_ms=9_000, late_s=0.0))) == 1
    assert list(false_findings([silence], end_ms=9_000, late_s=1.0)) == []
