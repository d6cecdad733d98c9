"""A file that another program replaces again and again, as one that renews tickets or tokens does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Self

from tests.support.background import Background


def replace_text(file: Path, text: str) -> None:
    """Give a file new content, at once as a whole."""
    new = file.with_suffix(".new")
    new.write_text(text)
    new.replace(file)


class RenewedFile(Background):
    """A file that is replaced at half of the life of its content, for the time of a ``with`` block."""

    def __init__(self, file: Path, life_s: float, replace: Callable[[Path], object]) -> None:
        """Prepare; nothing is written yet.

        Args:
            file: the file.
            life_s: how long its content is valid.
            replace: writes the file with new content, at once as a whole.
        """
        super().__init__()
        self.file = file
        self._life_s = life_s
        self._replace = replace

    def __enter__(self) -> Self:
        self._replace(self.file)
        return super().__enter__()

    def _run(self) -> None:
        while not self._stopping.wait(self._life_s / 2):
            self._replace(self.file)
