"""A small job as the API tells of it: one cluster with two groups, one that is still being read; and each address."""

from typing import Final

from msgspec.structs import replace

from monitor.detection.evaluate import judge
from monitor.detection.evaluation_input import GroupInputs
from monitor.detection.finding_changes import opened
from monitor.detection.ownership.assignment_view import view_assignment
from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.expectations.expectation import Expectation, Expectations, MemberRange
from monitor.history.chronicle.values import Chronicle, FindingSpan, GroupPoint, MemberThen
from monitor.history.recorded import RecordingError
from monitor.history.report.facts import Departure, IncidentReport, LagCourse, MemberLeft, NotCommitted, ReportLine
from monitor.model import (
    ClusterSnapshot,
    Finding,
    FindingKind,
    GroupKind,
    GroupState,
    GroupSummary,
    GroupVerdict,
    Phase,
    Rebalance,
    RebalanceCause,
    TopicPartition,
    WarmUpProgress,
    WireForm,
)
from monitor.model.findings import Severity
from monitor.model.scaling import Scaling
from monitor.web.views.lag_history import LagPoint
from tests.support.builders import NOW, catalog, commit, group, member, topic
from tests.web.examples import Served, ready_cluster, snapshot
from tests.web.saved import Saved

NOW_MS: Final = NOW + 3_000
"""What the clock of the machine says."""

ORDERS: Final = group(
    member(
        "alpha-1",
        ["orders"],
        {"orders": [0, 1]},
        client_id="alpha",
        host="/10.0.0.1",
        user_data=b"",
        rack="",
        wire=WireForm(subscription_version=3),
    ),
    member(
        "beta-1",
        ["orders"],
        {"orders": [2]},
        client_id="beta",
        host="/10.0.0.2",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=60_000,
        wire=WireForm(subscription_version=1),
    ),
    offsets=[commit("orders", 0, 90, NOW - 5_000), commit("orders", 1, 100), commit("orders", 2, 100)],
)
"""Alpha subscribes as librdkafka does; beta as Java or Sarama, with the default timeouts of Sarama."""
MAIL: Final = group(phase=Phase.OFFSETS_ONLY, offsets=[commit("mail", 0, 100)])
TOPICS: Final = catalog(
    replace(topic("orders", 4, grown=1), cluster="main"),
    replace(topic("mail", 1), cluster="main"),
)
LAGS: Final = (LagPoint(NOW - 30_000, 4), LagPoint(NOW - 15_000, None), LagPoint(NOW, 10))

SLOW: Final = ClusterSnapshot(cluster="slow", warm_up=WarmUpProgress(total=1000, remaining=400, left_ms=11_001))

EXAMPLES: Final = {
    "index": "/api/v1/",
    "clusters": "/api/v1/clusters",
    "groups": "/api/v1/groups?cluster=main&sort=worst&limit=1",
    "group": "/api/v1/groups/main/orders",
    "findings": "/api/v1/findings?finding=orphaned",
    "libraries": "/api/v1/libraries",
    "topics": "/api/v1/topics?limit=1",
    "topic": "/api/v1/topics/main/orders",
    "unused": "/api/v1/unused",
    "explain": "/api/v1/explain/main/orders?topic=orders&partition=3",
    "what-if": "/api/v1/what-if/main/orders?members=3&partitions=orders%3D6",
    "rollout": "/api/v1/rollout/main/orders?rollout=surge%3D1%2Cstart%3D5s&static=1",
    "verify": "/api/v1/verify/main/orders",
    "scale": "/api/v1/scale/main/orders",
    "lag": "/api/v1/lag/main/orders",
    "history": "/api/v1/history/main/orders?since=-10m",
    "story": "/api/v1/story/main/orders?since=-10m",
    "report": "/api/v1/report/main/orders?since=-10m",
    "snapshot": "/api/v1/snapshot?partial=1",
    "snapshot-of-group": "/api/v1/snapshot/main/mail",
    "openapi": "/api/v1/openapi.json",
}
"""One for each address, by its name."""


SCALING: Final = {
    "orders": Scaling(
        target_ms=60_000,
        sentence="3 members are enough to read all that waits within 1 min.",
        wanted_members=3,
        wanted_replicas=3,
        members=2,
        drain_ms=90_000,
        capacity_per_s=200.0,
        capacity_samples=12,
        incoming_per_s=310.5,
        waiting=5_400,
    )
}
"""How many members groups need that an entry ``[[scale]]`` names."""


EXPECTED: Final = Expectations(
    (
        Expectation(groups="orders", team="checkout", exists=True, members=MemberRange(2), allow=tuple(FindingKind)),
        Expectation(groups="mail", members=MemberRange(40)),
        Expectation(groups="billing", exists=True),
    )
)
"""What is expected of its groups. One is as it should be, one is known by its commits only, and one does not exist."""

