"""Whether the groups of a cluster may be evaluated, and what is missing as long as they may not."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from monitor.readiness.first_pass import FirstPass
from monitor.readiness.freshness import Freshness
from monitor.readiness.warm_up import WarmUp


class Missing(Enum):
    """What a cluster lacks, in the order in which it is checked."""

    BACKLOG = "the log of its groups has not been read up to where it ended when the job started"
    TOPICS = "no poll of this run has listed its topics"
    READINGS = "no poll of its groups has come lately"


@dataclass(slots=True)
class ClusterReadiness:
    """All that has to be known of a cluster before its groups are evaluated.

    Half a history would cause false alarms, and topics of an earlier run may be long out of date. ``freshness`` watches
    groups that come by polls (None: they come by a log, which is read as it is written). ``resumed``: the job goes on
    with a checkpoint.
    """

    warm_up: WarmUp
    first_pass: FirstPass
    freshness: Freshness | None = None
    resumed: bool = False

    @property
    def is_polled(self) -> bool:
        """Whether the groups come by polls."""
        return self.freshness is not None

    def missing(self, readings: int, at_ms: int) -> Missing | None:
        """The first of what is missing; None: the groups may be evaluated.

        Args:
            readings: how many micro-batches of this run had something of a poll of the groups.
            at_ms: now, by a clock that only goes forward.
        """
        if not self.warm_up.done:
            return Missing.BACKLOG
        if not self.first_pass.seen:
            return Missing.TOPICS
        if self.freshness is not None and not self.freshness.is_fresh(readings, at_ms):
            return Missing.READINGS
        return None

    def has_read_nothing(self) -> bool:
        """Whether the whole backlog was passed without one record of it being read."""
        return self.warm_up.read_nothing(self.resumed)

    def is_believable(self, groups: int) -> bool:
        """Whether an evaluation with so many groups may be shown: a log that is not empty has given something."""
        return self.warm_up.is_believable(groups, self.resumed)

    @property
    def lateness(self) -> str | None:
        """How long no poll of the groups has come, once that is too long; as a clause."""
        return None if self.freshness is None else self.freshness.problem
