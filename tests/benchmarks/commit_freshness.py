"""How long after a commit /metrics shows it: ``python -m tests.benchmarks.commit_freshness [COMMITS] > result.json``.

A real broker, the job as a process of its own with the demo's settings, commits at random moments; each is awaited by
reading /metrics. The time includes everything: the coordinator's append, the trigger, the micro-batch, the scrape.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from kafka import OffsetAndMetadata, TopicPartition

from monitor.embedded.broker import EmbeddedKafka
from tests.job_process import JobProcess, eventually, running
from tests.streaming_jobs.clients import commit, create_topic, simple_consumer

GROUP = "freshness"
SEED = 7


def main() -> None:
    """Measure and print one JSON object; times in seconds."""
    commits = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    with EmbeddedKafka() as kafka, tempfile.TemporaryDirectory() as folder:
        create_topic(kafka.bootstrap_servers, GROUP, 1)
        commit(kafka.bootstrap_servers, GROUP, GROUP, {0: 0})
        clusters = {"bench": {"bootstrap_servers": kafka.bootstrap_servers, "collect_interval_s": 1.0}}
        with running(JobProcess(Path(folder), clusters, spark={"trigger_s": 1.0, "buckets": 8})) as job:
            times_s = measure(kafka.bootstrap_servers, job, commits)
    print(json.dumps(report(times_s)))  # noqa: T201 -- the result


def measure(bootstrap: str, job: JobProcess, commits: int) -> list[float]:
    """Seconds from each commit's return to the first reading that shows it."""
    pauses = random.Random(SEED)
    times_s = []
    place = TopicPartition(GROUP, 0)
    with simple_consumer(bootstrap, GROUP) as consumer:
        consumer.assign([place])
        for offset in range(1, commits + 1):
            time.sleep(pauses.uniform(0, 1.5))  # a random moment within the rhythm of the triggers
            consumer.commit({place: OffsetAndMetadata(offset, "", -1)})
            began = time.perf_counter()

            def shown(wanted: int = offset) -> bool:
                value = job.metrics().value("groupwatch_partition_committed_offset", group=GROUP, partition="0")
                return value == wanted

            eventually(shown, f"offset {offset} on /metrics")
            times_s.append(time.perf_counter() - began)
    return times_s


def report(times_s: list[float]) -> dict[str, object]:
    """The distribution, and what else the machine was doing."""
    ordered = sorted(times_s)
    return {
        "benchmark": "commit_freshness",
        "commits": len(ordered),
        "median_s": round(statistics.median(ordered), 3),
        "p95_s": round(ordered[int(0.95 * (len(ordered) - 1))], 3),
        "max_s": round(ordered[-1], 3),
        "min_s": round(ordered[0], 3),
        "cores": os.cpu_count(),
        "load_1min": os.getloadavg()[0],
    }


if __name__ == "__main__":
    main()
