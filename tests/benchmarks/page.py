"""How soon a person sees the page, and what a search finds, in a real Chromium: 10,000 groups, 200,000 partitions.

The server is a process of its own, and gets a new snapshot every second, so that nothing is measured that was computed
long before. A first paint is one with an empty cache. A search is timed from the key to the frame that shows the rows.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace
from playwright.sync_api import Browser, CDPSession, sync_playwright

from monitor.model import Snapshot, Value
from monitor.web.app import create_app
from monitor.web.server import HttpServer
from tests.benchmarks.measured import cpu_s, quantile, report
from tests.support.programs import required
from tests.web.fleet import PARTITIONS, fleet

GROUPS = 10_000
JUDGED = 1_000
"""So many are judged for real; the others are these under other names."""

PAINTS = 20
GOAL_PAINT_MS = 1_000
GOAL_SEARCH_MS = 100
SEARCHES = ("p", "pay", "payments", "payments.w", "writer-0", "00", "0042", "fraud.s", "E", "", "-09", "no such group")

TIMED_SEARCH = """(text) => new Promise((shown) => {
  const search = document.getElementById("q");
  const began = performance.now();
  const seen = () => requestAnimationFrame(() => setTimeout(() => shown(performance.now() - began)));
  new MutationObserver((_, watch) => { watch.disconnect(); seen(); })
    .observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
  search.value = text;
  search.dispatchEvent(new Event("input", { bubbles: true }));
})"""
FIRST_PAINT = """() => new Promise((painted) => new PerformanceObserver((list) => {
  for (const each of list.getEntriesByName("first-contentful-paint")) painted(each.startTime);
}).observe({ type: "paint", buffered: true }))"""


def main() -> None:
    """Measure and report; milliseconds."""
    with served() as (url, pid), sync_playwright() as playwright:
        path = required("chromium", "chromium")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        before = cpu_s(pid)
        paints = [first_paint_ms(browser, url) for _ in range(PAINTS)]
        between = cpu_s(pid)
        found = searches(browser, url)
        after = cpu_s(pid)
        browser.close()
    report(
        "page",
        quantile(found.took_ms, 0.95),
        "ms",
        GOAL_SEARCH_MS,
        after - before,
        groups=GROUPS,
        partitions=GROUPS * PARTITIONS,
        search_median_ms=round(statistics.median(found.took_ms), 1),
        search_max_ms=round(max(found.took_ms), 1),
        search_cpu_of_page_ms=round(found.page_cpu_ms, 1),
        search_cpu_of_server_ms=round(1_000 * (after - between) / len(found.took_ms), 1),
        first_paint_p95_ms=round(quantile(paints, 0.95), 1),
        first_paint_median_ms=round(statistics.median(paints), 1),
        first_paint_goal_ms=GOAL_PAINT_MS,
        first_paint_reached=quantile(paints, 0.95) <= GOAL_PAINT_MS,
    )


def first_paint_ms(browser: Browser, url: str) -> float:
    """Of the overview, by a reader who has never been there."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(url)
        return float(page.evaluate(FIRST_PAINT))


class Searches(Value):
    """How long each search took, and the CPU of the page's thread for one: what is left on a machine that idles."""

    took_ms: list[float]
    page_cpu_ms: float


def searches(browser: Browser, url: str) -> Searches:
    """Each search three times; the first ones, before the script is warm, count as well."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{url}/?paused=1")
        tools = context.new_cdp_session(page)
        tools.send("Performance.enable", {"timeDomain": "threadTicks"})
        before, took = busy_ms(tools), []
        for text in SEARCHES * 3:
            time.sleep(0.3)  # as somebody types who looks at what is found
            took.append(float(page.evaluate(TIMED_SEARCH, text)))
        return Searches(took_ms=took, page_cpu_ms=(busy_ms(tools) - before) / len(took))


def busy_ms(tools: CDPSession) -> float:
    """CPU that the page's thread has used for scripts, styles and layouts."""
    told = {each["name"]: each["value"] for each in tools.send("Performance.getMetrics")["metrics"]}
    return float(told["TaskDuration"]) * 1_000


@contextmanager
def served() -> Iterator[tuple[str, int]]:
    """The address of a server of the fleet, and its process."""
    command = [sys.executable, "-m", "tests.benchmarks.page", "serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process.pid
        finally:
            process.kill()  # it has nothing to save


def serve() -> None:
    """Serve the fleet until this process is ended, with a new snapshot every second."""
    judged = fleet(JUDGED)
    (cluster,) = judged.shown.clusters
    groups = [replace(each, group=f"{each.group}{copy}") for copy in range(GROUPS // JUDGED) for each in cluster.groups]
    many = replace(cluster, groups=tuple(sorted(groups, key=lambda each: each.group)))
    with HttpServer(create_app(judged), port=0) as server:
        judged.shown = Snapshot(clusters=(many,))
        print(server.url, flush=True)  # noqa: T201 -- who started this process waits for it
        while True:
            time.sleep(1)
            judged.shown = Snapshot(clusters=(many,))


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["serve"] else main()
