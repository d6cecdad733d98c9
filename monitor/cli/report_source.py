"""Where reports come from: the folder of a recording, or a running job that records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from monitor.cli.errors import NotFoundError
from monitor.cli.http_client import WayIn
from monitor.cli.snapshot_source import answering, unknown_group, value_from_job
from monitor.history.instants import read_span
from monitor.history.report.assemble import group_report
from monitor.history.report.cluster import ClusterReport, cluster_report
from monitor.history.report.facts import IncidentReport
from monitor.history.report.recorded import recorded_cluster_report
from monitor.model import Value
from monitor.web.views.addresses import API, REPORT_API, GroupAddress, query_text

Tell = Callable[[int, int], None]


class ReportQuery(NamedTuple):
    """What is to be reported on: a group, or (None) all groups of a cluster; the span as a person types it, and now."""

    cluster: str
    group: str | None
    since: str
    until: str
    now_ms: int

    def span_ms(self) -> tuple[int, int]:
        """The first and the last instant.

        Raises:
            SourceError: they are none.
        """
        with answering():
            return read_span(self.since, self.until, self.now_ms)


class Job(NamedTuple):
    """A job, and how it is asked."""

    url: str
    way_in: WayIn


class _Listed(Value):
    """A group in the list of the API."""

    group: str


def report_from_recording(folder: str, asked: ReportQuery, tell: Tell | None = None) -> IncidentReport | ClusterReport:
    """The report on a group, or on all groups of a cluster, from the tables of a recording.

    Raises:
        SourceError: the span is none, the recording cannot answer, or there was no such group.
    """
    from monitor.history.delta_tables import DeltaRecording  # noqa: PLC0415 -- who asks a job needs it not

    cluster, group = asked.cluster, asked.group
    since_ms, until_ms = asked.span_ms()
    with answering():
        recording = DeltaRecording(folder)
        if group is None:
            return recorded_cluster_report(recording, cluster, since_ms, until_ms, tell or _ignore)
        found = group_report(recording, cluster, group, since_ms, until_ms)
    if found is None:
        raise unknown_group(cluster, group, since_ms, until_ms)
    return found


def report_from_job(job: Job, asked: ReportQuery, tell: Tell | None = None) -> IncidentReport | ClusterReport:
    """The same from a running job; of a cluster, on the groups that there are now.

    Raises:
        SourceError: nobody answers there, or the job's answer is none.
    """
    if asked.group is not None:
        return _from_job(job, GroupAddress(asked.cluster, asked.group), asked.since, asked.until)
    since_ms, until_ms = asked.span_ms()
    reports = _reports(job, asked.cluster, (str(since_ms), str(until_ms)), tell or _ignore)
    return cluster_report(asked.cluster, since_ms, until_ms, reports)


def _reports(job: Job, cluster: str, span: tuple[str, str], tell: Tell) -> Iterator[IncidentReport]:
    """One after the other: a job computes few things at once."""
    path = f"{API.rstrip('/')}?{query_text({'cluster': cluster})}"
    names = [each.group for each in value_from_job(job.url, path, job.way_in, list[_Listed])]
    for number, name in enumerate(names):
        tell(number, len(names))
        try:
            yield _from_job(job, GroupAddress(cluster, name), *span)
        except NotFoundError:  # it was not known in that time
            continue
    tell(len(names), len(names))


def _from_job(job: Job, address: GroupAddress, since: str, until: str) -> IncidentReport:
    query = query_text({"since": since, "until": until})
    return value_from_job(job.url, f"{address.under(REPORT_API)}?{query}", job.way_in, IncidentReport)


def _ignore(_done: int, _all: int) -> None:
    return
