"""How long a scrape of 200,000 series takes, while micro-batches run. The client takes gzip, as Prometheus does."""

from __future__ import annotations

import gzip
import statistics
import time
import urllib.request

from tests.benchmarks.measured import cpu_s, quantile, report
from tests.benchmarks.offsets_log import Crowd, broker_with_topics, loaded_job
from tests.support.job_process import JobProcess

CROWD = Crowd(groups=1_300, partitions=50)
COMMITS_S = 1_000
SCRAPES = 100
GOAL_S = 0.1


def main() -> None:
    """Measure and report; seconds."""
    with broker_with_topics(CROWD) as kafka, loaded_job(kafka, CROWD, COMMITS_S) as job:
        before = cpu_s(job.session)
        packed_s = [timed(job, "gzip") for _ in range(SCRAPES)]
        cpu = cpu_s(job.session) - before
        plain_s = [timed(job, "identity") for _ in range(SCRAPES // 5)]
        body = asked(job, "gzip")
    text = gzip.decompress(body)
    report(
        "scrape",
        quantile(packed_s, 0.95),
        "s",
        GOAL_S,
        cpu,
        series=sum(not line.startswith(b"#") for line in text.splitlines()),
        median_s=round(statistics.median(packed_s), 4),
        max_s=round(max(packed_s), 4),
        plain_p95_s=round(quantile(plain_s, 0.95), 4),
        gzip_bytes=len(body),
        bytes=len(text),
    )


def timed(job: JobProcess, coding: str) -> float:
    """Seconds that one scrape takes."""
    time.sleep(0.13)  # out of step with the trigger
    began = time.perf_counter()
    asked(job, coding)
    return time.perf_counter() - began


def asked(job: JobProcess, coding: str) -> bytes:
    """The body of one scrape, as it is sent."""
    request = urllib.request.Request(f"{job.url}/metrics", headers={"Accept-Encoding": coding})
    with urllib.request.urlopen(request, timeout=30) as response:
        return bytes(response.read())


if __name__ == "__main__":
    main()
