"""What the tools answer, each from one or two requests to the job; marked for agents."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from msgspec.structs import replace

from monitor.cli.agents.marking import FROM_CLUSTER, marked_rows, marked_value
from monitor.cli.http_client import WayIn
from monitor.cli.sources.job import Job
from monitor.cli.sources.job_api import CLUSTERS_API, FINDINGS_API, JobApi, JobList, Row
from monitor.cli.sources.source import Span
from monitor.explain.query import explained
from monitor.explain.what_if import Change, what_if
from monitor.model import FindingKind, GroupSummary
from monitor.web.api.types import ClusterCondition, OpenFinding
from monitor.web.views.addresses import API, GroupAddress, query_text

Order = Literal["name", "worst", "lag", "members"]


class Chosen(NamedTuple):
    """Which rows of a list to return. ``cluster`` None: of all. ``text``: what the group's name contains."""

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
        self._job = Job(JobApi(url, way_in))

    def clusters(self) -> dict[str, Any]:
        """The state of each cluster."""
        rows = self._job.api.value(CLUSTERS_API, tuple[ClusterCondition, ...])
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
        return marked_value(explained(self._job.inputs(address, at), topic, partition))

    def simulation(self, address: GroupAddress, change: Change, at: str | None) -> dict[str, Any]:
        """The assignment of a group after a change."""
        return marked_value(what_if(self._job.inputs(address, at), change))

    def history(self, address: GroupAddress, span: Span) -> dict[str, Any]:
        """What happened to a group in a span of the recording."""
        return marked_value(self._job.story(address, span))

    def report(self, address: GroupAddress, span: Span) -> dict[str, Any]:
        """The report on an incident, without the points of its diagrams."""
        found = self._job.group_report(address, span)
        return marked_value(replace(found, points=(), owners=(), offsets=(), instants=(), alike=()))

    def _rows(self, path: str, query: list[tuple[str, str]], kind: type[Row]) -> JobList[Row]:
        return self._job.api.rows(f"{path}?{query_text(query)}", kind)


def _list_answer(name: str, found: JobList[Row]) -> dict[str, Any]:
    """A list, and what it leaves out: no finding of a cluster that is not ready is known."""
    answer: dict[str, Any] = {name: marked_rows(found.rows), "matching": found.matching}
    clusters = {"clusters_not_ready": list(found.not_ready), "clusters_stale": list(found.stale)}
    data = {key: names for key, names in clusters.items() if names}
    return {**answer, FROM_CLUSTER: data} if data else answer
