"""The pictures of the documentation, taken from the real demo in Chromium: ``python -m tests.take_screenshots``.

It starts a demo, waits until the topic of ``orders`` has grown and its new partitions have no owner yet, and writes
docs/images/overview.png and docs/images/group.png. With ``--url http://127.0.0.1:9464`` it takes them of a job that
runs already, as it is at that moment. Needs the program chromium; the demo runs for one to three minutes.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, sync_playwright

from monitor.demo.servers.ports import free_ports
from tests.demo.demo_run import read
from tests.support.job_process import eventually

ROOT: Final = Path(__file__).parents[1]
IMAGES: Final = ROOT / "docs" / "images"


@dataclass(frozen=True)
class Picture:
    """A file, the page that it is of, and how much of it is shown, in pixels."""

    file: str
    path: str
    height: int


PICTURES: Final = (Picture("overview.png", "/", 500), Picture("group.png", "/groups/demo/orders", 1150))
WIDTH: Final = 1280
READY_S: Final = 600
GROWN_S: Final = 300
"""The topic grows 15 s after the start; a slow machine may see that late, and then the growth after it."""


@contextmanager
def demo() -> Iterator[str]:
    """The address of a demo that is ready."""
    (port,) = free_ports(1)
    process = subprocess.Popen(
        [sys.executable, "-m", "monitor.cli", "demo", "--port", str(port)], cwd=ROOT, stdout=subprocess.DEVNULL
    )
    try:
        eventually(lambda: read(port, "/readyz")[0] == 200 or process.poll() is not None, "the demo ready", READY_S)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(120)


def await_orphans(url: str) -> None:
    """Return when partitions of ``orders`` have no owner."""

    def orphaned() -> bool:
        with urllib.request.urlopen(f"{url}/api/v1/groups/demo/orders", timeout=10) as answer:
            return "orphaned" in {finding["kind"] for finding in json.load(answer).get("findings", ())}

    eventually(orphaned, "partitions of orders without an owner", GROWN_S)


def take(url: str) -> None:
    """Write all pictures."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for picture in PICTURES:
            take_one(browser, url, picture)
        browser.close()


def take_one(browser: Browser, url: str, picture: Picture) -> None:
    """Write one picture: as much of a page as a window of that height shows, in light colours."""
    page = browser.new_page(viewport={"width": WIDTH, "height": picture.height}, color_scheme="light")
    page.goto(url + picture.path, wait_until="load")
    page.screenshot(path=IMAGES / picture.file)
    page.close()


def main() -> None:
    """Take the pictures of a demo, or of a job that runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", help="of a job that runs already; without it a demo is started")
    given = parser.parse_args()
    if given.url:
        take(given.url.rstrip("/"))
        return
    with demo() as url:
        await_orphans(url)
        take(url)


if __name__ == "__main__":
    main()
