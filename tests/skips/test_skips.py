"""Eight groups of four real clients skip records or read them, and what is told fits what they noted.

The long version is ``make skips``.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.skips.logs import CLIENTS
from tests.skips.scenarios import BY_NAME
from tests.support.beside import Beside


@pytest.fixture(scope="module")
def skips_run(beside: Beside) -> dict[str, Any]:
    """Its report."""
    return beside.report("skips_run")


@pytest.mark.broker
@pytest.mark.timeout(600)
def test_what_real_consumers_did_not_read_is_told_and_no_healthy_one_is_accused(skips_run: dict[str, Any]):
    assert skips_run["violations"] == []
    runs = skips_run["runs"]
    assert {run["client"] for run in runs if run["passages"]} == set(CLIENTS), "each of them has skipped records"
    assert sum(BY_NAME[run["scenario"]].is_healthy for run in runs) == 2
