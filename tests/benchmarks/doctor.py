"""How long a first answer takes: `groupwatch doctor` on 1,000 groups of 20 partitions with three members each.

The value is the slowest of three runs, each a process of its own, from its start to its end. All groups have lag
and stand still, so each run has a second reading. Its peak memory has a goal of its own, 200 MB.

``python -m tests.benchmarks.doctor [GROUPS]``
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import closing

from kafka import KafkaProducer

from monitor.model import Value
from tests.benchmarks.admin_round import broker_with_groups
from tests.benchmarks.measured import report
from tests.benchmarks.offsets_log import Crowd, produce_everywhere

GROUPS, RUNS, GOAL_S, GOAL_MB = 1_000, 3, 10.0, 200.0
TOPICS_READ, PARTITIONS, MEMBERS = 1, 20, 3
RECORDS = 5
"""Records of each partition: more than the one that is committed, so every group has lag, and is read twice."""


class Run(Value):
    """One run: its time, the CPU and the peak memory of its process, its exit code, and what it printed."""

    seconds: float
    cpu_s: float
    peak_mb: float
    code: int
    judged: int
    findings: int
    readings: int


def main() -> None:
    """Measure and report; seconds."""
    groups = int(sys.argv[1]) if len(sys.argv) > 1 else GROUPS
    crowd = Crowd(groups=groups, partitions=PARTITIONS, members=MEMBERS, reads=TOPICS_READ)
    with broker_with_groups(crowd) as kafka:
        with closing(KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)) as producer:
            for _ in range(RECORDS):
                produce_everywhere(producer, crowd)
        runs = [measure(kafka.bootstrap_servers) for _ in range(RUNS)]
    if any(run.judged < groups for run in runs):
        raise SystemExit(f"not what was to be read: {runs}")
    report(
        "doctor",
        max(run.seconds for run in runs),
        "s",
        GOAL_S,
        max(run.cpu_s for run in runs),
        groups=groups,
        peak_mb=[round(run.peak_mb, 1) for run in runs],
        peak_goal_mb=GOAL_MB,
        seconds=[round(run.seconds, 2) for run in runs],
        findings=[run.findings for run in runs],
        readings=[run.readings for run in runs],
        codes=[run.code for run in runs],
    )


def measure(servers: str) -> Run:
    """One run of the command."""
    command = [sys.executable, "-m", "monitor.cli", "doctor", "--json", "--bootstrap-server", servers]
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        answer = json.loads(process.stdout.read())
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return Run(
        seconds=time.perf_counter() - began,
        cpu_s=used.ru_utime + used.ru_stime,
        peak_mb=used.ru_maxrss / 1024,
        code=process.returncode,
        judged=answer["judged"],
        findings=len(answer["findings"]),
        readings=answer["readings"],
    )


if __name__ == "__main__":
    main()
