"""The sums of a cluster: what is shown of its groups whatever is said of each of them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from monitor.detection.client_libraries.census import take_census
from monitor.detection.lag.lag import total
from monitor.metrics import specs
from monitor.metrics.exposition_format import Samples, labels
from monitor.model import KINDS, FamilyBlock, GroupSummary, OffsetUnit, Phase
from monitor.model.cluster_findings import ClusterFinding
from monitor.model.cluster_label import CLUSTER_LABEL

STATES: Final = (
    Phase.OFFSETS_ONLY,
    Phase.EMPTY,
    Phase.NOT_READY,
    Phase.ASSIGNING,
    Phase.RECONCILING,
    Phase.STABLE,
)
"""The states a group is exposed in; NOT_READY is given of streams groups only.

A group that is unseen or gone has no series at all."""


def render_cluster(
    cluster: str,
    groups: Sequence[GroupSummary],
    findings: Sequence[ClusterFinding] = (),
    now_ms: int = 0,
    label: str = CLUSTER_LABEL,
) -> tuple[FamilyBlock, ...]:
    """How many groups there are, what waits for them together, what is found, and which libraries the members use.

    Bytes (MetaQ) are no records. ``findings`` are those of the cluster itself, as of ``now_ms``. ``label`` names the
    cluster.
    """
    samples = Samples()
    pairs = labels(**{label: cluster})
    counts = Counter([group.state for group in groups])
    samples.add_each(specs.CLUSTER_GROUPS, pairs, "state", {state.value: counts[state] for state in STATES})
    lags = [group.known_lag for group in groups if KINDS[group.kind].unit is OffsetUnit.RECORD]
    samples.add(specs.CLUSTER_LAG, pairs, total(lags))
    found = Counter(
        (finding.kind.value, finding.reason) for group in groups if group.findings for finding in group.findings
    )
    for (kind, reason), count in sorted(found.items()):
        samples.add(specs.CLUSTER_FINDINGS, f'{pairs},kind="{kind}",reason="{reason}"', count)
    for each in findings:
        own = f'{pairs},kind="{each.kind.value}",reason="{each.reason}"'
        samples.add_ms(specs.CLUSTER_OWN_FINDING_OLDEST_SECONDS, own, max(0, now_ms - each.since_ms))
        samples.add(specs.CLUSTER_OWN_FINDING_GROUPS, own, each.groups)
    samples.add(specs.CLUSTER_UNREADABLE_GROUPS, pairs, sum(bool(each.unknown_versions) for each in groups) or None)
    samples.add(specs.CLUSTER_UNEVALUATED_GROUPS, pairs, sum(each.unjudged is not None for each in groups) or None)
    for library, members in sorted(_members_by_library(cluster, groups).items()):
        samples.add(specs.CLIENT_LIBRARY_MEMBERS, f'{pairs},library="{library}"', members)
    return samples.blocks()


def _members_by_library(cluster: str, groups: Sequence[GroupSummary]) -> Counter[str]:
    """The members by the label of their library, whatever its certainty and release."""
    members: Counter[str] = Counter()
    for use in take_census(cluster, [(group.group, group.libraries) for group in groups]):
        members[use.library.label] += use.members
    return members
