"""What an unattended demo saw: read from the same snapshots that the page and the metrics are made of."""

from __future__ import annotations

from monitor.model import Finding, GroupSummary, Snapshot, Value


class FindingSeen(Value):
    """One kind of finding in one group. Times are seconds since groupwatch was ready.

    ``most`` is the largest number of partitions (or tasks, or members) concerned at once; ``ended_s`` None: it was
    there at the end. ``times``: how often it began.
    """

    kind: str
    reason: str
    first_s: float
    ended_s: float | None
    most: int
    times: int
    sentence: str


class GroupSeen(Value):
    """One group over the whole demo. Lags in records; None: never known."""

    group: str
    members: int
    lag_least: int | None = None
    lag_most: int | None = None
    lag_last: int | None = None
    findings: tuple[FindingSeen, ...] = ()


class TranscriptRecorder:
    """Takes snapshots as they come and remembers what they showed."""

    def __init__(self) -> None:
        self._groups: dict[str, GroupSeen] = {}
        self._evaluations: set[int] = set()

    @property
    def evaluations(self) -> int:
        """How many different evaluations were seen."""
        return len(self._evaluations)

    def groups(self) -> tuple[GroupSeen, ...]:
        """What was seen of every group, by name."""
        return tuple(self._groups[name] for name in sorted(self._groups))

    def take(self, snapshot: Snapshot, since_ready_s: float) -> None:
        """Note what a snapshot shows at this time."""
        for cluster in snapshot.clusters:
            if cluster.evaluated_ms is None or cluster.evaluated_ms in self._evaluations:
                continue
            self._evaluations.add(cluster.evaluated_ms)
            for group in cluster.groups:
                self._groups[group.group] = self._group_seen(group, round(since_ready_s, 1))

    def _group_seen(self, now: GroupSummary, at_s: float) -> GroupSeen:
        before = self._groups.get(now.group)
        known = before.findings if before else ()
        earlier = (before.lag_least, before.lag_most) if before else ()
        lags = [lag for lag in (*earlier, now.lag) if lag is not None]
        return GroupSeen(
            group=now.group,
            members=now.members or 0,
            lag_least=min(lags, default=None),
            lag_most=max(lags, default=None),
            lag_last=now.lag,
            findings=tuple(_merge_findings(known, now, at_s)),
        )


def _merge_findings(known: tuple[FindingSeen, ...], now: GroupSummary, at_s: float) -> list[FindingSeen]:
    """The findings seen so far with those of this moment: begun, gone on, or ended."""
    present = {(finding.kind.value, finding.reason): finding for finding in now.findings}
    merged = []
    for seen in known:
        finding = present.pop((seen.kind, seen.reason), None)
        merged.append(
            FindingSeen(
                kind=seen.kind,
                reason=seen.reason,
                first_s=seen.first_s,
                ended_s=None if finding else seen.ended_s if seen.ended_s is not None else at_s,
                most=max(seen.most, _extent(finding)) if finding else seen.most,
                times=seen.times + bool(finding and seen.ended_s is not None),
                sentence=seen.sentence,
            )
        )
    for (kind, reason), finding in present.items():
        merged.append(
            FindingSeen(
                kind=kind,
                reason=reason,
                first_s=at_s,
                ended_s=None,
                most=_extent(finding),
                times=1,
                sentence=finding.sentence,
            )
        )
    return merged


def _extent(finding: Finding) -> int:
    return len(finding.partitions) or len(finding.tasks) or len(finding.members)
