"""The one order of all findings, worst first, with the severity of each rank.

The order is that of what a person has to do: first what cannot be undone, then what gets worse without action, then
what can wait. Of equal severity, findings that resolve by themselves come last.

The row of a finding names its rank. Rows of one rank have the order of the families (monitor.findings.table), and in a
family that of its ``ROWS``. docs/findings.md has all findings in this order.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, Self

from monitor.model.findings import Severity

_CRITICAL: Final = Severity.CRITICAL
_WARNING: Final = Severity.WARNING
_INFO: Final = Severity.INFO


class Rank(Enum):
    """Why a finding is worse than those of later ranks. ``value`` is its place; 0 is the worst.

    >>> Rank.LOST.value, Rank.LOST.severity.value, Rank.TIE.severity.value
    (0, 'critical', 'info')
    """

    severity: Severity

    def __new__(cls, severity: Severity) -> Self:
        """A rank behind those above it."""
        rank = object.__new__(cls)
        rank._value_ = len(cls.__members__)
        rank.severity = severity
        return rank

    LOST = _CRITICAL
    """Gone unread: nothing brings them back, and until the group goes on, more follow."""
    CLOSE_TO_LOSS = _CRITICAL
    """Nothing is lost yet, but this one has a deadline, whatever the cause below is."""
    PROCESSED_TWICE = _CRITICAL
    """Processed twice, and commits overwrite each other: data is wrong, not only late."""
    MISFIT = _CRITICAL
    """Nobody reads, as members or topics do not fit together: no rebalance puts it right, and retention may lose what
    waits. The first has others read twice, too."""
    LEFT_OUT = _CRITICAL
    """Nobody reads, as it was given to nobody, and no rebalance is to come: retention may lose what waits."""
    GIVEN_UP = _CRITICAL
    """Gone unprocessed by design: somebody has to look at these records."""
    WHOLE_GROUP = _CRITICAL
    """The same for all of a group, often by intent or for a while: it is switched off or restarts."""
    SILENT_MEMBER = _CRITICAL
    """Nobody else gets what these members have; the last may be gone, which the group then notices by itself."""
    AT_ONE_RECORD = _CRITICAL
    """Nobody gets further there, and who takes over may be gone next: the group loses its members one by one."""
    IN_TRANSACTIONS = _CRITICAL
    """The owners work, or would, and get no further: whoever takes over meets the same record or transaction."""
    UNTIL_IT_HEALS = _CRITICAL
    """Nobody reads, but it mostly heals: by a refresh of metadata, by who lets go, by the broker's choice."""
    EXPECTED_CRITICAL = _CRITICAL
    """A team has written down that this must not be; other findings of the group may say why it is."""

    WAS_TWICE = _WARNING
    """It has ended by the time that it is known; what was written twice remains."""
    UNKNOWN_POSITION = _WARNING
    """Where the group reads on is not known: it may pass records over."""
    REBALANCING = _WARNING
    """Those who wait read nothing; it ends, or explains the partitions that are not committed."""
    NO_PROGRESS = _WARNING
    """Somebody should read and makes no progress. A long batch can look like that, or it is not the group's fault."""
    LATE = _WARNING
    """Progress, but too slow: late, nothing is lost yet."""
    STORM = _WARNING
    """Everything is read between two rebalances, much of it twice: it costs, and makes the group late."""
    OLD_CONFIGS = _WARNING
    """A worker starts no new connector until it has read their configurations."""
    HIDDEN = _WARNING
    """It says nothing of harm, and hides it: the first hides more."""
    SLOW_HANDOVER = _WARNING
    """All is read, but one member waits for another that may hang."""
    UNEXPLAINED = _WARNING
    """Everything is read, by owners that cannot be explained: a hint at mixed clients or brokers, before harm."""
    WOULD_MOVE = _WARNING
    """Everything that was assigned is read; the next rebalance puts it right."""
    EXPECTED_WARNING = _WARNING
    """A team has written down that this should not be; other findings of the group may say why it is."""

    AT_RISK = _INFO
    """Nothing is known to be left out, but the next restart may pass records over."""
    UNEVEN = _INFO
    """Works as assigned, only slower than it could; of the first, records wait already."""
    ON_PURPOSE = _INFO
    """The leader waits on purpose: a worker that restarts gets its tasks back."""
    PERHAPS_PAUSED = _INFO
    """Mostly on purpose, but records wait there for as long as the owner does."""
    IDLE = _INFO
    """Costs money and no time; with more members than partitions it is often intended."""
    PERHAPS_PASSED_OVER = _INFO
    """Commits do not tell whether these records were read: only the application knows."""
    ABANDONED = _INFO
    """Mostly intended: the group has turned to other topics."""
    EXPECTED_INFO = _INFO
    """A team has written down that it wants to know this."""
    TIE = _INFO
    """Nothing is to be done: both answers are right."""
