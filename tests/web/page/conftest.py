"""A browser for the tests that look at pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.support.programs import required

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
