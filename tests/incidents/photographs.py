"""What a person sees of an incident: the page of all groups, the page of the group, and ``groupwatch explain``."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, sync_playwright

from tests.incidents.incident import Incident
from tests.support.job_process import JobProcess

WIDTH: Final = 1280


@contextmanager
def browser() -> Iterator[Browser]:
    """Chromium without a window."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield started
        started.close()


def photograph(chromium: Browser, job: JobProcess, incident: Incident, folder: Path) -> None:
    """Write both pages, as pictures and texts, and the explanation into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    _take(chromium, f"{job.url}/", folder / "overview")
    _take(chromium, f"{job.url}/groups/{incident.cluster}/{incident.group}", folder / "group")
    command = [sys.executable, "-m", "monitor.cli", "explain", incident.cluster, incident.group, "--url", job.url]
    shown = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    (folder / "explain.txt").write_text(f"$ groupwatch explain {incident.cluster} {incident.group}\n{shown.stdout}")


def _take(chromium: Browser, url: str, file: Path) -> None:
    """The whole page; its text has what a click on each finding shows, too."""
    page = chromium.new_page(viewport={"width": WIDTH, "height": 900}, color_scheme="light")
    page.goto(url, wait_until="load")
    page.screenshot(path=file.with_suffix(".png"), full_page=True)
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    file.with_suffix(".txt").write_text(page.inner_text("body"), encoding="utf-8")
    page.close()
