"""The limit of what-if simulations in the job. Larger ones are for the command."""

from __future__ import annotations

from typing import Final

from monitor.detection.evaluation_input import QuestionError
from monitor.explain import what_if
from monitor.explain.what_if import Change

MOST_PARTITIONS: Final = 100_000
"""A what-if with more is for the command, which computes it elsewhere: in the job it would occupy a core for long."""


def affordable(change: Change) -> Change:
    """The change, if it is within the limit.

    Raises:
        QuestionError: it has too many partitions; the text names the command that has a higher limit.
    """
    if sum(each.partitions for each in change.partitions) > MOST_PARTITIONS:
        raise QuestionError(
            f"The server simulates at most {MOST_PARTITIONS:,} partitions. Run groupwatch what-if for up to "
            f"{what_if.MOST_PARTITIONS:,}."
        )
    return change
