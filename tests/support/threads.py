"""Work beside a test, in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def working(work: Callable[..., None], *arguments: Any) -> Iterator[None]:
    """The work goes on until the block ends; its last argument is the event that it is to end by."""
    stop = threading.Event()
    thread = threading.Thread(target=work, args=(*arguments, stop), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(30)
    assert not thread.is_alive(), f"{work} does not end"
