"""What verifies a cluster's groups: the names that a source has, and what a verdict on one of them is made of."""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

from monitor.cli.errors import NotFoundError, SourceError
from monitor.cli.sources.job import Job
from monitor.cli.sources.job_lists import JobLists
from monitor.cli.sources.recording import Recording
from monitor.cli.sources.saved_file import SavedFile
from monitor.detection.evaluation_input import GroupInputs
from monitor.expectations.entries import Unread
from monitor.expectations.look import UnknownGroup, not_known_now
from monitor.expectations.verification import KnownGroups
from monitor.web.views.addresses import GroupAddress

ALL_GROUPS: Final = "1/1"
LOOK_LIMIT_S: Final = 10.0
"""So long may a job be silent at one look of a gate, which would else last for a minute longer than ``--wait``."""


class VerifiedCluster(Protocol):
    """A cluster as a source knows it."""

    def known_groups(self) -> KnownGroups:
        """The names of its groups.

        Raises:
            SourceError: nothing is known of it now.
        """

    def read(self, group: str) -> GroupInputs | UnknownGroup | None:
        """One of them; None: there is none of this name."""


class JobCluster(NamedTuple):
    """A cluster as a running job knows it now, or knew it at an instant of its recording."""

    job: Job
    cluster: str
    at: str | None = None

    def for_gate(self) -> JobCluster:
        """The same, whose job has to answer soon."""
        return self._replace(job=self.job._replace(api=self.job.api._replace(timeout_s=LOOK_LIMIT_S)))

    def known_groups(self) -> KnownGroups:
        """The names of its groups, if they are of this run of the job and the cluster can be read."""
        (condition,) = JobLists(self.job.api).conditions(self.cluster)
        if not condition.ready or condition.stale or condition.late:
            raise SourceError(not_known_now(self.cluster, condition.sentence))
        shard = self.job.shard()
        missing = None if shard == ALL_GROUPS else f"This job watches a share of the groups: {shard}."
        if self.at is not None:
            missing = "Of an instant of the past, only groups that still exist are known by their names."
        elif condition.unread is not None:
            missing = Unread(condition.unread)
        return KnownGroups(frozenset(self.job.all_group_names(self.cluster)), missing)

    def read(self, group: str) -> GroupInputs | UnknownGroup | None:
        """One of them."""
        try:
            return self.job.inputs(GroupAddress(self.cluster, group), self.at)
        except NotFoundError:
            return None
        except SourceError as error:
            return UnknownGroup(str(error))


class SavedCluster(NamedTuple):
    """A cluster in a file that groupwatch snapshot has written."""

    file: SavedFile
    cluster: str

    def known_groups(self) -> KnownGroups:
        """The names of the groups in the file. It may be of one group."""
        names = frozenset(self.file.group_names(self.cluster))
        return KnownGroups(names, "The file may be of some groups only.")

    def read(self, group: str) -> GroupInputs | UnknownGroup | None:
        """One of them."""
        try:
            return self.file.inputs(GroupAddress(self.cluster, group), None)
        except SourceError as error:
            return UnknownGroup(str(error))


class RecordedCluster(NamedTuple):
    """A cluster as a recording has it, at an instant."""

    recording: Recording
    cluster: str
    at: str | None

    def known_groups(self) -> KnownGroups:
        """The names of the groups that may have been there."""
        names = frozenset(self.recording.group_names(self.cluster, self.at))
        return KnownGroups(names, "A recording may have been made of some groups only.")

    def read(self, group: str) -> GroupInputs | UnknownGroup | None:
        """One of them."""
        try:
            return self.recording.inputs(GroupAddress(self.cluster, group), self.at)
        except SourceError as error:
            return UnknownGroup(str(error))
