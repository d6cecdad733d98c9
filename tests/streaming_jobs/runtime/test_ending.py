"""A job that is told to end does so at any moment, silently, with one exit code, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from pathlib import Path
from typing import Final

import pytest

from monitor.demo.servers.broker import EmbeddedKafka
from tests.support.clients import commit, create_topic
from tests.support.job_process import JobProcess, eventually, processes_of

pytestmark = [pytest.mark.broker, pytest.mark.spark]

OWN_LINE: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (INFO   |WARNING) \S")
WHILE_STARTING: Final = (0.1, 0.8, 2.0, 3.5, 5.0, 7.0, 9.0)
"""Seconds: Python loads, the cluster is asked, Java starts, Spark starts, the first micro-batch runs."""
READY: Final = -1.0
SIGNALS: Final = 20
"""How often the signal is sent: one may come while another one is handled."""
IN_THE_SUITE: Final = frozenset({(2.0, "process"), (READY, "group")})


def moments() -> list[object]:
    """Each with who is sent the signal: the process, as by systemd; its group, as by a shell; all that it started."""
    return [
        pytest.param(
            moment,
            target,
            id=f"{'ready' if moment == READY else f'{moment}s'}-{target}",
            marks=[] if (moment, target) in IN_THE_SUITE else [pytest.mark.long],
        )
        for moment in (*WHILE_STARTING, READY)
        for target in ("process", "group", "tree")
    ]


@pytest.fixture(scope="module")
def servers(broker: EmbeddedKafka) -> str:
    create_topic(broker.bootstrap_servers, "read-until-the-end", 1)
    commit(broker.bootstrap_servers, "reads-until-the-end", "read-until-the-end", {0: 0})
    return broker.bootstrap_servers


@pytest.mark.parametrize(("moment", "target"), moments())
def test_sigterm_ends_a_job_silently_with_0(servers: str, tmp_path: Path, moment: float, target: str):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    job = JobProcess(tmp_path, {"test": {"bootstrap_servers": servers, "collect_interval_s": 0.5}})
    job.environment = os.environ | {"TMPDIR": str(temporary)}
    job.start()
    if moment == READY:
        job.await_ready()
    else:
        time.sleep(moment)  # the moment is what is tried
    for _ in range(SIGNALS):
        send_sigterm(job, target)
    assert job.stop() == 0, job.log()[-3000:]
    assert [line for line in job.log().splitlines() if not OWN_LINE.match(line)] == []
    eventually(lambda: not processes_of(job.session), "the end of all that it started", 20)
    assert list(temporary.iterdir()) == []


def send_sigterm(job: JobProcess, target: str) -> None:
    pids = {"process": [job.pid], "group": [-job.pid], "tree": processes_of(job.session)}[target]
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
