"""Partitions that bring more than one member of the group reads. Only of groups that an entry ``[[scale]]`` names."""

from __future__ import annotations

from typing import Final

from monitor.findings.observation import Evidence, Observation
from monitor.findings.order import Rank
from monitor.findings.sentences import sentence
from monitor.findings.spec import FindingSpec
from monitor.messages.names import places
from monitor.model import FindingKind, GroupState

ROWS: Final = (
    FindingSpec(
        FindingKind.CAPACITY,
        "one_partition",
        Rank.UNEVEN,
        advice=(
            "More members do not help. Choose keys that spread more evenly, make the members faster, or give the topic "
            "more partitions. To see how many, run groupwatch scale."
        ),
        mark="too much for one member",
    ),
)


class TooMuchForOne(Evidence):
    """Each of the partitions brings more than one member reads."""


@sentence.register
def _too_much_for_one(_evidence: TooMuchForOne, found: Observation, _group: GroupState) -> str:
    verb = "gets" if len(found.partitions) == 1 else "get"
    return f"{places(found.partitions)} {verb} more records than one member reads, so the lag there grows."
