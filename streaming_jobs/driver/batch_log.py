"""What the log of groupwatch says of a cluster's micro-batches: each thing once, however many have it."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from monitor.model import SourceState
from monitor.model.cluster_findings import ClusterFinding
from monitor.readiness.repeated_warning import RepeatedWarning
from streaming_jobs.driver.cluster_view import ClusterView
from streaming_jobs.runtime.clock import monotonic_ms

log = logging.getLogger(__name__)

_EVENTS: Final = "groupwatch.events"

REASON_TEXTS: Final = MappingProxyType(
    {
        (_EVENTS, "from_the_future"): (
            ". Its timestamp is more than five minutes later than its write time: the clock of a collector is wrong, or"
            " that of the brokers or of this machine, or another program writes to the topic."
        ),
        (_EVENTS, "other_source"): (
            ". It ends a poll of another cluster or system than that of the checkpoint: a collector reads another, or"
            " another program writes to the topic. If the system was replaced, start once with --rebuild."
        ),
    }
)
"""What is known of the cause, by source and reason."""

MAX_LOGGED_WARNINGS: Final = 10_000
"""How many warnings are remembered; after so many the log may repeat one."""


@dataclass(slots=True)
class BatchLog:
    """Logs what a micro-batch shows for the first time."""

    cluster: str
    evaluation_errors: int = 0
    """How many evaluations of groups have failed so far."""
    _logged: set[tuple[str, str]] = field(default_factory=set)
    _found: dict[str, RepeatedWarning] = field(default_factory=dict)
    """Of each finding that the cluster itself has had, by name."""

    def note(self, view: ClusterView) -> None:
        """Count failures; log each kind of unreadable record once, with its place."""
        self.evaluation_errors += len(view.failures)
        for failure in view.failures:
            self._log_once("evaluation", failure, "Cluster %s: evaluation of %r failed", self.cluster, failure)
        if view.unseen:
            self._log_once(
                "topics",
                "unseen",
                "Cluster %s: a poll counts %d topics more than it has events; no topic is treated as deleted.",
                self.cluster,
                view.unseen,
            )
        for source in view.sources():
            self._log_unreadable(source)

    def _log_unreadable(self, source: SourceState) -> None:
        for error in source.errors:
            self._log_once(
                source.source,
                error.reason,
                "Cluster %s: %s has an undecodable record (%s), partition %d offset %d; counted and skipped%s",
                self.cluster,
                source.source,
                error.reason,
                error.log_partition,
                error.log_offset,
                REASON_TEXTS.get((source.source, error.reason), ""),
            )

    def note_findings(self, findings: tuple[ClusterFinding, ...]) -> None:
        """Log what is found of the cluster itself when it begins, and its end."""
        now = {each.name: each for each in findings}
        for name in sorted(self._found.keys() - now.keys()):
            if self._found[name].end():
                log.info("Cluster %s: its finding %s is over", self.cluster, name)
        for name, finding in sorted(now.items()):
            line = self._found.setdefault(name, RepeatedWarning()).line(finding.sentence, monotonic_ms(), name)
            if line is not None:
                log.warning("Cluster %s: %s", self.cluster, line)

    def _log_once(self, topic: str, reason: str, text: str, *values: object) -> None:
        if (topic, reason) not in self._logged:
            if len(self._logged) >= MAX_LOGGED_WARNINGS:
                self._logged.clear()
            self._logged.add((topic, reason))
            log.warning(text, *values)
