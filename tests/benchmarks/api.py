"""How long the API takes over 10,000 groups of 20 partitions and one of 1,000 members and 10,000 partitions.

``python -m tests.benchmarks.api [SECONDS]``. A job without Spark (tests/benchmarks/simulated.py) publishes every 5 s in
a process of its own; one client and then four ask it. The value is the largest of the 95th percentiles of what is asked
of ordinary groups, one client. ``first`` is the first question after each publication, when nothing is prepared.
``scrape`` are the scrapes while four clients ask for explanations of the huge group and nothing else.
"""

from __future__ import annotations

import http.client
import statistics
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final
from urllib.parse import urlsplit

from monitor.web.server import HttpServer
from tests.benchmarks.measured import cpu_s, quantile, report
from tests.benchmarks.simulated import CLUSTER, HUGE, SimulatedJob

GOAL_S: Final = 0.050
GROUPS: Final = 10_000
EVERY_S: Final = 5.0
CLIENTS: Final = 4
GZIP: Final = "gzip"

ORDINARY: Final = {
    "groups": "/api/v1/groups",
    "groups, the worst 200": "/api/v1/groups?sort=worst&limit=200",
    "groups, with a search": "/api/v1/groups?q=-0123&limit=200",
    "groups, with problems": "/api/v1/groups?problems=1",
    "findings": "/api/v1/findings",
    "clusters": "/api/v1/clusters",
    "group": f"/api/v1/groups/{CLUSTER}/group-01234",
    "explain": f"/api/v1/explain/{CLUSTER}/group-01234",
    "explain a partition": f"/api/v1/explain/{CLUSTER}/group-01234?topic=topic-0234&partition=7",
    "what-if": f"/api/v1/what-if/{CLUSTER}/group-01234?members=7",
    "lag": f"/api/v1/lag/{CLUSTER}/group-01234",
}
OF_THE_HUGE: Final = {
    "group": f"/api/v1/groups/{CLUSTER}/{HUGE}",
    "explain": f"/api/v1/explain/{CLUSTER}/{HUGE}",
    "what-if": f"/api/v1/what-if/{CLUSTER}/{HUGE}?members=1100",
    "lag": f"/api/v1/lag/{CLUSTER}/{HUGE}",
}


def main() -> None:
    """Measure and report."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    with served() as (url, pid):
        before = cpu_s(pid)
        alone = asked(url, ORDINARY, seconds, clients=1)
        cpu = cpu_s(pid) - before
        together = asked(url, ORDINARY, seconds, clients=CLIENTS)
        first = asked_first(url)
        huge = asked(url, OF_THE_HUGE, seconds, clients=1)
        quiet = asked(url, {"scrape": "/metrics"}, seconds / 4, clients=1)
        busy = scraped_meanwhile(url, OF_THE_HUGE["explain"], seconds)
    report(
        "api",
        max(quantile(took, 0.95) for took in alone.values()),
        "s",
        GOAL_S,
        cpu,
        groups=GROUPS,
        questions=sum(map(len, alone.values())),
        alone_ms=told(alone),
        together_ms=told(together),
        first_ms=told(first),
        huge_ms=told(huge),
        scrape_ms=told({"quiet": quiet["scrape"], "while explaining": busy}),
    )


def told(seconds: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    """In ms: the middle, the 95th percentile and the largest."""
    return {
        name: {
            "p50": round(1000 * statistics.median(took), 1),
            "p95": round(1000 * quantile(took, 0.95), 1),
            "max": round(1000 * max(took), 1),
        }
        for name, took in seconds.items()
    }


def asked(url: str, paths: dict[str, str], seconds: float, *, clients: int) -> dict[str, list[float]]:
    """Seconds that each answer took, of clients that ask for one after the other without a pause."""
    end = time.monotonic() + seconds
    found: dict[str, list[float]] = defaultdict(list)

    def ask(number: int) -> None:
        connection = connected(url)
        names = list(paths)[number:] + list(paths)[:number]
        while time.monotonic() < end:
            for name in names:
                found[name].append(timed(connection, paths[name]))
        connection.close()

    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(ask, range(clients)))
    return found


def asked_first(url: str) -> dict[str, list[float]]:
    """Seconds of the first answer after each publication: of each address of all groups, three times."""
    connection = connected(url)
    found: dict[str, list[float]] = defaultdict(list)
    for name in list(ORDINARY)[:5] * 3:
        await_publication(connection)
        found[name].append(timed(connection, ORDINARY[name]))
    connection.close()
    return found


def await_publication(connection: http.client.HTTPConnection) -> None:
    """Return when the job has published again. The question that tells so prepares nothing for the others."""
    explained = f"/api/v1/explain/{CLUSTER}/group-00001"
    before = tag(connection, explained)
    while tag(connection, explained) == before:
        time.sleep(0.05)


def tag(connection: http.client.HTTPConnection, path: str) -> str:
    connection.request("GET", path)
    response = connection.getresponse()
    response.read()
    return response.headers["ETag"]


def scraped_meanwhile(url: str, path: str, seconds: float) -> list[float]:
    """Seconds of scrapes, five a second, while clients ask for the same without a pause."""
    stop = threading.Event()

    def ask() -> None:
        connection = connected(url)
        while not stop.is_set():
            timed(connection, path)
        connection.close()

    others = [threading.Thread(target=ask) for _ in range(CLIENTS)]
    for each in others:
        each.start()
    scrapes, connection, end = [], connected(url), time.monotonic() + seconds
    while time.monotonic() < end:
        scrapes.append(timed(connection, "/metrics"))
        time.sleep(0.2)
    stop.set()
    for each in others:
        each.join()
    return scrapes


def connected(url: str) -> http.client.HTTPConnection:
    address = urlsplit(url)
    return http.client.HTTPConnection(address.hostname or "", address.port, timeout=60)


def timed(connection: http.client.HTTPConnection, path: str) -> float:
    """Seconds until the whole answer has been read."""
    began = time.perf_counter()
    connection.request("GET", path, headers={"Accept-Encoding": GZIP})
    response = connection.getresponse()
    response.read()
    if response.status != 200:
        raise RuntimeError(f"{path} was answered with {response.status}")
    return time.perf_counter() - began


@contextmanager
def served() -> Iterator[tuple[str, int]]:
    """The address of a job in another process, and that process's id."""
    command = [sys.executable, "-m", "tests.benchmarks.api", "serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process.pid
        finally:
            process.stdin.close()  # by which it ends
            process.wait(timeout=20)


def serve() -> None:
    """Serve a job that publishes until the standard input ends."""
    job, ended = SimulatedJob(GROUPS), threading.Event()
    for back in range(120, 0, -1):
        job.publish(job.begun_ms - back * 15_000)
    with HttpServer(job.store, port=0) as server:
        job.publish(time.time_ns() // 1_000_000)
        print(server.url, flush=True)  # noqa: T201 -- the reader waits for it
        threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
        while not ended.wait(EVERY_S):
            job.publish(time.time_ns() // 1_000_000)


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["serve"] else main()
