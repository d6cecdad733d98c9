"""The past in a real Chromium: on a telephone and a desk, light and dark, by keyboard, without script.

With GROUPWATCH_SCREENSHOTS=FOLDER, the pictures of the timeline are written there, to be looked at.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from monitor.web.app import create_app
from monitor.web.server import HttpServer
from tests.web.api.api_example import example
from tests.web.page.past_example import NIGHT_NOW_MS, MemoryPast, night
from tests.web.page.test_page_in_browser import LOW_CONTRAST

TIMELINE, PAGE = "/timeline/c/g?since=-6h", "/groups/c/g?at=2026-11-22T04:20"
FINDING = re.compile(r"Orphaned: grew \(critical\), .* (from|since) 2026-11-22 04:14:")
"""The bar begins since when the finding is true; it leads to the first minute at which it was found, 04:15."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    app = create_app(example(), lambda: NIGHT_NOW_MS, past=MemoryPast(night()))
    with HttpServer(app, port=0) as server:
        yield server.url


class Visit:
    """A page, and what the browser complained about."""

    def __init__(self, browser: Browser, **options: object) -> None:
        self.complaints: list[str] = []
        self.page: Page = browser.new_page(**options)  # type: ignore[arg-type] # options of a context
        self.page.on("console", lambda each: self.complaints.append(each.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def __enter__(self) -> Page:
        return self.page

    def __exit__(self, *_: object) -> None:
        self.page.close()
        assert self.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_the_timeline_can_be_read_on_a_telephone_and_a_desk(browser: Browser, url: str, width: int, scheme: str):
    with Visit(browser, viewport={"width": width, "height": 900}, color_scheme=scheme) as page:
        for path in (TIMELINE, PAGE):
            page.goto(url + path)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.evaluate(LOW_CONTRAST) == [], f"{path} in {scheme}"
        page.goto(url + TIMELINE)
        assert page.evaluate(OVERLAPS) == []
        assert page.evaluate("getComputedStyle(document.querySelector('.chart text')).fontSize") == "12px"
        folder = os.environ.get("GROUPWATCH_SCREENSHOTS")
        if folder:
            page.screenshot(path=Path(folder) / f"timeline-{width}-{scheme}.png", full_page=True)


OVERLAPS = """() => {
  const texts = [...document.querySelectorAll(".chart > text")];
  const boxes = texts.map((text) => [text.textContent, text.getBoundingClientRect()]);
  const chart = document.querySelector(".chart").getBoundingClientRect();
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
  const found = boxes.filter(([, box]) => box.left < chart.left || box.right > chart.right).map(([text]) => text);
  boxes.forEach(([text, box], n) => {
    for (const [other, more] of boxes.slice(n + 1)) if (meet(box, more)) found.push(`${text} and ${other}`);
  });
  return found;
}"""
"""The labels of the chart that cover each other or are cut."""


def test_a_bar_leads_to_the_group_then_and_a_part_of_the_chart_to_its_timeline_without_a_script(
    browser: Browser, url: str
):
    with Visit(browser, java_script_enabled=False, viewport={"width": 1200, "height": 900}) as page:
        page.goto(url + TIMELINE)
        page.locator(".chart a", has_text=FINDING).click()
        expect(page.get_by_role("region", name="Instant")).to_contain_text(
            "This page shows the group at 2026-11-22 04:15:"
        )
        expect(page.locator(".findings")).to_contain_text("has no owner")
        page.get_by_role("link", name="1 minute earlier").click()
        expect(page.locator(".findings")).not_to_contain_text("has no owner")
        page.get_by_label("Another instant").fill("2026-11-22 04:50")
        page.get_by_role("button", name="Show", exact=True).click()
        expect(page.get_by_role("region", name="Instant")).to_contain_text("at 2026-11-22 04:50:00 UTC")
        page.get_by_role("link", name="Timeline around this instant").click()
        expect(page.get_by_text("Timeline from 2026-11-22 04:20:00 UTC to 2026-11-22 05:20:00 UTC.")).to_be_visible()
        expect(page.locator(".chart-at")).to_have_count(1)
        page.locator(".chart a", has_text="Zoom in: 2026-11-22 05:00:00 UTC").click(position={"x": 5, "y": 20})
        expect(page.get_by_text("Timeline from 2026-11-22 05:00:00 UTC to 2026-11-22 05:05:00 UTC.")).to_be_visible()


def test_the_keyboard_reaches_the_links_of_the_chart_and_can_pass_them(browser: Browser, url: str):
    with Visit(browser) as page:
        page.goto(url + TIMELINE)
        page.get_by_role("link", name="Skip the chart").focus()
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Zoom in").first).to_be_focused()
        page.get_by_role("link", name=FINDING).focus()
        page.keyboard.press("Enter")
        expect(page.locator(".findings")).to_contain_text("has no owner")
        page.goto(url + TIMELINE)
        page.get_by_role("link", name="Skip the chart").press("Enter")
        page.keyboard.press("Tab")
        expect(page.locator(".events a").first).to_be_focused()


def test_the_form_of_a_page_of_the_past_leads_on_in_place_and_the_page_stays_as_it_is(browser: Browser, url: str):
    with Visit(browser) as page:
        page.goto(url + PAGE)
        expect(page.locator(".findings")).to_contain_text("has no owner")
        assert page.evaluate("document.body.dataset.live") is None
        page.get_by_label("Another instant").fill("2026-11-22 04:50")
        page.keyboard.press("Enter")
        expect(page.get_by_role("region", name="Instant")).to_contain_text("at 2026-11-22 04:50:00 UTC")
        page.get_by_role("link", name="1 hour earlier").click()
        expect(page.get_by_role("region", name="Instant")).to_contain_text("at 2026-11-22 03:50:00 UTC")
        page.get_by_label("Number of members").fill("3")
        page.get_by_role("button", name="Simulate").click()
        expect(page.get_by_role("region", name="Simulation")).to_contain_text("as of 2026-11-22 03:50:00 UTC")
        assert page.evaluate("window.__pwned") is None
