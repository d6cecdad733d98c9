"""What a source answers. Each method raises SourceError with one sentence: it cannot answer, or there is no such group.

An instant is a text as a person types it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, Protocol

from monitor.cli.errors import SourceError
from monitor.detection.evaluation_input import GroupInputs
from monitor.history.instants import InstantError, read_span
from monitor.history.recorded import RecordingError
from monitor.history.report.cluster import ClusterReport
from monitor.history.report.facts import IncidentReport
from monitor.history.story import GroupStory
from monitor.model import LibraryUse
from monitor.web.views.addresses import GroupAddress

Tell = Callable[[int, int], None]
"""Gets how many of how many groups are done."""


class Span(NamedTuple):
    """The first and the last instant."""

    since: str
    until: str

    def read(self, now_ms: int) -> tuple[int, int]:
        """Both in ms since the epoch.

        Raises:
            SourceError: they are none.
        """
        with answering():
            return read_span(self.since, self.until, now_ms)


class ClusterSource(Protocol):
    """Knows the names of its clusters."""

    def clusters(self) -> tuple[str, ...]:
        """The names of all its clusters."""


class GroupSource(ClusterSource, Protocol):
    """Answers for one group at an instant."""

    def page_url(self, cluster: str, group: str = "") -> str | None:
        """Where people open the page of a group, or of a cluster's groups; None: this source does not know it."""

    def inputs(self, address: GroupAddress, at: str | None) -> GroupInputs:
        """What the verdict on a group is made of, or was at that instant."""


class CensusSource(Protocol):
    """Knows the client libraries of clusters."""

    def census(self, cluster: str | None, *, partial: bool) -> tuple[LibraryUse, ...]:
        """The client libraries of a cluster (None: of all). ``partial``: clusters that are not ready are left out."""


class PastSource(GroupSource, Protocol):
    """Answers for the past, too."""

    def snapshot_lines(self, address: GroupAddress | None, at: str | None, *, partial: bool) -> Iterator[bytes]:
        """The lines of a snapshot of one group, or (None) of all.

        ``partial``: clusters that are not ready are left out.
        """

    def story(self, address: GroupAddress, span: Span) -> GroupStory:
        """What happened to a group between two instants."""

    def report(self, cluster: str, group: str | None, span: Span, tell: Tell | None) -> IncidentReport | ClusterReport:
        """The report on a group, or (None) on all groups of a cluster."""


@contextmanager
def answering() -> Iterator[None]:
    """A wrong instant, or a recording that cannot answer, as an error of this source."""
    try:
        yield
    except (InstantError, RecordingError) as error:
        raise SourceError(str(error)) from error


def no_progress(_done: int, _all: int) -> None:
    """Show nothing."""
