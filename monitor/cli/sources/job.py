"""Answers of a running job."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http.client import HTTPResponse
from typing import NamedTuple

from monitor.cli.answering import now_ms
from monitor.cli.errors import NotFoundError, SourceError
from monitor.cli.sources.job_api import CLUSTERS_API, JobApi
from monitor.cli.sources.source import Span, Tell, no_progress
from monitor.detection.evaluation_input import GroupInputs
from monitor.history.report.cluster import ClusterReport, cluster_report
from monitor.history.report.facts import IncidentReport
from monitor.history.story import GroupStory
from monitor.model import LibraryUse, PartitionId, Value
from monitor.snapshot_file import SnapshotFileError, find_inputs, read_lines
from monitor.web.views.addresses import (
    API,
    HISTORY,
    LIBRARIES_API,
    REPORT_API,
    ROOT,
    SAVED,
    GroupAddress,
    page_url,
    query_text,
)


class _Named(Value):
    """A cluster in the list of the API."""

    cluster: str


class _Index(Value):
    """The answer at the API's own address."""

    shard: str = ""
    external_url: str | None = None


class _Listed(Value):
    """A group in the list of the API."""

    group: str


class _Place(Value):
    """A partition of a group in the API."""

    topic: str
    partition: PartitionId


class _Group(Value):
    """A group in the API, as far as its partitions go."""

    partitions: tuple[_Place, ...] = ()


class Job(NamedTuple):
    """A job, and a clock (ms). See PastSource and CensusSource; for the past, it has to record."""

    api: JobApi
    clock: Callable[[], int] = now_ms

    def clusters(self) -> tuple[str, ...]:
        """The names of the watched clusters."""
        return tuple([each.cluster for each in self.api.value(CLUSTERS_API, tuple[_Named, ...])])

    def page_url(self, cluster: str, group: str = "") -> str | None:
        """Where people open the page of a group, or of a cluster's groups; None: ``external_url`` is not set."""
        address = self.api.value(ROOT, _Index).external_url
        return None if address is None else page_url(address, cluster, group)

    def shard(self) -> str:
        """The share of the groups that the job watches; 1/1 is all."""
        return self.api.value(ROOT, _Index).shard

    def all_group_names(self, cluster: str) -> tuple[str, ...]:
        """The names of all groups of a cluster."""
        path = f"{API.rstrip('/')}?{query_text({'cluster': cluster})}"
        return tuple([each.group for each in self.api.value(path, tuple[_Listed, ...])])

    def group_names(self, cluster: str, part: str, limit: int) -> tuple[str, ...]:
        """The names of groups of a cluster that contain this part, at most so many."""
        query = query_text({"cluster": cluster, "q": part, "limit": str(limit)})
        return tuple([each.group for each in self.api.value(f"{API.rstrip('/')}?{query}", tuple[_Listed, ...])])

    def partitions(self, cluster: str, group: str) -> dict[str, tuple[str, ...]]:
        """The names of the partitions of a group by topic."""
        found = self.api.value(GroupAddress(cluster, group).under(API), _Group).partitions
        topics = dict.fromkeys(each.topic for each in found)
        return {topic: tuple([str(each.partition) for each in found if each.topic == topic]) for topic in topics}

    def inputs(self, address: GroupAddress, at: str | None) -> GroupInputs:
        """What the verdict on a group is made of, or was."""
        with self._snapshot(_saved_path(address, at)) as lines:
            return find_inputs(lines, address.cluster, address.group)

    def snapshot_lines(self, address: GroupAddress | None, at: str | None, *, partial: bool) -> Iterator[bytes]:
        """The lines of a snapshot, checked as they come."""
        path = f"{SAVED.rstrip('/')}{'?partial=1' if partial else ''}" if address is None else _saved_path(address, at)
        passed: list[bytes] = []

        def noted(lines: Iterable[bytes]) -> Iterator[bytes]:
            for line in lines:
                passed.append(line)
                yield line

        with self._snapshot(path) as lines:
            for _ in read_lines(noted(lines)):
                yield from passed
                passed.clear()
            yield from passed

    def census(self, cluster: str | None, *, partial: bool) -> tuple[LibraryUse, ...]:
        """The client libraries of a cluster, or of all."""
        chosen = {} if cluster is None else {"cluster": cluster}
        query = query_text(chosen | {"partial": "1" if partial else "0"})
        return self.api.value(f"{LIBRARIES_API}?{query}", tuple[LibraryUse, ...])

    def story(self, address: GroupAddress, span: Span) -> GroupStory:
        """What happened to a group."""
        return self.api.value(f"{address.under(HISTORY)}?{query_text(span._asdict())}", GroupStory)

    def report(self, cluster: str, group: str | None, span: Span, tell: Tell | None) -> IncidentReport | ClusterReport:
        """The report on a group; of a cluster, on the groups that there are now."""
        if group is not None:
            return self.group_report(GroupAddress(cluster, group), span)
        since_ms, until_ms = span.read(self.clock())
        reports = self._reports(cluster, Span(str(since_ms), str(until_ms)), tell or no_progress)
        return cluster_report(cluster, since_ms, until_ms, reports)

    def group_report(self, address: GroupAddress, span: Span) -> IncidentReport:
        """The report on a group."""
        return self.api.value(f"{address.under(REPORT_API)}?{query_text(span._asdict())}", IncidentReport)

    def _reports(self, cluster: str, span: Span, tell: Tell) -> Iterator[IncidentReport]:
        """One after the other: a job computes few things at once."""
        names = self.all_group_names(cluster)
        for number, name in enumerate(names):
            tell(number, len(names))
            try:
                yield self.group_report(GroupAddress(cluster, name), span)
            except NotFoundError:  # it was not known in that time
                continue
        tell(len(names), len(names))

    @contextmanager
    def _snapshot(self, path: str) -> Iterator[HTTPResponse]:
        """The response with a snapshot; also an error in its lines is one of the job."""
        try:
            with self.api.response(path) as lines:
                yield lines
        except SnapshotFileError as error:
            raise SourceError(f"{self.api.url} sent an unusable response: {error}") from error


def _saved_path(address: GroupAddress, at: str | None) -> str:
    path = address.under(SAVED)
    return path if at is None else f"{path}?{query_text({'at': at})}"