SPAN_MS: Final = 600_000
CHRONICLE: Final = Chronicle(
    cluster="main",
    group="orders",
    kind=GroupKind.CLASSIC,
    since_ms=NOW_MS - SPAN_MS,
    until_ms=NOW_MS,
    points=tuple(
        GroupPoint(at_ms, Phase.STABLE, 4, 1, 3, 0, lag, None)
        for at_ms, lag in ((NOW_MS - SPAN_MS, 4), (NOW_MS - SPAN_MS + 10_000, None), (NOW_MS, 10))
    ),
    findings=(
        FindingSpan(
            opened(
                GroupSummary("main", "orders", GroupKind.CLASSIC, Phase.STABLE, None, 1, 10, ()),
                Finding(FindingKind.LAG, "behind", NOW - 60_000, "The group is behind."),
                NOW_MS - SPAN_MS,
            ),
            "The group is behind.",
            Severity.WARNING,
            NOW - 20_000,
            was_open=True,
            is_closed=True,
        ),
    ),
    rebalances=(Rebalance(4, NOW - 60_000, NOW - 60_000, (RebalanceCause.LEAVE,), left=1, moved=1),),
)


REPORT: Final = IncidentReport(
    cluster="main",
    group="orders",
    kind=GroupKind.CLASSIC,
    since_ms=NOW_MS - SPAN_MS,
    until_ms=NOW_MS,
    asked_until_ms=NOW_MS,
    step_ms=10_000,
    began_ms=NOW - 75_000,
    is_over=True,
    summary=(
        "1 member of 2 was lost: beta at /10.0.0.2 most likely timed out at 00:49:00.0 (last commit at 00:48:45.0).",
        "1 partition of orders (2) had no commits for up to 15 s. Peak lag: about 10 records; it stayed at its "
        "usual level (before: at most 10).",
        "Over. The member did not rejoin. The group went from 2 members to 1. The lag was 10 records at 00:50:03.0.",
    ),
    timeline=(ReportLine(NOW - 60_000, "beta at /10.0.0.2 most likely timed out. It had 1 partition of orders (2)."),),
    left=(
        MemberLeft(
            at_ms=NOW - 60_000,
            member=MemberThen("beta-1", client_id="beta", host="/10.0.0.2", session_ms=10_000),
            departure=Departure.LIKELY_TIMED_OUT,
            partitions=(TopicPartition("orders", 2),),
            last_commit_ms=NOW - 75_000,
            members=2,
        ),
    ),
    not_committed=(NotCommitted((TopicPartition("orders", 2),), NOW - 75_000, NOW - 60_000, 15_000, records=4),),
    lag=LagCourse(before=10, peak=10, peak_ms=NOW_MS, last=10, last_ms=NOW_MS),
    hit=(TopicPartition("orders", 2),),
    first_members=2,
    last_members=1,
    first_generation=3,
    last_generation=4,
)


class Recorded:
    """A recording of the ten minutes before, in which the groups were as they are."""

    def inputs(self, cluster: str, group: str, at_ms: int) -> GroupInputs | None:
        """The group of that name."""
        found = next((each for each in states() if (each.cluster, each.group) == (cluster, group)), None)
        if found is None or at_ms < CHRONICLE.since_ms:
            return None
        return GroupInputs(group=found, catalog=replace(TOPICS, cluster="main"), now_ms=at_ms)

    def chronicle(self, cluster: str, group: str, since_ms: int, until_ms: int) -> Chronicle | None:
        """That of the one group which has one; of another cluster, the recording cannot be read."""
        if cluster == SLOW.cluster:
            raise RecordingError("The recording cannot be read.")
        is_known = (cluster, group) == (CHRONICLE.cluster, CHRONICLE.group) and until_ms >= CHRONICLE.since_ms
        return replace(CHRONICLE, since_ms=since_ms, until_ms=until_ms) if is_known else None

    def report(self, cluster: str, group: str, since_ms: int, until_ms: int) -> IncidentReport | None:
        """Likewise."""
        is_known = self.chronicle(cluster, group, since_ms, until_ms) is not None
        return replace(REPORT, since_ms=since_ms, until_ms=until_ms) if is_known else None


def states() -> tuple[GroupState, ...]:
    """The groups of the ready cluster."""
    named = {"mail": MAIL, "orders": ORDERS}
    return tuple(replace(state, cluster="main", group=name) for name, state in named.items())


def verdict_on(saved: Saved, state: GroupState) -> GroupVerdict:
    """What the rules say of a group."""
    return judge(state, Topics(saved.catalog), view_assignment(state, saved.catalog), saved.now_ms, DetectionSettings())


def example() -> Served:
    """The job."""
    return job_of(states(), Saved(replace(TOPICS, cluster="main"), states(), NOW))


def job_of(groups: tuple[GroupState, ...], saved: Saved) -> Served:
    """A job that has judged these groups just now, in cluster main."""
    by_name = sorted(groups, key=lambda each: each.group)
    verdicts = [replace(verdict_on(saved, each), scaling=SCALING.get(each.group)) for each in by_name]
    ready = ready_cluster(*verdicts)
    cluster = replace(ready, evaluated_ms=NOW, batch_duration_ms=800, catalog_ms=NOW - 20_000)
    return Served(snapshot(cluster, SLOW), {"main": saved}, {("main", "orders"): LAGS})
