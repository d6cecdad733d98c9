"""Dialects that are replayed up to choices that the log leaves open: a run for each way to choose.

There is hardly ever a choice. ``refusal`` knows all of the library's answers if there are no more than ``MAX_RUNS``
runs; else it checks what holds for all of them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from itertools import islice
from typing import Final

from monitor.assignors.dialects.dialect import Group, ReplayedDialect
from monitor.assignors.dialects.refusals import first_difference
from monitor.assignors.dialects.sticky.choices import Choices
from monitor.assignors.errors import AssignorError
from monitor.model import Assignment
from monitor.model.evidence import Refusal

MAX_RUNS: Final = 24
"""As many as there are orders of four things."""


class ChoiceReplay(ReplayedDialect):
    """A strategy whose answer depends on choices that only its leader knows."""

    @abstractmethod
    def assign_by(self, choices: Choices, group: Group) -> Assignment:
        """The assignment if the leader chooses so.

        Raises:
            AssignorError: the library fails, or does not end.
        """
        ...

    @abstractmethod
    def general_refusal(self, given: Assignment, group: Group) -> Refusal | None:
        """As ``refusal``, however the leader chooses."""
        ...

    def assign(self, group: Group) -> Assignment:
        """See ``ReplayedDialect.assign``: the likeliest choices.

        Raises:
            AssignorError: the library fails, or does not end.
        """
        return self.assign_by(Choices(), group)

    def possible_assignments(self, group: Group) -> Iterator[Assignment]:
        """See ``ReplayedDialect.possible_assignments``: those of the first ``MAX_RUNS`` runs."""
        return (answer for answer in islice(self._answers(group), MAX_RUNS) if answer is not None)

    def refusal(self, given: Assignment, group: Group) -> Refusal | None:
        """See ``CheckedDialect.refusal``."""
        likeliest: Refusal | None = None
        for number, answer in enumerate(self._answers(group)):
            if number == MAX_RUNS:
                return self.general_refusal(given, group)
            if answer is not None:
                difference = first_difference(given, answer)
                if difference is None:
                    return None
                likeliest = likeliest or difference
        return likeliest or self.failure(group)

    def _answers(self, group: Group) -> Iterator[Assignment | None]:
        """The answer of every run; None: the library fails."""
        script: tuple[int, ...] | None = ()
        while script is not None:
            choices = Choices(script)
            try:
                yield self.assign_by(choices, group)
            except AssignorError:
                yield None
            script = choices.next_script()
