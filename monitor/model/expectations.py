"""Whether a group is as its team expects, as verdicts, listings and records have it (monitor.expectations)."""

from __future__ import annotations

from enum import StrEnum

from monitor.model.values import Value


class Met(StrEnum):
    """Whether an expectation is met."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"
    """What it would take to know is missing; this never counts as met."""

    @property
    def exit_code(self) -> int:
        """How a command ends that has found this: 0, 1 or 2."""
        return (Met.YES, Met.NO, Met.UNKNOWN).index(self)


class GroupExpectations(Value):
    """What became of the expectations of one group, without sentences."""

    met: Met
    """yes: all of its expectations are met; no: one is not; unknown: one is unknown, and the others are met."""
    not_met: tuple[str, ...] = ()
    """The keys of the file that are not met; `findings`: it has one that is not allowed. Absent: none."""
    unknown: tuple[str, ...] = ()
    """The keys of the file of which it is not known whether they are met. Absent: none."""
    team: str | None = None
    """Whose group it is; absent: the file does not say it."""


class ExpectationsHealth(Value):
    """The file of expectations in a running job. ``problem`` is why its newest content is not used; None: it is."""

    problem: str | None = None
