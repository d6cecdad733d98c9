"""Answers of the folder of a recording."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from monitor.cli.answering import now_ms
from monitor.cli.errors import SourceError
from monitor.cli.sources.source import Span, Tell, answering, no_progress
from monitor.detection.evaluation_input import GroupInputs
from monitor.history.instants import read_instant
from monitor.history.past import RecordedPast
from monitor.history.report.cluster import ClusterReport
from monitor.history.report.facts import IncidentReport
from monitor.history.report.recorded import recorded_cluster_report
from monitor.history.story import GroupStory, story_of
from monitor.messages.names import shown, shown_group
from monitor.messages.notification import utc
from monitor.snapshot_file import all_lines, group_lines
from monitor.web.views.addresses import GroupAddress


class Recording(NamedTuple):
    """A recording, and a clock (ms), to which instants can be relative. See PastSource."""

    folder: str
    clock: Callable[[], int] = now_ms

    def clusters(self) -> tuple[str, ...]:
        """The names of the recorded clusters."""
        from monitor.history.delta_tables import DeltaRecording  # noqa: PLC0415 -- other questions need it not

        with answering():
            return tuple(DeltaRecording(self.folder).clusters())

    def page_url(self, cluster: str, group: str = "") -> str | None:
        """It does not know where a page is."""

    def group_names(self, cluster: str, at: str | None) -> tuple[str, ...]:
        """The names of the groups of a cluster that may have been there."""
        with self._past() as past:
            found = [each for each in past.clusters(self._instant(at)) if each.inputs.catalog.cluster == cluster]
        return tuple([name for each in found for name in each.groups])

    def inputs(self, address: GroupAddress, at: str | None) -> GroupInputs:
        """What the verdict on a group was made of; None: now."""
        with self._past() as past:
            at_ms = self._instant(at)
            found = past.inputs(address.cluster, address.group, at_ms)
        if found is None:
            raise _unknown(address, f"at {utc(at_ms)}")
        return found

    def snapshot_lines(self, address: GroupAddress | None, at: str | None, *, partial: bool) -> Iterator[bytes]:
        """The lines of a snapshot."""
        if address is not None:
            yield group_lines(self.inputs(address, at))
            return
        with self._past() as past:
            yield from all_lines(past.clusters(self._instant(at)))

    def story(self, address: GroupAddress, span: Span) -> GroupStory:
        """What happened to a group."""
        since_ms, until_ms = span.read(self.clock())
        with self._past() as past:
            found = past.chronicle(address.cluster, address.group, since_ms, until_ms)
        if found is None:
            raise _unknown(address, f"from {utc(since_ms)} to {utc(until_ms)}")
        return story_of(found)

    def report(self, cluster: str, group: str | None, span: Span, tell: Tell | None) -> IncidentReport | ClusterReport:
        """The report on a group, or on all groups of a cluster."""
        from monitor.history.delta_tables import DeltaRecording  # noqa: PLC0415 -- other questions need it not

        since_ms, until_ms = span.read(self.clock())
        with self._past() as past:
            if group is None:
                recording = DeltaRecording(self.folder)
                return recorded_cluster_report(recording, cluster, since_ms, until_ms, tell or no_progress)
            found = past.report(cluster, group, since_ms, until_ms)
        if found is None:
            raise _unknown(GroupAddress(cluster, group), f"from {utc(since_ms)} to {utc(until_ms)}")
        return found

    def _instant(self, at: str | None) -> int:
        return read_instant(at or "now", self.clock())

    @contextmanager
    def _past(self) -> Iterator[RecordedPast]:
        with answering():
            yield RecordedPast(self.folder, limit=None)


def _unknown(address: GroupAddress, when: str) -> SourceError:
    return SourceError(f"No group {shown_group(address.group)} was known in cluster {shown(address.cluster)} {when}.")
