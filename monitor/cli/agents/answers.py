"""What the tools answer, each from one or two requests to the job; marked for agents."""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

from msgspec.structs import replace

from monitor.cli.agents.marking import FROM_CLUSTER, marked_rows, marked_value
from monitor.cli.http_client import WayIn
from monitor.cli.report_source import Job
from monitor.cli.snapshot_source import JobList, Row, inputs_from_job, list_from_job, story_from_job, value_from_job
from monitor.explain.query import explained
from monitor.explain.what_if import Change, what_if
from monitor.history.report.facts import IncidentReport
from monitor.model import FindingKind, GroupSummary
from monitor.web.api.types import ClusterCondition, OpenFinding
from monitor.web.views.addresses import API, REPORT_API, GroupAddress, query_text

CLUSTERS_API: Final = "/api/v1/clusters"
FINDINGS_API: Final = "/api/v1/findings"

Order = Literal["name", "worst", "lag", "members"]


class Instants(NamedTuple):
    """A span of the recording, as a person types its ends."""

    since: str
    until: str


class Chosen(NamedTuple):
    """Which rows of a list are wanted. ``cluster`` None: of all. ``text``: what the group's name contains."""

    cluster: str | None
    text: str | None
    limit: int

    def query(self) -> list[tuple[str, str]]:
        """The parameters of the API. Ready clusters are listed although others are not."""
        named = (("cluster", self.cluster), ("q", self.text))
        chosen = [(name, value) for name, value in named if value is not None]
        return [*chosen, ("limit", str(self.limit)), ("partial", "1")]


class JobAnswers:
    """Answers of one running job.

    Each method raises SourceError, or QuestionError where the question is about a group.
    """

    def __init__(self, url: str, way_in: WayIn) -> None:
        self._job = Job(url, way_in)

    def clusters(self) -> dict[str, Any]:
        """The state of each cluster."""
        rows = value_from_job(*self._request(CLUSTERS_API), tuple[ClusterCondition, ...])
        return {"clusters": marked_rows(rows)}

    def findings(self, chosen: Chosen, kinds: tuple[FindingKind, ...]) -> dict[str, Any]:
        """Open findings, the worst first."""
        query = [*chosen.query(), *(("finding", kind.value) for kind in kinds)]
        return _list_answer("findings", self._rows(FINDINGS_API, query, OpenFinding))

    def groups(self, chosen: Chosen, order: Order, *, only_problems: bool) -> dict[str, Any]:
        """Groups with their findings."""
        query = [*chosen.query(), ("sort", order), *([("problems", "1")] if only_problems else [])]
        return _list_answer("groups", self._rows(API.rstrip("/"), query, GroupSummary))

    def explanation(
        self, address: GroupAddress, topic: str | None, partition: str | None, at: str | None
    ) -> dict[str, Any]:
        """The owners of a group, or of one partition, with reasons, and its findings with what to do."""
        inputs = inputs_from_job(self._job.url, address.cluster, address.group, self._job.way_in, at)
        return marked_value(explained(inputs, topic, partition))

    def simulation(self, address: GroupAddress, change: Change, at: str | None) -> dict[str, Any]:
        """The assignment of a group after a change."""
        inputs = inputs_from_job(self._job.url, address.cluster, address.group, self._job.way_in, at)
        return marked_value(what_if(inputs, change))

    def history(self, address: GroupAddress, span: Instants) -> dict[str, Any]:
        """What happened to a group in a span of the recording."""
        return marked_value(story_from_job(self._job.url, address, span.since, span.until, self._job.way_in))

    def report(self, address: GroupAddress, span: Instants) -> dict[str, Any]:
        """The report on an incident, without the points of its diagrams."""
        path = f"{address.under(REPORT_API)}?{query_text({'since': span.since, 'until': span.until})}"
        found = value_from_job(*self._request(path), IncidentReport)
        return marked_value(replace(found, points=(), owners=(), offsets=(), instants=(), alike=()))

    def _request(self, path: str) -> tuple[str, str, WayIn]:
        return self._job.url, path, self._job.way_in

    def _rows(self, path: str, query: list[tuple[str, str]], kind: type[Row]) -> JobList[Row]:
        return list_from_job(self._job.url, f"{path}?{query_text(query)}", self._job.way_in, kind)


def _list_answer(name: str, found: JobList[Row]) -> dict[str, Any]:
    """A list, and what it leaves out: no finding of a cluster that is not ready is known."""
    answer: dict[str, Any] = {name: marked_rows(found.rows), "matching": found.matching}
    clusters = {"clusters_not_ready": list(found.not_ready), "clusters_stale": list(found.stale)}
    data = {key: names for key, names in clusters.items() if names}
    return {**answer, FROM_CLUSTER: data} if data else answer
