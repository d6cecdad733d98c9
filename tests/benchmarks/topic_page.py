"""How soon a person sees the list of topics, a topic, and what a search finds: 5,000 topics of 100,000 partitions.

Measured as the page of groups is (tests.benchmarks.page), in a real Chromium, with a new snapshot every second and a
new poll of all topics every five. 5,000 groups read the topics; a group's use is cached as the driver caches it.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace
from playwright.sync_api import Browser, sync_playwright

from monitor.model import Catalog, Snapshot
from monitor.web.app import create_app
from monitor.web.server import HttpServer
from tests.benchmarks.measured import quantile, report
from tests.benchmarks.page import FIRST_PAINT, GOAL_PAINT_MS, GOAL_SEARCH_MS, PAINTS, TIMED_SEARCH
from tests.support.programs import required
from tests.web.fleet import NOW_MS, PARTITIONS, Fleet, group, topic, topic_name

TOPICS = 5_000
SEARCHES = ("p", "pay", "payments", "payments.e", "s-0", "00", "0042", "fraud.e", "E", "", "-09", "no such topic")
POLL_S = 5


def main() -> None:
    """Measure and report; milliseconds."""
    with served() as url, sync_playwright() as playwright:
        path = required("chromium", "chromium")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        paths = {"list": "/topics/", "topic": f"/topics/main/{name(0)}", "by_rate": "/topics/?sort=rate"}
        paints = {each: [first_paint_ms(browser, url + path) for _ in range(PAINTS)] for each, path in paths.items()}
        took = search_times_ms(browser, f"{url}/topics/?paused=1")
        browser.close()
    report(
        "topic-page",
        quantile(took, 0.95),
        "ms",
        GOAL_SEARCH_MS,
        0.0,
        topics=TOPICS,
        partitions=TOPICS * PARTITIONS,
        search_median_ms=round(statistics.median(took), 1),
        search_max_ms=round(max(took), 1),
        first_paint_goal_ms=GOAL_PAINT_MS,
        **{f"{each}_paint_first_ms": round(found[0], 1) for each, found in paints.items()},
        **{f"{each}_paint_median_ms": round(statistics.median(found), 1) for each, found in paints.items()},
        **{f"{each}_paint_p95_ms": round(quantile(found, 0.95), 1) for each, found in paints.items()},
    )


def name(number: int) -> str:
    """The topic of that number."""
    return f"{topic_name(number % 500)}-{number // 500:02}"


def first_paint_ms(browser: Browser, address: str) -> float:
    """Of a page, by a reader who has never been there."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(address)
        return float(page.evaluate(FIRST_PAINT))


def search_times_ms(browser: Browser, address: str) -> list[float]:
    """Each search three times."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(address)
        took = []
        for text in SEARCHES * 3:
            time.sleep(0.3)  # as somebody types who looks at what is found
            took.append(float(page.evaluate(TIMED_SEARCH, text)))
        return took


@contextmanager
def served() -> Iterator[str]:
    """The address of a server of the topics."""
    command = [sys.executable, "-m", "tests.benchmarks.topic_page", "serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()  # it has nothing to save


def serve() -> None:
    """Serve the topics until this process is ended."""
    states = {f"reader-{number:05}": group(f"reader-{number:05}", name(number)) for number in range(TOPICS)}
    topics = {name(number): topic(name(number)) for number in range(TOPICS)}
    catalog = Catalog(cluster="main", pass_ms=NOW_MS, topics=topics)
    shown = Fleet({"main": states}, {"main": catalog}).judge_again()
    (cluster,) = shown.shown.clusters
    with HttpServer(create_app(shown), port=0) as server:
        print(server.url, flush=True)  # noqa: T201 -- who started this process waits for it
        while True:
            for _ in range(POLL_S):
                time.sleep(1)
                shown.shown = Snapshot(clusters=(replace(cluster),))
            shown.catalogs["main"] = replace(catalog)


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["serve"] else main()
