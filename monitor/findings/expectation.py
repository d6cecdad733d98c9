"""Groups that are not as the file of expectations says. The file chooses the severity, which is the reason."""

from __future__ import annotations

from typing import Final

from monitor.findings.observation import Evidence, Observation
from monitor.findings.order import Rank
from monitor.findings.sentences import sentence
from monitor.findings.spec import FindingSpec
from monitor.messages.names import shown
from monitor.model import FindingKind, GroupState
from monitor.model.findings import Severity

_ADVICE: Final = (
    "If the group is right, correct its entry in the file of expectations. Otherwise, check what was deployed last. "
    "To see all checks, run groupwatch verify with that file."
)

RANKS: Final = {
    Severity.CRITICAL: Rank.EXPECTED_CRITICAL,
    Severity.WARNING: Rank.EXPECTED_WARNING,
    Severity.INFO: Rank.EXPECTED_INFO,
}

ROWS: Final = tuple(
    [
        FindingSpec(FindingKind.EXPECTATION, severity.value, rank, advice=_ADVICE, remembered=True)
        for severity, rank in RANKS.items()
    ]
)
"""A row for each severity. An expectation that is met again while others are not makes the beginning later, which is no
news (``remembered``); what is not met is in the sentence."""


class NotAsExpected(Evidence):
    """Expectations of the entry ``groups`` of the file, and of others, are not met; each has its sentence."""

    groups: str
    checks: tuple[str, ...]


@sentence.register
def _not_as_expected(evidence: NotAsExpected, _found: Observation, _group: GroupState) -> str:
    return f"The group is not as its entry {shown(evidence.groups)} says. {' '.join(evidence.checks)}"
