"""The verdict on one group, made on request, by what the newest evaluation was made of."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from monitor.detection.evaluate import judge
from monitor.detection.evaluation_input import GroupInputs
from monitor.detection.ownership.assignment_view import AssignmentView, AssignmentViews
from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.thresholds.overrides import DetectionRules
from monitor.detection.unjudged import unjudged_verdict, unknown_verdict
from monitor.expectations.expectation import Expectations
from monitor.expectations.verdicts import expectation_findings, expected_verdict
from monitor.findings.table import by_rank
from monitor.kinds.offset_expiry import is_shown
from monitor.model import Catalog, GroupState, GroupSummary, GroupUse, GroupVerdict
from monitor.scaling.verdicts import scale_findings
from streaming_jobs.buckets.batch_context import BatchContext
from streaming_jobs.driver.cluster_view import ClusterView
from streaming_jobs.driver.group_uses import GroupUseCache

MAX_CACHED_GROUPS: Final = 20
"""How many groups' assignment views are remembered."""


@dataclass(slots=True)
class AssignmentViewCache:
    """The standings of the groups that were looked at last: of a huge one they can take seconds. For all threads."""

    standings: AssignmentViews = field(default_factory=AssignmentViews)
    _names: dict[str, None] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, group: GroupState, topics: Topics) -> AssignmentView:
        """The standing of the group among these topics."""
        with self._lock:
            self._names.pop(group.group, None)
            self._names[group.group] = None  # the newest is last
            if len(self._names) > MAX_CACHED_GROUPS:
                del self._names[next(iter(self._names))]
                self.standings.keep_only(set(self._names))
        return self.standings.of(group, topics)  # not locked: who looks at a small group need not wait


@dataclass(frozen=True, slots=True)
class VerdictsOnDemand:
    """An evaluation of a cluster that returns the verdict on a group."""

    view: ClusterView
    views: AssignmentViewCache
    topics: Topics
    now_ms: int
    rules: DetectionRules
    use_cache: GroupUseCache = field(default_factory=GroupUseCache)
    batch: BatchContext | None = None
    """The micro-batch, which has the groups whose records could not be read; None: all could be read."""
    expectations: Expectations | None = None
    """What groups should look like; None: nothing is expected of any."""

    def _instant_of(self, group: str) -> int:
        return self.now_ms if self.batch is None else self.batch.instant_of(group)

    def _state_of(self, group: str) -> GroupState | None:
        """The state of a group; None: there is no such group, or it was deleted."""
        state = self.view.group_state(group)
        if state is None or not is_shown(state, self.catalog.offsets_retention, self._instant_of(group)):
            return None
        return state

    def _unjudged_summary(self, group: str) -> GroupSummary | None:
        """The group as it is listed, if it cannot be evaluated; None: it can."""
        listed = self.view.summary(group)
        return listed if listed is not None and listed.unjudged is not None else None

    def __call__(self, group: str) -> GroupVerdict | None:
        """The verdict on it, made again from its state; None if there is no such group."""
        state = self._state_of(group)
        if state is None:
            return None
        listed = self._unjudged_summary(group)
        if listed is not None and listed.is_unknown:
            return unknown_verdict(listed, self._instant_of(group))
        settings = self.rules.of(state.cluster, state.group)
        verdict = judge(state, self.topics, self.views.of(state, self.topics), self._instant_of(group), settings)
        if self.expectations is not None:
            verdict = expected_verdict(verdict, self.expectations, state, settings.alert_ages)
        if settings.scale is not None:
            verdict = self._with_scaling(verdict)
        return verdict if listed is None else unjudged_verdict(verdict, listed)

    def _with_scaling(self, verdict: GroupVerdict) -> GroupVerdict:
        """The verdict with how many members it needed in the newest evaluation: that depends on what is remembered."""
        listed = self.view.summary(verdict.group)
        if listed is None:
            return verdict
        findings = by_rank((*verdict.findings, *scale_findings(listed.findings)))
        return replace(verdict, scaling=listed.scaling, findings=findings)

    def inputs(self, group: str) -> GroupInputs | None:
        """What the verdict on it is made of, with the whole catalog; None if there is no such group."""
        state = self._state_of(group)
        if state is None:
            return None
        settings = self.rules.of(state.cluster, state.group)
        listed = self.view.summary(group)
        return GroupInputs(
            state,
            self.catalog,
            self._instant_of(group),
            settings,
            self._unjudged_summary(group),
            () if listed is None else (*expectation_findings(listed.findings), *scale_findings(listed.findings)),
            scale_memory=self.view.scale_memory(group),
        )

    def uses(self) -> tuple[GroupUse, ...]:
        """The groups with their topics. The times of commits may be older than the newest."""
        return self.use_cache.uses(self.view.stored_groups(), self.catalog)

    @property
    def catalog(self) -> Catalog:
        """The topics by which groups are judged."""
        return self.topics.catalog
