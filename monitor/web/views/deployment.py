"""What a deployment chooses for its HTTP app."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from monitor.expectations.expectation import Expectations

Expected = Callable[[], Expectations]
"""Reads the file of expectations. Raises ValueError with a sentence for each mistake."""


class Deployment(NamedTuple):
    """``external_url``: the address under which people open the page. ``expected``: its file of expectations."""

    external_url: str | None = None
    expected: Expected | None = None


NO_CHOICE: Final = Deployment()
