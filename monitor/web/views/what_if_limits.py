"""The limit of what-if simulations in the job. Larger ones are for the command."""

from __future__ import annotations

from typing import Final

from monitor.detection.evaluation_input import GroupInputs, QuestionError
from monitor.explain import rollout_cost, what_if
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


ROLLOUT_MEMBERS: Final = 10
ROLLOUT_PARTITIONS: Final = 200
"""A forecast of more replays rebalances for several seconds."""


SCALE_PARTITIONS: Final = 500
"""A plan of a larger group computes its assignment for many numbers of members."""


def require_plannable(inputs: GroupInputs) -> None:
    """Refuse a plan that would occupy a core of the job for long.

    Raises:
        QuestionError: the group is too large; the text names the command that has no such limit.
    """
    if _partition_count(inputs) > SCALE_PARTITIONS:
        raise QuestionError(
            f"The server plans groups of at most {SCALE_PARTITIONS} partitions. Run groupwatch scale for larger ones."
        )


def _partition_count(inputs: GroupInputs) -> int:
    """The partitions of the topics to which the members subscribe."""
    topics = {topic for member in inputs.group.members for topic in member.topics}
    return sum(len(inputs.catalog.topics[each].partitions) for each in topics if each in inputs.catalog.topics)


def require_small_group(inputs: GroupInputs) -> None:
    """Refuse what would occupy a core of the job for long.

    Raises:
        QuestionError: the group is too large; the text names the command that has a higher limit.
    """
    partitions = _partition_count(inputs)
    if len(inputs.group.members) > ROLLOUT_MEMBERS or partitions > ROLLOUT_PARTITIONS:
        raise QuestionError(
            f"The server forecasts rollouts of at most {ROLLOUT_MEMBERS} members and {ROLLOUT_PARTITIONS} partitions. "
            f"Run groupwatch what-if --rollout for up to {rollout_cost.MOST_MEMBERS} members."
        )
