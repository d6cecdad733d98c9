"""How long after a commit /metrics shows it, with 1,000 other commits a second and a trigger of 1 s.

A real broker, the job as a process of its own, commits at random moments; each is awaited by reading /metrics. The
time includes everything: the coordinator's append, the trigger, the micro-batch, the scrape. The value is the median.
With ``carried``, the job writes nothing to that broker: its events are in another one, which it watches, too.
"""

from __future__ import annotations

import gzip
import random
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext

from kafka import OffsetAndMetadata, TopicPartition

from monitor.demo.servers.broker import EmbeddedKafka
from tests.benchmarks.measured import cpu_s, quantile, report
from tests.benchmarks.offsets_log import Crowd, broker_with_topics, loaded_job
from tests.benchmarks.scrape import asked
from tests.support.clients import commit, create_topic, simple_consumer
from tests.support.job_process import JobProcess, eventually

GROUP = "freshness"
CROWD = Crowd(groups=1_100, partitions=4, beside=GROUP)
COMMITS_S = 1_000
SEED = 7
MEDIAN_GOAL_S, P95_GOAL_S = 1.5, 3.0
PAUSES_S = (0.0, 1.5)
"""A commit comes at a random moment within the rhythm of the triggers."""


def main() -> None:
    """Measure and report; seconds."""
    commits = next((int(word) for word in sys.argv[1:] if word.isdecimal()), 60)
    is_carried = "carried" in sys.argv
    with broker_with_topics(CROWD) as kafka, EmbeddedKafka() if is_carried else nullcontext() as carrier:
        bootstrap = kafka.bootstrap_servers
        create_topic(bootstrap, GROUP, 1)
        commit(bootstrap, GROUP, GROUP, {0: 0})
        address = None if carrier is None else carrier.bootstrap_servers
        with loaded_job(kafka, CROWD, COMMITS_S, collect_interval_s=5.0, carrier=address) as job:
            began, before = time.perf_counter(), cpu_s(job.session)
            times_s = measure(bootstrap, job, GROUP, commits, pauses_s=PAUSES_S, is_shown=is_in_text)
            cpu, took_s = cpu_s(job.session) - before, time.perf_counter() - began
    report(
        "latency-carried" if is_carried else "latency",
        statistics.median(times_s),
        "s",
        MEDIAN_GOAL_S,
        cpu,
        p95_s=round(quantile(times_s, 0.95), 3),
        p95_goal_s=P95_GOAL_S,
        max_s=round(max(times_s), 3),
        min_s=round(min(times_s), 3),
        commits=commits,
        seconds=round(took_s, 1),
    )


def measure(
    bootstrap: str,
    job: JobProcess,
    group: str,
    commits: int,
    *,
    pauses_s: tuple[float, float],
    is_shown: Callable[[JobProcess, bytes], bool],
) -> list[float]:
    """Seconds from each commit's return to the first reading that shows it. The group's topic has its name.

    Args:
        bootstrap: the brokers.
        job: whose /metrics is read.
        group: who commits.
        commits: how many.
        pauses_s: the shortest and the longest pause before one.
        is_shown: whether a reading has a line.
    """
    pauses = random.Random(SEED)
    times_s = []
    place = TopicPartition(group, 0)
    labels = f'{{cluster="bench",group="{group}",topic="{group}",partition="0"}}'
    with simple_consumer(bootstrap, group) as consumer:
        consumer.assign([place])
        for offset in range(1, commits + 1):
            time.sleep(pauses.uniform(*pauses_s))
            consumer.commit({place: OffsetAndMetadata(offset, "", -1)})
            began = time.perf_counter()
            line = f"groupwatch_partition_committed_offset{labels} {offset}\n".encode()
            eventually(lambda wanted=line: is_shown(job, wanted), f"offset {offset} on /metrics")
            times_s.append(time.perf_counter() - began)
    return times_s


def is_in_text(job: JobProcess, line: bytes) -> bool:
    """Whether the whole text of a scrape has this line."""
    return line in scraped(job)


def scraped(job: JobProcess) -> bytes:
    """The text of /metrics, taken in gzip as Prometheus does; not parsed, so that the reader takes little."""
    return gzip.decompress(asked(job, "gzip"))


if __name__ == "__main__":
    main()
