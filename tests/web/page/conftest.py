"""A browser for the tests that look at pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from tests.support.programs import required
from tests.web.fleet import Fleet

SOON_MS = 30_000
"""A page that is right is so within this, also on a busy machine."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for all tests of a module: starting it takes longer than most of them."""
    path = required("chromium", "chromium")
    expect.set_options(timeout=SOON_MS)
    with sync_playwright() as playwright:
        # Its sandbox needs rights that a container's root lacks; nothing is looked at but our own pages.
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


class Site:
    """A fleet that is served, and the browser that looks at it. ``said`` is what the browser complained about."""

    def __init__(self, browser: Browser, shown: Fleet, url: str) -> None:
        self.browser = browser
        self.fleet = shown
        self.url = url
        self.said: list[str] = []

    def open(self, path: str = "/", **options) -> Page:
        """A page of a context of its own; what goes wrong in it is noted."""
        context: BrowserContext = self.browser.new_context(**options)
        context.set_default_timeout(SOON_MS)
        page = context.new_page()
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.goto(self.url + path)
        return page

    def _note(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.said.append(message.text)


@pytest.fixture
def site(browser: Browser, served: tuple[Fleet, str]) -> Iterator[Site]:
    """Whatever a test does, the browser has nothing to complain about."""
    looked = Site(browser, *served)
    yield looked
    for context in browser.contexts:
        context.close()
    assert looked.said == []
