"""Choices that a library leaves to chance, such as the first element of a set of strings in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Option = TypeVar("Option")


class Choices:
    """Takes a numbered option at each choice of one run: those of a script first, then always the first option.

    >>> choices = Choices()
    >>> choices.pick("ab"), choices.pick("c"), choices.pick("de")
    ('a', 'c', 'd')
    >>> choices.next_script(), Choices((1,)).next_script()
    ((0, 1), None)
    """

    def __init__(self, script: Sequence[int] = ()) -> None:
        self._script = script
        self._taken: list[int] = []
        self._sizes: list[int] = []

    def pick(self, options: Sequence[Option]) -> Option:
        """One of the options. Where there is only one, there is no choice."""
        if len(options) == 1:
            return options[0]
        step = len(self._taken)
        taken = self._script[step] if step < len(self._script) else 0
        self._taken.append(taken)
        self._sizes.append(len(options))
        return options[taken]

    def next_script(self) -> tuple[int, ...] | None:
        """The script of the next run that differs, if the run of these choices is over; None: there is none left."""
        for step in reversed(range(len(self._taken))):
            if self._taken[step] + 1 < self._sizes[step]:
                return (*self._taken[:step], self._taken[step] + 1)
        return None
