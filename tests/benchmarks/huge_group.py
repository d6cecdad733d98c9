"""What one huge group costs: 1,000 members, 10,000 partitions and 1,000 commits a second, beside 300 ordinary groups.

``python -m tests.benchmarks.huge_group [TRIGGER_S]``. The value is the median micro-batch over the trigger's interval.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.measured import cpu_s
from tests.benchmarks.offsets_log import Crowd, broker_with_topics, fill, filling
from tests.benchmarks.steady import Load
from tests.support.job_process import JobProcess

HUGE = Crowd(groups=1, partitions=1000, members=1000, topics=10, reads=10, group_name="huge", topic_name="wide")
FOLLOWED = Crowd(groups=1, partitions=1000, topics=10, reads=10, group_name="huge", topic_name="wide")
ORDINARY = Crowd(groups=300, partitions=4, members=2, topics=10)
COMMITS_S = 1_000
GOAL = 1.0
SECONDS_TO_READY = 600
LOOKS = ("/groups/bench/huge-0", "/groups/bench/huge-0?all", "/api/v1/groups/bench/huge-0")


def main() -> None:
    """Measure and report."""
    trigger_s = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    with broker_with_topics(HUGE, ORDINARY) as kafka, tempfile.TemporaryDirectory() as folder:
        fill(kafka, ORDINARY, 3)
        fill(kafka, HUGE, 12)
        clusters = {"bench": {"bootstrap_servers": kafka.bootstrap_servers}}
        with JobProcess(Path(folder), clusters, spark={"trigger_s": trigger_s, "buckets": 8}) as job:
            job.await_ready(SECONDS_TO_READY)
            ready_cpu = cpu_s(job.session)
            looks = {path: _seconds(job, path) for path in LOOKS}
            with filling(kafka, FOLLOWED, 100_000, COMMITS_S):
                load = Load.of(job)
    seconds = {path: round(took, 3) for path, took in looks.items()}
    cpu_ready_s = round(ready_cpu, 1)
    load.report(
        "huge-group", GOAL, trigger_s, commits_s=COMMITS_S, cpu_until_ready_s=cpu_ready_s, seconds_to_look=seconds
    )


def _seconds(job: JobProcess, path: str) -> float:
    began = time.perf_counter()
    job.get(path)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
