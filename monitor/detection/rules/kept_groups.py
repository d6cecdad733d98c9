"""Groups without members whose offsets MirrorMaker 2 seems to copy from another cluster (monitor.kinds.kept_groups).

Rule 1: A partition counts where a consumer that assigns its partitions itself would be ``not_committing``
(monitor.detection.rules.stalled_commits). That finding is not reported beside these.
Rule 2: It is ``kept`` if no record came later than one usual time between two copies after the last copy. What came
until then, the next copy would have covered, but none came as the consumers in the other cluster had no more to read.
Rule 3: It is also ``kept`` if at most OFFSET_LAG records wait: so far apart the translated offsets may be.
Rule 4: Any other is ``not_synced`` once three usual times have passed since the last copy: records go on, copies do
not. Whether MirrorMaker 2 writes other groups meanwhile is part of the sentence.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.detection.lag.commit_cadence import RHYTHMS, usual_gap_ms
from monitor.detection.ownership.context import Facts
from monitor.detection.rules.rule import Rule
from monitor.detection.rules.stalled_commits import unusual_silences
from monitor.detection.rules.uncommitted import growth_since
from monitor.findings.lag import Kept, NotSynced
from monitor.findings.observation import Evidence, Observation
from monitor.kinds.kept_groups import checkpoints_topic
from monitor.model import FindingKind, TopicPartition

SYNC_MS: Final = 60_000
"""How far apart copies are by default (``sync.group.offsets.interval.seconds``)."""

OFFSET_LAG: Final = 100
"""The default of ``offset.lag.max``."""


def find_kept(facts: Facts) -> Iterable[Observation]:
    """The partitions whose consumers are elsewhere, and those that are no longer copied."""
    checkpoints = checkpoints_topic(facts.group, facts.catalog.topics) if facts.waiting else None
    if checkpoints is None:
        return
    silent = unusual_silences(facts)
    lags = {TopicPartition(row.topic, row.partition): row.lag or 0 for row in facts.waiting}
    stopped = [place for place in silent if lags[place] > OFFSET_LAG and _goes_on_without_copies(facts, place)]
    if stopped:
        since_ms = min(silent[place] for place in stopped)
        evidence = NotSynced(checkpoints, is_written=_has_grown(facts, checkpoints, since_ms))
        yield _finding("not_synced", since_ms, stopped, evidence)
    if kept := silent.keys() - set(stopped):
        yield _finding("kept", min(silent[place] for place in kept), kept, Kept(checkpoints))


def _goes_on_without_copies(facts: Facts, place: TopicPartition) -> bool:
    """Whether records came after the next copy was due, and two more would have been."""
    commit = facts.committed[place]
    gap_ms = int(max(usual_gap_ms(commit) or SYNC_MS, SYNC_MS))
    growth = growth_since(facts.known[place], commit.committed_ms + gap_ms)
    return growth is not None and growth.came_ms is not None and facts.has_come(commit.committed_ms + RHYTHMS * gap_ms)


def _has_grown(facts: Facts, topic: str, since_ms: int) -> bool:
    found = [growth_since(state, since_ms + SYNC_MS) for state in facts.catalog.topics[topic].partitions]
    return any(growth is not None and growth.came_ms is not None for growth in found)


def _finding(reason: str, since_ms: int, places: Iterable[TopicPartition], evidence: Evidence) -> Observation:
    return Observation(
        kind=FindingKind.UNATTENDED,
        reason=reason,
        since_ms=since_ms,
        evidence=evidence,
        partitions=tuple(sorted(places)),
    )


RULES: Final = (Rule(find_kept, of_owners=False, needs_lag=True),)
