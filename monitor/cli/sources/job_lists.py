"""The lists of a running job: its clusters, groups, findings, topics, and what could be deleted.

Each list has the condition of its clusters beside its rows: what is not known of a cluster must not look like health.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from monitor.cli.answering import now_ms
from monitor.cli.errors import NotFoundError, SourceError
from monitor.cli.sources.job_api import CLUSTERS_API, FINDINGS_API, JobApi, JobList, Row
from monitor.messages.names import listed, shown
from monitor.model import GroupSummary, Value
from monitor.topics.unused import Unused
from monitor.web.api.types import ClusterCondition, OpenFinding
from monitor.web.views.addresses import API, TOPICS_API, UNUSED_API, query_text
from monitor.web.views.topic_list import TopicSummary


class JobStatus(Value):
    """The overview: the clusters, and their groups, worst first. ``matching`` counts the groups in all."""

    clusters: tuple[ClusterCondition, ...]
    groups: tuple[GroupSummary, ...]
    matching: int
    answered_ms: int
    problem: str | None = None
    """Why the job gives no newer answer; the rest is of ``answered_ms``."""


class JobFindings(Value):
    """The open findings of the clusters' groups, worst first. Those of clusters are in their condition."""

    clusters: tuple[ClusterCondition, ...]
    findings: tuple[OpenFinding, ...]
    matching: int


class JobTopics(Value):
    """The topics of the clusters, by name."""

    clusters: tuple[ClusterCondition, ...]
    topics: tuple[TopicSummary, ...]
    matching: int


class JobUnused(Value):
    """What could be deleted, by cluster and group."""

    clusters: tuple[ClusterCondition, ...]
    unused: tuple[Unused, ...]
    matching: int


class JobLists(NamedTuple):
    """A job. Each method raises SourceError: no job answers, or it watches no cluster of that name."""

    api: JobApi

    def conditions(self, cluster: str | None = None) -> tuple[ClusterCondition, ...]:
        """The condition of a cluster, or of all."""
        found = self.api.value(CLUSTERS_API, tuple[ClusterCondition, ...])
        chosen = tuple([each for each in found if cluster in (None, each.cluster)])
        if cluster is not None and not chosen:
            known = listed([each.cluster for each in found]) or "none"
            raise NotFoundError(f"No cluster named {shown(cluster)} is watched; there are: {known}.")
        return chosen

    def status(self, cluster: str | None, limit: int | None) -> JobStatus:
        """The overview. Nothing of a cluster that is not ready is known; its condition says so."""
        clusters = self.conditions(cluster)
        found = self._rows(API.rstrip("/"), clusters, GroupSummary, ("sort", "worst"), *_limit(limit))
        return JobStatus(clusters=clusters, groups=found.rows, matching=found.matching, answered_ms=now_ms())

    def findings(self, cluster: str | None, limit: int | None) -> JobFindings:
        """The findings."""
        clusters = _some_known(self.conditions(cluster))
        found = self._rows(FINDINGS_API, clusters, OpenFinding, *_limit(limit))
        return JobFindings(clusters=clusters, findings=found.rows, matching=found.matching)

    def topics(self, cluster: str | None, limit: int | None, *, unread: bool) -> JobTopics:
        """The topics; ``unread``: only those that no group reads."""
        clusters = _some_ready(self.conditions(cluster))
        chosen = [("unread", "1")] if unread else []
        found = self._rows(TOPICS_API.rstrip("/"), _ready(clusters), TopicSummary, *chosen, *_limit(limit))
        return JobTopics(clusters=clusters, topics=found.rows, matching=found.matching)

    def unused_list(self, cluster: str | None) -> JobUnused:
        """What could be deleted."""
        clusters = _some_ready(self.conditions(cluster))
        found = self._rows(UNUSED_API, _ready(clusters), Unused)
        return JobUnused(clusters=clusters, unused=found.rows, matching=found.matching)

    def _rows(
        self, path: str, clusters: Iterable[ClusterCondition], kind: type[Row], *chosen: tuple[str, str]
    ) -> JobList[Row]:
        """The rows of those of these clusters of which they are known."""
        names = [("cluster", each.cluster) for each in clusters if each.groups is not None]
        if not names:
            return JobList(rows=(), matching=0, not_ready=(), stale=())
        return self.api.rows(f"{path}?{query_text([*names, ('partial', '1'), *chosen])}", kind)


def _limit(limit: int | None) -> list[tuple[str, str]]:
    return [] if limit is None else [("limit", str(limit))]


def _ready(clusters: Iterable[ClusterCondition]) -> list[ClusterCondition]:
    return [each for each in clusters if each.ready]


def _some_known(clusters: tuple[ClusterCondition, ...]) -> tuple[ClusterCondition, ...]:
    """These clusters, if the groups of at least one are known: an empty list would mean that all is well."""
    if any(each.groups is not None for each in clusters):
        return clusters
    raise SourceError(_unknown("groups", clusters))


def _some_ready(clusters: tuple[ClusterCondition, ...]) -> tuple[ClusterCondition, ...]:
    """These clusters, if at least one is ready: of before a restart, no job knows topics."""
    if _ready(clusters):
        return clusters
    raise SourceError(_unknown("topics", clusters))


def _unknown(what: str, clusters: Iterable[ClusterCondition]) -> str:
    sentences = [f"The {what} of {shown(each.cluster)} are not known yet. {each.sentence}" for each in clusters]
    return " ".join(sentences) or "No cluster is watched."
