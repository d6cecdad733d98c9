"""What the tools answer, each from one or two requests to the job; marked for agents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from monitor.cli.agents.marking import FROM_CLUSTER, marked_rows, marked_value
from monitor.cli.errors import SourceError
from monitor.cli.http_client import WayIn
from monitor.cli.sources.job import Job
from monitor.cli.sources.job_api import CLUSTERS_API, FINDINGS_API, JobApi, JobList, Row
from monitor.cli.sources.source import Span
from monitor.doctor.diagnosis import Diagnosis
from monitor.explain.rollout_cost import RolloutQuestion, forecast
from monitor.explain.what_if import Change, what_if
from monitor.model import FindingKind, GroupSummary, LibraryUse
from monitor.scaling.answer import asked_target, scale_plan
from monitor.scaling.explanation import fully_explained
from monitor.topics.unused import Unused
from monitor.web.api.types import ClusterCondition, OpenFinding
from monitor.web.views.addresses import API, LIBRARIES_API, TOPICS_API, UNUSED_API, GroupAddress, query_text
from monitor.web.views.topic_list import TopicSummary

Order = Literal["name", "worst", "lag", "members"]

Examine = Callable[[str | None], Diagnosis]
"""Looks at a cluster, and judges one group, or all. Raises SourceError."""

NO_CLUSTER: Final = "There is no cluster to look at: start groupwatch mcp with --bootstrap-server."


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

    def __init__(self, url: str, way_in: WayIn, examine: Examine | None = None) -> None:
        """Prepare; ``examine`` None: no cluster was chosen for the doctor."""
        self._job = Job(JobApi(url, way_in))
        self._examine = examine

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

    def topics(self, chosen: Chosen, *, unread: bool) -> dict[str, Any]:
        """Topics with their groups."""
        query = [*chosen.query(), *([("unread", "1")] if unread else [])]
        return _list_answer("topics", self._rows(TOPICS_API.rstrip("/"), query, TopicSummary))

    def census(self, cluster: str | None) -> dict[str, Any]:
        """The client libraries of the members."""
        return _list_answer("libraries", self._rows(LIBRARIES_API, _cluster_query(cluster), LibraryUse))

    def unused_list(self, cluster: str | None, limit: int) -> dict[str, Any]:
        """What could be deleted."""
        found = self._rows(UNUSED_API, _cluster_query(cluster), Unused)
        return _list_answer("unused", found._replace(rows=found.rows[:limit]))

    def examination(self, group: str | None) -> dict[str, Any]:
        """A look at the chosen cluster, without the job."""
        if self._examine is None:
            raise SourceError(NO_CLUSTER)
        return marked_value(self._examine(group))

    def explanation(
        self, address: GroupAddress, topic: str | None, partition: str | None, at: str | None
    ) -> dict[str, Any]:
        """The owners of a group, or of one partition, with reasons, and its findings with what to do."""
        return self._linked(address, fully_explained(self._job.inputs(address, at), topic, partition))

    def simulation(self, address: GroupAddress, change: Change, at: str | None) -> dict[str, Any]:
        """The assignment of a group after a change."""
        return marked_value(what_if(self._job.inputs(address, at), change))

    def forecast(self, address: GroupAddress, question: RolloutQuestion, at: str | None) -> dict[str, Any]:
        """The costs of a rollout of a group."""
        return marked_value(forecast(self._job.inputs(address, at), question, is_alone=True))

    def scale_plan(self, address: GroupAddress, target: str | None, most: int | None, at: str | None) -> dict[str, Any]:
        """How many members a group needs."""
        inputs = self._job.inputs(address, at)
        return marked_value(scale_plan(inputs, asked_target(inputs, target, most)))

    def history(self, address: GroupAddress, span: Span) -> dict[str, Any]:
        """What happened to a group in a span of the recording."""
        return marked_value(self._job.story(address, span))

    def report(self, address: GroupAddress, span: Span) -> dict[str, Any]:
        """The report on an incident, without the points of its diagrams."""
        found = self._job.group_report(address, span)
        return self._linked(address, replace(found, points=(), owners=(), offsets=(), instants=(), alike=()))

    def _linked(self, address: GroupAddress, answer: msgspec.Struct) -> dict[str, Any]:
        """An answer about a group with the address of its page, which has the names of cluster and group in it."""
        marked, page = marked_value(answer), self._job.page_url(address.cluster, address.group)
        data = marked.get(FROM_CLUSTER, {}) | ({} if page is None else {"page_url": page})
        return {**marked, FROM_CLUSTER: data}

    def _rows(self, path: str, query: list[tuple[str, str]], kind: type[Row]) -> JobList[Row]:
        return self._job.api.rows(f"{path}?{query_text(query)}", kind)


def _cluster_query(cluster: str | None) -> list[tuple[str, str]]:
    return [*([] if cluster is None else [("cluster", cluster)]), ("partial", "1")]


def _list_answer(name: str, found: JobList[Row]) -> dict[str, Any]:
    """A list, and what it leaves out: no finding of a cluster that is not ready is known."""
    answer: dict[str, Any] = {name: marked_rows(found.rows), "matching": found.matching}
    clusters = {"clusters_not_ready": list(found.not_ready), "clusters_stale": list(found.stale)}
    data = {key: names for key, names in clusters.items() if names}
    return {**answer, FROM_CLUSTER: data} if data else answer
