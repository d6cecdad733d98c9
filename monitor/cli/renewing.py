"""Answers that are renewed until Ctrl-C: in place on a terminal, one after the other elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.live import Live

from monitor.cli.render_answer import tell


@contextmanager
def screen() -> Iterator[Callable[[RenderableType], None]]:
    """Where renewed answers are shown."""
    console = Console(highlight=False, emoji=False, markup=False)
    if not console.is_terminal:
        yield tell
        return
    with Live(console=console, screen=True, auto_refresh=False) as live:
        yield lambda answer: live.update(answer, refresh=True)
