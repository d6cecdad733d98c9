"""What the job works out for somebody who asks what if, and what it leaves to the command."""

from __future__ import annotations

from typing import Final

from monitor.detection.evaluation_input import QuestionError
from monitor.explain.what_if import Change

MOST_PARTITIONS: Final = 100_000
"""A what-if with more is for the command, which works it out elsewhere: in the job it would take a core for long."""


def affordable(change: Change) -> Change:
    """The change, if the job can afford to work it out.

    Raises:
        QuestionError: it has too many partitions; the text says who can.
    """
    if sum(each.partitions for each in change.partitions) > MOST_PARTITIONS:
        sentence = f"The job rehearses {MOST_PARTITIONS} partitions at most; groupwatch what-if, which does it where it"
        raise QuestionError(f"{sentence} is typed, ten times as many.")
    return change
